//! The rows of each combination in one line.

use crate::parameter::Parameter;
use crate::row::Measure;
use crate::selection::{Rows, Selection, Statistic};
use crate::value::Value;

/// What the rows of a part of the combinations say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The variant that it belongs to, where it is told apart.
    pub variant: Option<String>,
    /// What it is told apart by.
    pub values: Vec<(&'static Parameter, Value)>,
    /// How many transfers were simulated.
    pub flows: usize,
    /// The completion time, in microseconds: median and 95th percentile.
    pub took_us: (f64, f64),
    /// Segments sent again: median and 95th percentile.
    pub resent: (f64, f64),
    /// The share of transfers that were given up: their completion times are only known to be longer.
    pub gave_up: f64,
    /// The share of transfers that missed their deadline or never ended.
    pub missed: f64,
    /// The share that ran into the next window.
    pub cascaded: f64,
    /// The share that lasted to the end of the next window.
    pub covered: f64,
}

/// Whether rows of different variants are in lines of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variants {
    /// A line for each variant.
    Apart,
    /// All variants in one line.
    Together,
}

/// A line for each combination of the values of some parameters; all others are thrown together. Combinations without rows are
/// left out.
#[must_use]
pub fn groups(rows: &Rows<'_>, by: &[&'static Parameter], variants: Variants) -> Vec<Group> {
    let all = Selection::default();
    let mut parts: Vec<(Selection, Vec<(&'static Parameter, Value)>)> =
        if variants == Variants::Apart && rows.experiment.has_variants() {
            all.by_variant(rows.experiment).into_iter().map(|part| (part, Vec::new())).collect()
        } else {
            vec![(all, Vec::new())]
        };
    for parameter in by {
        let split = |(part, values): &(Selection, Vec<(&'static Parameter, Value)>)| {
            let of = part.values(parameter, rows.experiment);
            let with = |value: &Value| {
                (part.with(parameter, value), [values.as_slice(), &[(*parameter, value.clone())]].concat())
            };
            of.iter().map(with).collect::<Vec<_>>()
        };
        parts = parts.iter().flat_map(split).collect();
    }
    parts.into_iter().filter_map(|(part, values)| group(rows, &part, values)).collect()
}

fn group(rows: &Rows<'_>, part: &Selection, values: Vec<(&'static Parameter, Value)>) -> Option<Group> {
    let took = rows.pooled(part, Measure::Took);
    let resent = rows.pooled(part, Measure::Resent);
    let share = |measure| Statistic::Mean.of(rows, part, measure);
    Some(Group {
        variant: part.only_variant().map(str::to_owned),
        values,
        flows: took.values().len(),
        took_us: (took.median()?, took.quantile(0.95)?),
        resent: (resent.median()?, resent.quantile(0.95)?),
        gave_up: 1.0 - share(Measure::Finished)?,
        missed: share(Measure::Missed)?,
        cascaded: share(Measure::Cascaded)?,
        covered: share(Measure::Covered)?,
    })
}
