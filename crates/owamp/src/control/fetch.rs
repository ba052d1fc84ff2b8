//! What a receiver noted, on request (RFC 4656 §3.9).

use super::stop::{MAX_SKIPS, Promised, SKIP, SkippedRange, emit_skip, parse_skips};
use super::{Accept, BLOCK, ControlError, FETCH};
use crate::fields::Fields;
use crate::record::PacketRecord;
use crate::session::SessionId;

/// Asks for the records of a session that this server received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchSession {
    /// The first packet wanted; 0 for all.
    pub begin: u32,
    /// The last packet wanted; the largest number for all.
    pub end: u32,
    /// Which session.
    pub session: SessionId,
}

impl FetchSession {
    /// Octets.
    pub const LEN: usize = 48;

    /// All records of a session.
    #[must_use]
    pub const fn all(session: SessionId) -> Self {
        Self { begin: 0, end: u32::MAX, session }
    }

    /// Reads the message.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        let fields = Fields(*octets);
        Self { begin: fields.u32(8), end: fields.u32(12), session: SessionId(fields.octets(16)) }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO
            .with(0, &[FETCH])
            .with(8, &self.begin.to_be_bytes())
            .with(12, &self.end.to_be_bytes())
            .with(16, &self.session.0)
            .0
    }
}

/// The head of the answer. Behind it, where it is accepted, come the request of the session, the skipped ranges with an
/// HMAC, and the records, filled up to a block and with an HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchAck {
    /// Whether the records follow.
    pub accept: Accept,
    /// Whether the session ran to its end.
    pub finished: Finished,
    /// The number that the sender's next packet would have had.
    pub next_sequence: u32,
    /// Ranges of packets that were not sent.
    pub skips: u32,
    /// Records.
    pub records: u32,
}

/// Whether a session ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// It did.
    Yes,
    /// It runs, or was broken off.
    No,
}

/// Records of a session at most: a day at ten packets a second is 864,000.
pub const MAX_RECORDS: u32 = 1_000_000;

impl FetchAck {
    /// Octets.
    pub const LEN: usize = 32;

    /// Reads the message.
    ///
    /// # Errors
    /// If it announces more than is accepted.
    pub fn parse(octets: &[u8; Self::LEN]) -> Result<Self, ControlError> {
        let fields = Fields(*octets);
        let ack = Self {
            accept: Accept::from_octet(fields.0[0]),
            finished: if fields.0[1] == 0 { Finished::No } else { Finished::Yes },
            next_sequence: fields.u32(4),
            skips: fields.u32(8),
            records: fields.u32(12),
        };
        Promised { what: "ranges of skipped packets", count: ack.skips }.at_most(MAX_SKIPS)?;
        Promised { what: "records of a session", count: ack.records }.at_most(MAX_RECORDS)?;
        Ok(ack)
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        let finished = u8::from(self.finished == Finished::Yes);
        Fields::ZERO
            .with(0, &[self.accept.octet(), finished])
            .with(4, &self.next_sequence.to_be_bytes())
            .with(8, &self.skips.to_be_bytes())
            .with(12, &self.records.to_be_bytes())
            .0
    }

    /// Octets of the skipped ranges that it announces, with their HMAC.
    #[must_use]
    pub const fn skips_length(&self) -> usize {
        (SKIP * self.skips as usize).next_multiple_of(BLOCK) + BLOCK
    }

    /// Octets of the records that it announces, with their HMAC.
    #[must_use]
    pub const fn records_length(&self) -> usize {
        (PacketRecord::LEN * self.records as usize).next_multiple_of(BLOCK) + BLOCK
    }

    /// Reads the skipped ranges.
    #[must_use]
    pub fn skipped(&self, octets: &[u8]) -> Vec<SkippedRange> {
        parse_skips(octets.get(..SKIP * self.skips as usize).unwrap_or(octets))
    }

    /// Reads the records.
    #[must_use]
    pub fn read_records(&self, octets: &[u8]) -> Vec<PacketRecord> {
        let (records, _) = octets.as_chunks::<{ PacketRecord::LEN }>();
        records.iter().take(self.records as usize).map(PacketRecord::parse).collect()
    }
}

/// Writes what stands behind the request in an answer.
#[must_use]
pub fn emit_body(skipped: &[SkippedRange], records: &[PacketRecord]) -> Vec<u8> {
    let mut octets: Vec<u8> = skipped.iter().flat_map(emit_skip).collect();
    octets.resize(octets.len().next_multiple_of(BLOCK) + BLOCK, 0);
    records.iter().for_each(|record| octets.extend(record.emit()));
    octets.resize(octets.len().next_multiple_of(BLOCK) + BLOCK, 0);
    octets
}
