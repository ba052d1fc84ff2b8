//! The path between two hosts, from a moment on: which links, and the elements on them in the order in which packets pass.
//!
//! A path that changes while a test runs is one chain all the same: elements of each way are there as long as packets
//! take it.

use std::time::Duration;

use path::buffer::BufferSpec;
use path::elements::{Inspects, MergerSpec, Report, ShaperSpec};
use path::{ElementSpec, PathElement};
use scenario::FaultKind;
use scenario::blueprint::Qdisc;
use units::{DataRate, Mtu};

use super::Network;
use super::shift::{Epoch, shifted};
pub(crate) use super::spot::{Spot, Way};

/// What elements that look into packets see of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) kind: TrafficKind,
    /// The overlay in which it travels.
    pub(crate) overlay: Option<usize>,
    /// By how much the numbers of its flows are moved, so that they take other members of a bundle each time.
    pub(crate) hash: u64,
}

/// Which protocol carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrafficKind {
    Tcp,
    Other,
}

impl Network<'_> {
    /// The path from one host to another for a test that begins now and takes as long as `length`. [`None`] where packets do
    /// not arrive.
    pub(crate) fn way(&self, ends: [usize; 2], traffic: Traffic, length: Duration) -> Option<Way> {
        let [from, to] = ends;
        let start = self.now;
        let mut way = Way {
            stages: Vec::new(),
            spots: Vec::new(),
            links: Vec::new(),
            told_mtu: Mtu::MAX,
            strips_window_scale: false,
        };
        let epochs = self.epochs(ends, start + length);
        for (number, epoch) in epochs.iter().enumerate() {
            let passed = self.scenario.way(from, to, epoch.from.max(start));
            if passed.is_empty() {
                return None;
            }
            for (link, far) in passed {
                let direction = usize::from(self.scenario.links[link].ends[1] != far);
                if number == 0 {
                    way.links.push((link, direction));
                }
                self.add_link(&mut way, [link, direction], traffic, *epoch);
            }
        }
        Some(way)
    }

    /// The parts of the time in which packets take one way each.
    fn epochs(&self, [from, to]: [usize; 2], end: Duration) -> Vec<Epoch> {
        let with_route =
            self.scenario.faults.iter().filter(
                |fault| matches!(&fault.what, FaultKind::Host { route: Some(route), .. } if route.link.is_some()),
            );
        let mut edges: Vec<Duration> = with_route.flat_map(|fault| [Some(fault.from), fault.until]).flatten().collect();
        edges.retain(|edge| self.now < *edge && *edge < end);
        edges.sort_unstable();
        edges.dedup();
        let mut from_edges = vec![Duration::ZERO];
        let mut before = self.scenario.way(from, to, self.now);
        for edge in edges {
            let after = self.scenario.way(from, to, edge);
            if after != before {
                from_edges.push(edge);
                before = after;
            }
        }
        let until = from_edges.iter().skip(1).copied().map(Some).chain([None]);
        from_edges.iter().zip(until).map(|(from, until)| Epoch { from: *from, until }).collect()
    }

    fn add_link(&self, way: &mut Way, [link, direction]: [usize; 2], traffic: Traffic, epoch: Epoch) {
        let cable = &self.blueprint.cables[link];
        let sender = cable.hosts[direction];
        let device = self.device(sender, link);
        if let Some(device) = device.as_deref().and_then(|name| self.hosts[sender].devices.get(name)) {
            let outer = traffic.overlay.map_or(0, |overlay| self.header_of(overlay));
            let fits = Mtu::new(device.mtu.get().saturating_sub(outer)).unwrap_or(Mtu::MIN);
            way.told_mtu = way.told_mtu.min(fits);
            if let Some(stage) = device.qdisc.as_ref().and_then(of_qdisc)
                && let Some(stage) = shifted(&stage, self.now, epoch)
            {
                way.stages.push(stage);
                way.spots.push(Spot::Queue { link, direction });
            }
        }
        for (element, stage) in cable.chains[direction].iter().enumerate() {
            let Some(stage) = shifted(stage, self.now, epoch) else { continue };
            let Some(stage) = self.as_seen_by(stage, traffic) else { continue };
            match &stage.spec {
                ElementSpec::Mtu(mtu) if mtu.report == Report::Icmp => way.told_mtu = way.told_mtu.min(mtu.bytes),
                ElementSpec::Firewall(firewall) => way.strips_window_scale |= firewall.strips_window_scale,
                _ => {}
            }
            way.stages.push(stage);
            way.spots.push(Spot::Link { link, direction, element });
        }
    }

    /// The name of a host's device on a link.
    pub(crate) fn device(&self, host: usize, link: usize) -> Option<String> {
        let mut devices = self.blueprint.hosts[host].devices.iter();
        devices.find(|device| device.cable == link).map(|device| device.name.clone())
    }

    /// Bytes that an overlay puts before each packet.
    pub(crate) fn header_of(&self, overlay: usize) -> u32 {
        match self.scenario.overlays[overlay].kind {
            scenario::OverlayKind::Vxlan => VXLAN_HEADERS,
            scenario::OverlayKind::Vlan => VLAN_HEADERS,
        }
    }

    /// An element as packets of a flow meet it: what looks for other packets is not there, and what counts bytes counts those
    /// of the tunnel as well.
    ///
    /// Model: the simulator's segments have no tunnel around them. So links of a tunnelled flow are slower by its headers.
    fn as_seen_by(&self, mut stage: PathElement, traffic: Traffic) -> Option<PathElement> {
        let is_tunnelled =
            traffic.overlay.is_some_and(|overlay| self.scenario.overlays[overlay].kind == scenario::OverlayKind::Vxlan);
        let header = traffic.overlay.map_or(0, |overlay| self.header_of(overlay));
        let outer = Outer { is_tunnelled, header };
        let is_seen = adapt(&mut stage.spec, traffic, outer);
        let changes_are_seen = stage.changes.iter_mut().map(|change| adapt(&mut change.spec, traffic, outer));
        (is_seen | changes_are_seen.fold(false, |any, seen| any | seen)).then_some(stage)
    }
}

