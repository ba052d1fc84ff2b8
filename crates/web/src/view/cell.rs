//! One pair of a round in full.

use diagnose::grid::{Cell, Grids};
use diagnose::locate::cell::Symptom;
use model::played::Finding;
use model::round::Round;
use model::run::RunId;
use serde::{Deserialize, Serialize};

use crate::source::Pair;

/// One host sending to another, in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellView {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// The cell in each grid of the round.
    pub cells: Vec<OfGrid>,
    /// The tests between the two hosts, whoever asked.
    pub tests: Vec<TestLine>,
}

/// The cell of a pair in one grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfGrid {
    /// What was measured.
    pub what: Symptom,
    /// The network; the usual addresses of hosts where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What became of the pair.
    pub cell: Cell,
}

/// A test between the two hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestLine {
    /// What it is called.
    pub label: String,
    /// Who asked.
    pub from: String,
    /// Who answered.
    pub to: String,
    /// Its run, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// A round with its grids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluated<'a> {
    pub(crate) round: &'a Round,
    pub(crate) grids: &'a Grids,
}

impl CellView {
    pub(crate) fn of(evaluated: &Evaluated<'_>, pair: Pair) -> Self {
        let place = |hosts: &[String], host: &str| hosts.iter().position(|name| name == host);
        let cells = evaluated.grids.grids.iter().filter_map(|grid| {
            let cell = grid.rows.get(place(&grid.hosts, &pair.from)?)?.get(place(&grid.hosts, &pair.to)?)?;
            Some(OfGrid { what: grid.what, network: grid.network.clone(), cell: cell.clone() })
        });
        let cells = cells.collect();
        let is_between = |ends: [&str; 2]| ends == [&pair.from, &pair.to] || ends == [&pair.to, &pair.from];
        let between = evaluated.round.tests.iter().filter(|tested| is_between([&tested.from.host, &tested.to.host]));
        let tests = between.map(|tested| TestLine {
            label: tested.label.clone(),
            from: tested.from.to_string(),
            to: tested.to.to_string(),
            run: match &tested.finding {
                Finding::Run(run) => Some(run.id),
                _ => None,
            },
        });
        let tests = tests.collect();
        Self { from: pair.from, to: pair.to, cells, tests }
    }
}
