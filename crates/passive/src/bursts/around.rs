//! The buckets around each drop: kept where a counter of drops has grown, and forgotten elsewhere.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use model::bursts::{BucketsAround, DropIncrease, DropMoment};
use model::measurement::Heading;
use units::WallTime;

use super::steps::drop_zeros;
use super::tick::{Passed, Tick};

/// Keeps what passed around drops.
#[derive(Debug)]
pub struct DropRecorder {
    clock: BucketClock,
    recent: [VecDeque<Passed>; 2],
    open: Option<Open>,
    kept: Vec<DropMoment>,
    more: u64,
}

/// Which bucket is when.
#[derive(Debug, Clone, Copy)]
pub struct BucketClock {
    /// How long a bucket is.
    pub bucket: Duration,
    /// The first bucket that is watched.
    pub first: u64,
    /// The calendar time at which that began.
    pub start: WallTime,
}

/// Drops whose buckets have not all come yet.
#[derive(Debug)]
struct Open {
    /// The buckets in which they were.
    within: RangeInclusive<u64>,
    counters: Vec<DropIncrease>,
}

impl DropRecorder {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(clock: BucketClock) -> Self {
        Self { clock, recent: Default::default(), open: None, kept: Vec::new(), more: 0 }
    }

    /// Takes a bucket of one direction; those of a direction come in order of time.
    pub fn push(&mut self, heading: Heading, tick: &Tick) {
        let recent = &mut self.recent[place(heading)];
        if recent.len() >= MOST_RECENT {
            recent.pop_front();
        }
        recent.push_back(tick.passed());
    }

    /// Takes counters that grew within these buckets. What follows within the time that is kept behind a drop is one moment with it,
    /// as far as a moment goes.
    pub fn dropped(&mut self, within: RangeInclusive<u64>, counters: Vec<DropIncrease>) {
        if counters.is_empty() {
            return;
        }
        let behind = self.buckets(BEHIND);
        if let Some(open) = &mut self.open {
            let is_next = *within.start() <= open.within.end() + behind;
            if is_next && within.end() - open.within.start() <= MOST_RECENT as u64 / 2 {
                open.within = *open.within.start()..=*within.end();
                counters.into_iter().for_each(|counter| add(&mut open.counters, counter));
                return;
            }
            self.close();
        }
        self.open = Some(Open { within, counters });
    }

    /// Keeps the moment that is open, once all that is kept of it has passed.
    pub fn settle(&mut self, now: u64) {
        let behind = self.buckets(BEHIND);
        if self.open.as_ref().is_some_and(|open| open.within.end() + behind < now) {
            self.close();
        }
    }

    /// All moments in order of time, and how many more there were.
    #[must_use]
    pub fn finish(mut self) -> (Vec<DropMoment>, u64) {
        self.close();
        (self.kept, self.more)
    }

    fn close(&mut self) {
        let Some(Open { within, counters }) = self.open.take() else { return };
        if self.kept.len() >= MOST_MOMENTS {
            self.more += 1;
            return;
        }
        let from = within.start().saturating_sub(self.buckets(BEFORE)).max(self.clock.first);
        let to = within.end() + self.buckets(BEHIND);
        let directions = [Heading::Inbound, Heading::Outbound].map(|heading| {
            let counts = |of| self.counts(heading, from..=to, of);
            BucketsAround {
                heading,
                start: self.time(from),
                wire_bytes: counts(|passed| passed.bytes),
                marked: counts(|passed| passed.marked),
                retransmissions: counts(|passed| passed.retransmissions),
            }
        });
        let length = self.clock.bucket.saturating_mul(count(within.end() + 1 - within.start()));
        let moment =
            DropMoment { after: self.time(*within.start()), within: length, counters, directions: directions.into() };
        self.kept.push(moment);
    }

    /// A count of each bucket of a range, up to the last that has any.
    fn counts(&self, heading: Heading, range: RangeInclusive<u64>, of: fn(&Passed) -> u64) -> Vec<u64> {
        let mut counts = Vec::new();
        let known = self.recent[place(heading)].iter().filter(|passed| range.contains(&passed.number));
        for passed in known {
            let at = usize::try_from(passed.number - range.start()).unwrap_or(usize::MAX);
            if at >= MOST_RECENT {
                break;
            }
            counts.resize(counts.len().max(at + 1), 0);
            counts[at] += of(passed);
        }
        drop_zeros(&mut counts);
        counts
    }

