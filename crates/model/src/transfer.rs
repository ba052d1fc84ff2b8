//! Transfers of real applications, watched without test traffic: finished ones, and what flows now.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::host::HostIdentity;
use crate::measurement::Heading;
use crate::run::RunId;

/// What one TCP connection of this host has moved, from when it was first seen to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transfer {
    /// Version of this format; see [`Transfer::FORMAT`].
    pub format: u32,
    /// Its name in the archive.
    pub id: RunId,
    /// This host, with the device that carried the connection.
    pub host: HostIdentity,
    /// The network namespace as it was asked for; none for that of the watcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub peer: SocketAddr,
    /// Whose connection it was, where the watcher may know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<SocketOwner>,
    /// The direction that carried more payload.
    pub heading: Heading,
    /// Payload sent since the connection was made, each byte once.
    #[serde(rename = "sent_bytes")]
    pub sent: ByteCount,
    /// Payload received in order since the connection was made.
    #[serde(rename = "received_bytes")]
    pub received: ByteCount,
    /// Whether `received_bytes` is known to the byte.
    pub received_count: ReceivedCount,
    /// Of the payload in `heading`, what had been moved before the watcher saw the connection.
    #[serde(rename = "before_watch_bytes")]
    pub before_watch: ByteCount,
    /// When it began, or when the watcher first saw it.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// How much later than the true start that may be; absent for a connection that was there before the watcher.
    #[serde(
        rename = "started_within_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub started_within: Option<Duration>,
    /// From its start to the last byte that it moved.
    #[serde(rename = "active_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub active: Duration,
    /// Payload a second in `heading` over the active time.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// How it ended.
    pub end: TransferEnd,
    /// Segments retransmitted by this host.
    pub retransmits: PacketCount,
    /// Payload of a full segment.
    #[serde(rename = "mss_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Congestion control of this host's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// The least RTT that the kernel saw.
    #[serde(
        rename = "min_rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub min_rtt: Option<Duration>,
    /// The smoothed RTT at its end.
    #[serde(
        rename = "rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub rtt: Option<Duration>,
    /// Line rate that the user declared.
    #[serde(rename = "declared_line_rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub declared_line_rate: Option<DataRate>,
    /// What it should have reached, where that could be reckoned.
    #[serde(rename = "expected_bps", default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<DataRate>,
    /// What limited it, the most first; empty where nothing was sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitShare>,
    /// When TCP took segments for lost, as far as the kernel may be asked for its events; of more than 64 the first 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss_events: Vec<LossEvent>,
    /// When it retransmitted, as far as the kernel may be asked for its events; of more than 64 runs the first 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retransmit_runs: Vec<RetransmitRun>,
    /// The time between samples; zero without any.
    #[serde(rename = "sample_every_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub sample_every: Duration,
}

impl Transfer {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Payload in the direction that carried more.
    #[must_use]
    pub fn moved(&self) -> ByteCount {
        match self.heading {
            Heading::Outbound => self.sent,
            Heading::Inbound => self.received,
        }
    }
}

/// A process that has a socket open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SocketOwner {
    /// Its number; absent where another user's processes may not be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its program (`/proc/PID/comm`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The user's name, or the number of one without.
    pub user: String,
    /// The container that it runs in, as its control group names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// Whether the kernel's count of received bytes has the peer's FIN in it, which it counts as a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceivedCount {
    /// It is known, and the count is the payload.
    Exact,
    /// It is not known: this host closed first. The payload is the count or one byte less.
    OneByteMore,
}

/// How a watched transfer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferEnd {
    /// The connection was closed, and the kernel's last word on it is what the totals are.
    Closed,
    /// The connection has gone and the kernel's last word was not heard: the totals are those of the last sample.
    NotHeard,
    /// The watcher ended first.
    WatchEnded,
}

/// A cause with the part of the gap to the line rate that it took; where no line rate is known, of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitShare {
    /// A cause of the waterfall, such as `receive_window`.
    pub cause: String,
    /// The same in words.
    pub label: String,
    /// Its part, 0 to 1.
    pub part: f64,
}

/// A moment at which a sender took segments for lost (`tcp:tcp_cong_state_set`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossEvent {
    /// Since the transfer began.
    #[serde(rename = "at_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub at: Duration,
    /// By what.
    pub kind: LossEventKind,
}

