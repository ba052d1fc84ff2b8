//! What transfers reach with each peer, from intervals of a watch.
//!
//! The rate of a peer is what all its connections reach together in the better seconds: a pause of a program lowers a mean, and says
//! nothing of the path.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use model::measurement::Heading;
use model::transfer::{FlowInterval, WatchedFlow};
use model::transfer_rates::{PeerRate, RateLimit, TransferRates};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use super::beside::TEST_PROGRAMS;
use super::talkers::prefix;

/// Intervals since the last time that rates were taken.
#[derive(Debug, Default)]
pub struct RateHistory {
    start: Option<WallTime>,
    length: Duration,
    peers: BTreeMap<PeerAndWay, Peer>,
    left_out: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Out,
    In,
}

/// Transfers to a peer, or from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PeerAndWay {
    address: IpAddr,
    direction: Direction,
}

#[derive(Debug, Default)]
struct Peer {
    rates: Vec<u64>,
    moved: u64,
    by_program: u64,
    retransmits: u64,
}

impl RateHistory {
    /// Takes an interval. Tests of linerate, iperf3 and nuttcp are no transfers.
    pub fn add(&mut self, interval: &FlowInterval) {
        self.start.get_or_insert(interval.start);
        self.length = self.length.saturating_add(interval.length);
        let mut sums: BTreeMap<PeerAndWay, u64> = BTreeMap::new();
        for flow in interval.flows.iter().filter(|flow| !flow.goodput.is_zero() && !is_test(flow)) {
            let direction = if flow.heading == Heading::Outbound { Direction::Out } else { Direction::In };
            let key = PeerAndWay { address: flow.peer.ip().to_canonical(), direction };
            if key.address.is_loopback() {
                continue;
            }
            if !self.peers.contains_key(&key) && self.peers.len() >= MOST_FOLLOWED {
                self.left_out += 1;
                continue;
            }
            let peer = self.peers.entry(key).or_default();
            let moved = (flow.goodput * interval.length).get();
            peer.moved = peer.moved.saturating_add(moved);
            peer.retransmits = peer.retransmits.saturating_add(flow.retransmits.get());
            if limit(flow) == RateLimit::Program {
                peer.by_program = peer.by_program.saturating_add(moved);
            }
            *sums.entry(key).or_default() += flow.goodput.bps();
        }
        for (key, rate) in sums {
            if let Some(peer) = self.peers.get_mut(&key).filter(|peer| peer.rates.len() < MOST_INTERVALS) {
                peer.rates.push(rate);
            }
        }
    }

    /// The time since the first interval that was added.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// What there was, and begins anew; [`None`] where nobody moved enough to say something of a path.
    pub fn take(&mut self) -> Option<TransferRates> {
        let Self { start, length, peers, left_out } = std::mem::take(self);
        let is_enough =
            |(_, peer): &(PeerAndWay, Peer)| peer.moved >= LEAST_MOVED && peer.rates.len() >= LEAST_INTERVALS;
        let mut peers: Vec<PeerRate> = peers.into_iter().filter(is_enough).map(|(of, peer)| rate(of, peer)).collect();
        peers.sort_by_key(|peer| std::cmp::Reverse(peer.moved));
        let more = peers.len().saturating_sub(MOST_PEERS) as u64;
        peers.truncate(MOST_PEERS);
        let left_out = left_out.saturating_add(more);
        let start = start.filter(|_| !peers.is_empty())?;
        Some(TransferRates { format: TransferRates::FORMAT, start, length, peers, left_out })
    }
}

fn rate(of: PeerAndWay, peer: Peer) -> PeerRate {
    let PeerAndWay { address, direction } = of;
    let Peer { mut rates, moved, by_program, retransmits } = peer;
    rates.sort_unstable();
    let better = rates.get(rates.len() * 3 / 4).or(rates.last()).copied().unwrap_or(0);
    PeerRate {
        peer: address,
        prefix: prefix(address),
        heading: if direction == Direction::Out { Heading::Outbound } else { Heading::Inbound },
        rate: DataRate::from_bps(better),
        moved: ByteCount::new(moved),
        intervals: rates.len() as u64,
        retransmits: PacketCount::new(retransmits),
        limited_by: if by_program > moved / 2 { RateLimit::Program } else { RateLimit::Transport },
    }
}

fn is_test(flow: &WatchedFlow) -> bool {
    let program = flow.owner.as_ref().and_then(|owner| owner.program.as_deref());
    program.is_some_and(|program| TEST_PROGRAMS.contains(&program))
}

/// On whose side the first cause of the waterfall is.
fn limit(flow: &WatchedFlow) -> RateLimit {
    let first = flow.limits.first().map(|limit| limit.cause.as_str());
    if first.is_some_and(|cause| OF_PROGRAMS.contains(&cause)) { RateLimit::Program } else { RateLimit::Transport }
}

