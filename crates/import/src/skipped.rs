//! Lines that are no output of a tool: a log is pasted into a ticket, a wiki page or slides, with prose around it.

use std::fmt;

use super::anomaly::shortened;

/// Lines that were passed over, all of a file together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkippedLines {
    /// How many.
    pub count: usize,
    /// The first of them, from 1; 0 where there is none.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The first one's text, shortened.
    pub example: String,
}

impl SkippedLines {
    /// Adds a line.
    pub(crate) fn add(&mut self, number: usize, text: &str) {
        if self.count == 0 {
            (self.first, self.last, self.example) = (number, number, shortened(text));
        }
        self.count += 1;
        (self.first, self.last) = (self.first.min(number), self.last.max(number));
    }
}

impl fmt::Display for SkippedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => f.write_str("every line was read"),
            1 => write!(f, "line {} is no output of a known tool: `{}`", self.first, self.example),
            count => write!(
                f,
                "{count} lines between {} and {} are no output of a known tool; the first: `{}`",
                self.first, self.last, self.example
            ),
        }
    }
}
