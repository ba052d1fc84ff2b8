//! What a scenario needs of the machine.

use std::collections::BTreeSet;
use std::fmt;

use units::DataRate;

/// A part of the kernel that not every machine has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Network namespaces.
    Namespaces,
    /// TAP devices.
    Tap,
    /// IP version 6.
    Ipv6,
    /// VXLAN devices.
    Vxlan,
    /// VLAN devices.
    Vlan,
    /// A queueing discipline.
    Qdisc(&'static str),
    /// A congestion control.
    CongestionControl(String),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespaces => f.write_str("network namespaces"),
            Self::Tap => f.write_str("TAP devices"),
            Self::Ipv6 => f.write_str("IPv6"),
            Self::Vxlan => f.write_str("VXLAN devices"),
            Self::Vlan => f.write_str("VLAN devices"),
            Self::Qdisc(name) => write!(f, "the qdisc `{name}`"),
            Self::CongestionControl(name) => write!(f, "the congestion control `{name}`"),
        }
    }
}

/// What this machine can do.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How much the relay carries, over all links together.
    pub rate: DataRate,
    /// How many packets each second the relay carries where it has to look at each.
    pub packets_per_second: u64,
    /// What the kernel does not have.
    pub lacking: BTreeSet<Need>,
}
