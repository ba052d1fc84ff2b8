//! Time whose owner is known better later: of a flight that stays the same, until it shows who keeps it so. The budget and the colours
//! of a picture change together.

use std::collections::VecDeque;
use std::ops::Range;

use super::owner::{Budget, Owner};
use super::series::Series;

/// What the sender did in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// One packet left after the other, as fast as a pacing rate or a congestion window lets them.
    Sending,
    /// All that was written had left.
    Waiting,
}

/// A span of time and the owner that it has by now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    pub(super) owner: Owner,
    pub(super) activity: Activity,
    /// Bytes outstanding when the burst began that leaves in it, and when all of it had left.
    pub(super) begun: u64,
    pub(super) filled: u64,
}

/// Intervals since the last loss, in order.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    intervals: VecDeque<Interval>,
    /// When the flight of now began to stay the same.
    plateau_ns: i64,
    /// The owner that they have been given, once it was known.
    known: Option<Owner>,
    /// Some have come since then that were not given to it.
    has_open: bool,
}

/// Which of the intervals an owner is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of the flight that stays the same.
    Plateau,
    /// All since a writer has been woken at one level, or has filled to one: with more than some bytes outstanding a third of its buffer is
    /// not free, and with so many it is full.
    Writer { since_ns: i64, early_above: u64, held: u64 },
}

/// Where time has its owners.
pub(super) struct Accounts<'a> {
    pub(super) budget: &'a mut Budget,
    pub(super) series: Option<&'a mut Series>,
}

/// Intervals that are remembered; older ones keep the owner that they have.
const MAX_INTERVALS: usize = 1_024;

impl Accounts<'_> {
    fn change(&mut self, interval: &mut Interval, owner: Owner) {
        let before = std::mem::replace(&mut interval.owner, owner);
        if before == owner {
            return;
        }
        self.budget.reassign(before, owner, interval.to_ns - interval.from_ns);
        if let Some(series) = &mut self.series {
            series.reassign(interval.from_ns..interval.to_ns, before, owner);
        }
    }
}

/// The part of a known owner's time that is its own: a full send buffer limits while its writer waits for room, as the kernel counts it
/// (`TCP_CHRONO_SNDBUF_LIMITED` starts when the last of what was written leaves and ends when a third of the buffer is free,
/// `tcp_cwnd_validate` and `tcp_check_space` of Linux 6.18). What was written then leaves as the congestion window has it.
pub(super) fn part_of(owner: Owner, activity: Activity) -> Owner {
    match (owner, activity) {
        (Owner::SendBuffer, Activity::Sending) => Owner::CongestionWindow,
        _ => owner,
    }
}

impl Recall {
    /// A loss: what was before it keeps its owner.
    pub(super) fn clear(&mut self) {
        self.intervals.clear();
        (self.known, self.has_open) = (None, false);
    }

    /// The flight has changed.
    pub(super) fn start_plateau(&mut self, at_ns: i64) {
        (self.plateau_ns, self.known) = (at_ns, None);
    }

    /// More is known of the owner than when it was given what it has.
    pub(super) fn reopen(&mut self) {
        self.has_open = true;
    }

    /// An interval whose owner may be another; with `known`, the plateau has shown it.
    pub(super) fn push(&mut self, interval: Interval, known: Option<Owner>) {
        self.has_open |= known.is_none() && interval.owner != Owner::ReceiverWindow;
        if let Some(last) = self.intervals.back_mut().filter(|last| last.to_ns == interval.from_ns) {
            if last.activity == Activity::Sending {
                last.filled = last.filled.max(interval.filled);
            }
            if (last.owner, last.activity, last.begun) == (interval.owner, interval.activity, interval.begun) {
                last.to_ns = interval.to_ns;
                return;
            }
        }
        // Some were cut in two since.
        while self.intervals.len() >= MAX_INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }

    /// The transfer has shown its owner, from the beginning of what it shows it by.
    #[inline]
    pub(super) fn settle(&mut self, owner: Owner, reach: Reach, mut accounts: Accounts) {
        if self.known == Some(owner) && !self.has_open {
            return;
        }
        (self.known, self.has_open) = (Some(owner), false);
        for interval in self.intervals.iter_mut().rev() {
            let in_plateau = interval.to_ns > self.plateau_ns;
            let is_reached = match reach {
                Reach::Plateau => in_plateau,
                Reach::Writer { since_ns, .. } => in_plateau || interval.to_ns > since_ns,
            };
            if !is_reached {
                return;
            }
            // What was added before a third was free did not end the wait: that is known now.
            if let Reach::Writer { early_above, held, .. } = reach
                && interval.begun > early_above
                && interval.filled >= held
            {
                interval.activity = Activity::Waiting;
            }
            // A window that is full limits, whoever else would.
            if interval.owner == Owner::ReceiverWindow {
                continue;
            }
            accounts.change(interval, part_of(owner, interval.activity));
        }
    }

    /// Nothing was left to send from an instant on.
    pub(super) fn waited_since(&mut self, since_ns: i64, accounts: Accounts) {
        self.turn_since(since_ns, Activity::Waiting, accounts);
    }

