//! What the path did, told per link and direction.

use std::collections::BTreeMap;

use path::Tally;
use path::reason::{Delay, Mark};
use units::PacketCount;
use units::duration::nanos;

use crate::relay::Report;
use crate::relay::log::Lost;
use crate::relay::report::Losses;
use crate::scenario::Scenario;
use model::played::LinkAccount;

/// The account of every direction of every link.
pub(super) fn accounts(scenario: &Scenario, report: &Report) -> Vec<LinkAccount> {
    let wires = scenario.links.iter().zip(&report.wires);
    let directions = wires.flat_map(|(link, wire)| {
        let [one, other] = link.ends.map(|host| scenario.hosts[host].name.clone());
        let ways = [(one.clone(), other.clone()), (other, one)];
        ways.into_iter().zip(&wire.directions).map(|((from, to), direction)| LinkAccount {
            link: link.name.clone(),
            from,
            to,
            taken_packets: direction.taken.packets,
            taken_bytes: direction.taken.bytes,
            given_packets: direction.given.packets,
            held_packets: direction.held,
            duplicated_packets: duplicates(&direction.elements),
            dropped_packets: drops(&direction.elements),
            lost_packets: losses(&direction.lost),
            marked_packets: marks(&direction.elements),
            mean_delay_ns: delays(&direction.elements),
            lateness_p99_ns: nanos(direction.lateness.p99()),
        })
    });
    directions.collect()
}

fn drops(elements: &[Tally]) -> BTreeMap<String, PacketCount> {
    let mut drops = BTreeMap::new();
    for (reason, amount) in elements.iter().flat_map(Tally::drops) {
        add(&mut drops, reason.name(), amount.packets);
    }
    drops
}

fn duplicates(elements: &[Tally]) -> PacketCount {
    PacketCount::new(elements.iter().map(|tally| tally.duplicated_amount().packets.get()).sum())
}

/// Frames that were never read are no packets of the account: they were not taken.
fn losses(lost: &Losses) -> BTreeMap<String, PacketCount> {
    let mut losses = BTreeMap::new();
    for (reason, packets) in [(Lost::NoRoom, lost.no_room), (Lost::Down, lost.down), (Lost::Refused, lost.refused)] {
        add(&mut losses, reason.name(), packets);
    }
    losses
}

fn marks(elements: &[Tally]) -> BTreeMap<String, PacketCount> {
    let mut marks = BTreeMap::new();
    for (tally, reason) in elements.iter().flat_map(|tally| Mark::ALL.map(|reason| (tally, reason))) {
        add(&mut marks, reason.name(), tally.marked_for(reason).packets);
    }
    marks
}

/// Delays of elements one behind the other add up.
fn delays(elements: &[Tally]) -> BTreeMap<String, u64> {
    let mut delays = BTreeMap::new();
    for (tally, reason) in elements.iter().flat_map(|tally| Delay::ALL.map(|reason| (tally, reason))) {
        if let Some(mean) = tally.delayed_for(reason).mean() {
            *delays.entry(reason.name().to_owned()).or_default() += nanos(mean);
        }
    }
    delays
}

fn add(counts: &mut BTreeMap<String, PacketCount>, name: &str, packets: PacketCount) {
    if packets.get() > 0 {
        let count = counts.entry(name.to_owned()).or_default();
        *count = *count + packets;
    }
}
