//! What a scenario asks of the machine, and whether the machine has it.

use std::collections::{BTreeMap, BTreeSet};

use document::Key;
use model::spec::{Direction, Family};
use path::ElementSpec;
use path::elements::LossSpec;
use units::DataRate;

use crate::Scenario;
use crate::blueprint::Qdisc;
use crate::diagnostics::Diagnostics;
use crate::error::{Problem, ScenarioError};
use crate::fault::FaultKind;
use crate::link::Link;
use crate::needs::{Limits, Need};
use crate::overlay::OverlayKind;
use crate::settings::{CONGESTION_CONTROL, Settings};
use crate::test::{Test, TestKind};

impl Scenario {
    /// What the kernel must have.
    #[must_use]
    pub fn needs(&self) -> BTreeSet<Need> {
        self.needs_with_keys().into_keys().collect()
    }

    /// Whether this machine can carry the scenario.
    ///
    /// # Errors
    /// [`ScenarioError::Refused`] with what the kernel lacks, and with tests that are too fast for the relay.
    pub fn check(&self, limits: &Limits) -> Result<(), ScenarioError> {
        let mut diagnostics = Diagnostics::new(&self.source);
        for (need, key) in self.needs_with_keys() {
            if limits.lacking.contains(&need) {
                diagnostics.complain(&key, Problem::Lacking { need });
            }
        }
        for (number, test) in self.tests.iter().enumerate() {
            let key = Key::top("tests").nth(number);
            let Some(load) = self.load(test) else { continue };
            if load.rate > limits.rate.bps() {
                let asked = format!("{} over {} links", DataRate::from_bps(load.rate / load.links), load.links);
                diagnostics
                    .complain(&key, Problem::TooFast { asked, limit: format!("{} over all links", limits.rate) });
            }
            if load.packets > limits.packets_per_second {
                let asked = format!("{} packets a second, each looked at", load.packets);
                diagnostics.complain(&key, Problem::TooFast { asked, limit: limits.packets_per_second.to_string() });
            }
        }
        diagnostics.close(())
    }

    /// The largest rate that a test asks of a link, where any sets one.
    #[must_use]
    pub fn fastest(&self) -> Option<DataRate> {
        let loads = self.tests.iter().filter_map(|test| self.load(test));
        loads.map(|load| DataRate::from_bps(load.rate / load.links.max(1))).max()
    }

    /// What is needed, each with the first key that needs it.
    fn needs_with_keys(&self) -> BTreeMap<Need, Key> {
        let mut needs = BTreeMap::new();
        let mut add = |need: Need, key: Key| {
            needs.entry(need).or_insert(key);
        };
        add(Need::Namespaces, Key::top("hosts"));
        if !self.links.is_empty() {
            add(Need::Tap, Key::top("links"));
        }
        if self.families.contains(&Family::Ipv6) {
            add(Need::Ipv6, Key::top("families"));
        }
        for (number, overlay) in self.overlays.iter().enumerate() {
            let need = match overlay.kind {
                OverlayKind::Vxlan => Need::Vxlan,
                OverlayKind::Vlan => Need::Vlan,
            };
            add(need, Key::top("overlays").nth(number).at("kind"));
        }
        for host in &self.hosts {
            let key = Key::top("hosts").at(&host.name);
            of_settings(&host.settings, &key, &mut add);
            for device in host.devices.values() {
                device.qdisc.iter().for_each(|qdisc| add(of_qdisc(qdisc), key.at("devices")));
            }
        }
        for (number, fault) in self.faults.iter().enumerate() {
            if let FaultKind::Host { settings, route, .. } = &fault.what {
                let key = Key::top("faults").nth(number);
                of_settings(settings, &key, &mut add);
                let named = route.iter().filter_map(|route| route.metrics.get("congctl"));
                named.for_each(|name| add(Need::CongestionControl(name.clone()), key.at("route")));
            }
        }
        for (number, route) in self.routes.iter().enumerate() {
            if let Some(name) = route.metrics.get("congctl") {
                add(Need::CongestionControl(name.clone()), Key::top("routes").nth(number).at("congctl"));
            }
        }
        for (number, test) in self.tests.iter().enumerate() {
            if let TestKind::Tcp(flow) = &test.kind
                && let Some(name) = &flow.spec.congestion_control
            {
                add(Need::CongestionControl(name.clone()), Key::top("tests").nth(number).at("cca"));
            }
        }
        needs
    }

