//! What the packets of one direction show.

use std::collections::{BTreeMap, HashSet};

use model::probe::one_way::{
    ClockQuality, DelayBucket, DelayHistogram, DelaySummary, HopCount, OneWayResult, PacketTotals,
};
use units::PacketCount;

use crate::control::stop::SkippedRange;
use crate::estimate::ClockState;
use crate::record::PacketRecord;

/// What the sender of a session says that it has sent.
#[derive(Debug, Clone, Copy)]
pub struct SentPackets<'a> {
    /// The number that its next packet would have had.
    pub next_sequence: u32,
    /// Packets among these that it did not send.
    pub skipped: &'a [SkippedRange],
}

impl SentPackets<'_> {
    /// How many were sent.
    #[must_use]
    pub fn count(&self) -> u64 {
        let skipped = self.skipped.iter().map(|range| {
            let end = u64::from(range.last.min(self.next_sequence.saturating_sub(1))) + 1;
            end.saturating_sub(u64::from(range.first))
        });
        u64::from(self.next_sequence).saturating_sub(skipped.sum())
    }
}

/// Sums up the records of a session, in the order of their arrival. Those of lost packets, and of packets that nobody has
/// sent, count as none.
#[must_use]
pub fn summarise(sent: SentPackets<'_>, records: &[PacketRecord]) -> OneWayResult {
    let arrivals = records.iter().filter(|record| !record.is_lost() && record.sequence < sent.next_sequence);
    let mut seen = HashSet::new();
    let mut first_arrivals = Vec::new();
    let (mut duplicated, mut reordered, mut highest) = (0, 0, None);
    for record in arrivals {
        if !seen.insert(record.sequence) {
            duplicated += 1;
            continue;
        }
        reordered += u64::from(highest.is_some_and(|highest| highest > record.sequence));
        highest = highest.max(Some(record.sequence));
        first_arrivals.push(record);
    }
    let delays = Delays::new(first_arrivals.iter().map(|record| record.delay_ns()));
    OneWayResult {
        packets: PacketTotals {
            sent: PacketCount::new(sent.count()),
            lost: PacketCount::new(sent.count().saturating_sub(seen.len() as u64)),
            duplicated: PacketCount::new(duplicated),
            reordered: PacketCount::new(reordered),
        },
        delay: delays.summary(),
        histogram: delays.histogram(),
        hops: hops(first_arrivals.iter().map(|record| record.ttl)),
        clocks: clocks(&first_arrivals),
    }
}

/// Delays, from the least.
pub(crate) struct Delays(Vec<i64>);

/// owping's width of a bucket.
const BUCKET_NS: i64 = 100_000;

impl Delays {
    pub(crate) fn new(delays: impl Iterator<Item = i64>) -> Self {
        let mut delays: Vec<i64> = delays.collect();
        delays.sort_unstable();
        Self(delays)
    }

    pub(crate) fn summary(&self) -> Option<DelaySummary> {
        // The least delay that so many percent of the packets do not exceed (RFC 2330 §11.3).
        let percentile = |percent: usize| self.0.get((self.0.len() * percent).div_ceil(100).checked_sub(1)?).copied();
        let (median_ns, p95_ns) = (percentile(50)?, percentile(95)?);
        let (min_ns, max_ns) = (*self.0.first()?, *self.0.last()?);
        Some(DelaySummary { min_ns, median_ns, p95_ns, max_ns, pdv_ns: p95_ns.abs_diff(median_ns) })
    }

    pub(crate) fn histogram(&self) -> DelayHistogram {
        let mut counts = BTreeMap::<i64, u64>::new();
        for delay in &self.0 {
            *counts.entry(delay.div_euclid(BUCKET_NS).saturating_mul(BUCKET_NS)).or_default() += 1;
        }
        let bucket = |(from_ns, packets)| DelayBucket { from_ns, packets: PacketCount::new(packets) };
        DelayHistogram { width_ns: BUCKET_NS.unsigned_abs(), buckets: counts.into_iter().map(bucket).collect() }
    }
}

