//! A round of a plan while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::played::Finding;
use model::round::{Round, Tested};
use model::run::Outcome;
use plan::schedule::Slot;
use plan::task::Weight;
use plan::{Plan, Schedule};
use round::leader::Audience;

use super::{Board, Cell, Host};
use crate::show::played;
use crate::show::plural::counted;
use crate::show::progress::Talk;

/// What is shown while a round runs: the grid of the hosts that send or receive flows.
pub struct Screen<'a> {
    plan: &'a Plan,
    board: Board,
    /// How many tests of each host are to come.
    left: Vec<usize>,
    /// Hosts that take part no more: one line says it for all of their tests.
    absent: BTreeSet<usize>,
}

impl<'a> Screen<'a> {
    pub fn new(plan: &'a Plan, schedule: &Schedule, talk: Talk) -> Self {
        let heavy = schedule.slots.iter().filter(|slot| slot.weight == Weight::Heavy);
        let pairs: BTreeSet<(usize, usize)> = heavy.map(pair).collect();
        let hosts: BTreeMap<usize, &str> = pairs
            .iter()
            .flat_map(|(from, to)| [*from, *to])
            .map(|host| (host, plan.hosts[host].name.as_str()))
            .collect();
        let hosts = hosts.into_iter().map(|(number, name)| Host { number, name: name.to_owned() });
        let board = Board::new(hosts.collect(), pairs.into_iter(), schedule.slots.len(), talk);
        board.message("asking all hosts who they are");
        let mut left = vec![0; plan.hosts.len()];
        for slot in &schedule.slots {
            hosts_of(slot).into_iter().for_each(|host| left[host] += 1);
        }
        Self { plan, board, left, absent: BTreeSet::new() }
    }

    /// Leaves the terminal as it was.
    pub fn finish(&self) {
        self.board.finish();
    }
}

impl Audience for Screen<'_> {
    fn mustered(&mut self, round: &Round) {
        let answering = round.members.iter().filter(|member| member.before.is_some()).count();
        let asked = self.plan.hosts.iter().filter(|host| host.reach.is_some()).count();
        self.board.say(&format!("facts collected from {answering} of {asked} hosts"));
        for member in &round.members {
            for remark in &member.remarks {
                self.board.say(&format!("{}: {remark}", member.name));
            }
        }
        self.board.draw();
    }

    fn begins(&mut self, slot: &Slot, _at: Duration) {
        if slot.weight == Weight::Heavy {
            self.board.begins(pair(slot));
        }
    }

    fn ended(&mut self, slot: &Slot, tested: &Tested) {
        let cell = (slot.weight == Weight::Heavy).then(|| (pair(slot), cell(&tested.finding)));
        hosts_of(slot).into_iter().for_each(|host| self.left[host] = self.left[host].saturating_sub(1));
        let is_known = matches!(tested.finding, Finding::Nothing { .. })
            && hosts_of(slot).iter().any(|host| self.absent.contains(host));
        self.board.ended(cell, || {
            if is_known {
                return String::new();
            }
            let found = played::finding(&tested.finding, None).into_iter().next().unwrap_or_default();
            let from_to = format!("{} > {}", tested.from, tested.to);
            let at = tested.began.as_secs_f64();
            format!("{at:6.1} s  {from_to:<28} {:<12} {found}", tested.label)
        });
    }

    fn failed(&mut self, host: usize, why: &str) {
        let name = &self.plan.hosts[host].name;
        let why = why.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(why);
        let tests = match self.left[host] {
            0 => String::new(),
            left => format!("; {} left out", counted(left, "test", "tests")),
        };
        self.board.say(&format!("{name} takes part no more: {why}{tests}"));
        self.absent.insert(host);
    }
}

/// The two hosts of a test; one where a host tests itself.
fn hosts_of(slot: &Slot) -> BTreeSet<usize> {
    BTreeSet::from([slot.pair.from, slot.pair.to])
}

const fn pair(slot: &Slot) -> (usize, usize) {
    (slot.pair.from, slot.pair.to)
}

/// Rates as they come: how good they are shows only when all are there.
fn cell(finding: &Finding) -> Cell {
    let rate = match finding {
        Finding::Run(run) if run.outcome == Outcome::Complete => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            totals.map(|total| total.goodput).min()
        }
        Finding::Downloads(downloads) => downloads.iter().filter_map(|download| download.goodput).min(),
        Finding::Run(_) | Finding::Echo(_) | Finding::PathMtu(_) | Finding::Hops(_) | Finding::Nothing { .. } => None,
    };
    rate.map_or(Cell::Failed, |rate| Cell::Rate(rate, None))
}
