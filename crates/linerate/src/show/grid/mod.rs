//! The grid of a round: on the terminal, as lines for spreadsheets, as a picture.
//!
//! A letter is always there; colour only repeats it.

pub mod csv;
pub mod picture;
pub mod text;

use diagnose::grid::{Cell, Grid, Measure, Measured};
use diagnose::locate::cell::Symptom;
use units::DataRate;

use super::expectation::percent;

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
    let mut measures: Vec<(Measure, Option<DataRate>)> =
        measured(grid).map(|(_, _, cell)| (cell.measure, cell.should)).collect();
    measures.sort_unstable();
    let mut said = Vec::new();
    for measure in [Measure::Expected, Measure::Predicted, Measure::LineRate, Measure::BestQuarter, Measure::Nothing] {
        let of: Vec<DataRate> =
            measures.iter().filter(|(of, _)| *of == measure).filter_map(|(_, should)| *should).collect();
        match (of.first(), of.last()) {
            // Rates that are computed back differ in their last digits.
            (Some(least), Some(most)) if least.to_string() == most.to_string() => {
                said.push(format!("{}, {least}", measure.words()));
            }
            (Some(least), Some(most)) => said.push(format!("{}, {least} to {most}", measure.words())),
            _ if measures.iter().any(|(of, _)| *of == measure) => said.push(measure.words().to_owned()),
            _ => {}
        }
    }
    said.join("; ")
}

/// All cells that were measured, with sender and receiver.
fn measured(grid: &Grid) -> impl Iterator<Item = (&str, &str, &Measured)> {
    cells(grid).filter_map(|(from, to, cell)| match cell {
        Cell::Measured(measured) => Some((from, to, measured)),
        Cell::Same | Cell::NotPlanned | Cell::Failed { .. } => None,
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

/// Why cells are empty, pairs of one reason together.
fn failures(grid: &Grid) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (from, to, cell) in cells(grid) {
        if let Cell::Failed { reason } = cell {
            let pair = format!("{from} to {to}");
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, pairs)) => pairs.push(pair),
                None => reasons.push((reason.clone(), vec![pair])),
            }
        }
    }
    reasons
}

/// A rate in few letters: `3.92G`, `200k`, `5.00k`.
pub fn short(rate: DataRate) -> String {
    let shown = rate.to_string();
    let (number, unit) = shown.split_once(' ').unwrap_or((shown.as_str(), ""));
    let prefix = unit.trim_end_matches("bit/s");
    format!("{number}{prefix}")
}
