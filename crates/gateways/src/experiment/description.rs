//! An experiment as it is written in a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use path::Seed;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::cell::Cell;
use crate::cluster::bounds::SettingsError;
use crate::cluster::settings::Settings;
use crate::policy;

/// An experiment: combinations, each repeated with other seeds.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, and that of its result.
    pub name: String,
    /// What it is to answer.
    pub about: String,
    /// Runs of each combination, each with a seed of its own.
    pub repetitions: u32,
    /// The policy that goodput is compared with, where one is named.
    pub baseline: Option<&'static str>,
    /// Every combination of variant, varied settings and policy, in the order of the file.
    pub cells: Vec<Cell>,
    /// The file, as it was read.
    pub text: String,
    seed: u64,
}

/// Why a file describes no experiment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// The file is not TOML, or has a key that no experiment has.
    #[error("{0}")]
    Form(String),
    /// A policy that is not in the table.
    #[error("no policy is called `{0}`")]
    Policy(String),
    /// A setting that cannot be, in the variant or combination that is named first.
    #[error("{place}: {error}")]
    Settings {
        /// The combination; empty where there is but one.
        place: String,
        /// What is wrong.
        error: SettingsError,
    },
    /// A varied setting that does not exist or has another type.
    #[error("`{name}` cannot be {value}: {why}")]
    Vary {
        /// The setting, with dots.
        name: String,
        /// What it was to be.
        value: String,
        /// What the reader says.
        why: String,
    },
    /// Nothing would be run, or more than anybody waits for.
    #[error("{0}")]
    Extent(&'static str),
}

/// The largest file that is read, bytes.
pub const LARGEST: usize = 1 << 20;
/// The most runs of one experiment.
const MOST_RUNS: u64 = 1_000_000;
/// The most combinations, all of which are held in memory.
const MOST_CELLS: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default = "twenty")]
    repetitions: u32,
    #[serde(default = "one")]
    seed: u64,
    #[serde(default)]
    policies: Vec<String>,
    baseline: Option<String>,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    vary: BTreeMap<String, Vec<toml::Value>>,
    #[serde(default)]
    variant: Vec<WrittenVariant>,
}

const fn twenty() -> u32 {
    20
}

const fn one() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenVariant {
    name: String,
    #[serde(default)]
    policies: Vec<String>,
    #[serde(default)]
    set: BTreeMap<String, toml::Value>,
}

impl Experiment {
    /// Reads an experiment.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str) -> Result<Self, ExperimentError> {
        if text.len() > LARGEST {
            return Err(ExperimentError::Extent(
                "it has more than a mebibyte; no description of an experiment is as long",
            ));
        }
        let written: Written = toml::from_str(text).map_err(|error| ExperimentError::Form(error.to_string()))?;
        let baseline = written.baseline.as_deref().map(named).transpose()?;
        let experiment = Self {
            cells: cells(&written)?,
            name: written.name,
            about: written.about,
            repetitions: written.repetitions,
            baseline,
            text: text.to_owned(),
            seed: written.seed,
        };
        match experiment.len() {
            0 => Err(ExperimentError::Extent("`repetitions` is 0; once is the least")),
            runs if runs > MOST_RUNS => {
                Err(ExperimentError::Extent("it has more than a million runs; vary or repeat less"))
            }
            _ => Ok(experiment),
        }
    }

    /// How many runs it has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.cells.len() as u64 * u64::from(self.repetitions)
    }

    /// Whether it has none; what was read always has some.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The combination of a run, and which repetition of it this is.
    #[must_use]
    pub fn case(&self, index: u64) -> Option<(&Cell, u32)> {
        let repetitions = u64::from(self.repetitions);
        let cell = self.cells.get(usize::try_from(index.checked_div(repetitions)?).ok()?)?;
        Some((cell, u32::try_from(index % repetitions).ok()?))
    }

    /// The seed of a repetition: the same for all combinations, so that they are asked for the same files.
    #[must_use]
    pub fn seed(&self, repetition: u32) -> Seed {
        Seed(self.seed).part(u64::from(repetition))
    }

    /// A name for all that its rows depend on.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(format!("{} repetitions, seed {}\n", self.repetitions, self.seed));
        for cell in &self.cells {
            hash.update(format!("{:?} {} {:?}\n", cell.variant, cell.policy, cell.settings));
        }
        hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

fn named(name: &str) -> Result<&'static str, ExperimentError> {
    policy::find(name).map(|entry| entry.name).ok_or_else(|| ExperimentError::Policy(name.to_owned()))
}

