//! The routers on a path.

use std::net::IpAddr;
use std::time::Duration;

use model::probe::hops::{Hop, HopAnswer, HopsSpec, Trace, TraceEnd};
use model::probe::{IcmpAccess, ReportKind};
use model::run::Outcome;
use path::Seed;
use scenario::Point;

use super::Asked;
use super::packets::Packets;
use super::rtt::{Fate, Pair, ask};
use crate::network::Network;
use crate::network::way::{Traffic, TrafficKind};

/// Traces the path from one host to another.
pub(crate) fn trace(network: &mut Network<'_>, [from, to]: [usize; 2], asked: Asked) -> Trace {
    let spec = HopsSpec::default();
    let passed = network.scenario.way(from, to, network.now);
    let mut hops = Vec::new();
    for (number, (_, host)) in (1_u8..).zip(passed.iter().take(usize::from(spec.limit))) {
        let answers = answers(network, [from, *host], spec.probes, asked.seed.part(u64::from(number)));
        let is_last = *host == to;
        let address = if is_last { Some(asked.target) } else { address(network, *host, asked.target) };
        let answers = answers.into_iter().map(|rtt| HopAnswer {
            address,
            rtt,
            report: (!is_last).then_some(ReportKind::TimeExceeded),
        });
        hops.push(Hop { number, sent: spec.probes, answers: answers.collect() });
    }
    let end = if passed.is_empty() { TraceEnd::Unreachable } else { TraceEnd::Destination };
    Trace { subject: asked.subject(), spec, outcome: Outcome::Complete, access: Some(IcmpAccess::RawSocket), end, hops }
}

/// An address of a router in the family of the target.
fn address(network: &Network<'_>, host: usize, target: IpAddr) -> Option<IpAddr> {
    let addresses = network.scenario.addresses(Point { host, overlay: None });
    addresses.into_iter().find(|address| address.is_ipv4() == target.is_ipv4())
}

fn answers(network: &mut Network<'_>, [from, hop]: [usize; 2], probes: u8, seed: Seed) -> Vec<Duration> {
    let traffic = Traffic { kind: TrafficKind::Other, overlay: None, hash: 0 };
    let length = Duration::from_secs(1);
    let ways = (network.way([from, hop], traffic, length), network.way([hop, from], traffic, length));
    let (Some(there), Some(back)) = ways else { return Vec::new() };
    let sent: Vec<Packets> = (0..u32::from(probes))
        .map(|number| Packets {
            at: Duration::from_millis(10) * number,
            count: 1,
            ip_bytes: 60,
            whole: false,
            over: Duration::ZERO,
        })
        .collect();
    let fates = ask(network, &Pair { there: &there, back: &back }, seed, &sent);
    let answered = |fate| match fate {
        Fate::Answered(times) => Some(times.round_trip),
        Fate::Lost | Fate::TooBig { .. } => None,
    };
    fates.into_iter().filter_map(answered).collect()
}
