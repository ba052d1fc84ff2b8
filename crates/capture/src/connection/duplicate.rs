//! Copies of one packet: a span port that mirrors both directions of a port, or a capture of all interfaces.

use crate::decode::{Segment, flag};

/// The last packets of a connection, by digest.
#[derive(Debug)]
pub(crate) struct Copies {
    last: [(u32, i64); SLOTS],
}

const SLOTS: usize = 64;
/// A copy comes within this.
const COPY_NS: i64 = 1_000_000;

impl Default for Copies {
    fn default() -> Self {
        Self { last: [(0, i64::MIN); SLOTS] }
    }
}

impl Copies {
    /// Whether this is a copy of a packet that has just been seen. Only the IP ID tells a copy from a retransmission, so
    /// packets without one are never copies.
    #[inline]
    pub(crate) fn is_copy(&mut self, segment: &Segment) -> bool {
        if segment.ip_id == 0 || segment.has(flag::RST) {
            return false;
        }
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.0);
        let mut digest = u32::from(segment.ip_id) << 16 | u32::from(segment.checksum);
        for field in [segment.seq, segment.ack, stamp, segment.payload] {
            digest = (digest ^ field).wrapping_mul(0x9e37_79b1).rotate_left(13);
        }
        let slot = (digest >> 3) as usize % SLOTS;
        let Some(last) = self.last.get_mut(slot) else { return false };
        let is_copy = last.0 == digest && segment.time_ns.saturating_sub(last.1) <= COPY_NS;
        *last = (digest, segment.time_ns);
        is_copy
    }
}
