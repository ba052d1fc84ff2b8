//! The rules that look at a setting, and what they say on each host.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::ReadBy;
use super::align::{Aligned, Cell};
use crate::fact::{Fact, FactMap, Path, Segment};
use crate::rule::{Rule, Rules};
use crate::scope::{HostFacts, Per, Scope};
use crate::settings::Key;

/// Rules beside several hosts.
pub(super) struct Readers<'a> {
    rules: &'a Rules,
    hosts: &'a [&'a HostFacts],
    aligned: &'a Aligned<'a>,
    names: &'a [String],
    /// For each rule the facts it reads, as words.
    facts: Vec<Vec<Vec<String>>>,
    /// What a rule says at a place, once asked: many settings of a device are read by one rule.
    asked: RefCell<BTreeMap<Question, Vec<Said>>>,
}

/// A rule by its number, a namespace, and what a device is called in the comparison.
type Question = (usize, String, Option<String>);

/// What a rule says on one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    NotApplicable,
    Fires,
    /// It passes, or what it needs is not known.
    Nothing,
}

impl<'a> Readers<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        hosts: &'a [&'a HostFacts],
        aligned: &'a Aligned<'a>,
        names: &'a [String],
    ) -> Self {
        let read = |slot: &usize| words(&rules.language().slot(*slot).path);
        let facts = rules.all().iter().map(|rule| rule.slots[..rule.deciding].iter().map(read).collect()).collect();
        Self { rules, hosts, aligned, names, facts, asked: RefCell::default() }
    }

    /// The rules that look at a setting and apply to any of the hosts, the most severe first.
    pub(super) fn of(&self, key: &Key, row: &[Cell<'_>]) -> Vec<ReadBy> {
        let is_vlan =
            key.name == "device" && row.iter().any(|cell| cell.text().is_some_and(|kind| kind.starts_with("vlan ")));
        // That a VLAN is there is a fact of the card under it.
        let read = if is_vlan { vec![split("link.vlans")] } else { facts_of(key) };
        let mut found = Vec::new();
        for (index, rule) in self.rules.all().iter().enumerate() {
            let looks = self.facts[index].iter().any(|fact| read.iter().any(|read| is_same_fact(read, fact)));
            if !looks || !mentions_parameter(rule, key) {
                continue;
            }
            let said = if is_vlan { vec![Said::Nothing; self.hosts.len()] } else { self.said(index, rule, key) };
            if said.iter().all(|said| *said == Said::NotApplicable) {
                continue;
            }
            let fires = said.iter().zip(self.names).filter(|(said, _)| **said == Said::Fires);
            let fires_at = fires.map(|(_, name)| name.clone()).collect();
            found.push(ReadBy { rule: rule.id.clone(), severity: rule.severity, fires_at });
        }
        found.sort_by(|one, other| {
            let order = |rule: &ReadBy| (rule.severity, rule.fires_at.is_empty());
            order(one).cmp(&order(other)).then_with(|| one.rule.cmp(&other.rule))
        });
        found
    }

    fn said(&self, index: usize, rule: &Rule, key: &Key) -> Vec<Said> {
        let place = (index, key.namespace.clone(), key.device.clone());
        if let Some(said) = self.asked.borrow().get(&place) {
            return said.clone();
        }
        let said: Vec<Said> = (0..self.hosts.len()).map(|host| self.ask(rule, key, host)).collect();
        self.asked.borrow_mut().insert(place, said.clone());
        said
    }

    fn ask(&self, rule: &Rule, key: &Key, host: usize) -> Said {
        let (facts, inputs) = (self.hosts[host], FactMap::new());
        let Some(namespace) = facts.namespaces.iter().find(|namespace| namespace.name == key.namespace) else {
            return Said::NotApplicable;
        };
        let whole = Scope::of_host(facts, None, &inputs);
        let scope = match rule.per {
            Per::Host => whole,
            Per::Namespace => whole.in_namespace(namespace),
            // A rule about devices may read a sysctl; which device it would speak of is not said then.
            Per::Link | Per::Nic => {
                let Some(device) = self.aligned.device_of(key, host) else {
                    return if key.device.is_none() { Said::Nothing } else { Said::NotApplicable };
                };
                // Loopback is no device to rules.
                let Some(link) = namespace.links.iter().find(|link| link.name == device) else {
                    return Said::NotApplicable;
                };
                if rule.per == Per::Nic && !link.facts.contains_key("nic") {
                    return Said::NotApplicable;
                }
                whole.in_namespace(namespace).on_link(link)
            }
            Per::Route => return Said::Nothing,
        };
        let language = self.rules.language();
        let ground = language.ground(&scope);
        let applies = rule.when.as_ref().map(|when| when.evaluate(&ground));
        match applies {
            Some(Ok(Fact::Bool(false))) => Said::NotApplicable,
            Some(Err(_)) => Said::Nothing,
            _ if rule.condition.evaluate(&ground) == Ok(Fact::Bool(true)) => Said::Fires,
            _ => Said::Nothing,
        }
    }
}

/// The words of a fact's name; places in lists are left out.
fn words(path: &Path) -> Vec<String> {
    let keys = path.segments.iter().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.clone()),
        Segment::Index(_) => None,
    });
    std::iter::once(path.root.clone()).chain(keys).collect()
}

