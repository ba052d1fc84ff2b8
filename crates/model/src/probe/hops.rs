//! The routers on the way to a host.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{IcmpAccess, ReportKind, Subject};
use crate::run::Outcome;
use crate::spec::{Dscp, Family};

/// How the way is traced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HopsSpec {
    /// How many hops are looked at before giving up, 1 to 255.
    pub limit: u8,
    /// Probes for each hop, 1 to 16.
    pub probes: u8,
    /// How long an answer may take.
    #[serde(rename = "timeout_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub timeout: Duration,
    /// Differentiated-services code point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Address family; what the name resolves to first where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Local address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<IpAddr>,
}

impl Default for HopsSpec {
    /// Thirty hops, three probes each, one second.
    fn default() -> Self {
        Self { limit: 30, probes: 3, timeout: Duration::from_secs(1), dscp: None, family: None, bind: None }
    }
}

/// The way that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: HopsSpec,
    /// Whether it worked. A way that is lost somewhere has been traced.
    pub outcome: Outcome,
    /// How the process spoke ICMP, where it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<IcmpAccess>,
    /// Where the way ends.
    pub end: TraceEnd,
    /// The hops from the first, silent ones included; the last is the destination where it was reached.
    pub hops: Vec<Hop>,
}

/// Where a traced way ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TraceEnd {
    /// At the destination, which answered.
    Destination,
    /// At a hop that says there is no way on.
    Unreachable,
    /// At the limit of hops.
    Limit,
    /// Where it was stopped.
    Stopped,
}

/// All that came back for one hop limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hop {
    /// The hop limit, from 1.
    pub number: u8,
    /// Probes sent.
    pub sent: u8,
    /// The answers in the order of their probes. Fewer than were sent where some are missing, none of a silent hop.
    pub answers: Vec<HopAnswer>,
}

/// One answer of a hop. Several addresses at one hop mean several ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopAnswer {
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Time until the answer.
    #[serde(rename = "rtt_ns", with = "units::duration::as_ns")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub rtt: Duration,
    /// What it said; absent for the echo of the destination itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportKind>,
}
