//! A template that was read or made, and why one cannot be read.

use super::remark::Remark;
use crate::plan::Plan;

/// A template as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What of the template can be run here.
    pub plan: Plan,
    /// What it cannot say.
    pub remarks: Vec<Remark>,
}

/// A plan as a template.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// JSON of a psConfig template, as pSConfig publishes it.
    pub template: serde_json::Value,
    /// What it cannot say.
    pub remarks: Vec<Remark>,
}

/// Why a template cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It is longer than any template is.
    #[error("{file} has more than {limit} bytes, which no template needs")]
    TooLarge {
        /// Name by which complaints refer to the template.
        file: String,
        /// Longest template that is read, in bytes.
        limit: usize,
    },
    /// It is not JSON.
    #[error("{file}:{line}:{column}: not JSON")]
    Json {
        /// Name by which complaints refer to the template.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the reader said.
        source: serde_json::Error,
    },
    /// It lacks what every template has.
    #[error("{file}: a psConfig template has `addresses`, `groups`, `tests` and `tasks`; this has no `{key}`")]
    Lacks {
        /// Name by which complaints refer to the template.
        file: String,
        /// What it lacks.
        key: &'static str,
    },
    /// More than a plan has room for.
    #[error("{file}: {count} {what} are too many: there may be at most {limit}")]
    TooMany {
        /// Name by which complaints refer to the template.
        file: String,
        /// Addresses, tests of pairs.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Nothing in it can be run.
    #[error("{file}: no task of it can be run: {why}")]
    Nothing {
        /// Name by which complaints refer to the template.
        file: String,
        /// The first remark.
        why: String,
    },
}

/// The public template of the largest mesh that we know of has a tenth of this.
pub(crate) const LONGEST_TEMPLATE: usize = 16 << 20;
