//! Time that was given to another owner later than a point of an index: a picture that is drawn from there stops before that is known.

use std::ops::Range;

use super::owner::Owner;

/// See the module. Of one direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// The last point that was taken.
    last: PointTaken,
    list: Vec<Change>,
    /// There was no room for more.
    pub(crate) is_full: bool,
    /// In the end all that had one owner was given to another.
    pub(crate) of_all: Option<(Owner, Owner)>,
}

/// A point of an index.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PointTaken {
    /// Points of the capture up to and with this one; a connection may be younger.
    pub(crate) points: u32,
    /// Packets up to then were counted.
    pub(crate) counted_ns: i64,
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
    pub(crate) fn note_point(&mut self, point: PointTaken) {
        self.last = point;
    }

    /// What is later than the last point is seen by whoever reads on from there.
    pub(super) fn note(&mut self, interval: &Range<i64>, before: Owner, after: Owner) {
        if self.last.points == 0 || interval.start > self.last.counted_ns {
            return;
        }
        self.is_full |= self.list.len() >= MAX_CHANGES;
        if !self.is_full {
            let Range { start: from_ns, end: to_ns } = *interval;
            self.list.push(Change { points: self.last.points, from_ns, to_ns, before, after });
        }
    }

    /// What was not known yet when a number of points had been taken.
    pub(crate) fn since(&self, points: u32) -> impl Iterator<Item = Change> {
        self.list.iter().copied().filter(move |change| change.points >= points)
    }
}

saved!(Changes { last, list, is_full, of_all });
saved!(PointTaken { points, counted_ns });
saved!(Change { points, from_ns, to_ns, before, after });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_known_behind_a_point_is_repeated_and_nothing_else_is() {
        let mut changes = Changes::default();
        let note = |changes: &mut Changes, span| changes.note(&span, Owner::SlowStart, Owner::Application);
        // Nobody reads on from before the first point; what is later than a point is seen by whoever reads on from there.
        note(&mut changes, 0..5);
        // A connection that began behind four points.
        changes.note_point(PointTaken { points: 5, counted_ns: 100 });
        note(&mut changes, 90..120);
        note(&mut changes, 101..120);
        changes.note_point(PointTaken { points: 6, counted_ns: 200 });
        note(&mut changes, 150..250);
        let since = |points| changes.since(points).map(|change| change.from_ns).collect::<Vec<_>>();
        assert_eq!([since(4), since(5), since(6), since(7)], [vec![90, 150], vec![90, 150], vec![150], vec![]]);
    }
}
