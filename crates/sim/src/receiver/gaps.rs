//! What has come, in order and beyond what is missing.

use std::collections::VecDeque;

/// Segments that have come.
#[derive(Debug)]
pub(crate) struct Gaps {
    next: u32,
    /// Ranges beyond what is missing, in order, that do not touch.
    ranges: VecDeque<(u32, u32)>,
    beyond: u32,
    /// The ranges that changed last, by a segment in each; the latest first.
    recent: [Option<u32>; 4],
}

impl Gaps {
    pub(crate) fn new() -> Self {
        Self { next: 0, ranges: VecDeque::with_capacity(FIRST_ROOM), beyond: 0, recent: [None; 4] }
    }

    /// The first segment that is missing.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Segments that came beyond it.
    pub(crate) fn beyond(&self) -> u32 {
        self.beyond
    }

    /// Takes the segments from `from` to before `to`. Returns how many of them are new.
    pub(crate) fn take(&mut self, from: u32, to: u32) -> u32 {
        let from = from.max(self.next);
        if from >= to {
            return 0;
        }
        if self.ranges.is_empty() && from == self.next {
            self.next = to;
            return to - from;
        }
        let new = self.insert(from, to);
        self.beyond += new;
        self.note(from);
        while let Some((_, end)) = self.ranges.pop_front_if(|(begin, _)| *begin <= self.next) {
            self.beyond -= end - self.next;
            self.next = end;
        }
        new
    }

    /// The ranges that changed last (RFC 2018 §4), at most as many as there is room for beside timestamps, and one that
    /// the kernel tells in place of what came twice.
    pub(crate) fn blocks(&self) -> [(u32, u32); 4] {
        let mut blocks = [(0, 0); 4];
        if self.ranges.is_empty() {
            return blocks;
        }
        let mut used = 0;
        for segment in self.recent.iter().flatten() {
            let index = self.ranges.partition_point(|(_, end)| end <= segment);
            let range = self.ranges.get(index).filter(|(begin, _)| begin <= segment);
            if let Some(range) = range.filter(|range| !blocks[..used].contains(range)).filter(|_| used < BLOCKS) {
                blocks[used] = *range;
                used += 1;
            }
        }
        blocks
    }

    fn insert(&mut self, from: u32, to: u32) -> u32 {
        // Most of what comes out of order comes at the end.
        let at = match self.ranges.back() {
            Some((begin, _)) if *begin > from => self.ranges.partition_point(|(_, end)| *end < from),
            Some((_, end)) if *end < from => self.ranges.len(),
            Some(_) => self.ranges.partition_point(|(_, end)| *end < from),
            None => 0,
        };
        let (mut begin, mut end, mut had) = (from, to, 0);
        let mut merged = 0;
        while let Some(range) = self.ranges.get(at + merged).filter(|range| range.0 <= to) {
            had += range.1.min(to).saturating_sub(range.0.max(from));
            begin = begin.min(range.0);
            end = end.max(range.1);
            merged += 1;
        }
        match merged {
            0 => self.ranges.insert(at, (begin, end)),
            _ => {
                self.ranges[at] = (begin, end);
                self.ranges.drain(at + 1..at + merged);
            }
        }
        to - from - had
    }

    fn note(&mut self, segment: u32) {
        let range = self.ranges.get(self.ranges.partition_point(|(_, end)| *end <= segment)).copied();
        let Some((begin, end)) = range else { return };
        let mut kept = [Some(segment), None, None, None];
        let others = self.recent.iter().flatten().filter(|other| **other < begin || **other >= end);
        for (slot, other) in kept[1..].iter_mut().zip(others) {
            *slot = Some(*other);
        }
        self.recent = kept;
    }
}

/// RFC 2018 §3: three with timestamps.
const BLOCKS: usize = 3;

const FIRST_ROOM: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_filled_in_any_order() {
        let mut gaps = Gaps::new();
        assert_eq!(gaps.take(0, 3), 3);
        assert_eq!((gaps.take(5, 7), gaps.take(9, 10), gaps.beyond()), (2, 1, 3));
        assert_eq!(gaps.blocks()[..2], [(9, 10), (5, 7)]);
        assert_eq!(gaps.take(6, 10), 2, "three of four were missing or not");
        assert_eq!((gaps.next(), gaps.beyond(), gaps.blocks()[0]), (3, 5, (5, 10)));
        assert_eq!(gaps.take(3, 5), 2);
        assert_eq!((gaps.next(), gaps.beyond(), gaps.blocks()[0]), (10, 0, (0, 0)));
        assert_eq!(gaps.take(1, 4), 0, "these came before");
    }

    #[test]
    fn as_a_set_would_have_it() {
        let mut rng = path::random::SeededRng::new(path::Seed(1));
        let mut gaps = Gaps::new();
        let mut set = std::collections::BTreeSet::new();
        for _ in 0..5_000 {
            let from = gaps.next() + u32::try_from(rng.below(60)).unwrap();
            let to = from + 1 + u32::try_from(rng.below(9)).unwrap();
            let new = (from..to).filter(|segment| set.insert(*segment)).count();
            assert_eq!(gaps.take(from, to) as usize, new);
            let next = (0..).find(|segment| !set.contains(segment)).unwrap();
            assert_eq!(gaps.next(), next);
            assert_eq!(gaps.beyond() as usize, set.iter().filter(|segment| **segment > next).count());
        }
    }
}
