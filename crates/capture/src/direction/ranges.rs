//! Sets of sequence numbers: what was selectively acknowledged, what is retransmitted and not acknowledged.

use std::ops::Range;

/// Disjoint ranges in ascending order, each from its first number to the one after its last.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<(u64, u64)>,
    total: u64,
}

/// Ranges of one direction at most; a window of 2^30 bytes in which every second segment is lost has fewer.
const MAX_RANGES: usize = 1 << 18;

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many numbers are in it.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The number after the highest one.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|last| last.1)
    }

    /// Whether all of a range is in it.
    pub(crate) fn contains(&self, wanted: Range<u64>) -> bool {
        let at = self.ranges.partition_point(|range| range.1 <= wanted.start);
        self.ranges.get(at).is_some_and(|range| range.0 <= wanted.start && wanted.end <= range.1)
    }

    /// Adds a range. Calls `new` with each part of it that was not in the set.
    pub(crate) fn add(&mut self, from: u64, to: u64, mut new: impl FnMut(u64, u64)) {
        if from >= to {
            return;
        }
        // The first range that ends at or beyond the start, and the first one beyond the end.
        let first = self.ranges.partition_point(|range| range.1 < from);
        let Some(&(known_from, known_to)) = self.ranges.get(first) else {
            if self.ranges.len() < MAX_RANGES {
                self.ranges.push((from, to));
                self.total += to - from;
                new(from, to);
            }
            return;
        };
        if known_from <= from && to <= known_to {
            return;
        }
        let behind = first + self.ranges.get(first..).unwrap_or(&[]).partition_point(|range| range.0 <= to);
        if first == behind {
            if self.ranges.len() < MAX_RANGES {
                self.ranges.insert(first, (from, to));
                self.total += to - from;
                new(from, to);
            }
            return;
        }
        let (mut at, mut merged) = (from, (from, to));
        for range in self.ranges.get(first..behind).unwrap_or(&[]) {
            if at < range.0 {
                new(at, range.0);
                self.total += range.0 - at;
            }
            at = at.max(range.1);
            merged = (merged.0.min(range.0), merged.1.max(range.1));
        }
        if at < to {
            new(at, to);
            self.total += to - at;
        }
        if let Some(range) = self.ranges.get_mut(first) {
            *range = merged;
        }
        self.ranges.drain(first + 1..behind);
    }

    /// Takes a range out.
    pub(crate) fn remove(&mut self, from: u64, to: u64) {
        let first = self.ranges.partition_point(|range| range.1 <= from);
        let behind = first + self.ranges.get(first..).unwrap_or(&[]).partition_point(|range| range.0 < to);
        if first == behind || from >= to {
            return;
        }
        let (head, tail) = match (self.ranges.get(first), self.ranges.get(behind - 1)) {
            (Some(head), Some(tail)) => (*head, *tail),
            _ => return,
        };
        let gone: u64 = self.ranges.get(first..behind).unwrap_or(&[]).iter().map(|range| range.1 - range.0).sum();
        let left = [(head.0, from), (to, tail.1)].into_iter().filter(|range| range.0 < range.1);
        let kept: u64 = left.clone().map(|range| range.1 - range.0).sum();
        self.total = self.total - gone + kept;
        self.ranges.splice(first..behind, left);
    }

    /// Takes out everything below a number.
    pub(crate) fn remove_below(&mut self, number: u64) {
        if self.ranges.first().is_some_and(|first| first.0 < number) {
            self.remove(0, number);
        }
    }
}

saved!(Ranges { ranges, total });

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Ranges;

    proptest! {
        #[test]
        fn ranges_are_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..12), 0..60)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (adds, from, length) in steps {
                let wanted: BTreeSet<u64> = (from..from + length).collect();
                if adds {
                    let mut new = BTreeSet::new();
                    ranges.add(from, from + length, |from, to| new.extend(from..to));
                    prop_assert_eq!(new, &wanted - &set);
                    set.extend(wanted);
                } else {
                    ranges.remove(from, from + length);
                    set = &set - &wanted;
                }
                prop_assert_eq!(ranges.total(), set.len() as u64);
                prop_assert_eq!(ranges.end(), set.last().map(|last| last + 1));
                prop_assert_eq!(ranges.is_empty(), set.is_empty());
                let wanted = from..from + length.max(1);
                prop_assert_eq!(ranges.contains(wanted.clone()), wanted.clone().all(|one| set.contains(&one)));
            }
        }
    }
}
