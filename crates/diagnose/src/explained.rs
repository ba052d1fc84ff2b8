//! A run with where its rate or its datagrams went, as one document for programs.

use model::run::Run;
use model::series::RunSamples;
use serde::{Deserialize, Serialize};

use crate::balance::{self, Balance};
use crate::waterfall::line::LineRate;
use crate::waterfall::{self, Waterfall};

/// A run with what follows from it. The run's own keys stand beside the two that are added, so that a reader of runs reads
/// this as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained {
    /// Measured run as it is stored; its keys are those of this object.
    #[serde(flatten)]
    pub run: Run,
    /// Of TCP, for each direction: where the line rate went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waterfalls: Vec<Waterfall>,
    /// Of UDP, for each direction: where the datagrams went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagram_balances: Vec<Balance>,
}

impl Explained {
    /// Explains a run by its samples.
    #[must_use]
    pub fn of(run: &Run, samples: &RunSamples) -> Self {
        Self {
            run: run.clone(),
            waterfalls: waterfall::explain(run, samples, LineRate::of(run)),
            datagram_balances: balance::balance(run),
        }
    }
}
