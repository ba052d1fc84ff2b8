//! A token bucket: what may pass at a rate, and how much of it at once.

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

/// Tokens for bytes. They come in at a rate and stay until the bucket is full, which it is at first.
///
/// Counted exactly: a token is a billionth of a bit, of which a rate of 1 bit/s adds one in each nanosecond.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: DataRate,
    burst: ByteCount,
    tokens: u128,
    filled: MonoTime,
}

impl Bucket {
    pub(crate) fn new(rate: DataRate, burst: ByteCount, now: MonoTime) -> Self {
        Self { rate, burst, tokens: tokens_for(burst.get()), filled: now }
    }

    /// Goes on with another rate and size.
    pub(crate) fn adopt(&mut self, rate: DataRate, burst: ByteCount, now: MonoTime) {
        self.fill(now);
        (self.rate, self.burst) = (rate, burst);
        self.tokens = self.tokens.min(tokens_for(burst.get()));
    }

    /// Adds the tokens that came since the last call.
    pub(crate) fn fill(&mut self, now: MonoTime) {
        let came = u128::from(self.rate.bps()) * now.since(self.filled).as_nanos();
        self.tokens = (self.tokens + came).min(tokens_for(self.burst.get()));
        self.filled = now;
    }

    /// For how many whole bytes there are tokens.
    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.tokens / TOKENS_A_BYTE).unwrap_or(u64::MAX)
    }

    /// Takes the tokens for so many bytes out; there are as many.
    pub(crate) fn spend(&mut self, bytes: ByteCount) {
        self.tokens = self.tokens.saturating_sub(tokens_for(bytes.get()));
    }

    /// How long after the last call of [`fill`](Self::fill) there will be tokens for so many bytes.
    pub(crate) fn wait_for(&self, bytes: u64) -> Duration {
        let missing = tokens_for(bytes).saturating_sub(self.tokens);
        let nanos = missing.div_ceil(u128::from(self.rate.bps().max(1)));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

fn tokens_for(bytes: u64) -> u128 {
    u128::from(bytes) * TOKENS_A_BYTE
}

const TOKENS_A_BYTE: u128 = 8_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(us: u64) -> MonoTime {
        MonoTime::from_nanos(us * 1_000)
    }

    #[test]
    fn no_token_is_lost_however_often_it_is_filled() {
        let rate = DataRate::from_bps(7);
        let mut often = Bucket::new(rate, ByteCount::new(100), at(0));
        often.spend(ByteCount::new(100));
        let mut once = often.clone();
        (0..=20_000_000).step_by(999).for_each(|us| often.fill(at(us)));
        often.fill(at(20_000_000));
        once.fill(at(20_000_000));
        assert_eq!((often.tokens, once.bytes()), (once.tokens, 17), "7 bit/s for 20 s are 17.5 bytes");
    }

    #[test]
    fn wait_ends_at_the_first_nanosecond_at_which_there_is_enough() {
        let mut bucket = Bucket::new(DataRate::from_bps(3_000_000_000), ByteCount::new(2_000), at(0));
        bucket.spend(ByteCount::new(2_000));
        let wait = bucket.wait_for(1_000);
        assert_eq!(wait, Duration::from_nanos(2_667));
        let mut early = bucket.clone();
        early.fill(at(0) + wait - Duration::from_nanos(1));
        bucket.fill(at(0) + wait);
        assert_eq!((early.bytes(), bucket.bytes()), (999, 1_000));
    }
}
