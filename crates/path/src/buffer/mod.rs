//! A queue: trains that wait, and the discipline that says which may.
//!
//! | file | discipline |
//! |---|---|
//! | `mod` | tail drop, with or without marks above a threshold |
//! | `red` | early drops and marks at random |
//! | `codel` | drops and marks of what has waited too long |

use std::collections::VecDeque;

use serde::Deserialize;
use units::{ByteCount, MonoTime, PacketCount};

use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::{Delay, Drop, Mark};
use crate::spec::SpecError;
use crate::train::{Ecn, FrameId, Train};

/// A queue as it is written in files. Without any limit it holds everything.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BufferSpec {
    /// Most bytes that wait. The packet that is being sent does not count.
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub bytes: Option<ByteCount>,
    /// Most packets that wait.
    #[serde(default)]
    pub packets: Option<u64>,
    /// Mark packets that understand it, instead of letting them in unmarked, while more bytes than these wait.
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub mark_above: Option<ByteCount>,
}

impl BufferSpec {
    /// # Errors
    /// A limit that lets nothing in.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.bytes == Some(ByteCount::new(0)) || self.packets == Some(0) {
            return Err(SpecError::Zero { element: "queue", key: "bytes or packets" });
        }
        Ok(())
    }
}

/// Trains that wait.
#[derive(Debug)]
pub struct Buffer {
    spec: BufferSpec,
    waiting: VecDeque<Train>,
    bytes: u64,
    packets: u64,
    /// How many of the trains are not phantoms.
    real: usize,
}

impl Buffer {
    /// An empty queue.
    #[must_use]
    pub fn new(spec: BufferSpec, _seed: Seed) -> Self {
        Self { spec, waiting: VecDeque::with_capacity(FIRST_ROOM), bytes: 0, packets: 0, real: 0 }
    }

    /// Goes on with another limit. What waits may be more than that, and stays.
    pub fn adopt(&mut self, spec: BufferSpec) {
        self.spec = spec;
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether anything but phantoms waits.
    #[must_use]
    pub fn holds_real(&self) -> bool {
        self.real > 0
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> ByteCount {
        ByteCount::new(self.bytes)
    }

    /// Packets that wait.
    #[must_use]
    pub fn packets(&self) -> PacketCount {
        PacketCount::new(self.packets)
    }

    /// Lets in as many packets of a train as there is room for, and drops the rest.
    ///
    /// Model: a train comes whole at one instant, so its own packets compete for the room; a network would have sent
    /// some of them on while the others still came.
    pub fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        let (admitted, refused) = train.split_front(self.room_for(&train));
        if let Some(refused) = refused.filter(|train| train.frame != FrameId::PHANTOM) {
            out.drop(refused, Drop::QueueFull);
        }
        let Some(mut admitted) = admitted else { return };
        let above = self.spec.mark_above.is_some_and(|threshold| self.bytes > threshold.get());
        if above && admitted.ecn.may_be_marked() && admitted.frame != FrameId::PHANTOM {
            admitted = out.mark(admitted, Ecn::Marked, Mark::Threshold);
        }
        self.push(admitted);
    }

    /// Takes up to `most` bytes of packets from the front, but at least one packet.
    pub fn take(&mut self, most: u64, out: &mut Outlet<'_>) -> Option<Train> {
        let front = self.waiting.pop_front()?;
        let (taken, rest) = front.split_front(front.packets_within(most).max(1));
        if let Some(rest) = rest {
            self.waiting.push_front(rest);
        }
        let taken = taken?;
        self.bytes -= taken.bytes().get();
        self.packets -= u64::from(taken.count.get());
        if taken.frame != FrameId::PHANTOM {
            self.real -= usize::from(rest.is_none());
            out.delayed(&taken, Delay::Queue, out.now().since(taken.came));
        }
        Some(taken)
    }

    /// Size of the packet at the front.
    #[must_use]
    pub fn front_packet(&self) -> Option<ByteCount> {
        self.waiting.front().map(|train| train.bytes_of_front(1))
    }

    /// When the train at the front came.
    #[must_use]
    pub fn front_came(&self) -> Option<MonoTime> {
        self.waiting.front().map(|train| train.came)
    }

    fn push(&mut self, train: Train) {
        self.bytes += train.bytes().get();
        self.packets += u64::from(train.count.get());
        self.real += usize::from(train.frame != FrameId::PHANTOM);
        self.waiting.push_back(train);
    }

    /// How many packets of a train fit.
    fn room_for(&self, train: &Train) -> u32 {
        let by_bytes = match self.spec.bytes {
            Some(limit) => train.packets_within(limit.get().saturating_sub(self.bytes)),
            None => train.count.get(),
        };
        let by_packets = self.spec.packets.map_or(u64::MAX, |limit| limit.saturating_sub(self.packets));
        u32::try_from(by_packets).unwrap_or(u32::MAX).min(by_bytes)
    }
}

/// Trains for which a queue has room from its start, so that it seldom grows later.
const FIRST_ROOM: usize = 1_024;
