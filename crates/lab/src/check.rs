//! What this machine can do of what labs need, found out by doing it in a namespace that ends with the question.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use linux::ethtool::Ethtool;
use linux::netlink::NetlinkError;
use linux::netns::in_fresh_netns;
use linux::rtnetlink::Rtnetlink;
use linux::rtnetlink::device::Vxlan;
use linux::rtnetlink::qdisc::Tbf;
use linux::sockets::Switch;
use linux::tap::Tap;
use path::Seed;
use serde::Serialize;
use units::{ByteCount, DataRate, Mtu};

use crate::blueprint::{Blueprint, Host};
use crate::network::Network;
use crate::relay::probe::{Capacity, ProbeError, probe};
use crate::scenario::{Limits, Need};

/// One thing that a machine can do or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ability {
    /// What.
    pub what: String,
    /// Whether it can.
    #[serde(flatten)]
    pub can: Can,
    /// What it is for, and what goes without.
    pub matters: &'static str,
    /// How to get it, where it is missing.
    pub get: &'static str,
}

/// Whether a machine can do something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "can", content = "detail")]
pub enum Can {
    /// It can, so much or so well.
    Yes(Option<String>),
    /// It cannot, and why.
    No(String),
}

impl Can {
    fn of<T, E: std::error::Error>(tried: Result<T, E>) -> Self {
        match tried {
            Ok(_) => Self::Yes(None),
            Err(error) => Self::No(chain(&error)),
        }
    }

    fn when(fact: bool, otherwise: &str) -> Self {
        if fact { Self::Yes(None) } else { Self::No(otherwise.to_owned()) }
    }

    /// Whether it can.
    #[must_use]
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// Everything that labs use, the most needed first. The process may make networks.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    let mut all = vec![
        user_namespaces(),
        ability("hosts of namespaces", hosts(), "every lab", "what the reason names; in a container also --privileged"),
        ability(
            "IPv6",
            ipv6(),
            "hosts with addresses of version 6",
            "a kernel with CONFIG_IPV6, without ipv6.disable=1",
        ),
    ];
    match in_fresh_netns(|| Rtnetlink::open().map(|mut rtnetlink| inside(&mut rtnetlink))) {
        Ok(Ok(found)) => all.extend(found),
        Ok(Err(error)) => all.push(ability("devices", Can::No(chain(&error)), "every lab", "CAP_NET_ADMIN")),
        Err(error) => all.push(ability("devices", Can::No(chain(&error)), "every lab", "CAP_SYS_ADMIN")),
    }
    all.extend(["cubic", "reno", "bbr", "htcp"].map(congestion_control));
    all.push(groups());
    all.push(processors());
    all.push(relay());
    all
}

/// Which of these needs the machine does not meet.
#[must_use]
pub fn lacking(needs: &BTreeSet<Need>) -> BTreeSet<Need> {
    let met = |need: &Need| {
        let tried = in_fresh_netns(|| match need {
            Need::Namespaces => true,
            Need::Tap => Tap::open("probe").is_ok(),
            Need::Ipv6 => ipv6().is_yes(),
            Need::Vxlan => opened(vxlan),
            Need::Vlan => opened(vlan),
            Need::Qdisc(name) => opened(|rtnetlink| qdisc(rtnetlink, name)),
            Need::CongestionControl(name) => available_controls().iter().any(|available| available == name),
        });
        tried.unwrap_or(false)
    };
    needs.iter().filter(|need| !met(need)).cloned().collect()
}

/// What this machine can carry, and which of these needs it does not meet. It takes a third of a second.
///
/// # Errors
/// Where the relay cannot be measured.
pub fn limits(needs: &BTreeSet<Need>) -> Result<Limits, ProbeError> {
    let Capacity { whole, packets_per_second } = probe()?;
    // As many threads as the relay starts by itself: all processors but one.
    let threads = processors_here().saturating_sub(1).max(1) as u64;
    Ok(Limits {
        rate: DataRate::from_bps(whole.bps().saturating_mul(threads)),
        packets_per_second: packets_per_second.saturating_mul(threads),
        lacking: lacking(needs),
    })
}

/// What takes devices.
fn inside(rtnetlink: &mut Rtnetlink) -> Vec<Ability> {
    let kernel = "a kernel with this module: on a distribution's kernel `modprobe`, or the package of extra modules";
    let tap = Tap::open("probe");
    let features = Ethtool::open().ok().and_then(|ethtool| ethtool.features("probe").ok()).unwrap_or_default();
    let on = |name: &str| features.get(name).is_some_and(|feature| feature.state == Switch::On);
    let mut all = vec![
        ability(
            "TAP devices",
            Can::of(tap.as_ref()),
            "every lab",
            "CONFIG_TUN, and a /dev/net/tun that you may open: mode 0666, as udev gives it; --device /dev/net/tun for a container",
        ),
        ability(
            "TCP segmentation on TAP",
            Can::when(on("tx-tcp-segmentation"), "off"),
            "rates above some 2 Gbit/s",
            "CONFIG_TUN of any kernel since 2.6.27",
        ),
        ability(
            "UDP segmentation on TAP",
            Can::when(on("tx-udp-segmentation"), "off"),
            "cheap UDP; without, each datagram is a frame",
            "Linux 6.2 or later",
        ),
        ability("VXLAN devices", Can::of(vxlan(rtnetlink)), "overlays", kernel),
        ability("VLAN devices", Can::of(vlan(rtnetlink)), "overlays of kind vlan", kernel),
    ];
    for (name, matters) in [
        ("pfifo", "queues of hosts"),
        ("tbf", "shapers of hosts"),
        ("fq", "pacing of hosts in the queue; TCP paces by itself without"),
        ("fq_codel", "queues of hosts that set it"),
        ("ingress", "filters on what a host receives, which tools may use; labs do not"),
        ("netem", "nothing: the lab's own path stands in its place"),
    ] {
        all.push(ability(format!("qdisc {name}"), Can::of(qdisc(rtnetlink, name)), matters, kernel));
    }
    all
}

