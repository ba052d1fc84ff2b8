//! Light tests: what an agent runs by itself, all the time.
//!
//! A mesh of 100 hosts has a hundred light runs a second. They disturb nobody, so nobody has to lease them: each has the name
//! of its period, and a hub stores one result of a name.

use std::collections::BTreeSet;
use std::time::Duration;

use plan::Plan;
use plan::task::{Task, Weight};
use units::{WallTime, duration};

use crate::clock;
use crate::run::RunId;

/// A light test that an agent repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingTest {
    /// The host whose agent runs it.
    pub agent: String,
    /// The label of its test.
    pub test: String,
    /// The group of hosts whose test it is.
    pub group: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
    /// What is measured.
    pub task: Task,
    /// Time from one to the next.
    pub every: Duration,
    /// When in each period: another moment for each pair, so that nobody is asked by all at once.
    pub phase: Duration,
}

impl StandingTest {
    /// The name of its runs, but for the second at which their period begins.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}@{}/{}/{}", self.test, self.group, self.from, self.to)
    }

    /// The first run after a moment: its name and when it is due.
    #[must_use]
    pub fn next(&self, after: WallTime) -> (RunId, WallTime) {
        let every = duration::nanos(self.every).max(1);
        let phase = duration::nanos(self.phase);
        let cycle = (after.unix_nanos() + every).saturating_sub(phase) / every;
        let begins = WallTime::from_unix_nanos(cycle * every);
        let name = format!("{}@{}/{}/{}/{}", self.test, self.group, self.from, self.to, begins.unix_seconds());
        (RunId(name), clock::later(begins, self.phase))
    }
}

pub(super) fn of(plan: &Plan, agents: &BTreeSet<String>) -> Vec<StandingTest> {
    let light = (0..plan.tests.len()).filter(|test| plan.tests[*test].task.weight() == Weight::Light);
    let of_test = |number: usize| {
        let test = &plan.tests[number];
        let every = plan.period(number);
        let pairs = plan.pairs(number);
        let count = u32::try_from(pairs.len()).unwrap_or(u32::MAX).max(1);
        pairs.into_iter().enumerate().filter_map(move |(place, pair)| {
            let [from, to] = [pair.from, pair.to].map(|host| plan.hosts[host].name.clone());
            let agent = super::asking::asking(&test.task, [&from, &to], agents)?;
            // Neighbours in the list share a host: a golden part of the period lies between them.
            let place = u32::try_from(place).unwrap_or(0);
            let phase = every / count * (u64::from(place) * GOLDEN % u64::from(count)).try_into().unwrap_or(0);
            let group = plan.groups[test.group].name.clone();
            Some(StandingTest {
                agent,
                test: test.label.clone(),
                group,
                from,
                to,
                task: test.task.clone(),
                every,
                phase,
            })
        })
    };
    light.flat_map(of_test).collect()
}

/// 2^32 over the golden ratio, odd: multiples of it are spread evenly (Knuth, vol. 3, 6.4).
const GOLDEN: u64 = 2_654_435_769;
