//! Packets to a host and its answers.

use std::net::IpAddr;
use std::time::Duration;

use path::Seed;
use sim::ProbeTimes;
use units::Mtu;

use super::packets::{Fates, LINK_HEADER, Packets, send};
use crate::network::Network;
use crate::network::tally::Sent;
use crate::network::way::{Spot, Way};

/// What became of a packet that asks for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered(ProbeTimes),
    Lost,
    /// A router said that it is too big.
    TooBig {
        fits: Mtu,
        reporter: Option<IpAddr>,
    },
}

/// Both directions between two hosts.
pub(crate) struct Pair<'a> {
    pub(crate) there: &'a Way,
    pub(crate) back: &'a Way,
}

/// Sends packets, each of which is answered by one of its size.
pub(crate) fn ask(network: &mut Network<'_>, pair: &Pair<'_>, seed: Seed, sent: &[Packets]) -> Vec<Fate> {
    let mut fates = vec![Fate::Lost; sent.len()];
    let Ok(there) = send(&pair.there.stages, seed.part(0), 1, sent) else { return fates };
    for (place, fits, number) in &there.refused {
        let reporter = reporter(network, pair.there, *place);
        if let Some(fate) = fates.get_mut(*number as usize) {
            *fate = Fate::TooBig { fits: *fits, reporter };
        }
    }
    let whole = whole(&there, sent);
    let answers: Vec<Packets> =
        whole.iter().map(|(at, number)| Packets { at: *at, whole: false, ..sent[*number as usize] }).collect();
    let Ok(back) = send(&pair.back.stages, seed.part(1), 1, &answers) else { return fates };
    count(network, pair.there, &there, sent);
    count(network, pair.back, &back, &answers);
    for (at, answer) in self::whole(&back, &answers) {
        let Some((arrived, number)) = whole.get(answer as usize) else { continue };
        let asked = sent[*number as usize].at;
        let forward = arrived.saturating_sub(asked);
        if let Some(fate) = fates.get_mut(*number as usize).filter(|fate| **fate == Fate::Lost) {
            *fate = Fate::Answered(ProbeTimes { forward, round_trip: at.saturating_sub(asked) + HOSTS });
        }
    }
    fates
}

/// Those of which every part arrived, when the last did, in order of time.
fn whole(fates: &Fates, sent: &[Packets]) -> Vec<(Duration, u32)> {
    let mut parts = vec![0_u32; sent.len()];
    let mut whole = Vec::with_capacity(sent.len());
    for (at, number, _, count) in &fates.arrived {
        let (Some(parts), Some(packets)) = (parts.get_mut(*number as usize), sent.get(*number as usize)) else {
            continue;
        };
        let before = *parts;
        *parts += count;
        if before < packets.count && *parts >= packets.count {
            whole.push((*at, *number));
        }
    }
    whole
}

fn reporter(network: &Network<'_>, way: &Way, place: usize) -> Option<IpAddr> {
    let Some(Spot::Link { link, direction, .. }) = way.spots.get(place) else { return None };
    network.blueprint.cables[*link].reporters[*direction].first().copied()
}

fn count(network: &mut Network<'_>, way: &Way, fates: &Fates, sent: &[Packets]) {
    let packets: u64 = sent.iter().map(|packets| u64::from(packets.count)).sum();
    let size = sent.first().map_or(0, |packets| u64::from(packets.ip_bytes + LINK_HEADER));
    let drops: Vec<_> =
        fates.dropped.iter().map(|(place, reason, _, count)| (*place, *reason, u64::from(*count))).collect();
    let (tallies, blueprint) = (&mut network.tallies, &network.blueprint);
    tallies.add(blueprint, way, Sent { packets, size, drops: &drops });
}

/// What both hosts need for a packet and its answer.
const HOSTS: Duration = Duration::from_micros(60);
