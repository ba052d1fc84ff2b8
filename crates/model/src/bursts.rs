//! Bursts of a device: what passed in buckets of a millisecond or less, and the runs of buckets that were nearly full.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::measurement::Heading;

/// What was seen of one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstReport {
    /// Version of this format; see [`BurstReport::FORMAT`].
    pub format: u32,
    /// Name of the host that was watched.
    pub host: String,
    /// The namespace as it was asked for; none for that of the watcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the device that was watched.
    pub device: String,
    /// When the watch began.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long it was.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// How long a bucket is.
    #[serde(rename = "bucket_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub bucket: Duration,
    /// Who counted.
    pub counted_by: CountedBy,
    /// The line rate that utilisation is relative to; absent where it is not known.
    #[serde(rename = "line_rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub line_rate: Option<DataRate>,
    /// A run of buckets above this part of the line rate is a burst, in percent.
    pub threshold_percent: u8,
    /// What passed in each direction.
    pub directions: Vec<DirectionBursts>,
    /// The TCP connections of the namespace that moved most meanwhile, the most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busiest: Vec<BusyConnection>,
    /// TCP segments that the namespace retransmitted meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// Packets that the device dropped meanwhile, by the kernel's count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<PacketCount>,
    /// Moments at which packets were dropped, with the buckets around each, in order of time: 16 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<DropMoment>,
    /// How many more such moments there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_drops: u64,
    /// What a reader has to know: coarse counting, interrupt coalescing, an unknown line rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl BurstReport {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// A moment at which packets were dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DropMoment {
    /// When the counters were read last before they grew.
    #[serde(rename = "after_unix_ns")]
    pub after: WallTime,
    /// How long after that they were read that had grown: the drops were in between.
    #[serde(rename = "within_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub within: Duration,
    /// The counters, with how much each grew.
    pub counters: Vec<DropIncrease>,
    /// What passed meanwhile, 50 ms before and 20 ms behind.
    pub directions: Vec<BucketsAround>,
}

/// A counter of drops that grew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DropIncrease {
    /// Its name: `rx_dropped`, `softnet dropped` (of the whole host), `7: tbf qdisc drops`.
    pub counter: String,
    /// By how many packets.
    pub packets: PacketCount,
}

/// Buckets of one direction around a drop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BucketsAround {
    /// Which direction.
    pub heading: Heading,
    /// When the first bucket began.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// Bytes on the physical layer of each bucket, up to the last that had any.
    pub wire_bytes: Vec<u64>,
    /// Packets marked CE of each bucket, up to the last that had any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<u64>,
    /// How often TCP of this host retransmitted in each bucket, up to the last in which it did; empty for what comes in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retransmissions: Vec<u64>,
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Who counted the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// A program in the kernel, packet by packet.
    Program,
    /// The device's counters, read every 10 ms.
    Counters,
}

/// What passed in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionBursts {
    /// Which.
    pub heading: Heading,
    /// Bytes from the Ethernet header on, without check sequence, preamble and gap.
    pub bytes: ByteCount,
    /// Packets on the wire.
    pub packets: PacketCount,
    /// Packets marked CE; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<PacketCount>,
    /// How often TCP of this host retransmitted by this device, one segment or several together; absent where nobody looked, and
    /// for what comes in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u64>,
    /// Buckets that were not read in time: nothing is known of them.
    pub missed_buckets: u64,
    /// The rate on the physical layer, with preamble, check sequence and gap: over the whole time.
    #[serde(rename = "mean_bps")]
    pub mean: DataRate,
    /// The same over the busiest second.
    #[serde(rename = "busiest_second_bps")]
    pub busiest_second: DataRate,
    /// The same over the busiest bucket. It may be above the line rate: the kernel takes packets in batches.
    #[serde(rename = "busiest_bucket_bps")]
    pub busiest_bucket: DataRate,
    /// Bursts.
    pub bursts: u64,
    /// Bytes in bursts.
    #[serde(rename = "burst_bytes")]
    pub in_bursts: ByteCount,
    /// Bursts by length: at place n those of 2^n buckets and more, up to the next.
    pub by_length: Vec<u64>,
    /// Bursts by volume: at place n those of 2^n KiB and more, up to the next; those below a KiB are at place 0.
    pub by_volume: Vec<u64>,
    /// The largest bursts, the largest first.
    pub largest: Vec<Burst>,
    /// The buffer that a slower link would have needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueNeed>,
    /// Rates over time, for pictures: equal steps.
    pub steps: RateSteps,
    /// Bursts over time by their length, for a heat map; empty in reports of older programs.
    #[serde(default, skip_serializing_if = "BurstsOverTime::is_empty")]
    pub over_time: BurstsOverTime,
}

/// A run of buckets above the threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Burst {
    /// When it began.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long it was: whole buckets.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// Its bytes, from the Ethernet header on.
    pub bytes: ByteCount,
    /// Its packets on the wire.
    pub packets: PacketCount,
    /// Of those, marked CE.
    pub marked: PacketCount,
    /// The rate of its busiest bucket on the physical layer.
    #[serde(rename = "peak_bps")]
    pub peak: DataRate,
    /// About how many flows it had, by a sketch of 128 bits; absent where nobody looked. Above some 300 it says no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// How often TCP of this host retransmitted in it; absent as in its direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u64>,
    /// Its flows of TCP and UDP with most bytes, the most first, 8 at most; empty where nobody looked, and in reports of older
    /// programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busiest: Vec<BurstFlow>,
}

/// A flow of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstFlow {
    /// Where its packets come from.
    pub source: SocketAddr,
    /// Where they go.
    pub destination: SocketAddr,
    /// The protocol of IP: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// About how many bytes of the burst are its, by the packets that were looked at: the first 16 of a millisecond and CPU, and
    /// one of sixteen behind them.
    pub bytes: ByteCount,
}

/// The buffer before a slower link that these packets would have filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueNeed {
    /// The rate of that link on the physical layer.
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// The most that would have stood before it.
    #[serde(rename = "most_bytes")]
    pub most: ByteCount,
}

/// Rates in equal steps of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateSteps {
    /// How long a step is.
    #[serde(rename = "step_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Duration,
    /// The mean of each step on the physical layer.
    #[serde(rename = "mean_bps")]
    pub mean: Vec<DataRate>,
    /// The busiest bucket of each step.
    #[serde(rename = "busiest_bps")]
    pub busiest: Vec<DataRate>,
    /// How often TCP of this host retransmitted in each step, up to the last in which it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retransmissions: Vec<u64>,
}

/// Bursts by when they began and how long they were: a row of counts for each step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstsOverTime {
    /// How long a step is.
    #[serde(rename = "step_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub step: Duration,
    /// Of each step: at place n its bursts of 2^n buckets and more, up to the next.
    pub by_length: Vec<Vec<u64>>,
}

impl BurstsOverTime {
    /// Whether there was no burst.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }
}

/// A TCP connection that was there before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyConnection {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub peer: SocketAddr,
    /// Payload sent meanwhile.
    #[serde(rename = "sent_bytes")]
    pub sent: ByteCount,
    /// Payload received meanwhile.
    #[serde(rename = "received_bytes")]
    pub received: ByteCount,
}
