//! The end of all sessions of a connection (RFC 4656 §3.8).

use super::{Accept, BLOCK, ControlError, Protocol, Reading, STOP};
use crate::fields::Fields;
use crate::session::SessionId;

/// Says that its author sends no more, and what it has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopSessions {
    /// Whether all was well with its author.
    pub accept: Accept,
    /// How many sessions there were, of TWAMP, which does not name them.
    pub count: u32,
    /// The sessions in which its author was the sender, of OWAMP.
    pub sent: Vec<SentSession>,
}

/// What was sent in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentSession {
    /// Which.
    pub session: SessionId,
    /// The number that the next packet would have had.
    pub next_sequence: u32,
    /// Packets whose time was missed, and which were not sent.
    pub skipped: Vec<SkippedRange>,
}

/// Packets that were not sent, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedRange {
    /// First sequence number that was left out.
    pub first: u32,
    /// The last, which may be the same.
    pub last: u32,
}

/// Sessions in one message at most.
pub const MAX_SESSIONS: u32 = 64;
/// Ranges of skipped packets of one session at most.
pub const MAX_SKIPS: u32 = 4_096;

impl StopSessions {
    /// Reads the message at the beginning of `octets`, as far as it has come.
    ///
    /// # Errors
    /// If it lists more than is accepted, or is no such message.
    pub fn parse(octets: &[u8], protocol: Protocol) -> Result<Reading<Self>, ControlError> {
        let Some(head) = octets.first_chunk::<BLOCK>().map(|head| Fields(*head)) else {
            return Ok(Reading::Needs(BLOCK));
        };
        if head.0[0] != STOP {
            return Err(ControlError::UnknownCommand(head.0[0]));
        }
        let count = head.u32(4);
        let mut sent = Vec::new();
        let mut at = BLOCK;
        if protocol == Protocol::Owamp {
            Promised { what: "sessions to stop", count }.at_most(MAX_SESSIONS)?;
            for _ in 0..count {
                match SentSession::parse(octets.get(at..).unwrap_or_default())? {
                    Reading::Needs(octets) => return Ok(Reading::Needs(at + octets)),
                    Reading::Whole { message, length } => {
                        sent.push(message);
                        at += length;
                    }
                }
            }
        }
        let length = at.next_multiple_of(BLOCK) + BLOCK;
        if octets.len() < length {
            return Ok(Reading::Needs(length));
        }
        let message = Self { accept: Accept::from_octet(head.0[1]), count, sent };
        Ok(Reading::Whole { message, length })
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        let head = Fields::<BLOCK>::ZERO.with(0, &[STOP, self.accept.octet()]).with(4, &self.count.to_be_bytes());
        let mut octets = head.0.to_vec();
        for session in &self.sent {
            octets.extend(session.session.0);
            octets.extend(session.next_sequence.to_be_bytes());
            octets.extend(emit_skips(&session.skipped));
        }
        octets.resize(octets.len().next_multiple_of(BLOCK) + BLOCK, 0);
        octets
    }
}

impl SentSession {
    fn parse(octets: &[u8]) -> Result<Reading<Self>, ControlError> {
        const HEAD: usize = 24;
        let Some(head) = octets.first_chunk::<HEAD>().map(|head| Fields(*head)) else {
            return Ok(Reading::Needs(HEAD));
        };
        let count = head.u32(20);
        Promised { what: "ranges of skipped packets", count }.at_most(MAX_SKIPS)?;
        let length = HEAD + SKIP * count as usize;
        let Some(ranges) = octets.get(HEAD..length) else { return Ok(Reading::Needs(length)) };
        let message =
            Self { session: SessionId(head.octets(0)), next_sequence: head.u32(16), skipped: parse_skips(ranges) };
        Ok(Reading::Whole { message, length })
    }
}

/// How many ranges, then each.
pub(super) fn emit_skips(ranges: &[SkippedRange]) -> Vec<u8> {
    let mut octets = u32::try_from(ranges.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    ranges.iter().for_each(|range| octets.extend(emit_skip(range)));
    octets
}

pub(super) fn emit_skip(range: &SkippedRange) -> [u8; SKIP] {
    Fields::ZERO.with(0, &range.first.to_be_bytes()).with(4, &range.last.to_be_bytes()).0
}

pub(super) fn parse_skips(octets: &[u8]) -> Vec<SkippedRange> {
    let (ranges, _) = octets.as_chunks::<SKIP>();
    ranges
        .iter()
        .map(|range| Fields(*range))
        .map(|range| SkippedRange { first: range.u32(0), last: range.u32(4) })
        .collect()
}

/// How many of something a message says that follow.
pub(super) struct Promised {
    pub(super) what: &'static str,
    pub(super) count: u32,
}

impl Promised {
    pub(super) fn at_most(self, most: u32) -> Result<(), ControlError> {
        let Self { what, count } = self;
        if count > most { Err(ControlError::TooMany { what, count, most }) } else { Ok(()) }
    }
}

/// Octets of a range.
pub(super) const SKIP: usize = 8;
