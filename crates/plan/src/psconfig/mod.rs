//! The template of perfSONAR's psConfig, read and written: the JSON file in which a mesh of perfSONAR hosts is described
//! (perfsonar/psconfig, doc/psconfig-schema.json).
//!
//! What has no counterpart on the other side is told as a [`Remark`], never dropped in silence.
//!
//! * `read`: addresses, groups and tasks as hosts, groups and tests; `between`: groups; `spec`: tests
//! * `write`: the way back; `spec_of`: tests
//! * `values`: durations of ISO 8601 and numbers with SI prefixes

mod between;
mod read;
mod spec;
mod spec_of;
mod values;
mod write;

use std::fmt;

use crate::plan::Plan;

/// Something that the one format says and the other cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Where it stands: `tests.throughput.spec.tos`.
    pub place: String,
    /// What became of it.
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

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

impl Plan {
    /// Reads a psConfig template; `file` stands for it in complaints and remarks.
    ///
    /// # Errors
    /// See [`TemplateError`].
    pub fn from_psconfig(file: &str, bytes: &[u8]) -> Result<Imported, TemplateError> {
        read::template(file, bytes)
    }

    /// Writes a psConfig template.
    #[must_use]
    pub fn to_psconfig(&self) -> Exported {
        write::template(self)
    }
}

/// Remarks, up to a number that somebody may read.
#[derive(Debug, Default)]
struct Remarks(Vec<Remark>);

impl Remarks {
    fn add(&mut self, place: impl Into<String>, what: impl Into<String>) {
        if self.0.len() < MOST_REMARKS {
            let cut = |text: String| text.chars().take(LONGEST_REMARK).collect();
            let remark = Remark { place: cut(place.into()), what: cut(what.into()) };
            if !self.0.contains(&remark) {
                self.0.push(remark);
            }
        }
    }
}

/// The public template of the largest mesh that we know of has a tenth of this.
const LONGEST_TEMPLATE: usize = 16 << 20;
const MOST_REMARKS: usize = 200;
const LONGEST_REMARK: usize = 300;
