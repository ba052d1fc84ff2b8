//! What interfaces, kernels and paths have counted since the network began.

use std::collections::BTreeMap;

use path::reason::Drop;
use scenario::blueprint::Blueprint;

use super::spot::{Spot, Way};

/// Everybody's counters.
#[derive(Debug)]
pub(crate) struct Tallies {
    /// By the number of the host.
    pub(crate) hosts: Vec<HostTally>,
    /// By the number of the link, for each of its directions.
    pub(crate) links: Vec<[LinkTally; 2]>,
}

/// Counters of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTally {
    /// By the number of the link.
    pub(crate) devices: BTreeMap<usize, DeviceTally>,
    /// Of its protocols, by the names that snapshots have: `Tcp.RetransSegs`.
    pub(crate) protocols: BTreeMap<&'static str, u64>,
}

/// Counters of an interface and its qdisc.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeviceTally {
    pub(crate) sent: Counted,
    pub(crate) received: Counted,
    /// Packets that the qdisc dropped.
    pub(crate) queue_drops: u64,
}

/// Packets and their bytes with the header of the link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// Counters of one direction of a link.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkTally {
    pub(crate) taken: Counted,
    pub(crate) given: u64,
    pub(crate) dropped: BTreeMap<&'static str, u64>,
}

/// Packets of one size that went a way, and what was dropped of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) packets: u64,
    /// Bytes of each, with the header of the link.
    pub(crate) size: u64,
    /// At which of the stages of the way, why, and how many.
    pub(crate) drops: &'a [(usize, Drop, u64)],
}

impl Counted {
    fn add(&mut self, packets: u64, size: u64) {
        self.packets += packets;
        self.bytes += packets * size;
    }
}

impl Tallies {
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        let host = |host: &scenario::blueprint::Host| HostTally {
            devices: host.devices.iter().map(|device| (device.cable, DeviceTally::default())).collect(),
            protocols: BTreeMap::new(),
        };
        Self {
            hosts: blueprint.hosts.iter().map(host).collect(),
            links: blueprint.cables.iter().map(|_| Default::default()).collect(),
        }
    }

    /// Adds packets of one flow to everybody's counters along their way.
    pub(crate) fn add(&mut self, blueprint: &Blueprint, way: &Way, sent: Sent<'_>) {
        let mut left = sent.packets;
        for &(link, direction) in &way.links {
            let cable = &blueprint.cables[link];
            let [from, to] = [cable.hosts[direction], cable.hosts[1 - direction]];
            let here = |spot: &Spot| match *spot {
                Spot::Queue { link: of, .. } | Spot::Link { link: of, .. } => of == link,
            };
            let mut in_queue = 0;
            let mut on_link = 0;
            for (place, reason, count) in sent.drops {
                match way.spots.get(*place).filter(|spot| here(spot)) {
                    Some(Spot::Queue { .. }) => in_queue += count,
                    Some(Spot::Link { .. }) => {
                        on_link += count;
                        *self.links[link][direction].dropped.entry(reason.name()).or_default() += count;
                    }
                    None => {}
                }
            }
            if let Some(device) = self.hosts[from].devices.get_mut(&link) {
                device.queue_drops += in_queue;
                left = left.saturating_sub(in_queue);
                device.sent.add(left, sent.size);
            }
            self.links[link][direction].taken.add(left, sent.size);
            left = left.saturating_sub(on_link);
            self.links[link][direction].given += left;
            if let Some(device) = self.hosts[to].devices.get_mut(&link) {
                device.received.add(left, sent.size);
            }
        }
    }
}

impl HostTally {
    pub(crate) fn count(&mut self, name: &'static str, by: u64) {
        *self.protocols.entry(name).or_default() += by;
    }
}
