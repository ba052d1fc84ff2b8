//! A round as a grid that fills while its tests end. It is talk: standard error has it, and only a terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use diagnose::grid::{Cell, Grade, Grid, Measure, Measured};
use diagnose::locate::cell::Symptom;
use lab::network::Network;
use lab::play::Audience;
use lab::scenario::{Scenario, Test, TestKind};
use model::measurement::Heading;
use model::played::{Finding, Tested};
use units::DataRate;
use units::duration::show;

use crate::cli::Common;
use crate::show::grid::text::{Colour, matrix};

/// Where the grid is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// On a terminal, drawn again with each test.
    Terminal,
    /// A line for each test.
    Lines,
    /// Nowhere.
    Nowhere,
}

impl Where {
    /// As the options and standard error have it.
    pub fn of(common: &Common) -> Self {
        match (common.quiet, std::io::stderr().is_terminal()) {
            (true, _) => Self::Nowhere,
            (false, true) => Self::Terminal,
            (false, false) => Self::Lines,
        }
    }
}

/// The grid of the tests inside of an overlay.
pub struct Live {
    place: Where,
    grid: Grid,
    /// Pairs by their labels.
    pairs: BTreeMap<String, (usize, usize)>,
    done: usize,
    all: usize,
    running: Vec<String>,
    /// How many lines are on the terminal.
    drawn: usize,
}

impl Live {
    pub fn new(scenario: &Scenario, place: Where) -> Self {
        let inside = |test: &&Test| test.from.overlay.is_some() && test.from.overlay == test.to.overlay;
        let mut hosts: Vec<usize> = scenario.tests.iter().filter(inside).map(|test| test.from.host).collect();
        hosts.dedup();
        let position = |host: usize| hosts.iter().position(|known| *known == host);
        let pairs = scenario
            .tests
            .iter()
            .filter(inside)
            .filter_map(|test| Some((test.label.clone(), (position(test.from.host)?, position(test.to.host)?))));
        let mut live = Self {
            place,
            grid: Grid {
                what: Symptom::Goodput,
                network: None,
                hosts: hosts.iter().map(|host| scenario.hosts[*host].name.clone()).collect(),
                rows: Vec::new(),
            },
            pairs: pairs.collect(),
            done: 0,
            all: scenario.tests.len(),
            running: Vec::new(),
            drawn: 0,
        };
        live.empty();
        live
    }

    fn empty(&mut self) {
        let size = self.grid.hosts.len();
        let cell = |row: usize, column: usize| if row == column { Cell::Same } else { Cell::NotPlanned };
        self.grid.rows = (0..size).map(|row| (0..size).map(|column| cell(row, column)).collect()).collect();
        (self.done, self.running) = (0, Vec::new());
    }

    fn draw(&mut self) {
        if self.place != Where::Terminal {
            return;
        }
        let running = self.running.join(", ");
        let head = format!("{} of {} tests; now {running}", self.done, self.all);
        let mut frame = erased(self.drawn);
        let body = format!(
            "{}\n\n{}",
            head.chars().take(WIDTH).collect::<String>(),
            matrix(&self.grid, Colour::of_standard_error())
        );
        self.drawn = body.lines().count();
        frame.push_str(&body);
        put(&frame);
    }

    /// Leaves the terminal to the grid that stays.
    fn clear(&mut self) {
        if self.place == Where::Terminal {
            put(&erased(std::mem::take(&mut self.drawn)));
        }
    }
}

impl Audience for Live {
    fn raised(&mut self, network: &Network, took: Duration) {
        if self.place != Where::Nowhere {
            put(&format!("the network is up: {} hosts, in {}\n", network.hosts().len(), show(took)));
        }
    }

    fn begins(&mut self, test: &Test, _at: Duration) {
        if self.done == self.all {
            self.empty();
        }
        self.running.push(test.label.clone());
        self.draw();
    }

    fn ended(&mut self, test: &Test, tested: &Tested) {
        self.running.retain(|label| *label != test.label);
        self.done += 1;
        let cell = cell(test, &tested.finding);
        if self.place == Where::Lines {
            put(&format!("{:>3} of {}  {:<24} {}\n", self.done, self.all, test.label, words(&cell)));
        }
        if let Some((row, column)) = self.pairs.get(&test.label) {
            self.grid.rows[*row][*column] = cell;
        }
        self.draw();
        if self.done == self.all {
            self.clear();
        }
    }
}

fn cell(test: &Test, finding: &Finding) -> Cell {
    let (goodput, reason) = match finding {
        Finding::Run(run) => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            let outbound = totals.filter(|total| total.heading == Heading::Outbound).map(|total| total.goodput).next();
            (outbound, "it failed")
        }
        _ => (None, "it is no flow"),
    };
    let Some(goodput) = goodput else { return Cell::Failed { reason: reason.to_owned() } };
    let should = expected(test);
    let part = should.and_then(|should| goodput.share_of(should)).unwrap_or(1.0);
    Cell::Measured(Measured {
        grade: Grade::of(part),
        part,
        goodput: Some(goodput),
        should,
        measure: Measure::Expected,
    })
}

fn expected(test: &Test) -> Option<DataRate> {
    match &test.kind {
        TestKind::Tcp(flow) | TestKind::Udp(flow) => flow.expect,
        TestKind::Ping(_) | TestKind::Mtu | TestKind::Hops | TestKind::Http(_) => None,
    }
}

fn words(cell: &Cell) -> String {
    match cell {
        Cell::Measured(found) => {
            let goodput = found.goodput.map(|goodput| goodput.to_string()).unwrap_or_default();
            format!("{} {goodput}", found.grade.letter())
        }
        Cell::Failed { reason } => reason.clone(),
        Cell::Same | Cell::NotPlanned => String::new(),
    }
}

/// What takes so many lines from a terminal: up, and clear what is below (ECMA-48: CUU, ED).
fn erased(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\u{1b}[{lines}A\u{1b}[J") }
}

/// A terminal that is gone is noticed by the story.
fn put(text: &str) {
    let mut terminal = std::io::stderr().lock();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

/// Longer lines would break, and be taken away in part only.
const WIDTH: usize = 78;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_taken_away_before_it_is_drawn_again() {
        assert_eq!(erased(0), "");
        assert_eq!(erased(9), "\u{1b}[9A\u{1b}[J");
    }
}
