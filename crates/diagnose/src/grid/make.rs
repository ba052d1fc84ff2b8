//! From a round to its grids.

use std::collections::{BTreeMap, BTreeSet};

use model::round::{Endpoint, Round};
use units::DataRate;

use super::rates::{self, Rates};
use super::{Cell, Foreseen, Grade, Grid, Grids, MOST_GRID_HOSTS, Measured};
use crate::locate::cell::{self, Quality, Symptom};
use crate::locate::round::layers;

/// The grids of a round.
#[must_use]
pub fn grids(round: &Round) -> Grids {
    let rates = rates::of(round);
    let failures: BTreeMap<&str, &str> =
        round.members.iter().filter_map(|member| Some((member.name.as_str(), member.why_absent()?))).collect();
    let mut grids = Vec::new();
    for layer in layers(round) {
        let networks: BTreeSet<Option<String>> = layer.cells.iter().map(|cell| cell.to.network.clone()).collect();
        for network in networks {
            let cells: Vec<&cell::Cell> = layer.cells.iter().filter(|cell| cell.to.network == network).collect();
            let maker = Maker { what: layer.symptom, rates: &rates, failures: &failures };
            grids.push(maker.grid(network, &cells, round));
        }
    }
    Grids { format: Grids::FORMAT, round: round.id, title: round.title.clone(), started: round.started, grids }
}

struct Maker<'a> {
    what: Symptom,
    rates: &'a BTreeMap<(Symptom, Endpoint, Endpoint), Rates>,
    failures: &'a BTreeMap<&'a str, &'a str>,
}

impl Maker<'_> {
    fn grid(&self, network: Option<String>, cells: &[&cell::Cell], round: &Round) -> Grid {
        let shown = shown(cells);
        // The order of the plan; who is not in it stands behind.
        let mut hosts: Vec<String> = round.members.iter().map(|member| member.name.clone()).collect();
        hosts.retain(|host| shown.contains(host.as_str()));
        let known: BTreeSet<String> = hosts.iter().cloned().collect();
        hosts.extend(shown.iter().filter(|host| !known.contains(**host)).map(|host| (*host).to_owned()));
        let places: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (host.as_str(), at)).collect();
        let mut rows: Vec<Vec<Cell>> = Vec::with_capacity(hosts.len());
        for from in &hosts {
            rows.push(hosts.iter().map(|to| self.empty(from, to)).collect());
        }
        for cell in cells {
            if let Some((row, column)) = places.get(cell.from.host.as_str()).zip(places.get(cell.to.host.as_str())) {
                rows[*row][*column] = self.cell(cell);
            }
        }
        let left_out = named(cells).len() - hosts.len();
        Grid { what: self.what, network, hosts, left_out, rows }
    }

    /// A cell of which no test tells.
    fn empty(&self, from: &str, to: &str) -> Cell {
        if from == to {
            return Cell::Same;
        }
        let failed = [from, to].into_iter().find_map(|host| Some((host, self.failures.get(host)?)));
        failed.map_or(Cell::NotPlanned, |(host, why)| Cell::Failed { reason: format!("{host} took no part: {why}") })
    }

    fn cell(&self, cell: &cell::Cell) -> Cell {
        let rates = self.rates.get(&(self.what, cell.from.clone(), cell.to.clone())).cloned().unwrap_or_default();
        let part = match (&cell.quality, rates.median()) {
            (Quality::Known { part, .. }, _) => *part,
            (Quality::Unknown { reason }, Some(goodput)) => {
                return Cell::NotJudged { goodput, reason: reason.clone() };
            }
            (Quality::Unknown { reason }, None) => return Cell::Failed { reason: reason.clone() },
        };
        let goodput = rates.median();
        let predicted = rates.predicted().filter(|prediction| !prediction.goodput.is_zero()).zip(goodput);
        let predicted = predicted.map(|(prediction, goodput)| Foreseen {
            goodput: prediction.goodput,
            attained: rounded(exact(goodput) / exact(prediction.goodput)),
            limit: prediction.limit,
            because: prediction.because.clone(),
        });
        let target = rates.target.as_ref().filter(|_| goodput.is_some());
        Cell::Measured(Measured {
            grade: Grade::of(part),
            part: rounded(part),
            goodput,
            loss: rates.loss,
            should: target.map(|target| target.rate),
            relative_to: target.map(|target| target.source),
            predicted,
        })
    }
}

/// The hosts of a layer.
fn named<'c>(cells: &[&'c cell::Cell]) -> BTreeSet<&'c str> {
    cells.iter().flat_map(|cell| [cell.from.host.as_str(), cell.to.host.as_str()]).collect()
}

/// Those that stand in the grid: where they are more than [`MOST_GRID_HOSTS`], those of the worst pairs.
fn shown<'c>(cells: &[&'c cell::Cell]) -> BTreeSet<&'c str> {
    let named = named(cells);
    if named.len() <= MOST_GRID_HOSTS {
        return named;
    }
    let part = |cell: &cell::Cell| match cell.quality {
        Quality::Known { part, .. } => part,
        Quality::Unknown { .. } => f64::INFINITY,
    };
    let mut worst = cells.to_vec();
    worst.sort_by(|one, other| part(one).total_cmp(&part(other)));
    let mut shown = BTreeSet::new();
    for cell in worst {
        let ends = [cell.from.host.as_str(), cell.to.host.as_str()];
        let new = ends.iter().filter(|host| !shown.contains(**host)).count();
        if shown.len() + new <= MOST_GRID_HOSTS {
            shown.extend(ends);
        }
    }
    shown
}

#[expect(clippy::cast_precision_loss, reason = "shown, never counted with")]
fn exact(rate: DataRate) -> f64 {
    rate.bps() as f64
}

/// To a millionth, so that its text form reads back as the same number.
fn rounded(part: f64) -> f64 {
    (part * 1e6).round() / 1e6
}
