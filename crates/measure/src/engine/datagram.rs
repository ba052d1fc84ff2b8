//! The header of a test datagram, iperf3's: time of sending, then the number from 1.
//!
//! Seconds and microseconds of the sender's monotonic clock, 32 bits each, big-endian; the number has 32 or 64 bits,
//! as the client's parameters say. Only differences of times mean anything, since the two clocks are unrelated.

use units::MonoTime;

/// How wide the number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterWidth {
    /// 32 bits: wraps after 4 billion datagrams, which old peers accept.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// Bytes of the longer header.
pub const HEADER_LEN: usize = 16;

/// Writes the header to the start of `payload`, which is at least [`HEADER_LEN`] long.
#[expect(clippy::cast_possible_truncation, reason = "the wire has 32 bits, and both sides expect them to wrap")]
pub fn write(payload: &mut [u8], sent: MonoTime, number: u64, width: CounterWidth) {
    let micros = sent.as_nanos() / 1_000;
    payload[..4].copy_from_slice(&((micros / 1_000_000) as u32).to_be_bytes());
    payload[4..8].copy_from_slice(&((micros % 1_000_000) as u32).to_be_bytes());
    match width {
        CounterWidth::Bits32 => payload[8..12].copy_from_slice(&(number as u32).to_be_bytes()),
        CounterWidth::Bits64 => payload[8..16].copy_from_slice(&number.to_be_bytes()),
    }
}

/// Reads microseconds of the sender's clock and the number; `None` where the datagram is too short.
#[must_use]
pub fn read(payload: &[u8], width: CounterWidth) -> Option<(u64, u64)> {
    let word = |at: usize| payload.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes).map(u64::from);
    let micros = word(0)? * 1_000_000 + word(4)?;
    let number = match width {
        CounterWidth::Bits32 => word(8)?,
        CounterWidth::Bits64 => (word(8)? << 32) | word(12)?,
    };
    Some((micros, number))
}

/// Smoothed difference of transit times (RFC 3550 §6.4.1), in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jitter {
    last_transit_us: Option<i64>,
    last_sent_us: Option<u64>,
    smoothed_ns: i64,
}

impl Jitter {
    /// Whether a datagram was sent at another time than the one before it. Those of one batch bear one sending time and arrive together:
    /// only the first says how long its sending was under way, and the others would smooth every difference to nothing.
    pub fn begins_a_batch(&mut self, sent_us: u64) -> bool {
        self.last_sent_us.replace(sent_us) != Some(sent_us)
    }

    /// Notes one datagram's transit: arrival less sending, of unrelated clocks.
    pub fn note(&mut self, transit_us: i64) {
        if let Some(last) = self.last_transit_us.replace(transit_us) {
            let difference_ns = transit_us.saturating_sub(last).saturating_abs().saturating_mul(1_000);
            self.smoothed_ns += (difference_ns - self.smoothed_ns) / 16;
        }
    }

    /// The smoothed difference.
    #[must_use]
    pub fn smoothed(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.smoothed_ns.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_both_widths_are_read_back() {
        let sent = MonoTime::from_nanos(3_000_007_000);
        let mut payload = [0; HEADER_LEN];
        write(&mut payload, sent, 42, CounterWidth::Bits32);
        assert_eq!(payload[..12], [0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 42]);
        assert_eq!(read(&payload[..12], CounterWidth::Bits32), Some((3_000_007, 42)));
        write(&mut payload, sent, 1 << 40, CounterWidth::Bits64);
        assert_eq!(read(&payload, CounterWidth::Bits64), Some((3_000_007, 1 << 40)));
        assert_eq!(read(&payload[..12], CounterWidth::Bits64), None);
    }

    /// 64 datagrams to a batch, as `sendmmsg` hands them over: between batches the transit changes by 40 us.
    #[test]
    fn datagrams_of_one_sending_count_once() {
        let mut jitter = Jitter::default();
        for batch in 0..200_u64 {
            let transit_us = if batch % 2 == 0 { 100 } else { 140 };
            for _ in 0..64 {
                if jitter.begins_a_batch(batch * 500) {
                    jitter.note(transit_us);
                }
            }
        }
        let smoothed = jitter.smoothed().as_nanos();
        assert!((39_000..=40_000).contains(&smoothed), "{smoothed} ns");
    }

    #[test]
    fn a_steady_transit_has_no_jitter() {
        let mut jitter = Jitter::default();
        for _ in 0..100 {
            jitter.note(-5_000_000);
        }
        assert_eq!(jitter.smoothed(), std::time::Duration::ZERO);
        jitter.note(-5_000_000 + 1_600);
        assert_eq!(jitter.smoothed(), std::time::Duration::from_micros(100));
    }
}
