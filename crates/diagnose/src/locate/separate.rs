//! The one test that would best tell explanations apart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::round::Passage;

use super::element::{Element, Network, Selector};
use super::evidence::SHALLOWEST;
use super::explain::Case;
use super::explanation::{SeparatingTest, Tester};
use super::shape::{Ground, Part, Path, Shape};

/// A set of elements, each with the depth that it gives to paths.
#[derive(Debug, Clone)]
pub(super) struct Hypothesis {
    pub(super) elements: Vec<(Shape, f64)>,
    pub(super) probability: f64,
}

impl Hypothesis {
    pub(super) fn names(&self, ground: &Ground) -> Vec<Element> {
        self.elements.iter().filter_map(|(shape, _)| ground.name(*shape)).collect()
    }

    fn asks_for_way(&self) -> bool {
        self.elements.iter().any(|(shape, _)| matches!(shape.part, Part::Passage(_) | Part::Segment(_)))
    }

    fn depth(&self, ground: &Ground, path: &Path<'_>) -> f64 {
        let on_way = self.elements.iter().filter(|(shape, _)| ground.covers(*shape, path));
        on_way.map(|(_, depth)| *depth).fold(0.0, f64::max)
    }
}

/// The untested pair whose result would say most; with a host that is none of the members where no pair of members says
/// anything.
pub(super) fn best_test(case: &Case<'_>, hypotheses: &[Hypothesis]) -> Option<SeparatingTest> {
    let needs_way = hypotheses.iter().any(Hypothesis::asks_for_way);
    let ways = if needs_way { Ways::of(case) } else { Ways::default() };
    let mut best = Best::default();
    let tested = tested(case);
    for (network, hosts) in ends(case).into_iter().enumerate() {
        for from in hosts.iter().copied() {
            let reached = if needs_way { ways.from(from) } else { BTreeMap::new() };
            for to in hosts.iter().copied().filter(|to| *to != from && !tested.contains(&(network, from, *to))) {
                let way = reached.get(&to).map(Vec::as_slice);
                if needs_way && way.is_none() {
                    continue;
                }
                let way = way.unwrap_or_default();
                best.consider(case, hypotheses, &Path { from: Some(from), to: Some(to), network: Some(network), way });
            }
        }
    }
    // Where a newcomer would be connected is not known, so its ways are not.
    if best.0.is_none() && !needs_way {
        for (network, hosts) in ends(case).into_iter().enumerate() {
            for host in hosts.into_iter().map(Some) {
                for (from, to) in [(None, host), (host, None)] {
                    best.consider(case, hypotheses, &Path { from, to, network: Some(network), way: &[] });
                }
            }
        }
    }
    best.0.map(|(_, test)| test)
}

/// The best test so far, and how well it splits.
#[derive(Default)]
struct Best(Option<(f64, SeparatingTest)>);

impl Best {
    fn consider(&mut self, case: &Case<'_>, hypotheses: &[Hypothesis], path: &Path<'_>) {
        let bad: Vec<bool> = hypotheses.iter().map(|of| of.depth(case.ground, path) >= SHALLOWEST).collect();
        if bad.iter().all(|bad| *bad) || !bad.contains(&true) {
            return;
        }
        let all: f64 = hypotheses.iter().map(|of| of.probability).sum();
        let bad_part: f64 = hypotheses.iter().zip(&bad).filter(|(_, bad)| **bad).map(|(of, _)| of.probability).sum();
        let probability = bad_part / all;
        // What a test says on average is largest where both results are equally likely.
        let split = probability.min(1.0 - probability);
        if self.0.as_ref().is_some_and(|(best, _)| split <= *best + NO_BETTER) {
            return;
        }
        let under = |wanted: bool| (0..).zip(&bad).filter(|(_, bad)| **bad == wanted).map(|(at, _)| at).collect();
        let test = SeparatingTest {
            from: tester(case, hypotheses, path.from),
            to: tester(case, hypotheses, path.to),
            network: network(case, path.network),
            bad_probability: probability,
            bad_under: under(true),
            good_under: under(false),
        };
        self.0 = Some((split, test));
    }
}

