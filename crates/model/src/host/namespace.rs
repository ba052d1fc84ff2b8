//! A network namespace: its sysctls, routes, counters and interfaces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::fact::{Fact, Missing, Source};
use super::interface::Interface;
use super::route::{Address, Route, TcpMetrics};

/// One network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Namespace {
    /// Its name: of `ip netns`, of Docker, `pid:N` of a process in it; none for that of the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its number; none in what was read from text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// Sysctls by name, such as `net.ipv4.tcp_rmem`; see [`super::tracked`]. Several numbers have one blank between.
    pub sysctls: BTreeMap<String, Fact<String>>,
    /// Routes of IPv4 and IPv6, without those of the table `local`.
    pub routes: Fact<Vec<Route>>,
    /// What TCP remembers of destinations.
    pub tcp_metrics: Fact<Vec<TcpMetrics>>,
    /// Addresses of the interfaces.
    pub addresses: Fact<Vec<Address>>,
    /// Counters of the protocols by group and name: `Tcp.RetransSegs`, `TcpExt.TCPTimeouts`, `Udp.RcvbufErrors`.
    pub counters: Fact<BTreeMap<String, u64>>,
    /// Established TCP connections to other hosts, those that moved the most first; up to [`Namespace::MOST_CONNECTIONS`].
    #[serde(default = "connections_not_read")]
    pub connections: Fact<Vec<Connection>>,
    /// The interfaces, by name.
    pub interfaces: Vec<Interface>,
}

/// What snapshots of earlier versions do not hold.
fn connections_not_read() -> Fact<Vec<Connection>> {
    Fact::missing(Missing::Absent, Source("an earlier linerate, which did not read it".to_owned()))
}

impl Namespace {
    /// Most connections of one namespace in a snapshot.
    pub const MOST_CONNECTIONS: usize = 64;

    /// The interface called `name`.
    #[must_use]
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }

    /// The value of a sysctl, where it is known.
    #[must_use]
    pub fn sysctl(&self, key: &str) -> Option<&str> {
        self.sysctls.get(key)?.value().map(String::as_str)
    }
}

/// A namespace that exists and could not be entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedNamespace {
    /// Its name, where it has one.
    pub name: String,
    /// Its number, where it may be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// Why not.
    pub reason: String,
}
