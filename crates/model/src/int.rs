//! In-band network telemetry, interval by interval.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

/// What switches reported in one interval: one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntInterval {
    /// Version of this format; see [`IntInterval::FORMAT`].
    pub format: u32,
    /// When it began.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long it was.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// Datagrams that came.
    pub datagrams: u64,
    /// Reports in them.
    pub reports: u64,
    /// Datagrams that were no reports, or not to their end.
    pub malformed: u64,
    /// Reports that do not have every hop.
    pub incomplete: u64,
    /// Reports that do not say of which flow they are.
    pub without_flow: u64,
    /// Senders and hops beyond the most that are kept.
    pub not_kept: u64,
    /// Datagrams that the kernel dropped at the collector's socket; absent where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_at_socket: Option<u64>,
    /// The unit of occupancy in bytes, as it was declared; without one it is the device's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_bytes: Option<u32>,
    /// Who sent reports, with the gaps in their sequence numbers.
    pub senders: Vec<SenderTelemetry>,
    /// Queues of switches.
    pub hops: Vec<HopTelemetry>,
}

impl IntInterval {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// Reports of one sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SenderTelemetry {
    /// Version of the report format: 1 or 2.
    pub version: u8,
    /// Switch or node id.
    pub node: u32,
    /// The part of the device (`hw_id`).
    pub hardware: u8,
    /// Datagrams of it.
    pub datagrams: u64,
    /// Sequence numbers that did not come.
    pub lost: u64,
    /// Sequence numbers that came after a later one.
    pub late: u64,
    /// Sequence numbers that came again.
    pub duplicates: u64,
}

/// What was reported of one queue of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopTelemetry {
    /// Switch or node id.
    pub node: u32,
    /// Port that packets left by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress_port: Option<u16>,
    /// Queue of that port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u8>,
    /// Reports of it.
    pub reports: u64,
    /// Reports of packets that it dropped.
    pub dropped: u64,
    /// Mean occupancy, in units of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_occupancy: Option<u64>,
    /// Greatest occupancy, in units of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_occupancy: Option<u64>,
    /// Reports by occupancy: at place n those below 2^n that are not below half of it.
    pub occupancy_classes: Vec<u64>,
    /// Mean time within the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_latency_ns: Option<u64>,
    /// Greatest time within the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_latency_ns: Option<u64>,
    /// Reports by time within the switch in nanoseconds: as of `occupancy_classes`.
    pub latency_classes: Vec<u64>,
    /// The flow of the packet that met the greatest occupancy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_flow: Option<FlowOfPeak>,
}

/// A flow that INT reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowOfPeak {
    /// Where it is from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The protocol of IP.
    pub protocol: u8,
    /// The outermost VLAN, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
}
