//! The narrowest link of a path, and the queues before it.

use std::num::NonZeroU32;

use path::ElementSpec;
use path::buffer::BufferSpec;
use path::elements::{Burst, ClassSpec, ClassesSpec, CrossSpec, PortSpec};
use units::{ByteCount, DataRate};

/// Where bursts of other traffic wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BurstQueue {
    /// Behind the transfer, and it behind them.
    Shared,
    /// In a queue beside that of the transfer, which is as large.
    Own {
        /// Its part of the link while both queues have something to send, in whole percent.
        percent: u32,
    },
}

impl BurstQueue {
    /// A queue of its own with a share of the link.
    ///
    /// # Errors
    /// Why the share cannot be.
    pub fn own(share: f64) -> Result<Self, &'static str> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate, and 1 to 99 pass")]
        let percent = (share * 100.0).round() as u32;
        if (1..=99).contains(&percent) {
            Ok(Self::Own { percent })
        } else {
            Err("both queues need a part of the link: 0.01 to 0.99")
        }
    }
}

/// A link with its queues, and the bursts that come to it.
#[must_use]
pub fn bottleneck(rate: DataRate, queue: ByteCount, bursts: Vec<Burst>, bursts_wait: BurstQueue) -> ElementSpec {
    let queue = BufferSpec { bytes: Some(queue), ..Default::default() };
    let cross = |dscp| CrossSpec { packet_bytes: None, dscp, bursts };
    let BurstQueue::Own { percent } = bursts_wait else {
        return ElementSpec::Port(PortSpec { rate, queue, cross: cross(0) });
    };
    // In the smallest numbers: a queue's turn is as long as its weight, and no router serves ninety packets in a row.
    let common = divisor(100 - percent, percent);
    let class =
        |percent: u32| ClassSpec { queue: queue.clone(), weight: NonZeroU32::new(percent / common), dscp: Vec::new() };
    ElementSpec::Classes(Box::new(ClassesSpec {
        rate,
        expedited: None,
        best_effort: class(100 - percent),
        scavenger: Some(class(percent)),
        cross: vec![cross(SCAVENGER)],
    }))
}

/// The class of service CS1 (RFC 8622 §1), which `classes` serves as scavenger.
const SCAVENGER: u8 = 8;

/// The greatest number that divides both.
const fn divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_link_is_one_packet_to_nine() {
        let rate = DataRate::from_bps(1_000_000);
        let own = BurstQueue::own(0.1).unwrap();
        let ElementSpec::Classes(classes) = bottleneck(rate, ByteCount::new(10_000), Vec::new(), own) else {
            panic!("no classes")
        };
        let weights = [Some(&classes.best_effort), classes.scavenger.as_ref()].map(|class| class.unwrap().weight);
        assert_eq!(weights, [NonZeroU32::new(9), NonZeroU32::new(1)]);
        for share in [0.0, 0.004, 0.996, 1.0, f64::NAN] {
            assert!(BurstQueue::own(share).is_err(), "{share}");
        }
    }
}
