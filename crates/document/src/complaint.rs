//! One thing that is wrong, and where.

use std::fmt;

use crate::FilePosition;

/// One thing that is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint<P> {
    /// Where it stands.
    pub place: FilePosition,
    /// What is wrong.
    pub problem: P,
}

impl<P: fmt::Display> fmt::Display for Complaint<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// A problem that may know its way out.
pub trait Hint {
    /// What to do about it.
    fn hint(&self) -> Option<String>;
}

/// All complaints, a line each.
#[must_use]
pub fn shown<P: fmt::Display>(complaints: &[Complaint<P>]) -> String {
    complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What to do about them, each way out once.
#[must_use]
pub fn hints<P: Hint>(complaints: &[Complaint<P>]) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for hint in complaints.iter().filter_map(|complaint| complaint.problem.hint()) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}
