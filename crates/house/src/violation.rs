//! A place where a rule is broken.

use std::fmt;

/// One place where a rule is broken, with what to do there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, counted from 1; `None` when the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl Violation {
    /// A rule broken by a file as a whole.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into() }
    }

    /// A rule broken on one line, counted from 1.
    #[must_use]
    pub fn on_line(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.message),
            None => write!(out, "{}: {}", self.file, self.message),
        }
    }
}

/// States that a rule is kept everywhere.
///
/// # Panics
/// When it is not, with one line for each violation.
pub fn assert_none(violations: &[Violation]) {
    let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} to mend:\n\n{}\n", list.len(), list.join("\n"));
}
