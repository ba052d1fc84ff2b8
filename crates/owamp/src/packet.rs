//! Test packets, unauthenticated: of OWAMP (RFC 4656 §4.1.2), TWAMP (RFC 5357 §4.1.2, §4.2.1) and STAMP (RFC 8762 §4.2.1,
//! §4.3.1). Their first octets are the same; what follows is padding or, for STAMP, extensions (RFC 8972).

use crate::estimate::ErrorEstimate;
use crate::fields::Fields;
use crate::time::NtpTime;

/// What a session's sender puts first into each packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderPacket {
    /// Number of the packet, from 0.
    pub sequence: u32,
    /// When it was sent, by the sender's clock.
    pub sent: NtpTime,
    /// How wrong that clock may be.
    pub error: ErrorEstimate,
}

/// What a reflector sends for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReflectedPacket {
    /// Number of the reflected packet; a stateless reflector repeats the sender's (RFC 8762 §4).
    pub sequence: u32,
    /// When it was sent, by the reflector's clock.
    pub sent: NtpTime,
    /// How wrong that clock may be.
    pub error: ErrorEstimate,
    /// When the sender's packet arrived, by the reflector's clock.
    pub received: NtpTime,
    /// The sender's packet.
    pub sender: SenderPacket,
    /// TTL or hop limit with which the sender's packet arrived; 255 where it is not known.
    pub sender_ttl: u8,
}

/// A datagram that is no test packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{length} bytes are too few for a test packet of {least}")]
pub struct TooShort {
    length: usize,
    least: usize,
}

impl SenderPacket {
    /// Octets before the padding.
    pub const LEN: usize = 14;

    /// Reads a packet; what is behind it is not looked at.
    ///
    /// # Errors
    /// If the datagram is shorter than a test packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, TooShort> {
        let too_short = TooShort { length: bytes.len(), least: Self::LEN };
        bytes.first_chunk().map(|octets| Self::read(&Fields(*octets))).ok_or(too_short)
    }

    /// Writes the packet, with zeros for its padding.
    ///
    /// # Panics
    /// Where `N` is below [`Self::LEN`].
    #[must_use]
    pub fn emit<const N: usize>(&self) -> [u8; N] {
        Fields::ZERO.with(0, &self.write().0).0
    }

    fn read(fields: &Fields<{ Self::LEN }>) -> Self {
        Self {
            sequence: fields.u32(0),
            sent: NtpTime::from_bits(fields.u64(4)),
            error: ErrorEstimate::from_bits(fields.u16(12)),
        }
    }

    fn write(&self) -> Fields<{ Self::LEN }> {
        Fields::ZERO
            .with(0, &self.sequence.to_be_bytes())
            .with(4, &self.sent.bits().to_be_bytes())
            .with(12, &self.error.bits().to_be_bytes())
    }
}

impl ReflectedPacket {
    /// Octets before the padding: those of TWAMP. STAMP's has 44, and so has its sender's packet.
    pub const LEN: usize = 41;

    /// Reads a packet; what is behind it is not looked at.
    ///
    /// # Errors
    /// If the datagram is shorter than a reflected packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, TooShort> {
        let octets = bytes.first_chunk().ok_or(TooShort { length: bytes.len(), least: Self::LEN })?;
        let fields: Fields<{ Self::LEN }> = Fields(*octets);
        let own = SenderPacket::read(&Fields(fields.octets(0)));
        Ok(Self {
            sequence: own.sequence,
            sent: own.sent,
            error: own.error,
            received: NtpTime::from_bits(fields.u64(16)),
            sender: SenderPacket::read(&Fields(fields.octets(24))),
            sender_ttl: fields.0[40],
        })
    }

    /// Writes the packet, with zeros for its padding.
    ///
    /// # Panics
    /// Where `N` is below [`Self::LEN`].
    #[must_use]
    pub fn emit<const N: usize>(&self) -> [u8; N] {
        let own = SenderPacket { sequence: self.sequence, sent: self.sent, error: self.error };
        Fields::ZERO
            .with(0, &own.write().0)
            .with(16, &self.received.bits().to_be_bytes())
            .with(24, &self.sender.write().0)
            .with(40, &[self.sender_ttl])
            .0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_lie_where_the_standard_puts_them() {
        let sender = SenderPacket {
            sequence: 0x0102_0304,
            sent: NtpTime::from_bits(0x1112_1314_1516_1718),
            error: ErrorEstimate::from_bits(0x8001),
        };
        let reflected = ReflectedPacket {
            sequence: 5,
            sent: NtpTime::from_bits(6),
            error: ErrorEstimate::UNSYNCHRONISED,
            received: NtpTime::from_bits(7),
            sender,
            sender_ttl: 64,
        };
        let bytes: [u8; 44] = reflected.emit();
        assert_eq!(bytes[..4], [0, 0, 0, 5]);
        assert_eq!(bytes[12..16], [0, 1, 0, 0], "error estimate, then zeros");
        assert_eq!(bytes[16..24], [0, 0, 0, 0, 0, 0, 0, 7], "receive time stamp at 16");
        assert_eq!(bytes[24..28], [1, 2, 3, 4], "the sender's sequence at 24");
        assert_eq!(bytes[28..36], [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
        assert_eq!(bytes[40..], [64, 0, 0, 0]);
        assert_eq!(ReflectedPacket::parse(&bytes), Ok(reflected));
        assert_eq!(SenderPacket::parse(&sender.emit::<44>()), Ok(sender));
    }

    #[test]
    fn a_short_datagram_is_no_packet() {
        assert_eq!(SenderPacket::parse(&[0; 13]), Err(TooShort { length: 13, least: 14 }));
        assert_eq!(ReflectedPacket::parse(&[0; 40]), Err(TooShort { length: 40, least: 41 }));
    }
}
