//! The grid of a round: on the terminal, as lines for spreadsheets, as a picture.
//!
//! A letter is always there; colour only repeats it.

pub mod csv;
pub mod text;

use chart::grid::Caption;
use diagnose::grid::{Cell, Grid, Grids, Measured};
use diagnose::locate::cell::Symptom;
use model::target::TargetSource;
use units::DataRate;

use super::expectation::percent;

/// What a picture says above each grid.
pub fn captions(grids: &Grids) -> Vec<Caption> {
    let caption = |grid: &Grid| Caption { heading: heading(grid), relative_to: against(grid) };
    grids.grids.iter().map(caption).collect()
}

/// What a grid is about: `goodput, network ingress`.
fn heading(grid: &Grid) -> String {
    let what = match grid.what {
        Symptom::Goodput => "goodput",
        Symptom::Download => "downloads",
        Symptom::Loss => "loss",
        Symptom::Mtu => "size of packets",
    };
    grid.network.as_ref().map_or_else(|| what.to_owned(), |network| format!("{what}, network {network}"))
}

/// What the cells of a grid are set against, each once.
fn against(grid: &Grid) -> String {
    let mut said = Vec::new();
    for source in TargetSource::ALL {
        let of = measured(grid).filter(|(_, _, cell)| cell.relative_to == Some(source));
        let mut rates: Vec<DataRate> = of.filter_map(|(_, _, cell)| cell.should).collect();
        rates.sort_unstable();
        match (rates.first(), rates.last()) {
            (Some(least), Some(most)) if least.to_string() == most.to_string() => {
                said.push(format!("{}, {least}", source.words()));
            }
            (Some(least), Some(most)) => said.push(format!("{}, {least} to {most}", source.words())),
            _ => {}
        }
    }
    let judged_by_itself = measured(grid).any(|(_, _, cell)| cell.relative_to.is_none());
    match grid.what {
        Symptom::Loss if judged_by_itself => {
            said.push("the rate that TCP keeps at such loss: all of it up to 0.01 %, 10 % of it at 1 %".to_owned());
        }
        Symptom::Mtu if judged_by_itself => said.push("no packet size that vanishes".to_owned()),
        _ => {}
    }
    said.join("; ")
}

/// All cells that were measured, with sender and receiver.
fn measured(grid: &Grid) -> impl Iterator<Item = (&str, &str, &Measured)> {
    cells(grid).filter_map(|(from, to, cell)| match cell {
        Cell::Measured(measured) => Some((from, to, measured)),
        Cell::Same | Cell::NotPlanned | Cell::Failed { .. } | Cell::NotJudged { .. } => None,
    })
}

/// What is told of pairs by their predictions: those that have far less, and those that their settings hold.
fn foretold(grid: &Grid) -> Vec<String> {
    let told = measured(grid).filter_map(|(from, to, cell)| {
        let (foreseen, goodput) = (cell.predicted.as_ref()?, cell.goodput?);
        let told = foreseen.attained < FAR || foreseen.limit.is_a_setting();
        told.then(|| {
            let part = percent(foreseen.attained);
            format!("{from} to {to}: {goodput} of {} predicted, {part} ({})", foreseen.goodput, foreseen.because)
        })
    });
    told.collect()
}

/// A pair with less than this part of what is predicted is told of.
const FAR: f64 = 0.7;

/// All cells, with sender and receiver.
fn cells(grid: &Grid) -> impl Iterator<Item = (&str, &str, &Cell)> {
    grid.rows
        .iter()
        .zip(&grid.hosts)
        .flat_map(|(row, from)| row.iter().zip(&grid.hosts).map(move |(cell, to)| (from.as_str(), to.as_str(), cell)))
}

/// Why cells are empty or have no grade, pairs of one reason together.
fn failures(grid: &Grid) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (from, to, cell) in cells(grid) {
        let reason = match cell {
            Cell::Failed { reason } => Some(reason.clone()),
            Cell::NotJudged { reason, .. } => Some(format!("not judged: {reason}")),
            _ => None,
        };
        if let Some(reason) = reason {
            let pair = format!("{from} to {to}");
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, pairs)) => pairs.push(pair),
                None => reasons.push((reason, vec![pair])),
            }
        }
    }
    reasons
}
