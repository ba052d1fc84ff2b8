//! What is wrong with an expression, and why it has no value.

use crate::fact::Missing;

/// What is wrong with the text of an expression, counted from its first character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Line within the text, from 0.
    pub line: usize,
    /// Column within the line, in characters, from 0.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Why an expression has no value on this host.
#[derive(Debug, Clone, PartialEq)]
pub enum Unvalued {
    /// A fact is missing.
    Lacks {
        /// Its slot, where it is one; an element of a list has none.
        slot: Option<usize>,
        /// Why it is missing.
        why: String,
    },
    /// The expression itself failed: a division by zero, a text where a number was expected.
    Failed(String),
}

/// What is wrong where a fact is named that could not be read.
pub(super) fn lacks(what: &str, missing: &Missing) -> Unvalued {
    Unvalued::Lacks { slot: None, why: format!("{what} is {missing}") }
}