/// Retransmissions that followed each other within 300 ms (`tcp:tcp_retransmit_skb`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetransmitRun {
    /// Since the transfer began.
    #[serde(rename = "at_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub at: Duration,
    /// From the first to the last.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// How often something was retransmitted: once for one or several segments that TCP sends together.
    pub transmissions: u64,
}

/// By what a sender takes segments for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LossEventKind {
    /// Fast recovery: acknowledgements passed over them (RFC 6675, RFC 8985).
    Recovery,
    /// A timeout: nothing was acknowledged (RFC 6298).
    Timeout,
}

/// What a watcher saw in one interval: one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowInterval {
    /// Version of this format; see [`FlowInterval::FORMAT`].
    pub format: u32,
    /// Name of the host that was watched.
    pub host: String,
    /// The namespace as it was asked for; none for that of the watcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// When it began.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long it was.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// TCP connections at its end.
    pub connections: u64,
    /// Payload that all connections sent, a second.
    #[serde(rename = "out_bps")]
    pub outbound: DataRate,
    /// Payload that all connections received, a second.
    #[serde(rename = "in_bps")]
    pub inbound: DataRate,
    /// Segments that all connections retransmitted.
    pub retransmits: PacketCount,
    /// The connections that moved most, the most first.
    pub flows: Vec<WatchedFlow>,
    /// Those who moved most, the most first: per peer, per prefix, per program.
    pub talkers: Vec<Talker>,
    /// Transfers that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<Transfer>,
    /// Connections that ended below the least size of a transfer.
    pub small_finished: u64,
    /// What was missed since the watcher began.
    pub missed: Missed,
    /// What this watcher does not see, and why: one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<String>,
}

impl FlowInterval {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// What a watcher missed; all zero where nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missed {
    /// How often the kernel's queue of last words ran over (`ENOBUFS`).
    pub overruns: u64,
    /// Connections that vanished without a last word.
    pub without_last_word: u64,
    /// Connections beyond the most that are kept.
    pub beyond_limit: u64,
    /// Walks over the kernel's table that failed.
    pub failed_walks: u64,
    /// Transfers that could not be written to the archive.
    pub not_stored: u64,
    /// Events of TCP that the kernel could not keep until they were read.
    #[serde(default)]
    pub events: u64,
}

/// One connection in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedFlow {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub peer: SocketAddr,
    /// Whose it is, where the watcher may know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<SocketOwner>,
    /// The direction that carries more.
    pub heading: Heading,
    /// Payload a second in that direction.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// Payload in that direction since the connection was made.
    #[serde(rename = "moved_bytes")]
    pub moved: ByteCount,
    /// Segments retransmitted in this interval.
    pub retransmits: PacketCount,
    /// Losses that TCP noticed in this interval: recoveries and timeouts; absent where the kernel may not be asked for its events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossCounts>,
    /// Smoothed RTT at its end.
    #[serde(
        rename = "rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub rtt: Option<Duration>,
    /// What it should reach, where that could be reckoned.
    #[serde(rename = "expected_bps", default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<DataRate>,
    /// What limits it over the last seconds, the most first; empty where the samples are too few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitShare>,
}

/// How often a sender took segments for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossCounts {
    /// By acknowledgements that passed over them.
    pub recoveries: u64,
    /// By a timeout.
    pub timeouts: u64,
}

/// Someone whose connections moved payload in an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Talker {
    /// Who.
    #[serde(flatten)]
    pub who: TalkerName,
    /// Connections that moved anything.
    pub connections: u64,
    /// Payload sent to them, a second.
    #[serde(rename = "out_bps")]
    pub outbound: DataRate,
    /// Payload received from them, a second.
    #[serde(rename = "in_bps")]
    pub inbound: DataRate,
    /// Segments retransmitted to them.
    pub retransmits: PacketCount,
}

/// By what connections are added up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "by", content = "name")]
pub enum TalkerName {
    /// The peer's address.
    Peer(IpAddr),
    /// The peer's network: 24 bits of IPv4, 48 of IPv6.
    Prefix(String),
    /// The program and user of this host.
    Program(String),
}