fn user_namespaces() -> Ability {
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let can = match linux::netns::isolate(&mut command).status() {
        // The namespaces are made before the program is looked for.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Can::No(error.to_string()),
        _ => Can::Yes(None),
    };
    let get = "`sysctl user.max_user_namespaces` above 0; on Debian `kernel.unprivileged_userns_clone` 1, on Ubuntu \
               `kernel.apparmor_restrict_unprivileged_userns` 0; or run as root";
    ability("user namespaces", can, "labs without root", get)
}

/// A host that has nothing.
fn hosts() -> Can {
    let host = Host { name: "probe".to_owned(), ..Host::default() };
    let blueprint = Blueprint {
        hosts: vec![host],
        cables: Vec::new(),
        alterations: Vec::new(),
        switches: Vec::new(),
        seed: Seed(0),
    };
    Can::of(Network::raise(&blueprint))
}

fn ipv6() -> Can {
    Can::when(fs::exists("/proc/sys/net/ipv6").unwrap_or(false), "the kernel has none")
}

fn opened(probe: impl FnOnce(&mut Rtnetlink) -> Result<(), NetlinkError>) -> bool {
    Rtnetlink::open().and_then(|mut rtnetlink| probe(&mut rtnetlink)).is_ok()
}

fn vxlan(rtnetlink: &mut Rtnetlink) -> Result<(), NetlinkError> {
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    rtnetlink.add_vxlan(&Vxlan { name: "probe-vxlan", vni: 1, port: 4_789, local, remotes: &[], mtu: Mtu::MIN })
}

fn vlan(rtnetlink: &mut Rtnetlink) -> Result<(), NetlinkError> {
    let loopback = rtnetlink.index("lo")?;
    rtnetlink.add_vlan(loopback, "probe-vlan", 7)
}

/// Every discipline goes on the loopback device, which has none that it would miss.
fn qdisc(rtnetlink: &mut Rtnetlink, name: &str) -> Result<(), NetlinkError> {
    let loopback = rtnetlink.index("lo")?;
    match name {
        "pfifo" => rtnetlink.set_pfifo(loopback, 10),
        "ingress" => rtnetlink.set_ingress(loopback),
        "tbf" => {
            let (rate, room) = (DataRate::from_bps(1_000_000_000), ByteCount::new(1 << 20));
            rtnetlink.set_tbf(loopback, Tbf { rate, burst: room, limit: room })
        }
        // Without its settings the kernel takes the name first: EINVAL is a complaint about those.
        "netem" => match rtnetlink.set_plain_qdisc(loopback, name) {
            Err(error) if error.errno() == Some(EINVAL) => Ok(()),
            outcome => outcome,
        },
        _ => rtnetlink.set_plain_qdisc(loopback, name),
    }
}

fn congestion_control(name: &str) -> Ability {
    let can = Can::when(available_controls().iter().any(|available| available == name), "not loaded");
    ability(
        format!("congestion control {name}"),
        can,
        "hosts that set it",
        "`modprobe tcp_…` with its name, as root of the machine",
    )
}

fn available_controls() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

fn groups() -> Ability {
    let can = if fs::exists("/sys/fs/cgroup/cgroup.controllers").unwrap_or(false) {
        Can::Yes(Some("version 2".to_owned()))
    } else if fs::exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").unwrap_or(false) {
        Can::Yes(Some("version 1".to_owned()))
    } else {
        Can::No("no cpu controller under /sys/fs/cgroup".to_owned())
    };
    ability("control groups", can, "nothing: a slow host runs its programs in turns", "a mounted cgroup file system")
}

fn processors() -> Ability {
    let count = processors_here();
    let can = if count >= FEW { Can::Yes(Some(count.to_string())) } else { Can::No(count.to_string()) };
    ability("CPUs", can, "rates: the relay takes one for itself, hosts share the others", "at least 4 of them")
}

fn processors_here() -> usize {
    linux::affinity::allowed_cpus().map_or(1, |allowed| allowed.len())
}

fn relay() -> Ability {
    let can = match probe() {
        Ok(Capacity { whole, packets_per_second }) => {
            Can::Yes(Some(format!("{whole} in whole frames, {packets_per_second} packets a second one by one")))
        }
        Err(error) => Can::No(chain(&error)),
    };
    let matters = "rates of scenarios: what a thread of the relay carries on this machine at this moment";
    ability("the relay", can, matters, "what the reason names")
}

fn ability(what: impl Into<String>, can: Can, matters: &'static str, get: &'static str) -> Ability {
    Ability { what: what.into(), can, matters, get }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |said, cause| format!("{said}: {cause}"))
}

/// One for the relay, one for each of two hosts that talk: with fewer they take turns.
const FEW: usize = 3;

const EINVAL: i32 = 22; // include/uapi/asm-generic/errno-base.h