/// IPv4, UDP, VXLAN and the inner Ethernet (RFC 7348 section 5).
const VXLAN_HEADERS: u32 = 20 + 8 + 8 + 14;
/// IEEE 802.1Q.
const VLAN_HEADERS: u32 = 4;
/// A full packet of most overlays.
const TYPICAL: u64 = 1_464;

/// What an overlay puts around packets.
#[derive(Debug, Clone, Copy)]
struct Outer {
    /// Whether elements see UDP and nothing of what is in it.
    is_tunnelled: bool,
    /// Bytes before each packet.
    header: u32,
}

/// Returns whether the element does anything to the flow.
fn adapt(spec: &mut ElementSpec, traffic: Traffic, outer: Outer) -> bool {
    let Outer { is_tunnelled, header } = outer;
    let slower = |rate: DataRate| DataRate::from_bps(rate.bps() * TYPICAL / (TYPICAL + u64::from(header)));
    match spec {
        ElementSpec::Merger(MergerSpec { tunnelled_only, .. }) => {
            let merges = traffic.kind == TrafficKind::Tcp && (is_tunnelled || !*tunnelled_only);
            *tunnelled_only = false;
            merges
        }
        ElementSpec::Firewall(firewall) => {
            let sees = match firewall.inspects {
                Inspects::All => true,
                Inspects::Tcp => traffic.kind == TrafficKind::Tcp && !is_tunnelled,
                Inspects::Udp => is_tunnelled || traffic.kind == TrafficKind::Other,
            };
            firewall.inspects = Inspects::All;
            sees
        }
        ElementSpec::Loss(path::elements::LossSpec::Member { of, bad, .. }) => {
            *bad = (*bad + traffic.hash) % of.get();
            true
        }
        ElementSpec::Port(port) => {
            port.rate = slower(port.rate);
            true
        }
        ElementSpec::Classes(classes) => {
            classes.rate = slower(classes.rate);
            true
        }
        ElementSpec::Shaper(shaper) => {
            shaper.rate = slower(shaper.rate);
            true
        }
        ElementSpec::Policer(policer) => {
            policer.rate = slower(policer.rate);
            true
        }
        ElementSpec::Mtu(mtu) => {
            mtu.bytes = Mtu::new(mtu.bytes.get().saturating_sub(header)).unwrap_or(Mtu::MIN);
            true
        }
        _ => true,
    }
}

/// What a qdisc of a host does to its packets. A plain queue before a device that is never busy does nothing.
fn of_qdisc(qdisc: &Qdisc) -> Option<PathElement> {
    match qdisc {
        Qdisc::Pfifo { .. } => None,
        Qdisc::Tbf { rate, burst, limit } => {
            let queue = BufferSpec { bytes: Some(*limit), ..BufferSpec::default() };
            Some(ElementSpec::Shaper(ShaperSpec { rate: *rate, burst: *burst, queue }).into())
        }
    }
}
