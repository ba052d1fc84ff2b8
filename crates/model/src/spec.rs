//! A test: what is to be measured, and how. The same type on the command line, in the archive and in a plan.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, Mss};

/// Everything that decides what a run does. Two runs with equal specifications are comparable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TestSpec {
    /// Which protocol carries the payload.
    pub protocol: Protocol,
    /// Who sends.
    pub direction: Direction,
    /// When the sender stops.
    pub limit: Limit,
    /// Time at the start that iperf3 peers leave out of their totals; linerate also finds the ramp-up by itself.
    #[serde(rename = "omit_ms", with = "units::duration::as_ms", default)]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub omit: Duration,
    /// Number of parallel streams in each direction.
    pub streams: u16,
    /// Cap that the sending application keeps to, for each stream.
    #[serde(rename = "rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// Cap that the kernel's pacing keeps to, for each stream (`SO_MAX_PACING_RATE`).
    #[serde(rename = "pace_bps", default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<DataRate>,
    /// Congestion control by its kernel name; the sender's default where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Largest segment; the path's where absent.
    #[serde(rename = "mss_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<Mss>,
    /// Socket buffers at both ends; the kernel's autotuning where absent.
    #[serde(rename = "window_bytes", default, skip_serializing_if = "Option::is_none")]
    pub window: Option<ByteCount>,
    /// Differentiated-services code point of every packet, 0 to 63.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Bytes of one write (TCP) or of one datagram's payload (UDP); chosen for the path where absent.
    #[serde(rename = "length_bytes", default, skip_serializing_if = "Option::is_none")]
    pub length: Option<ByteCount>,
    /// How the sender hands data to the kernel.
    #[serde(default)]
    pub send: SendMethod,
    /// How the receiver takes data from the kernel.
    #[serde(default)]
    pub receive: ReceiveMethod,
    /// Whether UDP sends are segmented by the kernel.
    #[serde(default)]
    pub udp_gso: Offload,
    /// Whether UDP receives are merged by the kernel.
    #[serde(default)]
    pub udp_gro: Offload,
    /// Address family; what the name resolves to first where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Where on this host the test runs.
    #[serde(default)]
    pub place: TestBinding,
    /// Time between reported intervals.
    #[serde(rename = "interval_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub interval: Duration,
    /// Time between samples of each stream's kernel state; none are taken where zero.
    #[serde(rename = "sample_every_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub sample_every: Duration,
    /// Time between latency probes beside the flow; none are sent where zero.
    #[serde(rename = "probe_every_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub probe_every: Duration,
    /// How long to wait for a connection to be accepted.
    #[serde(rename = "connect_timeout_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub connect_timeout: Duration,
}

impl TestSpec {
    /// The test in a few words: protocol, direction, streams and limit.
    #[must_use]
    pub fn summary(&self) -> String {
        let protocol = match self.protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        };
        let direction = match self.direction {
            Direction::Forward => "from the client",
            Direction::Reverse => "to the client",
            Direction::Bidirectional => "both ways",
        };
        let streams = if self.streams == 1 { String::new() } else { format!(", {} streams", self.streams) };
        let limit = match self.limit {
            // An iperf3 asks so for a test that goes on until somebody ends it.
            Limit::Time(time) if time.is_zero() => "until it is ended".to_owned(),
            Limit::Time(time) => units::duration::show(time),
            Limit::Bytes(bytes) => bytes.to_string(),
            Limit::Blocks(blocks) => format!("{blocks} blocks"),
        };
        format!("{protocol} {direction}{streams}, {limit}")
    }
}

