//! An experiment: which transfers are simulated.

use std::fmt::Write;

use path::Seed;
use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::parameter::{ALL, Parameter, Settings};
use crate::value::Value;

/// An experiment: combinations of settings, each of them repeated.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name of the experiment; parts of one are merged by it.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// How often each combination is repeated.
    pub repetitions: u32,
    /// Every combination of what is varied, each simulated `repetitions` times.
    pub cells: Vec<Cell>,
    pub(crate) seed: u64,
}

/// A combination of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The variant that it belongs to, where there are any.
    pub variant: Option<String>,
    /// What is set.
    pub settings: Settings,
}

impl Experiment {
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

    /// The transfer of a number below [`Experiment::len`].
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
