//! `tailscale ping`: whether packets go to a peer directly, or through a relay.

use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::Subject;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::run::Outcome;
use units::{PacketCount, WallTime};

use super::counted::RelayedPeer;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::quantity::milliseconds;

/// Reads lines of `pong from nas (100.64.0.2) via DERP(fra) in 41ms`.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let all: Vec<Pong<'_>> = lines.iter().take(MAX_LINES).map_while(|line| pong(line)).collect();
    let first = all.first()?;
    let own: Vec<&Pong<'_>> = all.iter().take_while(|other| other.peer == first.peer).collect();
    let last = own.last()?;
    // The last answer says how packets go once a direct path was looked for; only its RTTs are of that path.
    let mut rtts: Vec<u64> = own
        .iter()
        .filter(|pong| pong.relay.is_some() == last.relay.is_some())
        .filter_map(|pong| u64::try_from(pong.rtt.as_micros()).ok())
        .collect();
    rtts.sort_unstable();
    let count = u64::try_from(rtts.len()).ok()?;
    let rtt = RttSummary {
        sent: PacketCount::new(count),
        lost: PacketCount::ZERO,
        min_us: rtts.first().copied(),
        median_us: rtts.get(rtts.len() / 2).copied(),
        max_us: rtts.last().copied(),
        ..RttSummary::default()
    };
    let subject = Subject {
        target: first.peer.to_owned(),
        address: first.address.parse().ok(),
        started: WallTime::from_unix_nanos(0),
    };
    let spec = EchoSpec { count: u32::try_from(count).ok()?, ..EchoSpec::default() };
    let summary = EchoSummary { rtt, ..EchoSummary::default() };
    let echoes = EchoSeries { subject, spec, outcome: Outcome::Complete, access: None, summary, probes: Vec::new() };
    let mut shows = vec![Shown::Echo(echoes)];
    if let Some(relay) = last.relay {
        let peer = RelayedPeer { peer: first.peer.to_owned(), relay: relay.to_owned() };
        shows.push(Shown::Host(HostFact::Relayed(peer)));
    }
    Some(Found { shows, lines: own.len() })
}

/// Reads a line of `tailscale status` of a peer that is active through a relay: `active; relay "fra", tx 88312 rx 91220`.
pub(crate) fn status(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let line = lines.first()?.trim();
    let (before, rest) = line.split_once("; relay \"")?;
    let (relay, _) = rest.split_once('"')?;
    let mut words = before.split_whitespace();
    let (_, peer) = (words.next().filter(|address| address.contains(['.', ':']))?, words.next()?);
    let is_active = before.ends_with("active");
    let peer = RelayedPeer { peer: peer.to_owned(), relay: relay.to_owned() };
    let shows = if is_active { vec![Shown::Host(HostFact::Relayed(peer))] } else { Vec::new() };
    Some(Found { shows, lines: 1 })
}

struct Pong<'a> {
    peer: &'a str,
    address: &'a str,
    relay: Option<&'a str>,
    rtt: Duration,
}

fn pong(line: &str) -> Option<Pong<'_>> {
    let (peer, rest) = line.trim().strip_prefix("pong from ")?.split_once(" (")?;
    let (address, rest) = rest.split_once(") via ")?;
    let (by, rtt) = rest.rsplit_once(" in ")?;
    let relay = by.strip_prefix("DERP(").and_then(|relay| relay.strip_suffix(')'));
    Some(Pong { peer, address, relay, rtt: milliseconds(rtt.strip_suffix("ms")?)? })
}

const MAX_LINES: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Shown> {
        let lines: Vec<&str> = text.lines().collect();
        read(&lines, &[], &mut Vec::new()).map(|found| found.shows).unwrap_or_default()
    }

    #[test]
    fn the_last_answer_says_whether_a_relay_is_between() {
        let relayed =
            "pong from nas (100.64.0.2) via DERP(fra) in 41ms\npong from nas (100.64.0.2) via DERP(fra) in 39ms\nprose";
        let found = shown(relayed);
        let [Shown::Echo(echoes), Shown::Host(HostFact::Relayed(peer))] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((echoes.summary.rtt.min_us, peer.peer.as_str(), peer.relay.as_str()), (Some(39_000), "nas", "fra"));
        let direct =
            "pong from nas (100.64.0.2) via DERP(fra) in 41ms\npong from nas (100.64.0.2) via 192.0.2.7:41641 in 12ms";
        let found = shown(direct);
        let [Shown::Echo(echoes)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((echoes.summary.rtt.min_us, echoes.summary.rtt.sent.get()), (Some(12_000), 1));
        assert_eq!(shown("pong from the other side"), []);
    }
}
