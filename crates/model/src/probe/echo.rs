//! A series of ICMP echoes.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::PacketCount;

use super::{IcmpAccess, Report, Subject};
use crate::measurement::RttSummary;
use crate::run::Outcome;
use crate::spec::{Dscp, Family};

/// What a series should do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EchoSpec {
    /// How many probes, 1 to 65,536: as many as ICMP has sequence numbers.
    pub count: u32,
    /// Time from one probe to the next.
    #[serde(rename = "interval_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub interval: Duration,
    /// Bytes after the ICMP header. A packet is 28 bytes longer in IPv4 and 48 in IPv6.
    pub payload_bytes: u16,
    /// Differentiated-services code point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Whether packets may be cut on the way.
    #[serde(default)]
    pub fragments: Fragments,
    /// Routers that a probe may cross; the kernel's default where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_limit: Option<u8>,
    /// An answer that takes longer counts as lost (RFC 7680 §2.8.2).
    #[serde(rename = "timeout_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub timeout: Duration,
    /// Address family; what the name resolves to first where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Local address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<IpAddr>,
}

impl Default for EchoSpec {
    /// Ten small probes, ten a second.
    fn default() -> Self {
        Self {
            count: 10,
            interval: Duration::from_millis(100),
            payload_bytes: 56,
            dscp: None,
            fragments: Fragments::Allowed,
            hop_limit: None,
            timeout: Duration::from_secs(1),
            family: None,
            bind: None,
        }
    }
}

/// Whether packets may be cut on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fragments {
    /// They may, in IPv6 by the sender only.
    #[default]
    Allowed,
    /// They carry don't-fragment, and the sender does not cut them either.
    Forbidden,
}

/// What a series found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EchoSeries {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: EchoSpec,
    /// Whether it worked. A series without an answer has worked.
    pub outcome: Outcome,
    /// How the process spoke ICMP, where it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<IcmpAccess>,
    /// Sums and quantiles.
    pub summary: EchoSummary,
    /// Every probe in the order of sending.
    pub probes: Vec<EchoProbe>,
}

/// Sums over a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EchoSummary {
    /// Probes sent, those lost, and quantiles of the round trips.
    pub rtt: RttSummary,
    /// Answers that came after the answer to a later probe (RFC 4737).
    pub reordered: PacketCount,
    /// Answers to a probe that was answered already.
    pub duplicated: PacketCount,
    /// Of those lost, how many were answered after the timeout.
    pub late: PacketCount,
    /// Of those lost, of how many somebody on the path said why.
    pub reported: PacketCount,
    /// Probes that this host's kernel would not send. They are not among those sent.
    pub unsent: PacketCount,
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EchoProbe {
    /// Its number, from 0.
    pub sequence: u32,
    /// When it was sent, from the start of the series.
    #[serde(rename = "sent_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub sent: Duration,
    /// What became of it.
    #[serde(flatten)]
    pub fate: EchoFate,
}

/// What became of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "fate")]
pub enum EchoFate {
    /// It was answered in time.
    Answered(EchoAnswer),
    /// Nothing came back in time.
    Lost,
    /// Somebody on the path said why it was not delivered.
    Reported(Report),
    /// The kernel of this host would not send it.
    Unsent {
        /// What it said.
        detail: String,
    },
}

/// The first answer to a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EchoAnswer {
    /// Time from handing the probe to the kernel until the answer arrived.
    #[serde(rename = "rtt_ns", with = "units::duration::as_ns")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub rtt: Duration,
    /// Who took the time of arrival.
    pub stamped_by: Stamp,
    /// Hop limit that the answer had left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_limit: Option<u8>,
    /// Who answered, where it is not the address that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_address: Option<IpAddr>,
    /// Whether an answer to a later probe came first.
    pub reordered: bool,
    /// Further answers.
    pub duplicates: u32,
}

/// Who took the time of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stamp {
    /// The kernel, when it received the packet.
    Kernel,
    /// This process, when it was told.
    Process,
}
