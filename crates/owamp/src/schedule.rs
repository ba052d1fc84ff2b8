//! When the packets of a session are due (RFC 4656 §3.6, §5).
//!
//! Both ends derive the schedule from the request, so the receiver knows when a packet that never came was due.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

use crate::session::SessionId;
use crate::time::NtpInterval;

/// One entry of the list that a session's sender goes through again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A wait whose length is drawn from the exponential distribution of this mean.
    Exponential(NtpInterval),
    /// A wait of this length.
    Fixed(NtpInterval),
}

/// The waits before the packets of a session, without end.
#[derive(Debug, Clone)]
pub struct Schedule {
    slots: Vec<Slot>,
    next: usize,
    draws: ExponentialDeviates,
}

impl Schedule {
    /// The schedule of these slots. Exponential waits are those of the session of this name.
    #[must_use]
    pub fn new(slots: &[Slot], session: SessionId) -> Self {
        Self { slots: slots.to_vec(), next: 0, draws: ExponentialDeviates::new(session) }
    }
}

impl Iterator for Schedule {
    type Item = NtpInterval;

    /// The wait before the next packet, from the one before or from the start of the session; none where there is no slot.
    fn next(&mut self) -> Option<NtpInterval> {
        let slot = *self.slots.get(self.next)?;
        self.next = (self.next + 1) % self.slots.len();
        Some(match slot {
            Slot::Fixed(wait) => wait,
            Slot::Exponential(mean) => NtpInterval::from_bits(product([mean.bits(), self.draws.draw()])),
        })
    }
}

/// Exponential deviates of mean 1, in 32.32 fixed point, the same on every machine for one name of a session.
#[derive(Debug, Clone)]
struct ExponentialDeviates {
    cipher: Aes128,
    drawn: u128,
    block: [u8; 16],
}

/// Partial sums of the series of ln 2, times 2^32 (RFC 4656 §5.4). The first is ln 2 itself.
const Q: [u64; 11] = [
    0xb172_17f8,
    0xeef1_93f7,
    0xfd27_1862,
    0xff9d_6dd0,
    0xfff4_cfd0,
    0xfffe_e819,
    0xffff_e7ff,
    0xffff_fe2b,
    0xffff_ffe0,
    0xffff_fffe,
    0xffff_ffff,
];

impl ExponentialDeviates {
    fn new(session: SessionId) -> Self {
        Self { cipher: Aes128::new(&session.0.into()), drawn: 0, block: [0; 16] }
    }

    /// 32 uniform bits: a quarter of AES of a counter, whose lowest two bits say which quarter.
    fn uniform(&mut self) -> u32 {
        let quarter = usize::try_from(self.drawn % 4).unwrap_or(0);
        if quarter == 0 {
            let mut block = self.drawn.to_be_bytes().into();
            self.cipher.encrypt_block(&mut block);
            self.block = block.into();
        }
        self.drawn = self.drawn.wrapping_add(1);
        let at = 4 * quarter;
        u32::from_be_bytes([self.block[at], self.block[at + 1], self.block[at + 2], self.block[at + 3]])
    }

    /// Knuth's algorithm S (The Art of Computer Programming, volume 2, 3.4.1), as RFC 4656 §5.1 prescribes it.
    fn draw(&mut self) -> u64 {
        let uniform = self.uniform();
        let ones = uniform.leading_ones();
        let ones_ln2 = u64::from(ones) * Q[0];
        // S1: the bits behind the first zero. Where there is none, the deviate is 32 ln 2.
        let rest = u64::from(uniform.checked_shl(ones + 1).unwrap_or(0));
        // S2: accepted at once.
        if rest < Q[0] {
            return ones_ln2 + rest;
        }
        // S3: the least of k uniform deviates, k being the first with rest < Q[k]; the last Q is as large as any rest.
        let k = Q.iter().position(|sum| rest < *sum).map_or(Q.len(), |index| index + 1);
        let least = (0..k).map(|_| self.uniform()).min().unwrap_or(0);
        // S4: (ones + least) ln 2.
        product([(u64::from(ones) << 32) | u64::from(least), Q[0]])
    }
}

/// The product of two numbers in 32.32 fixed point, cut (RFC 4656 §5.2); the largest number where it is too large.
fn product([a, b]: [u64; 2]) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)) >> 32).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// RFC 4656, appendix B: sums of a million deviates.
    #[test]
    fn deviates_are_those_of_the_standard_to_the_last_bit() {
        for (session, sum) in [
            (0x2872_9793_03ab_47ee_ac02_8dab_3829_dab2_u128, 0x000f_4479_bd31_7381_u64),
            (0x0102_0304_0506_0708_090a_0b0c_0d0e_0f00, 0x000f_4336_8646_6a62),
        ] {
            let mut draws = ExponentialDeviates::new(SessionId(session.to_be_bytes()));
            let found: u64 = (0..1_000_000).map(|_| draws.draw()).sum();
            assert_eq!(found, sum, "{session:032x}: {found:x} and not {sum:x}");
        }
    }

    #[test]
    fn slots_take_turns() {
        let of = |ms| NtpInterval::from_duration(Duration::from_millis(ms));
        let slots = [Slot::Fixed(of(1)), Slot::Fixed(of(2)), Slot::Exponential(of(3))];
        let waits: Vec<_> = Schedule::new(&slots, SessionId([7; 16])).take(5).collect();
        assert_eq!([waits[0], waits[1], waits[3], waits[4]], [of(1), of(2), of(1), of(2)]);
        assert_eq!(Schedule::new(&[], SessionId([7; 16])).next(), None);
    }

    #[test]
    fn a_mean_of_a_century_has_waits_that_fit() {
        let century = Slot::Exponential(NtpInterval::from_bits(u64::MAX));
        assert_eq!(Schedule::new(&[century], SessionId([9; 16])).take(100).count(), 100);
    }
}
