//! What has no counterpart in the other format.

use std::fmt;

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

/// Remarks, up to a number that somebody may read.
#[derive(Debug, Default)]
pub(super) struct Remarks(pub(super) Vec<Remark>);

impl Remarks {
    pub(super) fn add(&mut self, place: impl Into<String>, what: impl Into<String>) {
        if self.0.len() < MOST_REMARKS {
            let cut = |text: String| text.chars().take(LONGEST_REMARK).collect();
            let remark = Remark { place: cut(place.into()), what: cut(what.into()) };
            if !self.0.contains(&remark) {
                self.0.push(remark);
            }
        }
    }
}

const MOST_REMARKS: usize = 200;
const LONGEST_REMARK: usize = 300;
