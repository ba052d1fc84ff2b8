//! The samples of one stream at one end, made safe to read at any moment.

use std::cell::Cell;

use model::series::StreamSamples;
use model::series::field::Field;

/// Samples whose times grow. Rows that go back in time are left out.
#[derive(Debug)]
pub(super) struct Track<'a> {
    samples: &'a StreamSamples,
    at: Vec<i64>,
    rows: Vec<usize>,
    /// Where each field stands among the columns: a waterfall asks for dozens at each step.
    places: Vec<Option<u8>>,
    /// After which sample the last moment lay. The next one is mostly close to it.
    near: Cell<usize>,
}

/// One column of a track.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve<'a> {
    at: &'a [i64],
    rows: &'a [usize],
    values: &'a [u64],
    near: &'a Cell<usize>,
}

impl<'a> Track<'a> {
    /// `None` where there is no sample.
    pub(super) fn new(samples: &'a StreamSamples) -> Option<Self> {
        let (mut at, mut rows) = (Vec::new(), Vec::new());
        for (row, time) in samples.at_us.iter().enumerate() {
            if at.last().is_none_or(|last| last < time) {
                at.push(*time);
                rows.push(row);
            }
        }
        let mut places = vec![None; Field::ALL.len()];
        for (place, column) in samples.columns.iter().enumerate().rev() {
            places[column.field as usize] = u8::try_from(place).ok();
        }
        (!at.is_empty()).then_some(Self { samples, at, rows, places, near: Cell::new(0) })
    }

    /// A column; `None` where the kernel did not tell it, or told it for other rows than these.
    pub(super) fn column(&self, field: Field) -> Option<Curve<'_>> {
        let place = usize::from((*self.places.get(field as usize)?)?);
        let values = &self.samples.columns.get(place)?.values;
        let curve = Curve { at: &self.at, rows: &self.rows, values, near: &self.near };
        (values.len() == self.samples.at_us.len()).then_some(curve)
    }

    /// When samples were taken.
    pub(super) fn times(&self) -> &[i64] {
        &self.at
    }

    /// The two samples around the time after `at`; `None` before the first and after the last one.
    pub(super) fn around(&self, at: i64) -> Option<(i64, i64)> {
        let after = after(&self.at, at, &self.near);
        Some((*self.at.get(after.checked_sub(1)?)?, *self.at.get(after)?))
    }
}

/// The first of some times after a moment, looked for around the one that was found before.
fn after(times: &[i64], at: i64, near: &Cell<usize>) -> usize {
    let is_it = |index: usize| {
        let begins = index.checked_sub(1).is_none_or(|before| times.get(before).is_some_and(|time| *time <= at));
        begins && times.get(index).is_none_or(|time| at < *time)
    };
    let last = near.get();
    let around = [last, last + 1, last.saturating_sub(1)];
    let found = around.into_iter().find(|index| is_it(*index));
    let found = found.unwrap_or_else(|| times.partition_point(|time| *time <= at));
    near.set(found);
    found
}

impl Curve<'_> {
    fn value(&self, index: usize) -> u64 {
        self.rows.get(index).and_then(|row| self.values.get(*row)).copied().unwrap_or(0)
    }

    /// A growing count at a moment: on the straight line between two samples, flat outside.
    pub(super) fn count(&self, at: i64) -> u64 {
        self.count_before(after(self.at, at, self.near), at)
    }

    /// The same at moments that grow, each found from the one before.
    pub(super) fn counts(&self, moments: impl Iterator<Item = i64>) -> impl Iterator<Item = u64> {
        let mut after = 0;
        moments.map(move |at| {
            after += self.at[after..].iter().take_while(|time| **time <= at).count();
            self.count_before(after, at)
        })
    }

    /// The count at a moment before the sample at `after`, of which there may be none.
    fn count_before(&self, after: usize, at: i64) -> u64 {
        let Some(before) = after.checked_sub(1) else { return self.value(0) };
        let (left, right) = (self.value(before), self.value(after.min(self.at.len() - 1)));
        let (Some(from), Some(to)) = (self.at.get(before), self.at.get(after)) else { return left };
        // Most moments are those of samples.
        if at == *from {
            return left;
        }
        let span = i128::from(*to) - i128::from(*from);
        let part = (i128::from(at) - i128::from(*from)) * i128::from(right.saturating_sub(left)) / span.max(1);
        left.saturating_add(u64::try_from(part).unwrap_or(0))
    }

    /// Growth of a count between two moments.
    pub(super) fn growth(&self, from: i64, to: i64) -> u64 {
        self.count(to).saturating_sub(self.count(from))
    }

    /// A state at a moment: that of the last sample until then, or of the first one.
    pub(super) fn state(&self, at: i64) -> u64 {
        self.value(after(self.at, at, self.near).saturating_sub(1))
    }

    /// The first value.
    pub(super) fn first(&self) -> u64 {
        self.value(0)
    }

    /// The last value.
    pub(super) fn last(&self) -> u64 {
        self.value(self.at.len().saturating_sub(1))
    }

    /// The greatest value.
    pub(super) fn max(&self) -> u64 {
        self.rows.iter().filter_map(|row| self.values.get(*row)).copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use model::measurement::{End, Heading, Whose};
    use model::series::Column;

    use super::*;

    fn samples(at_us: Vec<i64>, values: Vec<u64>) -> StreamSamples {
        let columns = vec![Column { field: Field::BytesAcked, values }];
        StreamSamples { stream: 1, heading: Heading::Outbound, end: End::Sender, whose: Whose::Local, at_us, columns }
    }

    #[test]
    fn a_count_lies_between_its_samples() {
        let samples = samples(vec![0, 10, 20], vec![0, 100, 100]);
        let track = Track::new(&samples).unwrap();
        let curve = track.column(Field::BytesAcked).unwrap();
        let moments = [-5, 0, 5, 10, 15, 99];
        assert_eq!(moments.map(|at| curve.count(at)), [0, 0, 50, 100, 100, 100]);
        assert!(curve.counts(moments.into_iter()).eq([0, 0, 50, 100, 100, 100]));
        assert_eq!([-5, 5, 10].map(|at| curve.state(at)), [0, 0, 100]);
        assert_eq!((track.around(3), track.around(20)), (Some((0, 10)), None));
    }

    #[test]
    fn a_moment_is_found_wherever_the_one_before_it_was() {
        let samples = samples((0..50).map(|n| n * 10).collect(), (0..50).collect());
        let track = Track::new(&samples).unwrap();
        let curve = track.column(Field::BytesAcked).unwrap();
        let moments: Vec<i64> = (-15..520).step_by(5).collect();
        for first in &moments {
            for second in &moments {
                curve.state(*first);
                let expected = u64::try_from((second / 10).clamp(0, 49)).unwrap();
                assert_eq!(curve.state(*second), expected, "{first} before {second}");
            }
        }
    }

    #[test]
    fn rows_that_go_back_in_time_are_left_out() {
        let samples = samples(vec![0, 10, 5, 10, 20], vec![0, 1, 7, 7, 2]);
        let track = Track::new(&samples).unwrap();
        assert_eq!(track.times(), [0, 10, 20]);
        assert_eq!(track.column(Field::BytesAcked).unwrap().last(), 2);
    }

    #[test]
    fn a_column_of_another_length_is_no_column() {
        assert!(Track::new(&samples(vec![0, 1], vec![1])).unwrap().column(Field::BytesAcked).is_none());
        assert!(Track::new(&samples(vec![], vec![])).is_none());
    }
}
