//! What the rows of an experiment say, with intervals.

use serde::Serialize;

use super::answers::Answers;
use super::cell::Cell;
use super::row::{Row, place};
pub use super::summary::{CellSummary, Estimate, Interval, Share};
use super::table::Table;
use crate::policy::{self, definition::Needs};

/// What an experiment says.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The experiment's name.
    pub name: String,
    /// What it was to answer.
    pub about: String,
    /// How many runs the lines are of.
    pub runs: usize,
    /// A line for each combination, in the order of the file.
    pub lines: Vec<CellSummary>,
    /// What the lines answer.
    pub answers: Answers,
}

impl Report {
    /// What a table says.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        let experiment = &table.experiment;
        let repetitions = u64::from(experiment.repetitions);
        let rows_of = |cell: usize| {
            let from = cell as u64 * repetitions;
            let start = table.rows.partition_point(|row| row.index < from);
            let end = table.rows.partition_point(|row| row.index < from + repetitions);
            &table.rows[start..end]
        };
        let line = |(at, cell): (usize, &Cell)| {
            let is_baseline = |other: &Cell| Some(other.policy) == experiment.baseline && other.label() == cell.label();
            let baseline = experiment.cells.iter().position(is_baseline).filter(|other| *other != at);
            CellSummary::new(cell, rows_of(at), baseline.map(|other| gain(rows_of(at), rows_of(other), repetitions)))
        };
        let (cells, lines): (Vec<&Cell>, Vec<CellSummary>) = experiment
            .cells
            .iter()
            .enumerate()
            .map(|(at, cell)| (cell, line((at, cell))))
            .filter(|(_, line)| line.runs > 0)
            .unzip();
        let answers = Answers::of(&cells.into_iter().zip(&lines).collect::<Vec<_>>());
        Self { name: experiment.name.clone(), about: experiment.about.clone(), runs: table.rows.len(), lines, answers }
    }

    /// Of the lines of one setting, the best policy among those that need no more than `needs`: fewest restarts, then
    /// fewest failed tests, then the smallest spread.
    #[must_use]
    pub fn best(&self, settings: &str, may_need: &[Needs]) -> Option<&CellSummary> {
        let suits = |line: &&CellSummary| {
            let needs = policy::find(line.policy).map(|entry| entry.needs);
            line.settings == settings && needs.is_some_and(|needs| may_need.contains(&needs))
        };
        let rank =
            |line: &&CellSummary| ["restarts", "tests_failed_share", "spread_in_flight"].map(|name| line.mean(name));
        let less = |one: &&CellSummary, other: &&CellSummary| {
            let pairs = rank(one).into_iter().zip(rank(other));
            pairs
                .map(|(one, other)| one.total_cmp(&other))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        self.lines.iter().filter(suits).min_by(less)
    }
}

/// The relative difference of goodput, for equal seeds.
fn gain(rows: &[Row], baseline: &[Row], repetitions: u64) -> Option<Interval> {
    let at = place("goodput_gbit_s")?;
    let same = |row: &Row| baseline.iter().find(|other| other.index % repetitions == row.index % repetitions);
    let gains: Vec<f64> =
        rows.iter().filter_map(|row| same(row).map(|other| row.numbers[at] / other.numbers[at] - 1.0)).collect();
    Interval::of(&gains)
}
