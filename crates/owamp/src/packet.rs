//! STAMP test packets, unauthenticated (RFC 8762 §4.2.1, §4.3.1): 44 bytes each way.

use units::{MonoTime, WallTime};

/// Length of both packets, so that an answer is never longer than its question.
pub const PACKET_LEN: usize = 44;

/// A time as NTP writes it: seconds since 1900 and a binary fraction of 2^-32 s (RFC 5905 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NtpTime(u64);

/// The sender's test packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Number of the probe, from 0.
    pub sequence: u32,
    /// When it was sent, by the sender's clock.
    pub sent: NtpTime,
    /// The sender's error estimate, as it stands.
    pub error_estimate: u16,
}

/// The reflector's test packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Number of the answer; a stateless reflector repeats the question's (RFC 8762 §4).
    pub sequence: u32,
    /// When it was sent, by the reflector's clock.
    pub sent: NtpTime,
    /// The reflector's error estimate.
    pub error_estimate: u16,
    /// When the question arrived, by the reflector's clock.
    pub received: NtpTime,
    /// The question.
    pub question: Question,
    /// Time to live (or hop limit) with which the question arrived; 255 where it is not known.
    pub question_ttl: u8,
}

/// A datagram that is no test packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{length} bytes are too few for a test packet of {PACKET_LEN}")]
pub struct TooShort {
    length: usize,
}

/// Clock not synchronised, NTP format, an error of 2^-32 s times 1: the multiplier must not be zero
/// (RFC 8762 §4.2.1, RFC 4656 §4.1.2).
pub const UNSYNCHRONISED: u16 = 0x0001;

impl NtpTime {
    /// Seconds from 1900 to 1970.
    const UNIX_EPOCH: u64 = 2_208_988_800;

    /// The NTP form of a calendar time; it wraps in 2036, as NTP's eras do.
    #[must_use]
    pub fn from_wall(time: WallTime) -> Self {
        let nanos = u128::from(time.unix_nanos());
        let seconds = (nanos / 1_000_000_000 + u128::from(Self::UNIX_EPOCH)) & 0xffff_ffff;
        let fraction = ((nanos % 1_000_000_000) << 32) / 1_000_000_000;
        Self(u64::try_from((seconds << 32) | fraction).unwrap_or(0))
    }

    /// The monotonic time of a clock whose stamps run `ahead_ns` before it; `None` where that lies before its epoch.
    #[must_use]
    pub fn to_mono(self, ahead_ns: i64) -> Option<MonoTime> {
        let stamp_of_epoch = Self::from_wall(WallTime::from_unix_nanos(u64::try_from(ahead_ns).ok()?));
        u64::try_from(self.nanos_since(stamp_of_epoch)).ok().map(MonoTime::from_nanos)
    }

    /// Nanoseconds from `earlier` to this time, across an era's end; negative where this one is earlier.
    #[must_use]
    pub fn nanos_since(self, earlier: Self) -> i64 {
        let difference = i128::from(self.0.wrapping_sub(earlier.0).cast_signed());
        i64::try_from((difference * 1_000_000_000) >> 32).unwrap_or(i64::MAX)
    }
}

impl Question {
    /// Reads a sender's packet. Longer ones are cut: the rest is padding (RFC 8762 §4.3) or extensions (RFC 8972).
    ///
    /// # Errors
    /// If the datagram is shorter than a test packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, TooShort> {
        let packet: &[u8; PACKET_LEN] = bytes.first_chunk().ok_or(TooShort { length: bytes.len() })?;
        Ok(Self { sequence: u32_at(packet, 0), sent: NtpTime(u64_at(packet, 4)), error_estimate: u16_at(packet, 12) })
    }

    /// Writes the packet.
    #[must_use]
    pub fn emit(&self) -> [u8; PACKET_LEN] {
        let mut packet = [0; PACKET_LEN];
        self.write(&mut packet, 0);
        packet
    }

    fn write(&self, packet: &mut [u8; PACKET_LEN], at: usize) {
        packet[at..at + 4].copy_from_slice(&self.sequence.to_be_bytes());
        packet[at + 4..at + 12].copy_from_slice(&self.sent.0.to_be_bytes());
        packet[at + 12..at + 14].copy_from_slice(&self.error_estimate.to_be_bytes());
    }
}

