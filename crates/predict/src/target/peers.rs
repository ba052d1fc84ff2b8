//! What other pairs of a round reach, as a measure for one of them.
//!
//! Pairs are comparable in the same network, over about the same RTT or a longer one, and where groups are named between hosts of
//! the same groups. A short path that is fast says nothing of a long one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use model::round::{Endpoint, Round};
use model::target::{TargetRate, TargetSource};
use units::DataRate;

use super::flow::{Carrier, RatedFlow};

/// The pairs of a round with their rates.
pub(super) struct Peers<'r, 'f> {
    flows: &'f [RatedFlow<'r>],
    pairs: Vec<RatedPair<'r>>,
    /// The number of each pair.
    numbers: BTreeMap<(Carrier, &'r Endpoint, &'r Endpoint), usize>,
    /// The flows between two ends, the lesser first, in the order of the round.
    between: BTreeMap<[&'r Endpoint; 2], Vec<usize>>,
    /// The pairs that begin or end at a host, by their numbers.
    at: BTreeMap<&'r str, Vec<usize>>,
    /// The 75th percentile of each class, once it was asked for.
    quartiles: RefCell<BTreeMap<Class, Option<DataRate>>>,
}

/// All flows from one end to another.
struct RatedPair<'r> {
    from: &'r Endpoint,
    to: &'r Endpoint,
    /// The median of its tests; none where all were limited by the rate that they asked for.
    median: Option<DataRate>,
    /// The fastest of its tests.
    best: DataRate,
    class: Class,
}

/// What comparable pairs have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    carrier: Carrier,
    network: Option<String>,
    groups: Option<[String; 2]>,
    /// Whether both ends are at one site, where that is known.
    is_local: Option<bool>,
    /// The doublings of the RTT above 2 ms; none where it is not known.
    rtt: Option<u32>,
}

impl Class {
    /// Whether a pair of this class can be held against one of another.
    fn measures(&self, other: &Self) -> bool {
        let rtt = self.rtt.zip(other.rtt).is_none_or(|(own, others)| own + 1 >= others);
        let local = self.rtt.is_some() && other.rtt.is_some() || self.is_local == other.is_local;
        self.carrier == other.carrier && self.network == other.network && rtt && local
    }
}

/// Whether one flow went over a path of so much less RTT that it is another path, though its ends have the same names.
fn is_far_shorter(one: &RatedFlow<'_>, other: &RatedFlow<'_>) -> bool {
    one.rtt.zip(other.rtt).is_some_and(|(one, other)| one * 4 < other)
}

impl<'r, 'f> Peers<'r, 'f> {
    pub(super) fn of(round: &'r Round, flows: &'f [RatedFlow<'r>]) -> Self {
        let mut by_pair: BTreeMap<(Carrier, &Endpoint, &Endpoint), Vec<&RatedFlow<'r>>> = BTreeMap::new();
        for flow in flows.iter().filter(|flow| flow.is_received) {
            by_pair.entry((flow.carrier, flow.from, flow.to)).or_default().push(flow);
        }
        let members = round.members.iter().rev().map(|member| (member.name.as_str(), &member.attributes)).collect();
        let pairs: Vec<RatedPair<'r>> = by_pair.into_values().filter_map(|flows| rated(&members, &flows)).collect();
        let ends = |pair: &RatedPair<'r>| (pair.class.carrier, pair.from, pair.to);
        let numbers = pairs.iter().enumerate().map(|(number, pair)| (ends(pair), number)).collect();
        let mut between: BTreeMap<[&Endpoint; 2], Vec<usize>> = BTreeMap::new();
        for (number, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.is_received) {
            between.entry(ordered(flow)).or_default().push(number);
        }
        let mut at: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, pair) in pairs.iter().enumerate() {
            for host in [&pair.from.host, &pair.to.host] {
                at.entry(host).or_default().push(number);
            }
        }
        Self { flows, pairs, numbers, between, at, quartiles: RefCell::default() }
    }

    /// The most that others show to be possible, where there is enough to compare with.
    pub(super) fn target(&self, number: usize) -> Option<TargetRate> {
        let flow = &self.flows[number];
        let own = &self.pairs[*self.numbers.get(&(flow.carrier, flow.from, flow.to))?];
        let pair = self.same_pair(number, flow).filter(|target| is_far_above(target.rate, flow.goodput));
        let others = [self.same_hosts(own), self.comparable(own)];
        others.into_iter().chain([pair]).flatten().max_by_key(|target| target.rate)
    }

    /// Another test of the same two ends, in either direction. Two that are equally slow say nothing for each other.
    fn same_pair(&self, number: usize, flow: &RatedFlow<'_>) -> Option<TargetRate> {
        // Within one host no path stands between the two directions.
        if flow.carrier == Carrier::Http || flow.from == flow.to {
            return None;
        }
        let others = self.between.get(&ordered(flow))?.iter().filter(|other| **other != number);
        let others = others.map(|other| &self.flows[*other]);
        let of_pair = others.filter(|other| {
            let along = other.from == flow.from && other.to == flow.to;
            let is_comparable = other.carrier != Carrier::Http && along
                || other.carrier == Carrier::Tcp && other.from == flow.to && other.to == flow.from;
            is_comparable && !is_far_shorter(other, flow)
        });
        let best = of_pair.max_by_key(|other| other.goodput)?;
        let carried = if best.carrier == Carrier::Udp { " by UDP" } else { "" };
        let from = format!("{} to {}{carried}", best.from, best.to);
        Some(TargetRate { rate: best.goodput, source: TargetSource::SamePair, from })
    }

