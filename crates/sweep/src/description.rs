//! An experiment as it is written in a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use path::Seed;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::axis;
use crate::case::{Case, CaseError};
use crate::expectation::{self, Expectation};
use crate::figure::{self, Figure};
use crate::parameter::{ALL, Parameter, ParameterError, Settings};
use crate::value::Value;

/// An experiment: combinations of settings, each of them repeated.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// Name of the experiment; parts of one are merged by it.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// How often each combination is repeated.
    pub repetitions: u32,
    /// Every combination of what is varied, each simulated `repetitions` times.
    pub cells: Vec<Cell>,
    /// What the rows are expected to say.
    pub expectations: Vec<Expectation>,
    /// How they are drawn.
    pub figures: Vec<Figure>,
    /// The file, as it was read.
    pub text: String,
    seed: u64,
}

/// A combination of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The variant that it belongs to, where there are any.
    pub variant: Option<String>,
    /// What is set.
    pub settings: Settings,
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
        let mut sweep = Self {
            name: written.name,
            about: written.about,
            repetitions: written.repetitions,
            cells,
            expectations: Vec::new(),
            figures: Vec::new(),
            text: text.to_owned(),
            seed: written.seed,
        };
        if sweep.repetitions == 0 {
            return Err(SweepError::Extent("`repetitions` is 0; once is the least"));
        }
        if sweep.len() > MOST {
            return Err(SweepError::Extent("it has more than 100 million transfers; vary less, or repeat less"));
        }
        for cell in 0..sweep.cells.len() {
            sweep.case(cell as u64 * u64::from(sweep.repetitions)).map_or(Ok(()), |case| case.check())?;
        }
        for (number, expect) in written.expect.into_iter().enumerate() {
            let place = format!("[[expect]] {}, `{}`", number + 1, expect.name);
            let read = Expectation::read(expect, &sweep).map_err(|why| SweepError::Said { place, why })?;
            sweep.expectations.push(read);
        }
        for (number, figure) in written.figure.into_iter().enumerate() {
            let place = format!("[[figure]] {}, `{}`", number + 1, figure.name);
            let read = Figure::read(figure, &sweep).map_err(|why| SweepError::Said { place, why })?;
            sweep.figures.push(read);
        }
        Ok(sweep)
    }

    /// How many transfers it has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.cells.len() as u64 * u64::from(self.repetitions)
    }

    /// Whether it has none; what was read always has some.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The transfer of a number below [`Sweep::len`].
    #[must_use]
    pub fn case(&self, index: u64) -> Option<Case<'_>> {
        let repetitions = u64::from(self.repetitions);
        let cell = usize::try_from(index / repetitions).ok()?;
        let repetition = u32::try_from(index % repetitions).ok()?;
        let settings = &self.cells.get(cell)?.settings;
        // The same chance for all combinations: what differs between them comes from what is set.
        Some(Case { index, cell, repetition, seed: Seed(self.seed).part(u64::from(repetition)), settings })
    }

    /// The parameters that have more than one value, with their values by size.
    #[must_use]
    pub fn varied(&self) -> Vec<(&'static Parameter, Vec<Value>)> {
        let of = |(place, parameter): (usize, &'static Parameter)| {
            let mut values: Vec<Value> = Vec::new();
            for cell in &self.cells {
                let value = &cell.settings.values()[place];
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            values.sort_by(Value::order);
            (parameter, values)
        };
        ALL.iter().enumerate().map(of).filter(|(_, values)| values.len() > 1).collect()
    }

    /// Whether it has variants.
    #[must_use]
    pub fn has_variants(&self) -> bool {
        self.cells.iter().any(|cell| cell.variant.is_some())
    }

    /// A name for all that its rows depend on. What is drawn of them or expected of them is not part of it.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(format!("{} repetitions, seed {}\n", self.repetitions, self.seed));
        for cell in &self.cells {
            hash.update(cell.variant.as_deref().unwrap_or_default());
            for (parameter, value) in ALL.iter().zip(cell.settings.values()) {
                hash.update(format!(";{}={}", parameter.name, value.exact()));
            }
            hash.update("\n");
        }
        hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
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
