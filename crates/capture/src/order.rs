//! Packets in the order of their times: per-CPU buffers of a capture are written one after the other.

use std::collections::VecDeque;

use crate::decode::Segment;

/// Holds segments until no earlier one is expected.
#[derive(Debug)]
pub(crate) struct SortWindow {
    waiting: VecDeque<Segment>,
    window_ns: i64,
    /// The time of the last segment that left.
    last_ns: i64,
    /// What is added to times since the clock of the capture went back.
    shift_ns: i64,
    has_started: bool,
    first_ns: Option<i64>,
    pub(crate) faults: OrderFaults,
}

/// How times of a file are not in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderFaults {
    /// Segments that stood behind a later one and were put before it.
    pub sorted: u64,
    /// How often the clock went back by more than the sort window.
    pub steps_back: u64,
    /// The frame at which it first did.
    pub first_step_frame: u64,
    /// By how much it went back at most.
    pub largest_step_ns: i64,
}

/// Segments that wait at most: what per-CPU buffers mix up is a few hundred packets apart.
const MAX_WAITING: usize = 8_192;

/// Segments that stand between the first part of an IP packet and a later one, at most.
const MAX_BETWEEN: usize = 256;

/// No capture is longer than three years: times beyond are damage, and count as its end.
const MAX_SPAN_NS: i64 = 100_000_000_000_000_000;
/// The year 2200, so that a span after it can still be added.
const MAX_TIME_NS: i64 = 7_258_000_000_000_000_000;

impl SortWindow {
    pub(crate) fn new(window_ns: i64) -> Self {
        Self {
            waiting: VecDeque::new(),
            window_ns: window_ns.max(0),
            last_ns: 0,
            shift_ns: 0,
            has_started: false,
            first_ns: None,
            faults: OrderFaults::default(),
        }
    }

    /// Takes a segment, and hands on those before which none is expected any more.
    #[inline]
    pub(crate) fn take(&mut self, segment: &Segment, mut next: impl FnMut(&Segment)) {
        let first_ns = *self.first_ns.get_or_insert(segment.time_ns.clamp(-MAX_TIME_NS, MAX_TIME_NS));
        let time_ns =
            segment.time_ns.saturating_add(self.shift_ns).clamp(first_ns - MAX_SPAN_NS, first_ns + MAX_SPAN_NS);
        let newest_ns = self.waiting.back().map_or(self.last_ns, |last| last.time_ns);
        if self.has_started && time_ns < newest_ns {
            self.insert(Segment { time_ns, ..*segment }, newest_ns);
        } else {
            self.has_started = true;
            self.waiting.push_back(Segment { time_ns, ..*segment });
        }
        let until_ns = self.waiting.back().map_or(i64::MIN, |last| last.time_ns.saturating_sub(self.window_ns));
        while let Some(first) = self.waiting.front()
            && (first.time_ns <= until_ns || self.waiting.len() > MAX_WAITING)
        {
            self.last_ns = first.time_ns;
            next(first);
            self.waiting.pop_front();
        }
    }

    /// A segment that waits has so many more bytes: a later part of its IP packet has come. False where it does not wait any more.
    #[cold]
    pub(crate) fn lengthen(&mut self, frame: u64, bytes: u32) -> bool {
        // Parts follow one another: the segment is among the last ones.
        let mut latest = self.waiting.iter_mut().rev().take(MAX_BETWEEN);
        let Some(segment) = latest.find(|segment| segment.frame == frame) else { return false };
        segment.payload = segment.payload.saturating_add(bytes);
        true
    }

    /// The latest time of all that was taken; none before the first.
    pub(crate) fn newest_ns(&self) -> Option<i64> {
        self.has_started.then(|| self.waiting.back().map_or(self.last_ns, |last| last.time_ns))
    }

    /// The time of the last segment that was handed on, if any was.
    pub(crate) fn handed_on_ns(&self) -> Option<i64> {
        (self.last_ns != 0).then_some(self.last_ns)
    }

    /// Hands on what is not later than a moment: who captures knows that nothing earlier comes any more.
    pub(crate) fn release(&mut self, until_ns: i64, mut next: impl FnMut(&Segment)) {
        while let Some(first) = self.waiting.front().filter(|first| first.time_ns <= until_ns) {
            self.last_ns = first.time_ns;
            next(first);
            self.waiting.pop_front();
        }
    }

    /// Hands on all that is left.
    pub(crate) fn end(&mut self, mut next: impl FnMut(&Segment)) {
        while let Some(first) = self.waiting.pop_front() {
            self.last_ns = first.time_ns;
            next(&first);
        }
    }

    #[cold]
    fn insert(&mut self, mut segment: Segment, newest_ns: i64) {
        let back_ns = newest_ns.saturating_sub(segment.time_ns);
        if back_ns > self.window_ns {
            // A clock that was set: from here on its times are shifted, so that time does not run backwards.
            if self.faults.steps_back == 0 {
                self.faults.first_step_frame = segment.frame;
            }
            self.faults.steps_back += 1;
            self.faults.largest_step_ns = self.faults.largest_step_ns.max(back_ns);
            self.shift_ns = self.shift_ns.saturating_add(back_ns);
            segment.time_ns = newest_ns;
            self.waiting.push_back(segment);
            return;
        }
        self.faults.sorted += 1;
        // More packets than wait may stand between: then its place is gone, and it comes next.
        segment.time_ns = segment.time_ns.max(self.last_ns);
        let at = self.waiting.partition_point(|other| other.time_ns <= segment.time_ns);
        self.waiting.insert(at, segment);
    }
}

saved!(SortWindow { waiting, window_ns, last_ns, shift_ns, has_started, first_ns, faults });
saved!(OrderFaults { sorted, steps_back, first_step_frame, largest_step_ns });

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(times_ms: &[i64], window_ms: i64) -> (Vec<(u64, i64)>, OrderFaults) {
        let mut order = SortWindow::new(window_ms * 1_000_000);
        let mut out = Vec::new();
        for (frame, time_ms) in (1..).zip(times_ms) {
            let segment = Segment { frame, time_ns: time_ms * 1_000_000, ..Segment::default() };
            order.take(&segment, |next| out.push((next.frame, next.time_ns / 1_000_000)));
        }
        order.end(|next| out.push((next.frame, next.time_ns / 1_000_000)));
        (out, order.faults)
    }

    #[test]
    fn what_is_late_by_less_than_the_window_is_put_in_its_order() {
        let (out, faults) = sorted(&[10, 30, 20, 40], 100);
        assert_eq!(out, [(1, 10), (3, 20), (2, 30), (4, 40)]);
        assert_eq!((faults.sorted, faults.steps_back), (1, 0));
    }

    #[test]
    fn a_clock_that_goes_back_by_a_year_is_reported_once_and_time_goes_on() {
        let year = 31_536_000_000;
        let (out, faults) = sorted(&[year, year + 5, 10, 15], 100);
        assert_eq!(out.iter().map(|(_, at)| at - year).collect::<Vec<_>>(), [0, 5, 5, 10]);
        assert_eq!((faults.steps_back, faults.first_step_frame), (1, 3));
    }
}
