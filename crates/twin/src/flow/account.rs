//! What flows leave in the counters of hosts, interfaces and paths.

use model::counters::{CounterReadings, Reading};
use path::reason::Drop;
use sim::flow::Outcome;

use super::settings::Link;
use crate::network::Network;
use crate::network::tally::{HostTally, Sent};

/// Counts the streams of TCP of one direction.
///
/// Model: a receiver acknowledges every second segment.
pub(super) fn tcp(network: &mut Network<'_>, link: &Link<'_>, outcomes: &[Outcome], marked: u64) {
    for outcome in outcomes {
        let segments = outcome.sent.get() + outcome.retransmits.get();
        let size = outcome.segment.get() + u64::from(sim::sender::HEADERS) + ETHERNET;
        let count = |drops: &[(usize, Drop, units::PacketCount)]| -> Vec<(usize, Drop, u64)> {
            drops.iter().map(|(place, reason, packets)| (*place, *reason, packets.get())).collect()
        };
        let (there, back) = (count(&outcome.drops), count(&outcome.drops_back));
        let acknowledgements = outcome.sent.get().div_ceil(2) + 1;
        let blueprint = &network.blueprint;
        network.tallies.add(blueprint, link.there, Sent { packets: segments + 2, size, drops: &there });
        network.tallies.add(blueprint, link.back, Sent { packets: acknowledgements, size: ACK, drops: &back });
        let sender = &mut network.tallies.hosts[link.sender];
        sender.count("Tcp.OutSegs", segments + 2);
        sender.count("Tcp.InSegs", acknowledgements);
        sender.count("Tcp.RetransSegs", outcome.retransmits.get());
        sender.count("TcpExt.TCPTimeouts", u64::from(outcome.timeouts));
        let receiver = &mut network.tallies.hosts[link.receiver];
        receiver.count("Tcp.InSegs", segments.saturating_sub(there.iter().map(|(.., count)| count).sum()));
        receiver.count("Tcp.OutSegs", acknowledgements);
    }
    network.tallies.hosts[link.receiver].count("IpExt.InCEPkts", marked);
    network.tallies.hosts[link.asked].count("Tcp.ActiveOpens", outcomes.len() as u64);
}

/// Counts datagrams of one direction.
pub(super) fn udp(network: &mut Network<'_>, link: &Link<'_>, sent: &super::udp::Sent) {
    let blueprint = &network.blueprint;
    let size = u64::from(sent.ip_bytes) + ETHERNET;
    network.tallies.add(blueprint, link.there, Sent { packets: sent.packets, size, drops: &sent.drops });
    let is_queue = |place: &usize| {
        matches!(link.there.spots.get(*place), Some(crate::network::way::Spot::Queue { link: of, .. })
            if link.there.links.first().is_some_and(|(first, _)| first == of))
    };
    let in_queue: u64 = sent.drops.iter().filter(|(place, ..)| is_queue(place)).map(|(.., count)| count).sum();
    let gone: u64 = sent.drops.iter().map(|(.., count)| count).sum();
    let sender = &mut network.tallies.hosts[link.sender];
    sender.count("Udp.OutDatagrams", sent.packets - in_queue.min(sent.packets));
    sender.count("Udp.SndbufErrors", in_queue);
    let receiver = &mut network.tallies.hosts[link.receiver];
    receiver.count("Udp.InDatagrams", sent.packets.saturating_sub(gone + sent.at_socket));
    receiver.count("Udp.RcvbufErrors", sent.at_socket);
}

/// A host's counters before and after a test.
pub(super) fn readings(network: &Network<'_>, host: usize, before: &HostTally) -> CounterReadings {
    let after = &network.tallies.hosts[host];
    let mut readings = CounterReadings::default();
    let mut add = |name: String, before: u64, after: u64| {
        readings.values.insert(name, Reading { before, after });
    };
    for name in ALWAYS {
        let of = |tally: &HostTally| tally.protocols.get(name).copied().unwrap_or(0);
        add((*name).to_owned(), of(before), of(after));
    }
    for (name, count) in &after.protocols {
        add((*name).to_owned(), before.protocols.get(name).copied().unwrap_or(0), *count);
    }
    for device in &network.blueprint.hosts[host].devices {
        let of = |tally: &HostTally| tally.devices.get(&device.cable).copied().unwrap_or_default();
        let (from, to) = (of(before), of(after));
        let name = &device.name;
        for (counter, before, after) in [
            ("tx_packets", from.sent.packets, to.sent.packets),
            ("tx_bytes", from.sent.bytes, to.sent.bytes),
            ("rx_packets", from.received.packets, to.received.packets),
            ("rx_bytes", from.received.bytes, to.received.bytes),
            ("tx_dropped", 0, 0),
            ("rx_dropped", 0, 0),
        ] {
            add(format!("dev.{name}.{counter}"), before, after);
        }
        let handle =
            if network.hosts[host].devices.get(name).is_some_and(|set| set.qdisc.is_some()) { "1:" } else { "0:" };
        for (counter, before, after) in [
            ("drops", from.queue_drops, to.queue_drops),
            ("packets", from.sent.packets, to.sent.packets),
            ("bytes", from.sent.bytes, to.sent.bytes),
        ] {
            add(format!("qdisc.{name}.{handle}.{counter}"), before, after);
        }
    }
    add("softnet.cpu0.dropped".to_owned(), 0, 0);
    readings
}

/// Counters that every host has, also where nothing moved them.
const ALWAYS: &[&str] = &[
    "Tcp.RetransSegs",
    "TcpExt.TCPTimeouts",
    "Udp.InDatagrams",
    "Udp.OutDatagrams",
    "Udp.RcvbufErrors",
    "Udp.SndbufErrors",
];

const ETHERNET: u64 = 14;
/// An acknowledgement with time stamps, on the link.
const ACK: u64 = 66;
