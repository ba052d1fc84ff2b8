//! An experiment as it is written in a file.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::axis;
use crate::case::CaseError;
use crate::expectation::{self, Expectation};
use crate::experiment::{Cell, Experiment};
use crate::figure::{self, Figure};
use crate::parameter::{ALL, Parameter, ParameterError, Settings};
use crate::value::Value;

/// An experiment with what its rows are expected to say and how they are drawn, as a file describes it.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What is simulated.
    pub experiment: Experiment,
    /// What the rows are expected to say.
    pub expectations: Vec<Expectation>,
    /// How they are drawn.
    pub figures: Vec<Figure>,
    /// The file, as it was read.
    pub text: String,
}

/// Why a file describes no experiment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// The file is not TOML, or has what no experiment has.
    #[error("{0}")]
    Form(String),
    /// A parameter that is not known, or a value that it cannot have.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A parameter without a value.
    #[error("`{0}` is given nowhere; write it into [set]")]
    Missing(&'static str),
    /// Nothing would be done, or more than can be counted.
    #[error("{0}")]
    Extent(&'static str),
    /// Settings that are no transfer.
    #[error("one of the combinations is no transfer: {0}")]
    Case(#[from] CaseError),
    /// Two variants of one name.
    #[error("there are two variants `{0}`")]
    Twice(String),
    /// An expectation or a figure that says what cannot be.
    #[error("{place}: {why}")]
    Said {
        /// Which one.
        place: String,
        /// What is wrong.
        why: String,
    },
}

/// The largest file that is read.
pub const LARGEST: usize = 1 << 20;
/// The most transfers that are counted.
const MOST: u64 = 100_000_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default = "one")]
    repetitions: u32,
    #[serde(default = "first")]
    seed: u64,
    set: toml::Table,
    #[serde(default)]
    variant: Vec<WrittenVariant>,
    #[serde(default)]
    figure: Vec<figure::Written>,
    #[serde(default)]
    expect: Vec<expectation::Written>,
}

const fn one() -> u32 {
    1
}

const fn first() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenVariant {
    name: String,
    set: toml::Table,
}

impl Sweep {
    /// Reads an experiment.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str) -> Result<Self, SweepError> {
        if text.len() > LARGEST {
            return Err(SweepError::Extent("it has more than a mebibyte; no description of an experiment is as long"));
        }
        let written: Written = toml::from_str(text).map_err(|error| SweepError::Form(error.to_string()))?;
        let cells = cells(&written)?;
        let experiment = Experiment {
            name: written.name,
            about: written.about,
            repetitions: written.repetitions,
            cells,
            seed: written.seed,
        };
        if experiment.repetitions == 0 {
            return Err(SweepError::Extent("`repetitions` is 0; once is the least"));
        }
        if experiment.len() > MOST {
            return Err(SweepError::Extent("it has more than 100 million transfers; vary less, or repeat less"));
        }
        for cell in 0..experiment.cells.len() {
            experiment.case(cell as u64 * u64::from(experiment.repetitions)).map_or(Ok(()), |case| case.check())?;
        }
        let (mut expectations, mut figures) = (Vec::new(), Vec::new());
        for (number, expect) in written.expect.into_iter().enumerate() {
            let place = format!("[[expect]] {}, `{}`", number + 1, expect.name);
            let read = Expectation::read(expect, &experiment).map_err(|why| SweepError::Said { place, why })?;
            expectations.push(read);
        }
        for (number, figure) in written.figure.into_iter().enumerate() {
            let place = format!("[[figure]] {}, `{}`", number + 1, figure.name);
            let read = Figure::read(figure, &experiment).map_err(|why| SweepError::Said { place, why })?;
            figures.push(read);
        }
        Ok(Self { experiment, expectations, figures, text: text.to_owned() })
    }
}

fn cells(written: &Written) -> Result<Vec<Cell>, SweepError> {
    let base = lists("[set]", &written.set)?;
    if written.variant.is_empty() {
        return combined(&base, None);
    }
    let mut cells = Vec::new();
    for (place, variant) in written.variant.iter().enumerate() {
        if written.variant[..place].iter().any(|other| other.name == variant.name) {
            return Err(SweepError::Twice(variant.name.clone()));
        }
        let mut set = base.clone();
        set.extend(lists(&format!("variant `{}`", variant.name), &variant.set)?);
        cells.extend(combined(&set, Some(&variant.name))?);
    }
    Ok(cells)
}

/// The values of each parameter that a table has, by its place among all.
fn lists(place: &str, table: &toml::Table) -> Result<BTreeMap<usize, Vec<Value>>, SweepError> {
    let of = |(name, written): (&String, &toml::Value)| {
        let (number, parameter) = Parameter::named(place, name)?;
        Ok((number, axis::values(parameter, written).map_err(|why| parameter.error(place, why))?))
    };
    table.iter().map(of).collect()
}

/// Every combination of the values.
fn combined(set: &BTreeMap<usize, Vec<Value>>, variant: Option<&str>) -> Result<Vec<Cell>, SweepError> {
    let mut all: Vec<Vec<Value>> = vec![Vec::with_capacity(ALL.len())];
    for (place, parameter) in ALL.iter().enumerate() {
        let usual = || parameter.usual_value().ok_or(SweepError::Missing(parameter.name));
        let values = set.get(&place).map_or_else(|| usual().map(|value| vec![value]), |values| Ok(values.clone()))?;
        if (all.len() * values.len()) as u64 > MOST_CELLS {
            return Err(SweepError::Extent("it has more than a million combinations of settings; vary less"));
        }
        let with = |begun: &Vec<Value>| {
            values.iter().map(|value| [begun.as_slice(), std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let cell = |values| Cell { variant: variant.map(str::to_owned), settings: Settings::new(values) };
    Ok(all.into_iter().map(cell).collect())
}

/// The most combinations, all of which are held in memory.
const MOST_CELLS: u64 = 1_000_000;
