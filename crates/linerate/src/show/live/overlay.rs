//! The tests of a scenario's overlay while they run.

use std::time::Duration;

use diagnose::grid::Grade;
use lab::network::Network;
use lab::play::Audience;
use lab::scenario::{Scenario, Test};
use model::measurement::Heading;
use model::played::{Finding, Tested};
use model::quality::Quality;
use units::duration::show;

use super::{Board, Cell, Host};
use crate::show::progress::Talk;

/// What is shown while rounds of these tests run.
pub struct Live<'a> {
    scenario: &'a Scenario,
    talk: Talk,
    /// The round that runs.
    round: Option<Running>,
}

/// A round that runs.
struct Running {
    board: Board,
    tests: usize,
    ended: usize,
}

impl<'a> Live<'a> {
    pub const fn new(scenario: &'a Scenario, talk: Talk) -> Self {
        Self { scenario, talk, round: None }
    }

    fn board(&self, tests: usize) -> Board {
        let inside = self.scenario.tests.iter().filter(|test| test.is_in_an_overlay());
        let mut hosts: Vec<usize> = inside.clone().map(|test| test.from.host).collect();
        hosts.dedup();
        let name = |number: usize| Host { number, name: self.scenario.hosts[number].name.clone() };
        Board::new(hosts.into_iter().map(name).collect(), inside.map(pair), tests, self.talk)
    }
}

impl Audience for Live<'_> {
    fn raised(&mut self, network: &Network, took: Duration) {
        if self.talk == Talk::Progress {
            eprintln!("the network is up: {} hosts, in {}", network.hosts().len(), show(took));
        }
    }

    fn round_begins(&mut self, tests: usize) {
        self.round = Some(Running { board: self.board(tests), tests, ended: 0 });
    }

    fn round_ended(&mut self) {
        if let Some(running) = self.round.take() {
            running.board.finish();
        }
    }

    fn begins(&mut self, test: &Test, _at: Duration) {
        if let Some(running) = self.round.as_mut().filter(|_| test.is_in_an_overlay()) {
            running.board.begins(pair(test));
        }
    }

    fn repeats(&mut self, test: &Test, quality: &Quality) {
        if let (Some(running), Some(worst)) = (&self.round, quality.disturbances.first()) {
            running.board.say(&format!("again     {:<24} {worst}", test.label));
        }
    }

    fn ended(&mut self, test: &Test, tested: &Tested) {
        let Some(Running { board, tests, ended }) = &mut self.round else { return };
        *ended += 1;
        let (cell, done) = (cell(test, &tested.finding), (*ended).min(*tests));
        board.ended(test.is_in_an_overlay().then(|| (pair(test), cell)), || {
            format!("{done:>3} of {tests}  {:<24} {}", test.label, words(cell))
        });
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
