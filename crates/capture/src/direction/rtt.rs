//! RTTs: of segments that were sent once, and of time stamps that come back.

use std::collections::VecDeque;

/// RTT samples of one direction, all in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct RttMeter {
    pub(crate) samples: u64,
    pub(crate) min_ns: i64,
    pub(crate) max_ns: i64,
    pub(crate) last_ns: i64,
    /// The least one of the round before, and of this round so far.
    pub(crate) round_min_ns: i64,
    next_round_min_ns: Option<i64>,
    /// RFC 6298.
    pub(crate) smoothed_ns: i64,
    /// The same before the last sample.
    pub(crate) smoothed_before_ns: i64,
    pub(crate) variation_ns: i64,
    sum_ns: i128,
    /// Samples by size, for the median: a bucket for each eighth of a power of two.
    pub(crate) histogram: Histogram,
}

impl RttMeter {
    #[inline]
    pub(crate) fn take(&mut self, sample_ns: i64) {
        let sample_ns = sample_ns.max(0);
        self.smoothed_before_ns = self.smoothed_ns;
        if self.samples == 0 {
            (self.min_ns, self.smoothed_ns, self.variation_ns) = (sample_ns, sample_ns, sample_ns / 2);
        } else {
            self.min_ns = self.min_ns.min(sample_ns);
            self.variation_ns += ((sample_ns - self.smoothed_ns).abs() - self.variation_ns) / 4;
            self.smoothed_ns += (sample_ns - self.smoothed_ns) / 8;
        }
        self.samples += 1;
        self.last_ns = sample_ns;
        self.next_round_min_ns = Some(self.next_round_min_ns.map_or(sample_ns, |least_ns| least_ns.min(sample_ns)));
        self.max_ns = self.max_ns.max(sample_ns);
        self.sum_ns += i128::from(sample_ns);
        self.histogram.take(sample_ns);
    }

    /// A round is over. Returns its least sample; a round without one says nothing.
    pub(crate) fn end_round(&mut self) -> Option<i64> {
        let least_ns = self.next_round_min_ns.take();
        self.round_min_ns = least_ns.unwrap_or(self.round_min_ns);
        least_ns
    }

    /// When the retransmission timer fires: Linux's least variation is 200 ms.
    pub(crate) fn timeout_ns(&self) -> i64 {
        if self.samples == 0 { 1_000_000_000 } else { self.smoothed_ns + (4 * self.variation_ns).max(200_000_000) }
    }
}

/// Counts of durations in buckets that are 1/8 of a power of two wide; the last one takes all above half an hour.
/// There are none before the first sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
}

impl Histogram {
    /// From a microsecond to half an hour.
    const BUCKETS: usize = 8 * 31;
    const FIRST_POWER: u32 = 10;

    #[inline]
    fn take(&mut self, value_ns: i64) {
        let value = value_ns.max(0).unsigned_abs().max(1 << Self::FIRST_POWER);
        let power = value.ilog2();
        let eighth = (value >> (power - 3)) & 7;
        let bucket = ((power - Self::FIRST_POWER) as usize * 8 + eighth as usize).min(Self::BUCKETS - 1);
        if self.counts.is_empty() {
            self.counts.resize(Self::BUCKETS, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
    }

    /// The value below which a share of the samples lie, right to 6 %.
    pub(crate) fn quantile_ns(&self, share: f64) -> Option<i64> {
        let total: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        if total == 0 {
            return None;
        }
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            clippy::cast_possible_truncation,
            reason = "a rank"
        )]
        let rank = (share.clamp(0.0, 1.0) * (total - 1) as f64).round() as u64;
        let mut below = 0;
        for (bucket, count) in (0_u32..).zip(&self.counts) {
            below += u64::from(*count);
            if below > rank {
                let low = (8 + u64::from(bucket % 8)) << (bucket / 8 + Self::FIRST_POWER - 3);
                let width = 1_u64 << (bucket / 8 + Self::FIRST_POWER - 3);
                return i64::try_from(low + width / 2).ok();
            }
        }
        None
    }
}

/// Time stamps of one host, each with the time at which it was first seen, until the peer echoes them.
#[derive(Debug, Default)]
pub(crate) struct StampEchoes {
    waiting: VecDeque<(u32, i64)>,
    newest: Option<u32>,
    last_echo: u32,
}

/// Stamps that wait for their echo; a host that counts milliseconds has a thousand a second.
const MAX_STAMPS: usize = 4_096;

impl StampEchoes {
    /// A host sends a stamp.
    #[inline]
    pub(crate) fn sent(&mut self, value: u32, time_ns: i64) {
        if self.newest.is_some_and(|newest| value.wrapping_sub(newest).cast_signed() <= 0) {
            return;
        }
        self.newest = Some(value);
        if self.waiting.len() >= MAX_STAMPS {
            self.waiting.pop_front();
        }
        self.waiting.push_back((value, time_ns));
    }

    /// The peer echoes a stamp. Returns the RTT from the capture to the peer and back, for its first echo.
    #[inline]
    pub(crate) fn echoed(&mut self, value: u32, time_ns: i64) -> Option<i64> {
        if value == self.last_echo {
            return None;
        }
        self.last_echo = value;
        while let Some((waiting, seen_ns)) = self.waiting.front().copied() {
            match value.wrapping_sub(waiting).cast_signed() {
                0 => {
                    self.waiting.pop_front();
                    return Some(time_ns - seen_ns);
                }
                1.. => {
                    self.waiting.pop_front();
                }
                _ => return None,
            }
        }
        None
    }
}

saved!(RttMeter {
    samples,
    min_ns,
    max_ns,
    last_ns,
    round_min_ns,
    next_round_min_ns,
    smoothed_ns,
    smoothed_before_ns,
    variation_ns,
    sum_ns,
    histogram
});
saved!(Histogram { counts });
saved!(StampEchoes { waiting, newest, last_echo });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_measured_at_its_first_echo_only() {
        let mut echoes = StampEchoes::default();
        echoes.sent(7, 1_000);
        echoes.sent(7, 2_000);
        echoes.sent(9, 3_000);
        assert_eq!(echoes.echoed(7, 5_000), Some(4_000));
        assert_eq!(echoes.echoed(7, 6_000), None);
        assert_eq!(echoes.echoed(9, 9_000), Some(6_000));
    }

    #[test]
    fn quantiles_are_right_to_six_percent() {
        let mut meter = RttMeter::default();
        (1..=1_000).for_each(|ms| meter.take(ms * 1_000_000));
        for (share, expected_ms) in [(0.1, 100.0), (0.5, 500.0), (0.9, 900.0)] {
            let found_ms = meter.histogram.quantile_ns(share).map_or(0.0, |ns| ns as f64 / 1e6);
            assert!((found_ms / expected_ms - 1.0).abs() < 0.06, "{share}: {found_ms}");
        }
    }
}
