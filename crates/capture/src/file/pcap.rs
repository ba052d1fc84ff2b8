//! The classic format: a header of 24 bytes, then records of 16 bytes and a packet each.

use super::field::ByteOrder;
use super::record::{FileError, MAX_RECORD_BYTES, Packet, Position, Step};

pub(super) const HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

/// What the header says of all records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pcap {
    order: ByteOrder,
    /// Nanoseconds in a unit of the second field of a time.
    fraction_ns: i64,
    link: u16,
}

impl Pcap {
    /// Reads the header; [`None`] where it is not all there.
    pub(super) fn header(bytes: &[u8]) -> Option<Result<Self, ()>> {
        let (order, fraction_ns) = match bytes.first_chunk::<4>()? {
            [0xd4, 0xc3, 0xb2, 0xa1] => (ByteOrder::Little, 1_000),
            [0xa1, 0xb2, 0xc3, 0xd4] => (ByteOrder::Big, 1_000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (ByteOrder::Little, 1),
            [0xa1, 0xb2, 0x3c, 0x4d] => (ByteOrder::Big, 1),
            _ => return Some(Err(())),
        };
        // The upper bits of the field say how long the frame check sequence is.
        let link = (order.u32(bytes, 20)? & 0xffff) as u16;
        Some(Ok(Self { order, fraction_ns, link }))
    }

    /// The next record.
    #[inline]
    pub(super) fn record<'a>(&self, bytes: &'a [u8], position: &mut Position) -> Result<Step<'a>, FileError> {
        let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() else { return Ok(Step::More) };
        let [s0, s1, s2, s3, f0, f1, f2, f3, l0, l1, l2, l3, w0, w1, w2, w3] = *header;
        let (seconds, fraction) = (self.order.of([s0, s1, s2, s3]), self.order.of([f0, f1, f2, f3]));
        let (stored, wire_bytes) = (self.order.of([l0, l1, l2, l3]) as usize, self.order.of([w0, w1, w2, w3]));
        if stored > MAX_RECORD_BYTES {
            return Err(FileError::Length {
                offset: position.offset,
                frame: position.frame,
                what: "a stored packet",
                found: stored as u64,
                limit: MAX_RECORD_BYTES as u64,
            });
        }
        let Some(stored_bytes) = bytes.get(RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + stored) else {
            return Ok(Step::More);
        };
        position.frame += 1;
        let packet = Packet {
            frame: position.frame,
            time_ns: i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.fraction_ns,
            bytes: stored_bytes,
            wire_bytes,
            link: self.link,
            interface: 0,
        };
        Ok(Step::Packet(RECORD_HEADER_BYTES + stored, packet))
    }
}

saved!(Pcap { order, fraction_ns, link });
