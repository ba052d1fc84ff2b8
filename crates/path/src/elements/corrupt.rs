//! Packets in which a bit is wrong and the link's own checksum is right: a fault of memory inside a switch or an adapter.
//! Their receiver finds out, if its checksums do.

use serde::Deserialize;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::picker::{Pick, Picker, Rule};
use crate::random::Seed;
use crate::spec::{ElementSpec, SpecError, check_probability};
use crate::train::Train;

/// Corruption as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CorruptSpec {
    /// Probability with which a bit of a packet is wrong.
    pub probability: f64,
}

impl CorruptSpec {
    /// # Errors
    /// A probability that is none.
    pub fn check(&self) -> Result<(), SpecError> {
        check_probability("corrupt", "probability", self.probability)
    }
}

/// See [`CorruptSpec`].
#[derive(Debug)]
pub(crate) struct Corrupter(Picker);

impl Corrupter {
    pub(crate) fn new(spec: &CorruptSpec, seed: Seed) -> Self {
        Self(Picker::new(Rule::Probability(spec.probability), seed))
    }
}

impl Element for Corrupter {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return out.pass(train);
        }
        self.0.sort(train, |pick, mut part| {
            part.edits.corrupted |= pick == Pick::Picked;
            out.pass(part);
        });
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Corrupt(spec) = spec {
            self.0.adopt(Rule::Probability(spec.probability));
        }
    }
}