impl Default for TestSpec {
    /// One TCP stream towards the peer for ten seconds.
    fn default() -> Self {
        Self {
            protocol: Protocol::Tcp,
            direction: Direction::Forward,
            limit: Limit::Time(Duration::from_secs(10)),
            omit: Duration::ZERO,
            streams: 1,
            rate: None,
            pace: None,
            congestion_control: None,
            mss: None,
            window: None,
            dscp: None,
            length: None,
            send: SendMethod::Auto,
            receive: ReceiveMethod::Auto,
            udp_gso: Offload::On,
            udp_gro: Offload::On,
            family: None,
            place: TestBinding::default(),
            interval: Duration::from_secs(1),
            sample_every: Duration::from_millis(10),
            probe_every: Duration::from_millis(10),
            connect_timeout: Duration::from_secs(5),
        }
    }
}

/// The protocol that carries the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// A reliable stream (RFC 9293).
    Tcp,
    /// Datagrams (RFC 768).
    Udp,
}

/// Who sends, seen from the host that started the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// This host sends.
    Forward,
    /// The peer sends.
    Reverse,
    /// Both send at once, over connections of their own.
    Bidirectional,
}

/// When the sender stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// After this time.
    #[serde(rename = "time_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    Time(Duration),
    /// After this much payload over all streams; the run ends when the receiver has all of it.
    #[serde(rename = "bytes")]
    Bytes(ByteCount),
    /// After this many writes or datagrams over all streams.
    #[serde(rename = "blocks")]
    Blocks(u64),
}

/// How a TCP sender hands data to the kernel. What ran is in the result, since a method may be unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SendMethod {
    /// The cheapest that works here.
    #[default]
    Auto,
    /// `write`: the kernel copies every byte, as most applications do.
    Write,
    /// `sendfile` from memory: no copy, as a file server does.
    Sendfile,
    /// `vmsplice` and `splice`: no copy, pages are lent to the kernel.
    Splice,
    /// `MSG_ZEROCOPY`: no copy where the network card can; the kernel may fall back to copying.
    Zerocopy,
}

impl SendMethod {
    /// As arguments, plans and documents have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Write => "write",
            Self::Sendfile => "sendfile",
            Self::Splice => "splice",
            Self::Zerocopy => "zerocopy",
        }
    }
}

/// How a TCP receiver takes data from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceiveMethod {
    /// The cheapest that works here.
    #[default]
    Auto,
    /// `recv` into memory, as applications do.
    Copy,
    /// `MSG_TRUNC`: the kernel drops the payload unread; hides limits of this host's memory.
    Discard,
}

impl ReceiveMethod {
    /// As arguments, plans and documents have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Copy => "copy",
            Self::Discard => "discard",
        }
    }
}

/// An offload that is used where it works, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// Used where the kernel has it.
    #[default]
    On,
    /// Never used.
    Off,
}

/// IP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Version 4.
    Ipv4,
    /// Version 6.
    Ipv6,
}

/// Where on this host a test runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TestBinding {
    /// Local address of every connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<IpAddr>,
    /// Device that every packet leaves by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Network namespace: a name, a path, or a process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netns: Option<String>,
    /// Processors for the streams, dealt out in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u16>,
}

/// A differentiated-services code point (RFC 2474).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u8", into = "u8")]
pub struct Dscp(u8);

impl Dscp {
    /// The code point `value`.
    ///
    /// # Errors
    /// If `value` needs more than six bits.
    pub const fn new(value: u8) -> Result<Self, DscpError> {
        if value > 63 { Err(DscpError(value)) } else { Ok(Self(value)) }
    }

    /// The six bits.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// A code point with more than six bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a DSCP is 0 to 63, not {0}; a TOS byte is four times the DSCP")]
pub struct DscpError(u8);

impl TryFrom<u8> for Dscp {
    type Error = DscpError;

    fn try_from(value: u8) -> Result<Self, DscpError> {
        Self::new(value)
    }
}

impl From<Dscp> for u8 {
    fn from(dscp: Dscp) -> Self {
        dscp.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_one_name_in_arguments_and_in_documents() {
        use {ReceiveMethod as Receive, SendMethod as Send};
        for method in [Send::Auto, Send::Write, Send::Sendfile, Send::Splice, Send::Zerocopy] {
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
        for method in [Receive::Auto, Receive::Copy, Receive::Discard] {
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
    }
}