    /// Something was left to send from an instant on, and no acknowledgment let it go.
    pub(super) fn held_since(&mut self, since_ns: i64, accounts: Accounts) {
        self.turn_since(since_ns, Activity::Sending, accounts);
    }

    /// A writer has waited for room in its send buffer, whatever else was full.
    pub(super) fn waited_for_room(&mut self, span: Range<i64>, mut accounts: Accounts) {
        self.cut(span.start);
        self.cut(span.end);
        let behind = self.intervals.iter_mut().rev().skip_while(|interval| interval.from_ns >= span.end);
        for interval in behind.take_while(|interval| interval.from_ns >= span.start) {
            // What was held back in it was no wait.
            if interval.owner != Owner::CongestionWindow || interval.activity == Activity::Waiting {
                interval.activity = Activity::Waiting;
                accounts.change(interval, Owner::SendBuffer);
            }
        }
    }

    /// Nobody had anything to write any more from an instant on.
    pub(super) fn ended_since(&mut self, since_ns: i64, mut accounts: Accounts) {
        self.cut(since_ns);
        let writers = [Owner::SendBuffer, Owner::ApplicationOrSendBuffer];
        let behind = self.intervals.iter_mut().rev().take_while(|interval| interval.from_ns >= since_ns);
        for interval in behind.filter(|interval| writers.contains(&interval.owner)) {
            accounts.change(interval, Owner::Application);
        }
    }

    /// Cuts the interval at an instant in two.
    fn cut(&mut self, at_ns: i64) {
        let index = self.intervals.partition_point(|interval| interval.to_ns <= at_ns);
        let Some(interval) = self.intervals.get_mut(index).filter(|interval| interval.from_ns < at_ns) else { return };
        let before = Interval { to_ns: at_ns, ..*interval };
        interval.from_ns = at_ns;
        self.intervals.insert(index, before);
    }

    fn turn_since(&mut self, since_ns: i64, activity: Activity, mut accounts: Accounts) {
        let mut behind = self.intervals.len();
        while let Some(interval) = behind.checked_sub(1).and_then(|index| self.intervals.get_mut(index))
            && interval.to_ns > since_ns
            && interval.activity != activity
        {
            behind -= 1;
            let before = (interval.from_ns < since_ns).then_some(Interval { to_ns: since_ns, ..*interval });
            interval.from_ns = interval.from_ns.max(since_ns);
            interval.activity = activity;
            if self.known == Some(Owner::SendBuffer) && interval.owner != Owner::ReceiverWindow {
                accounts.change(interval, part_of(Owner::SendBuffer, activity));
            }
            if let Some(before) = before {
                self.intervals.insert(behind, before);
                return;
            }
        }
    }
}

