//! What a receiver noted of each packet (RFC 4656 §3.9).

use std::collections::HashSet;

use crate::control::request::SessionRequest;
use crate::estimate::ErrorEstimate;
use crate::fields::Fields;
use crate::schedule::Schedule;
use crate::time::NtpTime;

/// One packet as its receiver saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketRecord {
    /// Sequence number of the packet, from 0.
    pub sequence: u32,
    /// How wrong the sender's clock may be.
    pub sender_error: ErrorEstimate,
    /// How wrong the receiver's clock may be.
    pub receiver_error: ErrorEstimate,
    /// When it was sent; of a lost one when it was due.
    pub sent: NtpTime,
    /// When it arrived; zero of a lost one.
    pub received: NtpTime,
    /// TTL or hop limit with which it arrived; 255 where the receiver does not know it.
    pub ttl: u8,
}

impl PacketRecord {
    /// Octets.
    pub const LEN: usize = 25;

    /// Reads the record.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        let fields = Fields(*octets);
        Self {
            sequence: fields.u32(0),
            sender_error: ErrorEstimate::from_bits(fields.u16(4)),
            receiver_error: ErrorEstimate::from_bits(fields.u16(6)),
            sent: NtpTime::from_bits(fields.u64(8)),
            received: NtpTime::from_bits(fields.u64(16)),
            ttl: fields.0[24],
        }
    }

    /// Writes the record.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO
            .with(0, &self.sequence.to_be_bytes())
            .with(4, &self.sender_error.bits().to_be_bytes())
            .with(6, &self.receiver_error.bits().to_be_bytes())
            .with(8, &self.sent.bits().to_be_bytes())
            .with(16, &self.received.bits().to_be_bytes())
            .with(24, &[self.ttl])
            .0
    }

    /// Whether the packet did not arrive.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.received == NtpTime::default()
    }

    /// Nanoseconds from sending to arrival by two clocks, so negative where these differ by more than the delay.
    #[must_use]
    pub fn delay_ns(&self) -> i64 {
        self.received.nanos_since(self.sent)
    }
}

/// The records of a session with one more for each packet below `next_sequence` that has none: a lost packet's, with the
/// time at which it was due (RFC 4656 §3.9). owping counts losses by these.
#[must_use]
pub fn with_lost(mut records: Vec<PacketRecord>, request: &SessionRequest, next_sequence: u32) -> Vec<PacketRecord> {
    let seen: HashSet<u32> = records.iter().map(|record| record.sequence).collect();
    let mut due = request.start;
    for (sequence, wait) in (0..next_sequence).zip(Schedule::new(&request.slots, request.session)) {
        due = due.after(wait);
        if !seen.contains(&sequence) {
            records.push(PacketRecord {
                sequence,
                sender_error: ErrorEstimate::UNSYNCHRONISED,
                receiver_error: ErrorEstimate::UNSYNCHRONISED,
                sent: due,
                received: NtpTime::default(),
                ttl: u8::MAX,
            });
        }
    }
    records
}
