//! What was asked while a diagnosis became certain, for whoever reads it afterwards.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Ending, Proposal};
use crate::diagnosis::Diagnosis;

/// A diagnosis for which tests were run besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examination {
    /// What was tested besides, in this order.
    pub asked: Vec<RequestedTest>,
    /// Why no more was.
    pub ended: Ending,
    /// How long all of it took.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// What is wrong, by what is known now.
    pub diagnosis: Diagnosis,
}

/// A test that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedTest {
    /// What it is called among the tests of the round.
    pub label: String,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// Why it was asked for.
    pub says: String,
    /// How much it was expected to tell.
    pub expected_bits: f64,
}

impl From<&Proposal> for RequestedTest {
    fn from(proposal: &Proposal) -> Self {
        Self {
            label: proposal.label.clone(),
            from: proposal.from.to_string(),
            to: proposal.to.to_string(),
            says: proposal.says.clone(),
            expected_bits: proposal.bits,
        }
    }
}

/// The schema of an examination, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![("examination.schema.json", schemars::schema_for!(Examination))]
}
