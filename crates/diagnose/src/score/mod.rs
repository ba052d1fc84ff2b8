//! How good diagnoses are: each is compared with the truth of the network that it was made of.
//!
//! * [`mod@judge`]: one diagnosis against what was planted
//! * [`certainty`]: intervals of shares, and the error of probabilities
//! * [`summary`]: many of these as a score: who was taken for what, how often the first name is right, whether a
//!   probability of 90 % is right nine times in ten
//!
//! The rules are strict. With `n` planted causes the first `n` problems count; a cause is found where it is the first of one
//! of them, and what else is named first is a mistake, even where all that was planted is named as well.

pub mod certainty;
pub mod judge;
pub mod summary;

use model::played::PlantedCause;
use serde::{Deserialize, Serialize};

pub use judge::{JudgedCause, Named, Verdict, judge};
pub use summary::{Missing, Score, score};

/// What is wrong in a network, and what is not.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// What is wrong; nothing in a healthy network.
    pub causes: Vec<PlantedCause>,
    /// What must not be blamed.
    pub innocent: Vec<Spot>,
}

/// A host, or a segment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spot {
    /// Name of a host or segment in the scenario.
    pub place: String,
    /// In which direction, where it concerns one of a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.place)?;
        self.towards.iter().try_for_each(|towards| write!(f, " towards {towards}"))
    }
}

/// The schema of a score, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![("score.schema.json", schemars::schema_for!(Score))]
}