/// A receiver that cannot read the TTL writes 255, which nobody can tell from a path without routers.
fn hops(ttls: impl Iterator<Item = u8>) -> Vec<HopCount> {
    let mut counts = BTreeMap::<u8, u64>::new();
    ttls.for_each(|ttl| *counts.entry(u8::MAX - ttl).or_default() += 1);
    counts.into_iter().map(|(hops, packets)| HopCount { hops, packets: PacketCount::new(packets) }).collect()
}

fn clocks(records: &[&PacketRecord]) -> ClockQuality {
    let synchronised = |end: fn(&PacketRecord) -> ClockState| {
        !records.is_empty() && records.iter().all(|record| end(record) == ClockState::Synchronised)
    };
    let error = |record: &&PacketRecord| record.sender_error.nanos().saturating_add(record.receiver_error.nanos());
    ClockQuality {
        sender_synchronised: synchronised(|record| record.sender_error.state()),
        receiver_synchronised: synchronised(|record| record.receiver_error.state()),
        error_ns: records.iter().map(error).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::estimate::ErrorEstimate;
    use crate::time::{NtpInterval, NtpTime};

    fn record(sequence: u32, delay_us: u64) -> PacketRecord {
        let sent = NtpTime::from_bits(1 << 40);
        let good = ErrorEstimate::new(ClockState::Synchronised, Duration::from_micros(10));
        PacketRecord {
            sequence,
            sender_error: good,
            receiver_error: good,
            sent,
            received: sent.after(NtpInterval::from_duration(Duration::from_micros(delay_us))),
            ttl: 250,
        }
    }

    #[test]
    fn each_packet_is_lost_or_arrived_and_a_second_copy_is_neither() {
        let lost = PacketRecord { received: NtpTime::default(), ..record(4, 0) };
        let records = [record(0, 310), record(2, 320), record(1, 330), record(1, 340), lost, record(99, 1)];
        let result = summarise(SentPackets { next_sequence: 6, skipped: &[] }, &records);
        let counts = result.packets;
        assert_eq!([counts.sent, counts.lost, counts.duplicated, counts.reordered].map(PacketCount::get), [6, 3, 1, 1]);
        assert_eq!(result.hops, [HopCount { hops: 5, packets: PacketCount::new(3) }]);
        assert_eq!(result.histogram.buckets, [DelayBucket { from_ns: 300_000, packets: PacketCount::new(3) }]);
        let delay = result.delay.unwrap();
        assert_eq!([delay.min_ns, delay.median_ns, delay.max_ns].map(|ns| (ns + 500) / 1_000), [310, 320, 330]);
        assert!(result.clocks.bounds_delay() && (20_000..21_000).contains(&result.clocks.error_ns));
    }

    #[test]
    fn packets_that_were_not_sent_are_not_lost() {
        let skipped = [SkippedRange { first: 1, last: 2 }, SkippedRange { first: 9, last: 50 }];
        let sent = SentPackets { next_sequence: 10, skipped: &skipped };
        assert_eq!(sent.count(), 7);
        let backwards = [SkippedRange { first: 9, last: 2 }];
        assert_eq!(SentPackets { next_sequence: 10, skipped: &backwards }.count(), 10);
        assert_eq!(SentPackets { next_sequence: 0, skipped: &skipped }.count(), 0);
    }

    #[test]
    fn a_clock_that_is_behind_gives_delays_below_zero_and_the_same_variation() {
        let behind = |mut record: PacketRecord| {
            record.sent = record.sent.after(NtpInterval::from_duration(Duration::from_millis(1)));
            record
        };
        let delays = [100, 200, 250, 900];
        let right: Vec<_> = (0..).zip(delays).map(|(number, us)| record(number, us)).collect();
        let offset: Vec<_> = right.iter().copied().map(behind).collect();
        let sent = SentPackets { next_sequence: 4, skipped: &[] };
        let (right, offset) = (summarise(sent, &right).delay.unwrap(), summarise(sent, &offset).delay.unwrap());
        assert!(offset.min_ns < 0);
        assert!(offset.pdv_ns.abs_diff(right.pdv_ns) <= 2, "{offset:?} {right:?}");
    }

    #[test]
    fn without_an_arrival_nothing_is_said_of_delays_or_clocks() {
        let result = summarise(SentPackets { next_sequence: 3, skipped: &[] }, &[]);
        assert_eq!((result.packets.lost.get(), result.delay), (3, None));
        assert!(!result.clocks.bounds_delay());
    }
}
