//! Small measurements of one path: what a person asks before and beside a test.
//!
//! * [`echo`]: round trips and losses of ICMP echoes
//! * [`hops`]: the routers on the way
//! * [`path_mtu`]: the largest packet that arrives
//! * [`download`]: one file over HTTP
//! * [`one_way`]: delay and loss of each direction, by OWAMP and TWAMP
//! * [`along`]: tests towards every hop
//!
//! Each is whole by itself: what was asked, what was found, and whether it worked. A measurement that failed is one of
//! these too, with its reason.

pub mod along;
pub mod download;
pub mod echo;
pub mod hops;
pub mod one_way;
pub mod path_mtu;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use units::WallTime;

/// Whom a measurement was about, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// What the user typed.
    pub target: String,
    /// The address that it stands for, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// When it started, by this host's calendar.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
}

/// How a process came to speak ICMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IcmpAccess {
    /// By a ping socket, without privilege (`net.ipv4.ping_group_range`).
    PingSocket,
    /// By a raw socket (`CAP_NET_RAW`).
    RawSocket,
}

/// What somebody on the path said of a packet instead of delivering it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What.
    pub kind: ReportKind,
    /// Who, by the address the report came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<IpAddr>,
}

/// What an ICMP error says (RFC 792, RFC 4443).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum ReportKind {
    /// The packet had crossed as many routers as it may.
    TimeExceeded,
    /// The packet is larger than the next link takes, and must not be cut.
    TooBig {
        /// What the next link takes; absent where the reporter does not say (before RFC 1191).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mtu_bytes: Option<u32>,
    },
    /// There is no way on.
    Unreachable {
        /// The code of the message, whose meaning depends on the family.
        code: u8,
    },
    /// Anything else.
    Other {
        /// The type of the message.
        icmp_type: u8,
        /// Code of the ICMP message (RFC 792, RFC 4443).
        code: u8,
    },
}
