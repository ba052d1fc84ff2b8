//! Copies of one packet: a span port that mirrors both directions of a port, or a capture of all interfaces.

use crate::decode::{Segment, flag};

/// The last packets of a connection, by digest.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    first: Option<Recent>,
    /// Made when a second packet comes: of a connection of one packet there is nothing to compare.
    last: Option<Box<Digests>>,
}

/// Places for digests.
type Digests = [[Recent; PLACES]; SLOTS];

/// When a packet of a digest was seen last.
#[derive(Debug, Clone, Copy)]
struct Recent {
    digest: u32,
    time_ns: i64,
}

const SLOTS: usize = 32;
/// A packet and its answer are captured at one instant, and so are their copies.
const PLACES: usize = 2;
/// A copy comes within this.
const COPY_NS: i64 = 1_000_000;
/// Without an IP ID (IPv6, for one), a packet that has everything else of the one before is a copy within this: no sender has heard of a
/// loss so soon, and retransmits.
const TWIN_NS: i64 = 50_000;

/// No packet.
const NONE: Recent = Recent { digest: 0, time_ns: i64::MIN };

impl Copies {
    /// Whether memory is used for more than one packet.
    #[cfg(test)]
    pub(super) fn has_table(&self) -> bool {
        self.last.is_some()
    }

    /// Whether this is a copy of a packet that has just been seen. The IP ID tells a copy from a retransmission, and where there is none
    /// the time.
    #[inline]
    pub(crate) fn is_copy(&mut self, segment: &Segment) -> bool {
        if segment.has(flag::RST) {
            return false;
        }
        let within_ns = if segment.ip_id == 0 { TWIN_NS } else { COPY_NS };
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.0);
        let mut digest = u32::from(segment.ip_id) << 16 | u32::from(segment.checksum);
        let rest = u32::from(segment.window) << 16 | u32::from(segment.flags);
        let sack = segment.options.sack.as_slice().first().map_or(0, |block| block.0 ^ block.1.rotate_left(7));
        for field in [segment.seq, segment.ack, stamp, segment.payload, rest, sack] {
            digest = (digest ^ field).wrapping_mul(0x9e37_79b1).rotate_left(13);
        }
        let recent = Recent { digest, time_ns: segment.time_ns };
        let Some(first) = self.first else {
            self.first = Some(recent);
            return false;
        };
        let is_same =
            |last: &Recent| last.digest == digest && segment.time_ns.saturating_sub(last.time_ns) <= within_ns;
        let last = self.last.get_or_insert_with(|| {
            let mut last = Box::new([[NONE; PLACES]; SLOTS]);
            last[slot(first.digest)][0] = first;
            last
        });
        let [one, other] = &mut last[slot(digest)];
        let is_copy = is_same(one) || is_same(other);
        let place = if is_same(one) || !is_same(other) && one.time_ns <= other.time_ns { one } else { other };
        *place = recent;
        is_copy
    }
}

fn slot(digest: u32) -> usize {
    (digest >> 4) as usize % SLOTS
}

saved!(Copies { first, last });
saved!(Recent { digest, time_ns });
