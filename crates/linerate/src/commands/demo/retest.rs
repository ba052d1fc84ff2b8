//! What is tested again: as often before a change as after it, until a rank test can tell.

use std::collections::BTreeSet;
use std::time::Duration;

use diagnose::proof::fewest;
use lab::play::{Fit, Order};
use lab::scenario::{Scenario, Test, TestKind};
use model::spec::{Direction, Limit};

/// What is tested again.
pub struct Retest {
    /// The tests, the same before and after.
    pub tests: Vec<Test>,
    /// The tests of the round that stand for those before the change, where it has enough of them.
    pub in_round: Option<BTreeSet<usize>>,
}

impl Retest {
    /// A grid is filled again whole; on a machine with little time, what suffers in it and as much of the rest. Of single tests those that suffer are repeated, each pair as often as it takes.
    pub fn of(scenario: &Scenario, suffering: &BTreeSet<usize>, order: Order, fit: Fit) -> Self {
        let all = &scenario.tests;
        if order == Order::SideBySide {
            let chosen = if fit == Fit::default() { (0..all.len()).collect() } else { sample(all.len(), suffering) };
            let tests = chosen.iter().filter_map(|number| all.get(*number)).cloned().collect();
            return Self { tests, in_round: Some(chosen) };
        }
        let slow: Vec<&Test> = suffering.iter().filter_map(|number| all.get(*number)).collect();
        let needed = fewest(CONFIDENCE).map_or(0, |fewest| fewest as usize);
        if slow.len() >= needed {
            return Self { tests: slow.into_iter().cloned().collect(), in_round: Some(suffering.clone()) };
        }
        let mut pairs: Vec<Test> = Vec::new();
        for test in slow {
            if !pairs.iter().any(|known| is_same_pair(known, test)) {
                pairs.push(repeatable(scenario, test));
            }
        }
        let times = needed.div_ceil(pairs.len().max(1));
        Self { tests: std::iter::repeat_n(&pairs, times).flatten().cloned().collect(), in_round: None }
    }

    /// The tests once more, when the network's clock shows `now`. Those that began at regular times begin at such times
    /// again: others may send at the same ones.
    pub fn from(&self, now: Duration) -> Vec<Test> {
        let beat = beat(&self.tests);
        let begins = |start: Duration, (first, beat): (Duration, Duration)| {
            let late = now.saturating_sub(first).as_nanos().div_ceil(beat.as_nanos().max(1));
            start + beat.saturating_mul(u32::try_from(late).unwrap_or(u32::MAX))
        };
        let tests = self
            .tests
            .iter()
            .map(|test| Test { start: test.start.zip(beat).map(|(start, beat)| begins(start, beat)), ..test.clone() });
        tests.collect()
    }
}

/// Those that suffer, and as many others, spread over the round.
fn sample(all: usize, suffering: &BTreeSet<usize>) -> BTreeSet<usize> {
    let others: Vec<usize> = (0..all).filter(|number| !suffering.contains(number)).collect();
    let step = others.len().div_ceil(suffering.len().max(1)).max(1);
    suffering.iter().copied().chain(others.into_iter().step_by(step)).collect()
}

/// The first start and the time from one start to the next, where they are all the same.
fn beat(tests: &[Test]) -> Option<(Duration, Duration)> {
    let starts: Vec<Duration> = tests.iter().map(|test| test.start).collect::<Option<_>>()?;
    let steps: BTreeSet<Duration> = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let step = steps.first().filter(|step| steps.len() == 1 && !step.is_zero())?;
    Some((*starts.first()?, *step))
}

/// A test that can begin at any time, is short, and is called by its ends: what else its name says was true once.
fn repeatable(scenario: &Scenario, test: &Test) -> Test {
    let name = |host: usize| &scenario.hosts[host].name;
    let label = format!("{} to {}", name(test.from.host), name(test.to.host));
    let mut test = Test { start: None, label, ..test.clone() };
    if let TestKind::Tcp(flow) | TestKind::Udp(flow) = &mut test.kind
        && let Limit::Time(time) = &mut flow.spec.limit
    {
        *time = (*time).min(LONGEST);
    }
    test
}

fn is_same_pair(one: &Test, other: &Test) -> bool {
    (one.from, one.to, direction(one)) == (other.from, other.to, direction(other))
}

fn direction(test: &Test) -> Option<Direction> {
    match &test.kind {
        TestKind::Tcp(flow) | TestKind::Udp(flow) => Some(flow.spec.direction),
        TestKind::Ping(_) | TestKind::Mtu | TestKind::Hops | TestKind::Http(_) => None,
    }
}

/// The confidence of the proof that something is fixed.
pub const CONFIDENCE: f64 = 0.95;

/// Eight of them are waited for: twice as long as TCP needs to fill a path around half of the world.
const LONGEST: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use super::*;

    fn again(scenario: &str, suffering: &[usize]) -> Retest {
        let scenario = lab::scenario::load(scenario).unwrap();
        Retest::of(&scenario, &suffering.iter().copied().collect(), Order::InTurn, Fit::default())
    }

    #[test]
    fn one_pair_is_tested_four_times_and_two_pairs_twice_each() {
        let one = again("lhn-untuned-host", &[1]);
        assert_eq!((one.tests.len(), one.in_round), (4, None));
        let two = again("lhn-router-replaced", &[1, 2]);
        let labels: Vec<&str> = two.tests.iter().map(|test| test.label.as_str()).collect();
        assert_eq!(labels, ["ls-dtn to ncsa-dtn", "ls-archiver to ncsa-dtn"].repeat(2));
        assert!(two.tests.iter().all(|test| test.start.is_none() && test.kind.length() <= Some(LONGEST)));
    }

    #[test]
    fn busy_machine_tests_what_suffers_and_as_many_others() {
        let scenario = lab::scenario::load("nrao-overlay-offload").unwrap();
        let suffering = BTreeSet::from([1, 4, 7]);
        let busy = Fit { at_once: 1, pace: lab::relay::Pace::of_percent(50), ..Fit::default() };
        let again = Retest::of(&scenario, &suffering, Order::SideBySide, busy);
        let chosen = again.in_round.unwrap();
        assert!(chosen.is_superset(&suffering) && chosen.len() == 6, "{chosen:?}");
        assert_eq!(again.tests.len(), 6);
        let quiet = Retest::of(&scenario, &suffering, Order::SideBySide, Fit::default());
        assert_eq!(quiet.tests.len(), scenario.tests.len());
    }

    #[test]
    fn both_directions_of_a_pair_are_two() {
        let both = again("dc24-small-buffers", &[0, 2]);
        assert_eq!(both.tests.len(), 4);
    }

    #[test]
    fn tests_at_regular_times_stay_at_such_times() {
        let mut regular = again("lhn-untuned-host", &[1]);
        assert!(regular.from(Duration::from_secs(50)).iter().all(|test| test.start.is_none()));
        for (test, start) in regular.tests.iter_mut().zip([15, 26, 37, 48]) {
            test.start = Some(Duration::from_secs(start));
        }
        let starts = |now: u64| {
            let tests = regular.from(Duration::from_secs(now));
            tests.iter().map(|test| test.start.unwrap().as_secs()).collect::<Vec<_>>()
        };
        assert_eq!(starts(3), [15, 26, 37, 48]);
        assert_eq!(starts(60), [70, 81, 92, 103]);
        assert_eq!(starts(70), [70, 81, 92, 103]);
    }
}