    /// What both hosts reach with other hosts: each alone, and so the slower of the two.
    fn same_hosts(&self, own: &RatedPair<'_>) -> Option<TargetRate> {
        let best = |host: &str, other: &str| {
            let there = self.at.get(host)?.iter().map(|number| &self.pairs[*number]);
            let elsewhere = there.filter(|pair| pair.from.host != other && pair.to.host != other);
            let comparable = elsewhere.filter(|pair| pair.class.measures(&own.class));
            comparable.max_by_key(|pair| pair.best)
        };
        let sender = best(&own.from.host, &own.to.host)?;
        let receiver = best(&own.to.host, &own.from.host)?;
        let slower = if sender.best <= receiver.best { sender } else { receiver };
        let from = format!("{} to {}", slower.from, slower.to);
        Some(TargetRate { rate: slower.best, source: TargetSource::SameHosts, from })
    }

    /// What a quarter of the comparable pairs exceed, if there are at least three besides.
    fn comparable(&self, own: &RatedPair<'_>) -> Option<TargetRate> {
        let known = self.quartiles.borrow().get(&own.class).copied();
        let rate = known.unwrap_or_else(|| {
            let found = self.quartile(&own.class);
            self.quartiles.borrow_mut().insert(own.class.clone(), found);
            found
        })?;
        let from = "the pairs of this round".to_owned();
        Some(TargetRate { rate, source: TargetSource::ComparablePairs, from })
    }

    fn quartile(&self, class: &Class) -> Option<DataRate> {
        let comparable = || self.pairs.iter().filter(|pair| pair.class.measures(class));
        let rates = |pairs: &mut dyn Iterator<Item = &RatedPair<'_>>| {
            let mut rates: Vec<DataRate> = pairs.filter_map(|pair| pair.median).collect();
            rates.sort_unstable();
            (rates.len() > FEWEST).then_some(rates)
        };
        let of_groups = class
            .groups
            .as_ref()
            .and_then(|groups| rates(&mut comparable().filter(|pair| pair.class.groups.as_ref() == Some(groups))));
        let rates = of_groups.or_else(|| rates(&mut comparable()))?;
        // The nearest rank above the quantile: of four pairs the fastest.
        let rank = ((rates.len() - 1) * 3).div_ceil(4);
        rates.get(rank).copied()
    }
}

/// What is known of the hosts of a round, by their names.
type Attributes<'r> = BTreeMap<&'r str, &'r BTreeMap<String, String>>;

fn ordered<'r>(flow: &RatedFlow<'r>) -> [&'r Endpoint; 2] {
    if flow.from <= flow.to { [flow.from, flow.to] } else { [flow.to, flow.from] }
}

/// The flows of one pair as one.
fn rated<'r>(members: &Attributes<'_>, flows: &[&RatedFlow<'r>]) -> Option<RatedPair<'r>> {
    let first = flows.first()?;
    let mut rates: Vec<DataRate> =
        flows.iter().filter(|flow| !is_held_by_request(flow)).map(|flow| flow.goodput).collect();
    rates.sort_unstable();
    let best = flows.iter().map(|flow| flow.goodput).max()?;
    let rtt = flows.iter().filter_map(|flow| flow.rtt).min();
    let class = class(members, first, rtt);
    Some(RatedPair { from: first.from, to: first.to, median: rates.get(rates.len() / 2).copied(), best, class })
}

fn is_held_by_request(flow: &RatedFlow<'_>) -> bool {
    flow.requested.is_some_and(|asked| flow.goodput.bps().saturating_mul(5) >= asked.bps().saturating_mul(4))
}

fn class(members: &Attributes<'_>, flow: &RatedFlow<'_>, rtt: Option<Duration>) -> Class {
    let attribute = |host: &str, name: &str| members.get(host)?.get(name).cloned();
    let both = |name: &str| attribute(&flow.from.host, name).zip(attribute(&flow.to.host, name));
    let groups = both("group").map(|(one, other)| if one <= other { [one, other] } else { [other, one] });
    let is_local = both("site").map(|(one, other)| one == other);
    let doublings = |rtt: Duration| {
        let units = rtt.as_micros() / SHORT_US;
        u128::BITS - units.leading_zeros()
    };
    Class { carrier: flow.carrier, network: flow.from.network.clone(), groups, is_local, rtt: rtt.map(doublings) }
}

fn is_far_above(rate: DataRate, goodput: DataRate) -> bool {
    let slow = TargetSource::SamePair.slow_below();
    goodput.share_of(rate).is_some_and(|part| part < slow)
}

/// Fewer other pairs are no measure.
const FEWEST: usize = 2;
/// Paths of less than this RTT are alike, in microseconds.
const SHORT_US: u128 = 2_000;