/// Causes of the waterfall that are a program's, by their names in documents.
const OF_PROGRAMS: [&str; 4] = ["sender_application", "receiver_application", "configured_cap", "idle"];
/// Peers that are followed at once, in both directions together.
const MOST_FOLLOWED: usize = 1_024;
/// Peers that are reported.
const MOST_PEERS: usize = 32;
/// An hour at a second each.
const MOST_INTERVALS: usize = 3_600;
/// Less is a question and its answer, which says nothing of what a path carries.
const LEAST_MOVED: u64 = 1_000_000;
const LEAST_INTERVALS: usize = 2;

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use model::transfer::{LimitShare, Missed, SocketOwner};

    use super::*;

    struct Seen<'a> {
        peer: &'a str,
        program: &'a str,
        mbit: u64,
        cause: &'a str,
    }

    fn interval(second: u64, seen: &[Seen<'_>]) -> FlowInterval {
        let flow = |one: &Seen<'_>| WatchedFlow {
            local: SocketAddr::from(([10, 0, 0, 1], 4000)),
            peer: one.peer.parse().unwrap(),
            owner: Some(SocketOwner { program: Some(one.program.to_owned()), ..SocketOwner::default() }),
            heading: Heading::Outbound,
            goodput: DataRate::from_bps(one.mbit * 1_000_000),
            moved: ByteCount::new(0),
            retransmits: PacketCount::new(1),
            losses: None,
            rtt: None,
            expected: None,
            limits: vec![LimitShare { cause: one.cause.to_owned(), label: one.cause.to_owned(), part: 0.9 }],
        };
        FlowInterval {
            format: FlowInterval::FORMAT,
            host: "a".to_owned(),
            namespace: None,
            start: WallTime::from_unix_nanos(second * 1_000_000_000),
            length: Duration::from_secs(1),
            connections: 1,
            outbound: DataRate::ZERO,
            inbound: DataRate::ZERO,
            retransmits: PacketCount::new(0),
            flows: seen.iter().map(flow).collect(),
            talkers: Vec::new(),
            finished: Vec::new(),
            small_finished: 0,
            missed: Missed::default(),
            not_seen: Vec::new(),
        }
    }

    #[test]
    fn connections_of_a_peer_count_together_and_a_pause_of_its_program_does_not_lower_its_rate() {
        let mut history = RateHistory::default();
        for second in 0..8 {
            let mbit = if second % 2 == 0 { 200 } else { 1 };
            let one = || Seen { peer: "192.0.2.9:5000", program: "gridftp", mbit, cause: "path_capacity" };
            let test = Seen { peer: "192.0.2.9:5201", program: "iperf3", mbit: 9_000, cause: "path_capacity" };
            history.add(&interval(second, &[one(), one(), test]));
        }
        assert_eq!(history.length(), Duration::from_secs(8));
        let rates = history.take().unwrap();
        assert_eq!((rates.start, rates.length), (WallTime::from_unix_nanos(0), Duration::from_secs(8)));
        let [peer] = &rates.peers[..] else { panic!("{rates:?}") };
        assert_eq!(
            (peer.rate, peer.intervals, peer.prefix.as_str()),
            (DataRate::from_bps(400_000_000), 8, "192.0.2.0/24")
        );
        assert_eq!((peer.retransmits, peer.limited_by), (PacketCount::new(16), RateLimit::Transport));
        assert_eq!(history.take(), None, "it has begun anew");
    }

    #[test]
    fn a_rate_that_programs_limit_says_so_and_small_talk_is_left_out() {
        let mut history = RateHistory::default();
        for second in 0..4 {
            let slow = Seen { peer: "192.0.2.9:5000", program: "tar", mbit: 50, cause: "sender_application" };
            let chat = Seen { peer: "192.0.2.8:22", program: "ssh", mbit: 0, cause: "idle" };
            history.add(&interval(second, &[slow, chat]));
        }
        let rates = history.take().unwrap();
        assert_eq!(rates.peers.iter().map(|peer| peer.limited_by).collect::<Vec<_>>(), [RateLimit::Program]);
    }

    #[test]
    fn of_many_peers_those_that_moved_most_are_reported_and_the_rest_are_counted() {
        let mut history = RateHistory::default();
        for second in 0..2 {
            let peers: Vec<String> = (0..1_100).map(|host| format!("10.1.{}.{}:80", host / 250, host % 250)).collect();
            let seen: Vec<Seen<'_>> = (20..)
                .zip(&peers)
                .map(|(mbit, peer)| Seen { peer, program: "nginx", mbit, cause: "unknown" })
                .collect();
            history.add(&interval(second, &seen));
        }
        let rates = history.take().unwrap();
        assert_eq!(rates.peers.len(), MOST_PEERS);
        // 76 beyond the most that are followed, in each of two intervals.
        assert_eq!(rates.left_out, 2 * 76 + 1_024 - 32);
    }
}
