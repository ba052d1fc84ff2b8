//! Whether data arrives at one rate most of the time: a bottleneck that is always busy gives what it has, and no more.

/// Bytes of RTT ticks, counted in buckets of 2 %.
#[derive(Debug, Clone)]
pub(crate) struct Steadiness {
    counts: Vec<u32>,
    total: u64,
    pending_bytes: f64,
    pending_ticks: u64,
}

/// The rate that is reached most of the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FullRate {
    /// Bytes of a tick that a tenth of all exceed.
    pub(crate) bytes_per_tick: f64,
    /// Share of the ticks that come within 6 % of it.
    pub(crate) share: f64,
}

/// Ticks that are counted as one rate.
const TOGETHER: u64 = 4;
const PER_OCTAVE: u32 = 32;
const OCTAVES: u32 = 40;
/// Buckets below the full rate that count as reached: 6 %.
const WITHIN: usize = 3;
/// Ticks of fewer say nothing.
const LEAST_TICKS: u64 = 20;

impl Steadiness {
    pub(crate) fn new() -> Self {
        Self { counts: Vec::new(), total: 0, pending_bytes: 0.0, pending_ticks: 0 }
    }

    /// So many ticks of so many bytes each.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate, and its bucket: not negative, and bound by the next line"
    )]
    pub(crate) fn take(&mut self, bytes_per_tick: f64, ticks: u64) {
        // Together, so that a super-packet more or less makes no difference.
        self.pending_bytes += bytes_per_tick * ticks as f64;
        self.pending_ticks += ticks;
        if self.pending_ticks < TOGETHER {
            return;
        }
        let (bytes_per_tick, ticks) = (self.pending_bytes / self.pending_ticks as f64, self.pending_ticks);
        (self.pending_bytes, self.pending_ticks) = (0.0, 0);
        let buckets = (PER_OCTAVE * OCTAVES) as usize;
        self.counts.resize(buckets, 0);
        let bucket = (bytes_per_tick.max(1.0).log2() * f64::from(PER_OCTAVE)) as usize;
        if let Some(count) = self.counts.get_mut(bucket.min(buckets - 1)) {
            *count = count.saturating_add(u32::try_from(ticks).unwrap_or(u32::MAX));
            self.total = self.total.saturating_add(ticks);
        }
    }

    /// None of a short transfer.
    #[expect(clippy::cast_precision_loss, reason = "shares")]
    pub(crate) fn full_rate(&self) -> Option<FullRate> {
        if self.total < LEAST_TICKS {
            return None;
        }
        let mut above = 0;
        let from_top = |(_, count): &(usize, &u32)| {
            above += u64::from(**count);
            above * 10 >= self.total
        };
        let (full, _) = self.counts.iter().enumerate().rev().find(from_top)?;
        let reached: u64 = self.counts.iter().skip(full.saturating_sub(WITHIN)).map(|count| u64::from(*count)).sum();
        let bytes_per_tick = (full as f64 / f64::from(PER_OCTAVE)).exp2();
        Some(FullRate { bytes_per_tick, share: reached as f64 / self.total as f64 })
    }
}

saved!(Steadiness { counts, total, pending_bytes, pending_ticks });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_is_reached_nearly_always_is_the_full_one() {
        let mut steady = Steadiness::new();
        steady.take(500.0, 12);
        steady.take(1_000.0, 108);
        let full = steady.full_rate().map(|full| (full.share, (full.bytes_per_tick / 1_000.0 - 1.0).abs() < 0.03));
        assert_eq!(full, Some((0.9, true)));
    }

    #[test]
    fn a_sawtooth_is_not_steady() {
        let mut steady = Steadiness::new();
        (70..100).for_each(|percent| steady.take(f64::from(percent) * 1_000.0, TOGETHER));
        assert!(steady.full_rate().is_some_and(|full| full.share < 0.4));
    }
}
