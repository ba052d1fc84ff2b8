//! The tests of a scenario's overlay while they run.

use std::time::Duration;

use diagnose::grid::Grade;
use lab::network::Network;
use lab::play::Audience;
use lab::scenario::{Scenario, Test};
use model::measurement::Heading;
use model::played::{Finding, Tested};
use units::duration::show;

use super::{Board, Cell, Host};
use crate::show::progress::Talk;

/// What is shown while rounds of these tests run.
pub struct Live<'a> {
    scenario: &'a Scenario,
    talk: Talk,
    /// The round that runs.
    round: Option<(Board, Done)>,
}

/// How many of its tests have ended.
type Done = usize;

impl<'a> Live<'a> {
    pub const fn new(scenario: &'a Scenario, talk: Talk) -> Self {
        Self { scenario, talk, round: None }
    }

    fn board(&self) -> Board {
        let inside = self.scenario.tests.iter().filter(|test| test.is_in_an_overlay());
        let mut hosts: Vec<usize> = inside.clone().map(|test| test.from.host).collect();
        hosts.dedup();
        let name = |number: usize| Host { number, name: self.scenario.hosts[number].name.clone() };
        Board::new(hosts.into_iter().map(name).collect(), inside.map(pair), self.scenario.tests.len(), self.talk)
    }
}

impl Audience for Live<'_> {
    fn raised(&mut self, network: &Network, took: Duration) {
        if self.talk == Talk::Progress {
            eprintln!("the network is up: {} hosts, in {}", network.hosts().len(), show(took));
        }
    }

    fn begins(&mut self, test: &Test, _at: Duration) {
        let fresh = self.round.take().unwrap_or_else(|| (self.board(), 0));
        let (board, _) = self.round.insert(fresh);
        if test.is_in_an_overlay() {
            board.begins(pair(test));
        }
    }

    fn ended(&mut self, test: &Test, tested: &Tested) {
        let all = self.scenario.tests.len();
        let Some((board, done)) = &mut self.round else { return };
        *done += 1;
        let cell = cell(test, &tested.finding);
        board.ended(test.is_in_an_overlay().then(|| (pair(test), cell)), || {
            format!("{done:>3} of {all}  {:<24} {}", test.label, words(cell))
        });
        if *done == all {
            board.finish();
            self.round = None;
        }
    }
}

const fn pair(test: &Test) -> (usize, usize) {
    (test.from.host, test.to.host)
}

fn cell(test: &Test, finding: &Finding) -> Cell {
    let Finding::Run(run) = finding else { return Cell::Failed };
    let mut totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
    let Some(outbound) = totals.find(|total| total.heading == Heading::Outbound) else { return Cell::Failed };
    let part = test.kind.expected().and_then(|should| outbound.goodput.share_of(should)).unwrap_or(1.0);
    Cell::Rate(outbound.goodput, Some(Grade::of(part)))
}

fn words(cell: Cell) -> String {
    match cell {
        Cell::Rate(rate, grade) => grade.map_or_else(|| rate.to_string(), |grade| format!("{} {rate}", grade.letter())),
        Cell::Failed => "it failed".to_owned(),
        Cell::Waiting | Cell::Running => String::new(),
    }
}
