//! What passed in one bucket.

use std::time::Duration;

use units::{ByteCount, DataRate};

/// What passed in one bucket. Buckets without a packet and without a retransmission are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Which: time over the length of a bucket.
    pub epoch: u64,
    /// Bytes from the Ethernet header on.
    pub bytes: u64,
    /// Packets on the wire.
    pub packets: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// One bit of 128 for each flow, by its hash.
    pub flows: u128,
    /// How often TCP of this host retransmitted, one segment or several together.
    pub retransmissions: u64,
}

impl Tick {
    /// What the bucket holds, of what is kept of each.
    pub(super) fn passed(&self) -> Passed {
        Passed { number: self.epoch, bytes: self.on_wire(), marked: self.marked, retransmissions: self.retransmissions }
    }

    /// Bytes on the physical layer: check sequence 4, preamble 8 and gap 12 for each packet (IEEE 802.3).
    pub(super) fn on_wire(&self) -> u64 {
        self.bytes.saturating_add(self.packets.saturating_mul(AROUND_FRAME))
    }
}

/// What passed on the physical layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    /// Which bucket, or which window.
    pub(super) number: u64,
    pub(super) bytes: u64,
    /// Packets marked CE.
    pub(super) marked: u64,
    pub(super) retransmissions: u64,
}

/// The rate of so many bytes within so much time.
pub(super) fn rate(bytes: u64, time: Duration) -> DataRate {
    DataRate::of(ByteCount::new(bytes), time).unwrap_or(DataRate::ZERO)
}

/// How many flows set the bits of a sketch: with z of m bits clear, m ln(m / z) (Whang and others, "linear counting", 1990).
#[must_use]
pub fn flows(sketch: u128) -> u64 {
    let clear = f64::from(sketch.count_zeros());
    if clear < 1.0 {
        return MOST_FLOWS;
    }
    let bits = f64::from(u128::BITS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 621")]
    let estimate = (bits * (bits / clear).ln()).round() as u64;
    estimate
}

/// One more in the class of its power of two.
pub(super) fn count(classes: &mut Vec<u64>, value: u64) {
    let class = usize::try_from(value.max(1).ilog2()).unwrap_or(0);
    if classes.len() <= class {
        classes.resize(class + 1, 0);
    }
    classes[class] += 1;
}

const AROUND_FRAME: u64 = 24;
/// With one bit clear the estimate is 621; with none it has no end.
const MOST_FLOWS: u64 = 622;