    fn time(&self, epoch: u64) -> WallTime {
        let since = self.clock.bucket.as_nanos() * u128::from(epoch.saturating_sub(self.clock.first));
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        WallTime::from_unix_nanos(self.clock.start.unix_nanos().saturating_add(since))
    }

    fn buckets(&self, time: Duration) -> u64 {
        u64::try_from(time.as_nanos() / self.clock.bucket.as_nanos().max(1)).unwrap_or(u64::MAX).max(1)
    }
}

fn add(counters: &mut Vec<DropIncrease>, more: DropIncrease) {
    match counters.iter_mut().find(|known| known.counter == more.counter) {
        Some(known) => known.packets = known.packets + more.packets,
        None => counters.push(more),
    }
}

const fn place(heading: Heading) -> usize {
    match heading {
        Heading::Inbound => 0,
        Heading::Outbound => 1,
    }
}

fn count(buckets: u64) -> u32 {
    u32::try_from(buckets).unwrap_or(u32::MAX)
}

/// What is kept before the counters were read that had not grown yet, and behind those that had.
const BEFORE: Duration = Duration::from_millis(50);
const BEHIND: Duration = Duration::from_millis(20);
/// Buckets with packets of a direction in memory, and those of a moment: of 100 us the last 400 ms.
const MOST_RECENT: usize = 4_096;
/// Moments with their buckets; further ones are counted.
const MOST_MOMENTS: usize = 16;

#[cfg(test)]
mod tests {
    use units::PacketCount;

    use super::*;

    fn recorder() -> DropRecorder {
        let start = WallTime::from_unix_nanos(1_000_000_000);
        DropRecorder::new(BucketClock { bucket: Duration::from_millis(1), first: 1_000, start })
    }

    fn drops(packets: u64) -> Vec<DropIncrease> {
        vec![DropIncrease { counter: "rx_dropped".to_owned(), packets: PacketCount::new(packets) }]
    }

    fn push(recorder: &mut DropRecorder, epochs: std::ops::Range<u64>) {
        for epoch in epochs {
            let tick = Tick { epoch, bytes: epoch, ..Tick::default() };
            recorder.push(Heading::Outbound, &tick);
            recorder.settle(epoch);
        }
    }

    #[test]
    fn buckets_before_within_and_behind_a_drop_are_kept_and_no_others() {
        let mut recorder = recorder();
        push(&mut recorder, 1_000..1_200);
        recorder.dropped(1_100..=1_199, drops(3));
        push(&mut recorder, 1_200..1_400);
        let (moments, more) = recorder.finish();
        let [moment] = &moments[..] else { panic!("one moment: {moments:?}") };
        assert_eq!((more, moment.after.unix_nanos(), moment.within), (0, 1_100_000_000, Duration::from_millis(100)));
        let [inbound, outbound] = &moment.directions[..] else { panic!("two directions") };
        assert!(inbound.wire_bytes.is_empty());
        assert_eq!((outbound.start.unix_nanos(), outbound.wire_bytes.len()), (1_050_000_000, 170));
        assert_eq!((outbound.wire_bytes[0], outbound.wire_bytes[169]), (1_050, 1_219));
    }

    #[test]
    fn drops_that_follow_each_other_are_one_moment_and_further_moments_are_counted() {
        let mut recorder = recorder();
        recorder.dropped(1_000..=1_009, drops(1));
        recorder.dropped(1_010..=1_019, drops(2));
        push(&mut recorder, 1_020..1_100);
        for moment in 0..20 {
            recorder.dropped(2_000 + moment * 1_000..=2_000 + moment * 1_000, drops(1));
        }
        let (moments, more) = recorder.finish();
        assert_eq!((moments.len(), more), (MOST_MOMENTS, 5));
        assert_eq!((moments[0].counters[0].packets.get(), moments[0].within), (3, Duration::from_millis(20)));
    }
}
