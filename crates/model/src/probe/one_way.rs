//! Delay and loss of each direction by itself (OWAMP, RFC 4656), or of a round by both (TWAMP, RFC 5357).

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::PacketCount;

use super::Subject;
use crate::run::Outcome;
use crate::spec::Family;

/// What a session of test packets should do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Port of the server's control connection.
    pub port: u16,
    /// Packets in each direction.
    pub count: u32,
    /// Time from one packet to the next, or its mean.
    #[serde(rename = "interval_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub interval: Duration,
    /// Whether the time between packets is always the same.
    pub spacing: Spacing,
    /// Bytes behind the head of each packet, which has 14 bytes after those of UDP.
    pub padding_bytes: u16,
    /// A packet that takes longer counts as lost (RFC 7680 §2.8.2).
    #[serde(rename = "timeout_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub timeout: Duration,
    /// Which directions are measured.
    pub directions: Directions,
    /// Address family; what the name resolves to first where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Local address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<IpAddr>,
    /// The UDP port of this host, for firewalls that permit one; any where absent. The reverse direction uses the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_port: Option<u16>,
}

/// How the times between packets are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Each is as long as the others.
    Fixed,
    /// Drawn from the exponential distribution, so that no period on the path hides from the packets (RFC 2330 §11.1).
    Exponential,
}

/// Which directions are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Directions {
    /// From this host and to it.
    Both,
    /// From this host.
    Forward,
    /// To this host.
    Reverse,
}

/// Sessions of OWAMP with one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneWayProbe {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: SessionSpec,
    /// Whether it worked. A session in which every packet was lost has worked.
    pub outcome: Outcome,
    /// From this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<OneWayResult>,
    /// To this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<OneWayResult>,
}

/// A session of TWAMP with one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoWayProbe {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: SessionSpec,
    /// Whether it worked. A session in which every packet was lost has worked.
    pub outcome: Outcome,
    /// What was found, where packets were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TwoWayResult>,
}

/// What the packets of one direction show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneWayResult {
    /// Packets sent, and of these lost, arrived more than once, and arrived after a later one (RFC 4737 §3).
    #[serde(flatten)]
    pub packets: PacketTotals,
    /// Delay of those that arrived, by two clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelaySummary>,
    /// How many had which delay.
    pub histogram: DelayHistogram,
    /// How many crossed how many routers, where the TTL says so. Two numbers mean two paths.
    pub hops: Vec<HopCount>,
    /// What the two clocks say of themselves.
    pub clocks: ClockQuality,
}

/// What the packets of a session show that were reflected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoWayResult {
    /// Packets sent, lost in one direction or the other, answered more than once, answered after a later one.
    #[serde(flatten)]
    pub packets: PacketTotals,
    /// RTT without the time that the reflector took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<DelaySummary>,
    /// How many had which RTT.
    pub histogram: DelayHistogram,
    /// From this host, of the packets up to the last that was answered.
    pub forward: OneWayResult,
    /// To this host, of the packets up to the last that was answered.
    pub reverse: OneWayResult,
    /// Packets lost after the last that was answered: of these nobody knows in which direction.
    pub lost_at_end: PacketCount,
}

/// Counts of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketTotals {
    /// Sent.
    pub sent: PacketCount,
    /// Sent and not arrived within the timeout.
    pub lost: PacketCount,
    /// Arrived again.
    pub duplicated: PacketCount,
    /// Arrived after a packet with a higher number.
    pub reordered: PacketCount,
}

/// Delays of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelaySummary {
    /// The least; below zero where two clocks differ by more than the delay.
    pub min_ns: i64,
    /// Half of the packets took at most this.
    pub median_ns: i64,
    /// 95 of 100 packets took at most this.
    pub p95_ns: i64,
    /// Longest delay of a packet that arrived.
    pub max_ns: i64,
    /// Packet delay variation: 95th percentile less median. No offset of the clocks is in it.
    pub pdv_ns: u64,
}

/// Delays by ranges of equal width. Ranges without a packet are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayHistogram {
    /// Width of a range.
    pub width_ns: u64,
    /// The ranges, from the least delay.
    pub buckets: Vec<DelayBucket>,
}

/// A range of delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayBucket {
    /// Where it begins.
    pub from_ns: i64,
    /// Packets in it.
    pub packets: PacketCount,
}

/// Packets that crossed as many routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopCount {
    /// Routers: 255 less the TTL at arrival.
    pub hops: u8,
    /// Packets.
    pub packets: PacketCount,
}

/// What two clocks say of themselves (RFC 4656 §4.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockQuality {
    /// Whether the sender's is kept to UTC in every packet.
    pub sender_synchronised: bool,
    /// Whether the receiver's is.
    pub receiver_synchronised: bool,
    /// The sum of both error estimates, the largest of the session.
    pub error_ns: u64,
}

impl ClockQuality {
    /// Whether a one-way delay is right within [`ClockQuality::error_ns`]. Otherwise it has the clocks' unknown offset in it.
    #[must_use]
    pub const fn bounds_delay(&self) -> bool {
        self.sender_synchronised && self.receiver_synchronised
    }
}

impl Default for SessionSpec {
    /// A hundred small packets in each direction, ten a second, as owping sends them.
    fn default() -> Self {
        Self {
            port: 861,
            count: 100,
            interval: Duration::from_millis(100),
            spacing: Spacing::Exponential,
            padding_bytes: 0,
            timeout: Duration::from_secs(2),
            directions: Directions::Both,
            family: None,
            bind: None,
            udp_port: None,
        }
    }
}