fn cells(written: &Written) -> Result<Vec<Cell>, ExperimentError> {
    let whole = WrittenVariant { name: String::new(), policies: Vec::new(), set: BTreeMap::new() };
    let variants: Vec<&WrittenVariant> =
        if written.variant.is_empty() { vec![&whole] } else { written.variant.iter().collect() };
    let mut cells = Vec::new();
    for variant in variants {
        let policies = if variant.policies.is_empty() { &written.policies } else { &variant.policies };
        let policies: Vec<&'static str> = if policies.is_empty() {
            policy::ALL.iter().map(|entry| entry.name).collect()
        } else {
            policies.iter().map(|name| named(name)).collect::<Result<_, _>>()?
        };
        for varied in combinations(&written.vary)? {
            let settings = settings(written, variant, &varied)?;
            let shown: Vec<(String, String)> =
                varied.iter().map(|(name, value)| (name.clone(), shown(value))).collect();
            let name = (!variant.name.is_empty()).then(|| variant.name.clone());
            let cell = |policy: &&'static str| Cell {
                variant: name.clone(),
                policy,
                varied: shown.clone(),
                settings: settings.clone(),
            };
            cells.extend(policies.iter().map(cell));
            if cells.len() > MOST_CELLS {
                return Err(ExperimentError::Extent("it has more than 10,000 combinations; vary less"));
            }
        }
    }
    Ok(cells)
}

/// Every combination of the values.
fn combinations(vary: &BTreeMap<String, Vec<toml::Value>>) -> Result<Vec<Vec<(String, toml::Value)>>, ExperimentError> {
    let mut all: Vec<Vec<(String, toml::Value)>> = vec![Vec::new()];
    for (name, values) in vary {
        if values.is_empty() || all.len() * values.len() > MOST_CELLS {
            return Err(ExperimentError::Extent(
                "each setting of [vary] has values, and there are at most 10,000 combinations",
            ));
        }
        let with = |begun: &Vec<(String, toml::Value)>| {
            let one = |value: &toml::Value| [begun.as_slice(), &[(name.clone(), value.clone())]].concat();
            values.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

/// The settings of a combination: those of the file, then those of the variant, then what varies.
fn settings(
    written: &Written,
    variant: &WrittenVariant,
    varied: &[(String, toml::Value)],
) -> Result<Settings, ExperimentError> {
    let mut table = written.set.clone();
    let mut later = Vec::new();
    for (name, value) in variant.set.iter().chain(varied.iter().map(|(name, value)| (name, value))) {
        if name == UTILISATION || name == REMOVED {
            later.push((name, value));
        } else {
            put(&mut table, name, value).map_err(|why| vary(name, value, why))?;
        }
    }
    let mut settings: Settings = table.try_into().map_err(|error: toml::de::Error| {
        let place = varied.first().map_or_else(|| "[set]".to_owned(), |(name, _)| format!("[set] with `{name}`"));
        ExperimentError::Form(format!("{place}: {}", error.message()))
    })?;
    // Last, since the load that they mean depends on the gateways.
    later.sort_by_key(|(name, _)| *name == UTILISATION);
    for (name, value) in later {
        derived(&mut settings, name, value).map_err(|why| vary(name, value, why))?;
    }
    let place =
        [variant.name.clone(), varied.iter().map(|(name, value)| format!("{name} = {}", shown(value))).collect()];
    settings.check().map_err(|error| ExperimentError::Settings { place: place.join(" ").trim().to_owned(), error })?;
    Ok(settings)
}

/// Offered load as a part of the capacity: sets `transfers.offered-gbit-s`.
const UTILISATION: &str = "utilisation";
/// Gateways of the first kind that are taken away; the offered load stays.
const REMOVED: &str = "removed";

fn vary(name: &str, value: &toml::Value, why: impl Into<String>) -> ExperimentError {
    ExperimentError::Vary { name: name.to_owned(), value: shown(value), why: why.into() }
}

fn put(table: &mut toml::Table, name: &str, value: &toml::Value) -> Result<(), &'static str> {
    let mut words = name.split('.').collect::<Vec<_>>();
    let last = words.pop().ok_or("a setting has a name")?;
    let mut at = table;
    for word in words {
        let inner = at.entry(word).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        at = inner.as_table_mut().ok_or("it is not a setting of a table, such as `reports.usage-s`")?;
    }
    at.insert(last.to_owned(), value.clone());
    Ok(())
}

fn derived(settings: &mut Settings, name: &str, value: &toml::Value) -> Result<(), &'static str> {
    if name == REMOVED {
        let count =
            value.as_integer().and_then(|count| usize::try_from(count).ok()).ok_or("a whole number is needed")?;
        let first = settings.gateways.first_mut().ok_or("there are no gateways")?;
        first.count = first.count.checked_sub(count).ok_or("the first kind has not as many gateways")?;
        return Ok(());
    }
    let part = value
        .as_float()
        .filter(|part| (0.0..=2.0).contains(part))
        .ok_or("a part of the capacity, such as 0.93, is needed")?;
    if settings.utilisation() <= 0.0 {
        return Err("with `transfers.offered-gbit-s` of 0 there is nothing to scale");
    }
    settings.transfers.offered_gbit_s *= part / settings.utilisation();
    Ok(())
}

/// A value as it is written, without quotes.
fn shown(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
