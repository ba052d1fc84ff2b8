//! Numbers without a pattern, the same in every run: a plan has one schedule.

/// A generator of them (xorshift64*, Vigna 2016).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `limit`, which is above zero.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap_or(0) % limit.max(1)
    }
}