/// Whether one is the other or a part of it.
fn is_same_fact(one: &[String], other: &[String]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// A rule sees the command line as a whole; it looks at a parameter where it names it.
fn mentions_parameter(rule: &Rule, key: &Key) -> bool {
    let Some(parameter) = key.name.strip_prefix("cmdline.") else { return true };
    let sources = rule.when.iter().chain(std::iter::once(&rule.condition)).map(crate::expression::Expression::source);
    sources.into_iter().any(|source| source.contains(&format!("\"{parameter}")))
}

/// The facts that a setting becomes, in the names of the vocabulary.
fn facts_of(key: &Key) -> Vec<Vec<String>> {
    if let Some(sysctl) = key.as_sysctl() {
        let own = key.namespace.is_empty().then_some("host_sysctl");
        let mut facts: Vec<Vec<String>> =
            std::iter::once("sysctl").chain(own).map(|root| vec![root.to_owned(), sysctl.clone()]).collect();
        if sysctl.ends_with("rp_filter") {
            facts.push(split("link.rp_filter"));
        }
        return facts;
    }
    if let Some(feature) = key.name.strip_prefix("feature.") {
        return vec![vec!["nic".to_owned(), "features".to_owned(), feature.to_owned()]];
    }
    if let Some((_, metric)) = key.name.strip_prefix("route[").and_then(|rest| rest.rsplit_once("].")) {
        return vec![vec!["route".to_owned(), metric.to_owned()]];
    }
    let named = NAMES.iter().filter(|(setting, _)| *setting == key.name || *setting == key.group());
    named.flat_map(|(_, facts)| facts.iter().map(|fact| split(fact))).collect()
}

fn split(fact: &str) -> Vec<String> {
    fact.split('.').map(str::to_owned).collect()
}

/// Settings, or groups of them, with the facts of the vocabulary that they become.
const NAMES: &[(&str, &[&str])] = &[
    ("machine.kernel", &["kernel.release"]),
    ("machine.iommu", &["kernel.iommu_groups"]),
    ("machine.cpu-sockets", &["cpu.sockets"]),
    ("machine.cpu-cores", &["cpu.physical_cores"]),
    ("machine.hypervisor", &["virt.guest"]),
    ("cmdline", &["kernel.parameters"]),
    ("cpu.governor", &["cpu.governors"]),
    ("cpu.smt", &["cpu.smt"]),
    ("cpu.max-khz", &["cpu.max_mhz"]),
    ("cpu.idle-states", &["cpu.idle_exit_us"]),
    ("service.irqbalance", &["services.irqbalance"]),
    ("service", &["services.running"]),
    ("tuned.profile", &["services.tuned_profile"]),
    ("boot", &["files.winner"]),
    ("link.mtu", &["link.mtu"]),
    ("link.txqlen", &["link.txqlen"]),
    ("link.tx-queues", &["link.txqueues"]),
    ("link.gso-ipv4-max-bytes", &["link.gso_ipv4_max_bytes"]),
    ("link.bond-mode", &["link.bond_mode"]),
    ("link.bond-hash", &["link.bond_hash"]),
    ("mode.speed", &["link.speed_bps"]),
    ("mode.autonegotiation", &["nic.autoneg"]),
    ("eee.active", &["nic.eee_active"]),
    ("driver.name", &["nic.driver"]),
    ("bus.model", &["nic.driver"]),
    ("driver.firmware", &["nic.firmware"]),
    ("bus.numa-node", &["pci.numa_node"]),
    ("bus.pcie-speed", &["pci.rate_bps"]),
    ("bus.pcie-width", &["pci.width", "pci.rate_bps"]),
    ("bus.pcie-max-width", &["pci.width_max"]),
    ("ring.rx", &["nic.rings.rx"]),
    ("ring.rx-max", &["nic.rings.rx_max"]),
    ("ring.tx", &["nic.rings.tx"]),
    ("ring.tx-max", &["nic.rings.tx_max"]),
    ("channels.combined", &["nic.channels.combined"]),
    ("channels.combined-max", &["nic.channels.combined_max"]),
    ("coalesce.adaptive-rx", &["nic.coalesce.adaptive_rx"]),
    ("coalesce.adaptive-tx", &["nic.coalesce.adaptive_tx"]),
    ("coalesce.rx-usecs", &["nic.coalesce.rx_usecs"]),
    ("pause.rx", &["nic.pause.rx"]),
    ("pause.tx", &["nic.pause.tx"]),
    ("qdisc", &["qdisc"]),
    ("irq.affinity", &["irq"]),
    ("queues.rps-cpus", &["queues.steered"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_that_a_setting_becomes_is_in_the_vocabulary() {
        let rules = Rules::built_in();
        for (setting, facts) in NAMES {
            for fact in *facts {
                let mut words = split(fact).into_iter();
                let root = words.next().unwrap();
                let path = Path { root, segments: words.map(Segment::Key).collect() };
                assert!(rules.language().vocabulary().has(&path), "{setting}: {fact}");
            }
        }
    }

    #[test]
    fn a_setting_is_the_fact_that_rules_name() {
        let read = |key: &str| facts_of(&key.parse().unwrap());
        assert_eq!(read("em1: feature.rx-gro-hw"), [["nic", "features", "rx-gro-hw"]]);
        assert_eq!(read("route[default].initcwnd"), [["route", "initcwnd"]]);
        assert_eq!(read("net.ipv4.tcp_ecn"), [["sysctl", "net.ipv4.tcp_ecn"], ["host_sysctl", "net.ipv4.tcp_ecn"]]);
        assert_eq!(read("net.ipv4.tcp_ecn in ingress_sbox"), [["sysctl", "net.ipv4.tcp_ecn"]]);
        assert_eq!(read("em1: qdisc.root"), [["qdisc"]]);
    }
}
