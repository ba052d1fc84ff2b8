//! The largest packet that arrives.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::Mtu;

use super::{IcmpAccess, Subject};
use crate::run::Outcome;
use crate::spec::{Dscp, Family};

/// How it is searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PathMtuSpec {
    /// Probes of each size, 1 to 16. A size is taken for too large when all of them are lost.
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

impl Default for PathMtuSpec {
    /// Five probes of each size, one second: at 10 % loss of round trips one size in 100,000 is misjudged.
    fn default() -> Self {
        Self { probes: 5, timeout: Duration::from_secs(1), dscp: None, family: None, bind: None }
    }
}

/// The path MTU of one path, and who or what limits it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathMtu {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: PathMtuSpec,
    /// Whether it worked.
    pub outcome: Outcome,
    /// How the process spoke ICMP, where it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<IcmpAccess>,
    /// The largest packet that the interface towards the target sends.
    #[serde(rename = "interface_mtu_bytes", default, skip_serializing_if = "Option::is_none")]
    pub interface_mtu: Option<Mtu>,
    /// The largest packet that was answered; of a search that ended early, until then.
    #[serde(rename = "path_mtu_bytes", default, skip_serializing_if = "Option::is_none")]
    pub path_mtu: Option<Mtu>,
    /// What keeps larger packets from arriving; absent where the search did not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<MtuLimit>,
    /// Every size that was tried, in this order.
    pub sizes: Vec<TriedSize>,
}

/// What keeps larger packets from arriving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum MtuLimit {
    /// The interface of this host: all that it sends arrives.
    Interface,
    /// Somebody on the path, who says so by ICMP.
    Told {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reporter: Option<IpAddr>,
        /// The size that was told; it may differ from what arrives.
        #[serde(rename = "told_bytes", default, skip_serializing_if = "Option::is_none")]
        told: Option<u32>,
    },
    /// Something on the path that drops larger packets and says nothing: a black hole (RFC 2923 §2.1).
    Silent,
}

/// One size that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedSize {
    /// Bytes of the whole IP packet.
    pub packet_bytes: u32,
    /// Probes sent.
    pub sent: u8,
    /// Probes answered. The search goes on at the first answer, so the others may have been on their way.
    pub answered: u8,
    /// What was found.
    #[serde(flatten)]
    pub verdict: SizeVerdict,
}

/// What was found of a size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum SizeVerdict {
    /// It arrives.
    Arrives,
    /// The interface does not send it.
    BeyondInterface,
    /// Somebody said that it is too big.
    Told {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reporter: Option<IpAddr>,
        /// What fits, as told.
        #[serde(rename = "told_bytes", default, skip_serializing_if = "Option::is_none")]
        told: Option<u32>,
    },
    /// Nothing came back.
    Silent,
}