saved!(Recall { intervals, plateau_ns, known, has_open });
saved!(Interval { from_ns, to_ns, owner, activity, begun, filled });
saved_enum!(Activity { Sending, Waiting });

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// A budget and a picture of 16 ms in columns of one, of which each has had the congestion window.
    struct Books {
        budget: Budget,
        series: Series,
        recall: Recall,
    }

    impl Books {
        fn new() -> Self {
            let zoom = super::super::series::Zoom { from_ns: 0, to_ns: Some(16 * MS) };
            let series = Series::new(0, 16, Some(zoom));
            Self { budget: Budget::default(), series, recall: Recall::default() }
        }

        fn spend(&mut self, span: std::ops::Range<i64>, owner: Owner, activity: Activity) {
            let interval =
                Interval { from_ns: span.start * MS, to_ns: span.end * MS, owner, activity, begun: 0, filled: 0 };
            self.budget.add(owner, interval.to_ns - interval.from_ns);
            self.series.owned(interval.from_ns, interval.to_ns, owner);
            self.recall.push(interval, None);
        }

        fn settle(&mut self, owner: Owner) {
            self.recall.settle(
                owner,
                Reach::Plateau,
                Accounts { budget: &mut self.budget, series: Some(&mut self.series) },
            );
        }

        fn wait_since(&mut self, since_ns: i64) {
            let accounts = Accounts { budget: &mut self.budget, series: Some(&mut self.series) };
            self.recall.waited_since(since_ns, accounts);
        }

        /// Milliseconds of an owner, by the budget and by the picture.
        fn spent_ms(&self, owner: Owner) -> (i64, i64) {
            let drawn: i64 = self.series.columns.iter().map(|column| column.owned_ns[owner as usize]).sum();
            (self.budget.spent_ns(owner) / MS, drawn / MS)
        }
    }

    #[test]
    fn a_plateau_that_is_known_late_has_one_owner_in_the_budget_and_the_picture() {
        let mut books = Books::new();
        books.spend(0..4, Owner::SlowStart, Activity::Sending);
        books.spend(4..9, Owner::CongestionWindow, Activity::Sending);
        books.spend(9..12, Owner::Application, Activity::Waiting);
        books.settle(Owner::Application);
        assert_eq!(books.spent_ms(Owner::Application), (12, 12));
        assert_eq!(books.spent_ms(Owner::CongestionWindow), (0, 0));
        // It turns out to be another's.
        books.settle(Owner::CongestionWindow);
        assert_eq!(books.spent_ms(Owner::CongestionWindow), (12, 12));
    }

    #[test]
    fn a_send_buffer_has_the_time_in_which_its_writer_waits() {
        let mut books = Books::new();
        books.spend(0..10, Owner::CongestionWindow, Activity::Sending);
        books.wait_since(3 * MS);
        books.settle(Owner::SendBuffer);
        assert_eq!(books.spent_ms(Owner::SendBuffer), (7, 7));
        books.spend(10..12, Owner::CongestionWindow, Activity::Sending);
        books.wait_since(11 * MS);
        assert_eq!(books.spent_ms(Owner::SendBuffer), (8, 8));
        assert_eq!(books.spent_ms(Owner::CongestionWindow), (4, 4));
    }

    #[test]
    fn what_was_written_and_held_back_was_not_for_a_send_buffer() {
        let mut books = Books::new();
        books.spend(0..2, Owner::CongestionWindow, Activity::Sending);
        books.spend(2..12, Owner::CongestionWindow, Activity::Waiting);
        books.settle(Owner::SendBuffer);
        assert_eq!(books.spent_ms(Owner::SendBuffer), (10, 10));
        let accounts = Accounts { budget: &mut books.budget, series: Some(&mut books.series) };
        books.recall.held_since(4 * MS, accounts);
        assert_eq!((books.spent_ms(Owner::SendBuffer), books.spent_ms(Owner::CongestionWindow)), ((2, 2), (10, 10)));
    }

    #[test]
    fn what_was_before_a_change_of_the_flight_keeps_its_owner() {
        let mut books = Books::new();
        books.spend(0..6, Owner::CongestionWindow, Activity::Sending);
        books.recall.start_plateau(6 * MS);
        books.settle(Owner::Application);
        assert_eq!(books.spent_ms(Owner::Application), (0, 0));
    }

    #[test]
    fn a_full_buffer_that_turns_out_to_be_older_has_the_time_since_then() {
        let mut books = Books::new();
        books.spend(0..4, Owner::SlowStart, Activity::Waiting);
        books.recall.start_plateau(6 * MS);
        books.spend(4..8, Owner::CongestionWindow, Activity::Waiting);
        for (since_ms, spent_ms) in [(5, 4), (7, 4), (0, 8)] {
            books.recall.reopen();
            let accounts = Accounts { budget: &mut books.budget, series: Some(&mut books.series) };
            let reach = Reach::Writer { since_ns: since_ms * MS, early_above: u64::MAX, held: u64::MAX };
            books.recall.settle(Owner::SendBuffer, reach, accounts);
            assert_eq!(books.spent_ms(Owner::SendBuffer), (spent_ms, spent_ms), "since {since_ms} ms");
        }
    }

    #[test]
    fn what_was_added_to_a_full_buffer_before_a_third_was_free_did_not_end_the_wait() {
        // Bytes outstanding when a burst began and behind it, of a buffer of 90: only the first adds to a full one.
        for (begun, filled, spent_ms) in [(70, 88, 8), (50, 88, 4), (70, 75, 4)] {
            let mut books = Books::new();
            for (span, activity) in [(0..4, Activity::Sending), (4..8, Activity::Waiting)] {
                let interval = Interval {
                    from_ns: span.start * MS,
                    to_ns: span.end * MS,
                    owner: Owner::CongestionWindow,
                    activity,
                    begun,
                    filled: if activity == Activity::Sending { 0 } else { filled },
                };
                books.budget.add(interval.owner, interval.to_ns - interval.from_ns);
                books.series.owned(interval.from_ns, interval.to_ns, interval.owner);
                books.recall.push(interval, None);
            }
            let accounts = Accounts { budget: &mut books.budget, series: Some(&mut books.series) };
            let reach = Reach::Writer { since_ns: 0, early_above: 60, held: 84 };
            books.recall.settle(Owner::SendBuffer, reach, accounts);
            assert_eq!(books.spent_ms(Owner::SendBuffer), (spent_ms, spent_ms), "{begun} {filled}");
        }
    }

    #[test]
    fn a_writer_that_is_woken_has_waited_since_it_was_first() {
        let mut books = Books::new();
        books.spend(0..2, Owner::CongestionWindow, Activity::Waiting);
        books.spend(2..4, Owner::SlowStart, Activity::Waiting);
        books.spend(4..6, Owner::Application, Activity::Waiting);
        books.recall.start_plateau(6 * MS);
        books.spend(6..8, Owner::CongestionWindow, Activity::Waiting);
        let accounts = Accounts { budget: &mut books.budget, series: Some(&mut books.series) };
        books.recall.settle(
            Owner::SendBuffer,
            Reach::Writer { since_ns: 2 * MS, early_above: u64::MAX, held: 0 },
            accounts,
        );
        assert_eq!(books.spent_ms(Owner::SendBuffer), (6, 6));
    }
}