impl Answer {
    /// Reads a reflector's packet.
    ///
    /// # Errors
    /// If the datagram is shorter than a test packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, TooShort> {
        let packet: &[u8; PACKET_LEN] = bytes.first_chunk().ok_or(TooShort { length: bytes.len() })?;
        Ok(Self {
            sequence: u32_at(packet, 0),
            sent: NtpTime(u64_at(packet, 4)),
            error_estimate: u16_at(packet, 12),
            received: NtpTime(u64_at(packet, 16)),
            question: Question {
                sequence: u32_at(packet, 24),
                sent: NtpTime(u64_at(packet, 28)),
                error_estimate: u16_at(packet, 36),
            },
            question_ttl: packet[40],
        })
    }

    /// Writes the packet.
    #[must_use]
    pub fn emit(&self) -> [u8; PACKET_LEN] {
        let mut packet = [0; PACKET_LEN];
        packet[..4].copy_from_slice(&self.sequence.to_be_bytes());
        packet[4..12].copy_from_slice(&self.sent.0.to_be_bytes());
        packet[12..14].copy_from_slice(&self.error_estimate.to_be_bytes());
        packet[16..24].copy_from_slice(&self.received.0.to_be_bytes());
        self.question.write(&mut packet, 24);
        packet[40] = self.question_ttl;
        packet
    }
}

fn u16_at(packet: &[u8; PACKET_LEN], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn u32_at(packet: &[u8; PACKET_LEN], at: usize) -> u32 {
    (u32::from(u16_at(packet, at)) << 16) | u32::from(u16_at(packet, at + 2))
}

fn u64_at(packet: &[u8; PACKET_LEN], at: usize) -> u64 {
    (u64::from(u32_at(packet, at)) << 32) | u64::from(u32_at(packet, at + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ntp(unix_nanos: u64) -> NtpTime {
        NtpTime::from_wall(WallTime::from_unix_nanos(unix_nanos))
    }

    #[test]
    fn the_fields_lie_where_the_standard_puts_them() {
        let question = Question { sequence: 0x0102_0304, sent: NtpTime(0x1112_1314_1516_1718), error_estimate: 0x8001 };
        let answer = Answer {
            sequence: 5,
            sent: NtpTime(6),
            error_estimate: UNSYNCHRONISED,
            received: NtpTime(7),
            question,
            question_ttl: 64,
        };
        let bytes = answer.emit();
        assert_eq!(bytes[..4], [0, 0, 0, 5]);
        assert_eq!(bytes[12..16], [0, 1, 0, 0], "error estimate, then zeros");
        assert_eq!(bytes[16..24], [0, 0, 0, 0, 0, 0, 0, 7], "receive time stamp at 16");
        assert_eq!(bytes[24..28], [1, 2, 3, 4], "the sender's sequence at 24");
        assert_eq!(bytes[28..36], [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
        assert_eq!(bytes[40..], [64, 0, 0, 0]);
        assert_eq!(Answer::parse(&bytes), Ok(answer));
        assert_eq!(Question::parse(&question.emit()), Ok(question));
    }

    #[test]
    fn times_are_kept_to_a_nanosecond() {
        let start = 1_790_000_000_123_456_789;
        assert_eq!(ntp(start + 209_000_000).nanos_since(ntp(start)).abs_diff(209_000_000), 0);
        assert!((ntp(start).nanos_since(ntp(start + 5)) + 5).abs() <= 1);
    }

    #[test]
    fn a_stamp_leads_back_to_the_monotonic_clock() {
        let ahead = 1_790_000_000_123_456_789;
        let mono = ntp(ahead + 86_400_000_000_000).to_mono(ahead.cast_signed()).unwrap();
        assert!(mono.as_nanos().abs_diff(86_400_000_000_000) <= 1);
        assert_eq!(ntp(5).to_mono(-1), None);
    }

    #[test]
    fn differences_cross_the_end_of_an_era() {
        let era_end = (4_294_967_296 - 2_208_988_800) * 1_000_000_000;
        assert_eq!(ntp(era_end + 1_000_000).nanos_since(ntp(era_end - 1_000_000)), 2_000_000);
    }

    #[test]
    fn a_short_datagram_is_no_packet() {
        assert_eq!(Question::parse(&[0; 43]), Err(TooShort { length: 43 }));
    }
}