/// Of tests that split equally well the first is taken.
const NO_BETTER: f64 = 1e-9;

fn network(case: &Case<'_>, network: Option<usize>) -> Network {
    let name = network.and_then(|network| case.ground.networks.get(network)).cloned().flatten();
    name.map_or(Network::Usual, Network::Named)
}

/// A member by its name. A newcomer by all that the hypotheses' sets have in common: sharing any of it, it would be in
/// that set.
fn tester(case: &Case<'_>, hypotheses: &[Hypothesis], host: Option<u32>) -> Tester {
    if let Some(name) = host.and_then(|host| case.ground.groups.hosts.get(host as usize)) {
        return Tester::Member { host: name.clone() };
    }
    let shapes = hypotheses.iter().flat_map(|of| &of.elements).map(|(shape, _)| shape.part);
    let groups = shapes.flat_map(|part| match part {
        Part::Side { group, .. } => vec![group],
        Part::Between { from, to } => vec![from, to],
        _ => Vec::new(),
    });
    let shared = groups.filter_map(|group| case.ground.group(group)).flat_map(|group| &group.names);
    let shared = shared.filter(|name| !matches!(name, Selector::Host { .. })).cloned();
    Tester::Newcomer { apart_from: shared.collect::<BTreeSet<_>>().into_iter().collect() }
}

/// The hosts that have been reached in each network.
fn ends(case: &Case<'_>) -> Vec<BTreeSet<u32>> {
    let mut ends = vec![BTreeSet::new(); case.ground.networks.len()];
    for cell in &case.layer.cells {
        if let Some(network) = case.ground.networks.iter().position(|network| *network == cell.from.network) {
            ends[network].extend([&cell.from.host, &cell.to.host].into_iter().filter_map(|host| number(case, host)));
        }
    }
    ends
}

/// Pairs of which the quality is known.
fn tested(case: &Case<'_>) -> BTreeSet<(usize, u32, u32)> {
    let known = case.evidence.cell.iter().map(|cell| &case.layer.cells[*cell]);
    known
        .filter_map(|cell| {
            let network = case.ground.networks.iter().position(|network| *network == cell.from.network)?;
            Some((network, number(case, &cell.from.host)?, number(case, &cell.to.host)?))
        })
        .collect()
}

fn number(case: &Case<'_>, host: &str) -> Option<u32> {
    case.ground.groups.number(host)
}

/// The links as a graph.
#[derive(Default)]
struct Ways {
    /// For each host its neighbours, and the passage towards each where cells know it.
    neighbours: BTreeMap<u32, Vec<(u32, Option<u32>)>>,
}

impl Ways {
    fn of(case: &Case<'_>) -> Self {
        let mut ways = Self::default();
        for segment in case.topology.segments {
            let [a, b] = &segment.between;
            for (from, to) in [(a, b), (b, a)] {
                if let Some((near, far)) = number(case, from).zip(number(case, to)) {
                    let passage = Passage { segment: segment.name.clone(), towards: to.clone() };
                    ways.neighbours.entry(near).or_default().push((far, case.ground.passage(&passage)));
                }
            }
        }
        ways
    }

    /// The passages to every host that can be reached from one.
    ///
    /// Model: traffic takes the way of fewest segments. Where two are equally short either may be taken.
    fn from(&self, start: u32) -> BTreeMap<u32, Vec<u32>> {
        let mut reached = BTreeMap::from([(start, Vec::new())]);
        let mut queue = VecDeque::from([start]);
        while let Some(near) = queue.pop_front() {
            for (far, passage) in self.neighbours.get(&near).into_iter().flatten() {
                if !reached.contains_key(far) {
                    let way = reached.get(&near).into_iter().flatten().chain(passage).copied().collect();
                    reached.insert(*far, way);
                    queue.push_back(*far);
                }
            }
        }
        reached
    }
}
