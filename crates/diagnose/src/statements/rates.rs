//! Packets a second of devices, connections that were not made, and copies by their marks.

use std::net::IpAddr;

use import::StatedKind;
use import::evidence::{FailedConnection, HostFact, PacketRates, RelayedPeer, TransferMarks};
use model::played::Finding;
use model::run::Outcome;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, percent};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut all = devices(beside);
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        match fact {
            HostFact::FailedConnection(one) => all.push(unconnected(beside, named(host.as_ref()), one)),
            HostFact::TransferMarks(one) => all.push(by_marks(one)),
            HostFact::Relayed(RelayedPeer { peer, relay }) => all.push(Statement::fault(format!(
                "packets between {} and {peer} go through the relay {relay} and not directly: its rate and its detour are theirs; a direct \
                 connection needs UDP through the firewalls and NATs of both ends (`tailscale netcheck` at each)",
                named(host.as_ref())
            ))),
            _ => {}
        }
    }
    all
}

/// The devices with most packets.
fn devices(beside: &Beside<'_>) -> Vec<Statement> {
    let rates = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::PacketRates(rates) if rates.device != "lo" && rates.packets() >= FEW_PACKETS => {
            Some((host.as_ref(), rates))
        }
        _ => None,
    });
    let mut rates: Vec<(Option<&String>, &PacketRates)> = rates.collect();
    rates.sort_by_key(|(_, rates)| std::cmp::Reverse(rates.packets()));
    let links: Vec<DataRate> = beside
        .facts
        .iter()
        .take(MOST_FACTS)
        .filter_map(|(_, fact)| match fact {
            HostFact::Stated(said) if said.kind == StatedKind::Link => Some(said.up),
            HostFact::Link(link) => link.rate,
            _ => None,
        })
        .collect();
    let full = rates.iter().find_map(|(host, rates)| full(named(*host), rates, &links));
    let all = rates.into_iter().take(MOST).map(|(host, rates)| of_device(named(host), rates));
    full.into_iter().chain(all).collect()
}

/// A device whose link is full in one direction: what waits for it is slow, and nothing is broken.
fn full(host: &str, rates: &PacketRates, links: &[DataRate]) -> Option<Statement> {
    let ways = [(rates.sent.bytes, "sends"), (rates.received.bytes, "receives")];
    ways.into_iter().find_map(|(bytes, way)| {
        let rate = DataRate::from_bytes_per_second(bytes);
        let link = links.iter().find(|link| rate.share_of(**link).is_some_and(|part| (FULL..=MORE_THAN_FULL).contains(&part)))?;
        let part = percent(rate.share_of(*link)?);
        Some(Statement::fault(format!(
            "{} of {host} {way} {rate}, {part} of its link of {link}: the link is full in that direction, and all transfers share it; find who fills it, \
             give others a share (a qdisc, QoS), or a faster link",
            rates.device
        )))
    })
}

/// Of a link; the kernel does not count preambles and gaps.
const FULL: f64 = 0.95;
const MORE_THAN_FULL: f64 = 1.02;

fn of_device(host: &str, rates: &PacketRates) -> Statement {
    let PacketRates { device, received, sent } = rates;
    let cannot_be = [received, sent]
        .into_iter()
        .any(|way| way.packets >= FEW_PACKETS && way.bytes < way.packets.saturating_mul(SMALLEST_PACKET));
    if cannot_be {
        return Statement::fact(format!(
            "{device} of {host} received {} and sent {} packets a second, and by the same table {} and {} bytes: that cannot be, so that its \
             bytes are a fault of the tool or its counters and no rate (`ip -s link` twice, or a newer sysstat, has the rate)",
            received.packets, sent.packets, received.bytes, sent.bytes
        ));
    }
    let rate = |bytes: u64| DataRate::from_bytes_per_second(bytes);
    Statement::fact(format!(
        "{device} of {host} received {} in {} packets a second and sent {} in {}, in the busiest interval of `sar`",
        rate(received.bytes),
        received.packets,
        rate(sent.bytes),
        sent.packets
    ))
}

/// An idle device has a few packets of its neighbours.
const FEW_PACKETS: u64 = 100;
/// IPv4 and TCP headers without data.
const SMALLEST_PACKET: u64 = 40;
const MOST: usize = 3;

/// A connection over one family of addresses, and the same host over the other.
fn unconnected(beside: &Beside<'_>, host: &str, one: &FailedConnection) -> Statement {
    let FailedConnection { host: target, address, why } = one;
    let family = |address: &IpAddr| if address.is_ipv6() { "IPv6" } else { "IPv4" };
    let downloads = beside.round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Downloads(downloads) => Some(downloads),
        _ => None,
    });
    let other = downloads.flatten().find_map(|download| {
        let other = download.subject.address.filter(|other| other.is_ipv6() != address.is_ipv6())?;
        (download.subject.target == *target && download.outcome == Outcome::Complete).then_some(other)
    });
    let says = format!("{host} got no connection to {target} over {} ({address}; {why})", family(address));
    Statement::fault(match other {
        Some(other) => format!(
            "{says}, and one at once over {} ({other}): {} between the two does not work, and nothing is slow; repair it (route, firewall), or \
             ask for the other ({})",
            family(&other),
            family(address),
            if address.is_ipv6() { "`-4`" } else { "`-6`" }
        ),
        None => {
            format!("{says}: the host is down, or a firewall or a route is in the way; `ping {address}` tells which")
        }
    })
}

/// A copy by its marks: what it took to begin, and how evenly it went.
fn by_marks(one: &TransferMarks) -> Statement {
    let TransferMarks { tool, moved, elapsed, silent, rates } = one;
    let mean = DataRate::of(*moved, *elapsed).map_or_else(String::new, |rate| format!(", {rate} over all"));
    let rates = rates.map_or_else(String::new, |[least, most]| format!("; between later marks {least} to {most}"));
    if *moved == ByteCount::ZERO {
        return Statement::fault(format!("a copy of {tool} had moved nothing after {}", show(*elapsed)));
    }
    let begins =
        if silent.is_zero() { String::new() } else { format!(", of which nothing had come after {}", show(*silent)) };
    Statement::fact(format!("a copy of {tool} moved {moved} in {}{mean}{begins}{rates}", show(*elapsed)))
}
