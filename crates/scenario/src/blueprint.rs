//! A network worked out: every host, device, address and route, in the order in which they are made.
//!
//! It comes from a [scenario](crate::Scenario) and holds no defaults any more: what stands here is done, and nothing else.
//! Numbers of hosts and cables are their places in the lists.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use path::{ElementSpec, PathElement, Seed};
use units::{ByteCount, DataRate, Mtu};

/// A whole network.
#[derive(Debug, Clone)]
pub struct Blueprint {
    /// The hosts, routers among them.
    pub hosts: Vec<Host>,
    /// The links between them.
    pub cables: Vec<Cable>,
    /// What is changed in hosts while it runs, in order of time.
    pub alterations: Vec<Alteration>,
    /// Faults of links that something besides the clock can take away and bring back.
    pub switches: Vec<Switch>,
    /// Where all chance comes from.
    pub seed: Seed,
}

/// A host: a network namespace.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Its name, which is its host name and stands in everybody's /etc/hosts.
    pub name: String,
    /// The addresses by which others know it. They are on its loopback device and do not depend on a cable.
    pub addresses: Vec<IpAddr>,
    /// Its ends of cables.
    pub devices: Vec<Device>,
    /// Its ends of overlays, made after all cables.
    pub tunnels: Vec<Tunnel>,
    /// Routes that are set, without those to its own networks.
    pub routes: Vec<Route>,
    /// Kernel settings of its namespace, by name with dots, in this order.
    pub sysctls: Vec<(String, String)>,
    /// The share of time in which its programs run, 0 to 1; all of it where it is [`None`].
    pub cpu_share: Option<f64>,
    /// What a real host in its place would show that a namespace cannot, as a document for the collector.
    pub recorded_facts: Option<toml::Table>,
}

/// One end of a cable: a TAP device.
#[derive(Debug, Clone)]
pub struct Device {
    /// Its name in the host's namespace.
    pub name: String,
    /// Which cable it is an end of.
    pub cable: usize,
    /// Which end: 0 or 1.
    pub end: usize,
    /// Its addresses with the length of their prefix.
    pub addresses: Vec<(IpAddr, u8)>,
    /// The largest packet it sends.
    pub mtu: Mtu,
    /// The speed it says it has.
    pub speed: Option<DataRate>,
    /// Features switched on or off, by the names that ethtool -k shows.
    pub features: BTreeMap<String, bool>,
    /// Its queueing discipline; the kernel's own where it is [`None`].
    pub qdisc: Option<Qdisc>,
}

/// A queueing discipline of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Qdisc {
    /// A queue of so many packets.
    Pfifo {
        /// How many.
        packets: u32,
    },
    /// A token bucket filter (tc-tbf(8)).
    Tbf {
        /// How fast it sends.
        rate: DataRate,
        /// How much it may send at once.
        burst: ByteCount,
        /// How much may wait.
        limit: ByteCount,
    },
}

/// One end of an overlay: a VXLAN device.
#[derive(Debug, Clone)]
pub struct Tunnel {
    /// Its name, under which the host is known there too: `HOST.NAME` stands for its addresses in everybody's /etc/hosts.
    pub name: String,
    /// The network identifier (RFC 7348).
    pub vni: u32,
    /// The UDP port.
    pub port: u16,
    /// The address of this end.
    pub local: IpAddr,
    /// The addresses of the other ends.
    pub remotes: Vec<IpAddr>,
    /// Its own addresses with the length of their prefix.
    pub addresses: Vec<(IpAddr, u8)>,
    /// The largest packet it sends.
    pub mtu: Mtu,
}

/// A route of one host to a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where to, with the length of the prefix.
    pub to: (IpAddr, u8),
    /// The next router; directly where it is [`None`].
    pub via: Option<IpAddr>,
    /// Interface that packets leave by.
    pub device: String,
    /// The address it sends from.
    pub source: Option<IpAddr>,
    /// Its metrics by the names that ip route knows (`initcwnd`, `initrwnd`, `mtu`, `quickack`), and the congestion
    /// control under `congctl`.
    pub metrics: BTreeMap<String, String>,
}

/// A link between two hosts.
#[derive(Debug, Clone)]
pub struct Cable {
    /// Name, unique in the file.
    pub name: String,
    /// The two hosts, by number.
    pub hosts: [usize; 2],
    /// What happens to packets from end 0 to end 1, and back.
    pub chains: [Vec<PathElement>; 2],
    /// Who says that a packet is too big, in each direction, where an element of the chain has it said: an address of
    /// the host at the far end.
    pub reporters: [Vec<IpAddr>; 2],
}

/// A fault of a link: what it does to elements, and what it hangs on.
#[derive(Debug, Clone)]
pub struct Switch {
    /// The name of the fault.
    pub fault: String,
    /// Path elements that faults add or set, in order.
    pub parts: Vec<FaultEffect>,
    /// It is there as long as this holds; as its chain's timetable says where it is [`None`].
    pub condition: Option<Condition>,
}

/// What a fault does to one element of a chain.
#[derive(Debug, Clone)]
pub struct FaultEffect {
    /// Cable, by its place in the blueprint.
    pub cable: usize,
    /// Which of its chains.
    pub direction: usize,
    /// The number of the element in it.
    pub place: usize,
    /// The settings with the fault and without; [`None`] where the fault is the element itself.
    pub settings: Option<[ElementSpec; 2]>,
}

/// A setting of hardware that a host shows as a recorded fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Host, by its place in the file.
    pub host: usize,
    /// The device as the host calls it.
    pub device: String,
    /// What is to hold of it.
    pub holds: Holds,
}

/// What is to hold of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// A feature is on.
    Feature(String),
    /// A ring (`rx`, `tx`) has fewer entries than this.
    Ring(String, u32),
}

/// Something changed in a host at a time.
#[derive(Debug, Clone)]
pub struct Alteration {
    /// When, counted from the start of the network's clock.
    pub at: Duration,
    /// In which host.
    pub host: usize,
    /// What.
    pub what: What,
}

/// What can be changed.
#[derive(Debug, Clone)]
pub enum What {
    /// A kernel setting gets a value.
    Sysctl(String, String),
    /// A feature of a device is switched.
    Feature {
        /// Which device.
        device: String,
        /// Which feature.
        feature: String,
        /// On or off.
        on: bool,
    },
    /// A route takes the place of that to the same destination.
    Route(Route),
    /// A device sends no larger packets than this.
    Mtu {
        /// Which device.
        device: String,
        /// How large.
        mtu: Mtu,
    },
    /// A device gets another queueing discipline.
    Qdisc {
        /// Which device.
        device: String,
        /// Which discipline; the kernel's own where it is [`None`].
        qdisc: Option<Qdisc>,
    },
    /// The host's programs run in another share of time, 0 to 1; in all of it where it is [`None`].
    CpuShare(Option<f64>),
}