    /// What the relay has to carry for a test alone; [`None`] for tests that ask for little, and where no element of the
    /// path sets a rate: then the relay is the limit, and the run says so.
    fn load(&self, test: &Test) -> Option<Load> {
        let (TestKind::Tcp(flow) | TestKind::Udp(flow)) = &test.kind else { return None };
        let streams = u64::from(flow.spec.streams);
        let capped =
            flow.spec.rate.into_iter().chain(flow.spec.pace).map(|rate| rate.bps().saturating_mul(streams)).min();
        let ways: &[(usize, usize)] = match flow.spec.direction {
            Direction::Forward => &[(test.from.host, test.to.host)],
            Direction::Reverse => &[(test.to.host, test.from.host)],
            Direction::Bidirectional => &[(test.from.host, test.to.host), (test.to.host, test.from.host)],
        };
        let mut load = Load::default();
        for &(from, to) in ways {
            let hops = self.hops(from, to);
            let slowest = hops.iter().filter_map(|(link, direction)| slowest(&link.chains[*direction])).min();
            let rate = slowest.into_iter().chain(capped).min()?;
            let looked_at = hops.iter().filter(|(link, direction)| link.chains[*direction].iter().any(looks_at_each));
            let packets = looked_at.map(|(link, _)| rate / (8 * u64::from(link.mtu.get() + ETHERNET_HEADER)));
            load.links += hops.len() as u64;
            load.rate = load.rate.saturating_add(rate.saturating_mul(hops.len() as u64));
            load.packets = load.packets.saturating_add(packets.sum());
        }
        Some(load)
    }

    /// The links on the way, with the direction in which they are passed.
    fn hops(&self, from: usize, to: usize) -> Vec<(&Link, usize)> {
        let mut hops = Vec::new();
        let passed = self.route(from, to);
        for host in passed.iter().take(passed.len().saturating_sub(1)) {
            let Some(link) = self.plan.routing.link(*host, to).and_then(|number| self.links.get(number)) else { break };
            hops.push((link, usize::from(link.ends[0] != *host)));
        }
        hops
    }
}

#[derive(Debug, Default)]
struct Load {
    /// Bits a second, over all links.
    rate: u64,
    links: u64,
    /// Packets a second on links that look at each.
    packets: u64,
}

fn of_settings(settings: &Settings, key: &Key, add: &mut impl FnMut(Need, Key)) {
    settings.qdisc.iter().for_each(|qdisc| add(of_qdisc(qdisc), key.at("qdisc")));
    let named = settings.congestion_control.iter().chain(settings.sysctls.get(CONGESTION_CONTROL));
    named.for_each(|name| add(Need::CongestionControl(name.clone()), key.at("congestion-control")));
}

fn of_qdisc(qdisc: &Qdisc) -> Need {
    Need::Qdisc(match qdisc {
        Qdisc::Pfifo { .. } => "pfifo",
        Qdisc::Tbf { .. } => "tbf",
    })
}

/// The slowest element of a chain, in bit/s.
fn slowest(chain: &[ElementSpec]) -> Option<u64> {
    let rates = chain.iter().filter_map(|element| match element {
        ElementSpec::Port(spec) => Some(spec.rate),
        ElementSpec::Classes(spec) => Some(spec.rate),
        ElementSpec::Shaper(spec) => Some(spec.rate),
        // A policer that only remarks lets everything through.
        ElementSpec::Policer(spec) => spec.remark.is_none().then_some(spec.rate),
        _ => None,
    });
    rates.map(DataRate::bps).min()
}

/// Whether an element takes frames apart. Those of which most pass in one piece count as if they did not.
fn looks_at_each(element: &ElementSpec) -> bool {
    match element {
        ElementSpec::Delay(spec) => !spec.jitter.is_zero(),
        ElementSpec::Loss(spec) => matches!(spec, LossSpec::Bursty { .. } | LossSpec::Large { .. }),
        ElementSpec::Firewall(_) | ElementSpec::Merger(_) | ElementSpec::Shaper(_) => true,
        _ => false,
    }
}

/// IEEE 802.3, without the checksum, as frames of TAP devices have it.
const ETHERNET_HEADER: u32 = 14;
