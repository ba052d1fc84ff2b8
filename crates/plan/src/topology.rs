//! Which segments lie between two hosts, and what rate they allow.

use std::collections::VecDeque;

use model::round::Passage;
use units::DataRate;

use crate::plan::{DeclaredPath, Expectation, Plan};

impl Plan {
    /// The segments on the way from one host to another; empty where it is not known.
    #[must_use]
    pub fn way(&self, from: usize, to: usize, network: Option<usize>) -> Vec<usize> {
        way(self, [from, to], network)
    }

    /// The same as a round names it.
    #[must_use]
    pub fn passages(&self, from: usize, to: usize, network: Option<usize>) -> Vec<Passage> {
        passages(self, from, &self.way(from, to, network))
    }

    /// The lowest known rate between two hosts.
    #[must_use]
    pub fn line_rate(&self, from: usize, to: usize, network: Option<usize>) -> Option<DataRate> {
        let ends = [from, to].into_iter().filter_map(|host| self.hosts[host].rate);
        let way = self.way(from, to, network).into_iter().filter_map(|segment| self.segments[segment].rate);
        ends.chain(way).min()
    }

    /// The rate that a test should reach between two hosts, as far as the plan can tell.
    #[must_use]
    pub fn expected_rate(&self, test: usize, from: usize, to: usize) -> Option<DataRate> {
        let network = self.groups[self.tests[test].group].network;
        match self.expectation(test, from, to)? {
            Expectation::Rate(rate) => Some(rate),
            Expectation::Percent(percent) => self.line_rate(from, to, network).map(|line| part_of(line, percent)),
            Expectation::Rtt(_) => None,
        }
    }
}

/// The segments from one host to another: those that the plan gives, else the fewest, else none. Packets turn only in
/// hosts that forward; of two ways as short as each other, that over segments which stand first in the plan is taken.
pub(crate) fn way(plan: &Plan, [from, to]: [usize; 2], network: Option<usize>) -> Vec<usize> {
    given(plan, [from, to], network).unwrap_or_else(|| shortest(plan, from, to))
}

/// The way that the plan gives.
pub(crate) fn given(plan: &Plan, [from, to]: [usize; 2], network: Option<usize>) -> Option<Vec<usize>> {
    let given = |way: &&DeclaredPath| (way.from, way.to, way.network) == (from, to, network);
    // Nobody says how a network lies over the segments: its packets take the usual way of its hosts.
    let usual = |way: &&DeclaredPath| (way.from, way.to, way.network) == (from, to, None);
    plan.ways.iter().find(given).or_else(|| plan.ways.iter().find(usual)).map(|way| way.over.clone())
}

fn shortest(plan: &Plan, from: usize, to: usize) -> Vec<usize> {
    Tree::new(plan, from).over(to)
}

/// The shortest ways from one host to all others.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Of each host, the one before it on the way and the segment between the two.
    reached_by: Vec<Option<(usize, usize)>>,
}

impl Tree {
    pub(crate) fn new(plan: &Plan, from: usize) -> Self {
        let mut reached_by: Vec<Option<(usize, usize)>> = vec![None; plan.hosts.len()];
        let mut waiting = VecDeque::from([from]);
        while let Some(here) = waiting.pop_front() {
            if here != from && !plan.hosts[here].forwards {
                continue;
            }
            for (number, segment) in plan.segments.iter().enumerate() {
                let Some(next) = across(segment.between, here) else { continue };
                if next != from && reached_by[next].is_none() {
                    reached_by[next] = Some((here, number));
                    waiting.push_back(next);
                }
            }
        }
        Self { reached_by }
    }

    /// The segments to a host, in the order in which packets pass them.
    pub(crate) fn over(&self, to: usize) -> Vec<usize> {
        let mut over = Vec::new();
        let mut here = to;
        while let Some((before, segment)) = self.reached_by[here] {
            over.push(segment);
            here = before;
        }
        over.reverse();
        over
    }
}

/// The other end of a segment.
pub(crate) fn across([one, other]: [usize; 2], here: usize) -> Option<usize> {
    if here == one {
        Some(other)
    } else if here == other {
        Some(one)
    } else {
        None
    }
}

/// Segments with the directions in which packets from `from` pass them.
pub(crate) fn passages(plan: &Plan, from: usize, over: &[usize]) -> Vec<Passage> {
    let mut here = from;
    let mut passages = Vec::with_capacity(over.len());
    for &number in over {
        let segment = &plan.segments[number];
        let Some(next) = across(segment.between, here) else { break };
        passages.push(Passage { segment: segment.name.clone(), towards: plan.hosts[next].name.clone() });
        here = next;
    }
    passages
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a rate is no more exact than a rate is known"
)]
fn part_of(rate: DataRate, percent: f64) -> DataRate {
    DataRate::from_bps((rate.bps() as f64 * (percent / 100.0).clamp(0.0, 1.0)).round() as u64)
}
