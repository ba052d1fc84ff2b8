//! Routes with their metrics, addresses, and what TCP remembers of destinations.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Route {
    /// Where to, with the length of the prefix; `0.0.0.0/0` or `::/0` for all that has no other.
    pub destination: String,
    /// The kind: `unicast`, `blackhole`, `unreachable`, `prohibit`, `local`...
    pub kind: String,
    /// The table: 254 is the main one.
    pub table: u32,
    /// The next router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// Interface it leaves by; absent where only a next hop is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The address it sends from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_source: Option<IpAddr>,
    /// Which of several routes to a destination is taken: the lowest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Who made it, as `ip route` names it: `kernel`, `boot`, `static`, `dhcp`, `ra`.
    pub protocol: String,
    /// Metrics by the names of `ip route`: `mtu`, `initcwnd`, `initrwnd`, `rtt`, `congctl`, `quickack`.
    /// One that is locked begins with `lock `. Times (`rtt`, `rttvar`, `rto_min`) end in `ms`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, String>,
    /// Routers of a route over several, with their interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<NextHop>,
}

impl Route {
    /// Whether it is of the table in which routes are unless somebody asks for another: `RT_TABLE_MAIN`,
    /// include/uapi/linux/rtnetlink.h.
    #[must_use]
    pub const fn is_in_main_table(&self) -> bool {
        self.table == 254
    }
}

/// One of several next routers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextHop {
    /// Address of the next hop; absent for a directly connected network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// Interface it leaves by; absent where only a next hop is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Its share, from 1.
    pub weight: u32,
}

/// An address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Address {
    /// Interface that has the address.
    pub interface: String,
    /// IPv4 or IPv6 address, without its prefix.
    pub address: IpAddr,
    /// Length of the prefix.
    pub prefix: u8,
    /// How far it is known: `global`, `link`, `host`, `site`.
    pub scope: String,
}

/// What TCP remembers of a destination (`ip tcp_metrics`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpMetrics {
    /// Peer whose metrics the kernel has cached (tcp_metrics).
    pub destination: IpAddr,
    /// The own address, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Smoothed round trip time.
    #[serde(rename = "rtt_us", default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<u32>,
    /// Variation of the round trip time.
    #[serde(rename = "rttvar_us", default, skip_serializing_if = "Option::is_none")]
    pub rttvar: Option<u32>,
    /// Slow start threshold.
    #[serde(rename = "ssthresh_segments", default, skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    /// Congestion window.
    #[serde(rename = "cwnd_segments", default, skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<u32>,
    /// Reordering seen.
    #[serde(rename = "reordering_segments", default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<u32>,
}
