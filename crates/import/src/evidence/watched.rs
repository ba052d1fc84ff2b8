//! What `linerate watch` saw of a device, of switches and of a host.

use std::collections::BTreeMap;
use std::time::Duration;

use model::bursts::QueueNeed;
use model::host::drops::DropKind;
use model::int::FlowOfPeak;
use model::measurement::Heading;
use units::{ByteCount, DataRate};

/// Bursts of a device in one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceBursts {
    /// Name of the interface that was watched.
    pub device: String,
    /// Which direction, seen from the host of the device.
    pub heading: Heading,
    /// How long it was watched.
    pub length: Duration,
    /// A burst is what is above this part of the line rate, in percent.
    pub threshold_percent: u8,
    /// How many there were.
    pub bursts: u64,
    /// Bytes in them.
    pub in_bursts: ByteCount,
    /// Bytes of the whole time.
    pub bytes: ByteCount,
    /// The mean on the physical layer.
    pub mean: DataRate,
    /// The largest one.
    pub largest: LargestBurst,
    /// The rate of a slower link behind the device, and the most that would have stood before it.
    pub queue: Option<QueueNeed>,
    /// How often TCP of the host retransmitted meanwhile, where somebody looked.
    pub retransmissions: Option<u64>,
}

/// The burst with most bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestBurst {
    /// How long it was.
    pub length: Duration,
    /// Bytes from the Ethernet header on.
    pub bytes: ByteCount,
    /// The rate of its busiest bucket.
    pub peak: DataRate,
}

/// Packets that a device dropped, and what passed around that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropsOfBurst {
    /// The device that was watched.
    pub device: String,
    /// The counter that grew.
    pub counter: String,
    /// By how many packets, at all moments together.
    pub packets: u64,
    /// How many moments.
    pub moments: u64,
    /// How long after the start of the watch it was first.
    pub first: Duration,
    /// The busiest bucket around any of them.
    pub busiest: DataRate,
    /// How long a bucket is.
    pub bucket: Duration,
    /// The mean of the whole watch in the busier direction.
    pub mean: DataRate,
}

/// What switches reported of one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchQueue {
    /// Switch or node id.
    pub node: u32,
    /// The port that packets left by.
    pub port: Option<u16>,
    /// Queue of that port.
    pub queue: Option<u8>,
    /// Reports of it.
    pub reports: u64,
    /// Reports of packets that it dropped.
    pub dropped: u64,
    /// Greatest occupancy, where the size of the device's unit is known.
    pub most_bytes: Option<ByteCount>,
    /// Greatest occupancy, in units of the device.
    pub most_units: Option<u64>,
    /// Greatest time within the switch.
    pub most_latency: Option<Duration>,
    /// The flow of the packet that met the greatest occupancy.
    pub flow: Option<FlowOfPeak>,
}

impl SwitchQueue {
    /// Adds what was reported of the same queue later; whether it is the same.
    pub(crate) fn add(&mut self, later: &Self) -> bool {
        if (self.node, self.port, self.queue) != (later.node, later.port, later.queue) {
            return false;
        }
        self.reports = self.reports.saturating_add(later.reports);
        self.dropped = self.dropped.saturating_add(later.dropped);
        if later.most_units > self.most_units {
            (self.most_units, self.most_bytes, self.flow) = (later.most_units, later.most_bytes, later.flow);
        }
        self.most_latency = self.most_latency.max(later.most_latency);
        true
    }
}

/// What one host dropped and retransmitted while it was watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostDrops {
    /// The host, with its namespace where that is not the host's own.
    pub place: String,
    /// How long, all intervals together.
    pub length: Duration,
    /// Packets lost by each counter.
    pub lost: BTreeMap<String, LostByCounter>,
    /// Segments that TCP sent again, where it is known.
    pub retransmitted: Option<u64>,
}

/// How much a counter of losses grew, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostByCounter {
    /// What it means.
    pub kind: DropKind,
    /// Packets.
    pub packets: u64,
}

impl HostDrops {
    /// Adds another interval of the same place; whether it is the same.
    pub(crate) fn add(&mut self, later: &Self) -> bool {
        if self.place != later.place {
            return false;
        }
        self.length = self.length.saturating_add(later.length);
        for (counter, one) in &later.lost {
            let sum = self.lost.entry(counter.clone()).or_insert(LostByCounter { packets: 0, ..*one });
            sum.packets = sum.packets.saturating_add(one.packets);
        }
        self.retransmitted = match (self.retransmitted, later.retransmitted) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
        true
    }
}
