//! What the locator looks at: a cell for each directed pair that was to be tested.

use model::round::{Endpoint, Passage};
use serde::{Deserialize, Serialize};

/// All cells of one symptom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layer {
    /// What the cells tell of.
    pub symptom: Symptom,
    /// The cells, in any order.
    pub cells: Vec<Cell>,
}

/// What can be wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// Goodput of TCP below what it should be.
    Goodput,
    /// Goodput of downloads below what it should be.
    Download,
    /// Datagrams or echoes that do not arrive.
    Loss,
    /// Packets that are dropped for their size, without a word.
    Mtu,
}

impl Symptom {
    /// All of them, the most telling first.
    pub const ALL: [Self; 4] = [Self::Goodput, Self::Download, Self::Loss, Self::Mtu];
}

/// A directed pair: payload goes from one end to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The end that sends payload.
    pub from: Endpoint,
    /// The end that receives it.
    pub to: Endpoint,
    /// How good it is.
    pub quality: Quality,
    /// The segments on the way, from the sender on; empty where the way is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<Passage>,
}

/// How good a pair is, relative to what it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Quality {
    /// It was measured.
    Known {
        /// The part of what it should do, from 0; 1 is all of it, and more than 1 is no better than 1.
        part: f64,
        /// The standard deviation of `part`, relative to it: 0.1 is a tenth of the value.
        uncertainty: f64,
    },
    /// It is not known. It counts neither for nor against anything.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Quality {
    /// Measured to a tenth, which is what one run of ten seconds is good for.
    #[must_use]
    pub const fn measured(part: f64) -> Self {
        Self::Known { part, uncertainty: USUAL_UNCERTAINTY }
    }

    /// The part and its uncertainty, where it is a number.
    pub(super) fn known(&self) -> Option<(f64, f64)> {
        match self {
            Self::Known { part, uncertainty } if part.is_finite() && *part >= 0.0 => {
                Some((*part, if uncertainty.is_finite() { uncertainty.abs() } else { USUAL_UNCERTAINTY }))
            }
            _ => None,
        }
    }
}

/// By how much two runs of ten seconds over one healthy path differ, as a part of their rate.
pub(super) const USUAL_UNCERTAINTY: f64 = 0.1;

/// A directed pair by its ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Who sends payload.
    pub from: Endpoint,
    /// Who receives it.
    pub to: Endpoint,
}

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}
