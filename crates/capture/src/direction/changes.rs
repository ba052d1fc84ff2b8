//! Time that was given to another owner later than a point of an index: a picture that is drawn from there stops before that is known.

use std::ops::Range;

use super::owner::Owner;

/// See the module. Of one direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Points that were taken so far.
    points: u32,
    /// Packets up to then were counted at the last of them.
    point_ns: i64,
    list: Vec<Change>,
    /// There was no room for more.
    pub(crate) is_full: bool,
    /// In the end all that had one owner was given to another.
    pub(crate) of_all: Option<(Owner, Owner)>,
}

/// An interval that had one owner has another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// Points that were taken before that was known.
    points: u32,
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    pub(crate) before: Owner,
    pub(crate) after: Owner,
}

/// Changes that are kept of a direction; one with more is read to its end.
const MAX_CHANGES: usize = 4_096;

impl Changes {
    /// A point is taken, at which packets up to a moment were counted.
    pub(crate) fn note_point(&mut self, point_ns: i64) {
        self.points += 1;
        self.point_ns = point_ns;
    }

    /// What is later than the last point is seen by whoever reads on from there.
    pub(super) fn note(&mut self, interval: &Range<i64>, before: Owner, after: Owner) {
        if self.points == 0 || interval.start > self.point_ns {
            return;
        }
        self.is_full |= self.list.len() >= MAX_CHANGES;
        if !self.is_full {
            let Range { start: from_ns, end: to_ns } = *interval;
            self.list.push(Change { points: self.points, from_ns, to_ns, before, after });
        }
    }

    /// What was not known yet when a number of points had been taken.
    pub(crate) fn since(&self, points: u32) -> impl Iterator<Item = Change> {
        self.list.iter().copied().filter(move |change| change.points >= points)
    }
}

saved!(Changes { points, point_ns, list, is_full, of_all });
saved!(Change { points, from_ns, to_ns, before, after });
