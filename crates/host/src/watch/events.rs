//! What events say may have changed, and who did it.

use std::path::Path;

use linux::monitor::{NetworkChange, SeenProcess, What};
use model::host::tracked::is_tracked;
use units::WallTime;

use crate::live::part::Parts;
use crate::provenance::sysctl_d::swapped;

/// What was heard of one namespace since it was last read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Heard {
    /// What may have changed.
    pub(super) parts: Parts,
    /// Whether addresses, policy rules, nftables or a carrier may have changed.
    pub(super) besides: bool,
    /// Who did something, in the order in which they did.
    pub(super) acts: Vec<Act>,
    /// When the first of it came.
    pub(super) first: Option<WallTime>,
    /// Whether something was not heard, so that everything must be read again.
    pub(super) lost: bool,
}

/// Somebody did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) on: On,
    pub(super) by: By,
    pub(super) at: WallTime,
}

/// What somebody did something to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum On {
    /// A sysctl, by its name.
    Sysctl(String),
    /// The queues of a device, by its name.
    Queues(String),
    /// The interrupts of the host.
    Interrupts,
    /// The processors of the host.
    Processors,
    /// The queueing disciplines of a device, by its number.
    Qdisc(u32),
    /// Any route of the namespace: the event does not name which.
    Route,
    /// The addresses of a device, by its number.
    Address(u32),
    /// Policy rules.
    Rule,
    /// Tables of nftables.
    Nftables,
    /// A device, by its number.
    Device(u32),
    /// What a driver lets be set, by the number of the device.
    Driver(u32),
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    /// A process, as it was seen.
    Seen(SeenProcess),
    /// A process that had ended before anybody could look at it.
    Ended(u32),
    /// Nobody was told.
    Untold,
}

impl Heard {
    /// Takes in a change of the network.
    pub(super) fn network(&mut self, change: NetworkChange, by: By, at: WallTime) {
        let parts = &mut self.parts;
        let on = match change.what {
            What::Device(index) => {
                parts.links = true;
                self.besides = true;
                On::Device(index)
            }
            What::Address(index) => {
                self.besides = true;
                On::Address(index)
            }
            What::Rule => {
                self.besides = true;
                On::Rule
            }
            What::Nftables => {
                self.besides = true;
                On::Nftables
            }
            What::Route => {
                parts.routes = true;
                On::Route
            }
            What::Qdisc(index) => {
                parts.links = true;
                On::Qdisc(index)
            }
            What::Driver(index) => {
                // A notification that does not say which means any.
                self.lost |= index == 0;
                parts.devices.insert(index);
                On::Driver(index)
            }
        };
        self.act(on, by, at);
    }

    /// Takes in a write to a file, if it is a setting.
    pub(super) fn write(&mut self, on: On, by: By, at: WallTime) {
        let parts = &mut self.parts;
        match &on {
            On::Sysctl(_) => parts.sysctls = true,
            On::Queues(device) => drop(parts.named.insert(device.clone())),
            On::Interrupts => parts.interrupts = true,
            On::Processors => parts.processors = true,
            On::Qdisc(_) | On::Route | On::Device(_) | On::Driver(_) => {}
            On::Address(_) | On::Rule | On::Nftables => {}
        }
        self.act(on, by, at);
    }

    /// Notes that something was not heard.
    pub(super) fn lost(&mut self, at: WallTime) {
        self.lost = true;
        self.first.get_or_insert(at);
    }

    /// Takes in what was heard after.
    pub(super) fn merge(&mut self, newer: Self) {
        let Parts { sysctls, routes, links, devices, named, queues, interrupts, processors } = newer.parts;
        let parts = &mut self.parts;
        parts.sysctls |= sysctls;
        parts.routes |= routes;
        parts.links |= links;
        parts.devices.extend(devices);
        parts.named.extend(named);
        parts.queues |= queues;
        parts.interrupts |= interrupts;
        parts.processors |= processors;
        self.besides |= newer.besides;
        self.lost |= newer.lost;
        self.first = self.first.or(newer.first);
        for act in newer.acts {
            self.act(act.on, act.by, act.at);
        }
    }

    fn act(&mut self, on: On, by: By, at: WallTime) {
        self.first.get_or_insert(at);
        // The same once more says nothing new, however often; a storm must not take memory.
        let again = self.acts.iter().rev().find(|act| act.on == on).is_some_and(|act| act.by == by);
        if !again && self.acts.len() < MAX_ACTS {
            self.acts.push(Act { on, by, at });
        }
    }
}

/// What a file is a setting of; [`None`] for one that no snapshot holds.
pub(super) fn of_path(path: &Path) -> Option<On> {
    let text = path.to_str()?;
    if let Some((before, queue)) = text.split_once("/queues/") {
        let is_setting = SETTINGS_OF_QUEUES.iter().any(|name| queue.ends_with(name));
        return is_setting.then(|| On::Queues(before.rsplit('/').next().unwrap_or_default().to_owned()));
    }
    if text.contains("/irq/") {
        return text.rsplit('/').next()?.starts_with("smp_affinity").then_some(On::Interrupts);
    }
    if text.contains("/cpufreq/") || text.contains("/cpu/smt/") {
        return Some(On::Processors);
    }
    let sysctl = swapped(text.split_once("/sys/")?.1);
    // What is set for all devices is set for each.
    (is_tracked(&sysctl) || sysctl.contains(".conf.all.")).then_some(On::Sysctl(sysctl))
}

const SETTINGS_OF_QUEUES: [&str; 5] = ["rps_cpus", "rps_flow_cnt", "xps_cpus", "xps_rxqs", "limit"];

/// Most acts that are kept of one moment.
const MAX_ACTS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_path_whatever_is_mounted_where() {
        let sysctl = |name: &str| Some(On::Sysctl(name.to_owned()));
        let cases = [
            ("/proc/sys/net/ipv4/tcp_rmem", sysctl("net.ipv4.tcp_rmem")),
            ("/proc/sys/net/ipv4/conf/eth0.100/rp_filter", sysctl("net.ipv4.conf.eth0/100.rp_filter")),
            ("/proc/sys/net/ipv6/conf/all/forwarding", sysctl("net.ipv6.conf.all.forwarding")),
            ("/proc/sys/net/ipv4/ip_local_reserved_ports", None),
            ("/proc/sys/kernel/random/boot_id", None),
            ("/devices/pci0/net/eth0/queues/rx-3/rps_cpus", Some(On::Queues("eth0".to_owned()))),
            ("/sys/devices/virtual/net/w/queues/tx-0/byte_queue_limits/inflight", None),
            ("/proc/irq/24/smp_affinity_list", Some(On::Interrupts)),
            ("/proc/irq/24/spurious", None),
            ("/sys/devices/system/cpu/cpufreq/policy0/cpufreq/scaling_governor", Some(On::Processors)),
            ("/etc/passwd", None),
        ];
        for (path, expected) in cases {
            assert_eq!(of_path(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn storm_of_the_same_takes_no_memory() {
        let mut heard = Heard::default();
        for index in 0..100_000 {
            let change = NetworkChange { what: What::Qdisc(index % 2_000), port: None };
            heard.network(change, By::Untold, WallTime::from_unix_nanos(u64::from(index)));
        }
        assert_eq!((heard.acts.len(), heard.first), (MAX_ACTS, Some(WallTime::from_unix_nanos(0))));
        assert!(heard.parts.links && !heard.lost);
    }
}
