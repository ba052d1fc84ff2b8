//! Packets that come twice, one copy right behind the other.

use serde::Deserialize;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::picker::{Pick, Picker, Rule};
use crate::random::Seed;
use crate::spec::{ElementSpec, SpecError, check_probability};
use crate::train::Train;

/// Duplication as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DuplicateSpec {
    /// Probability with which a packet comes twice.
    pub probability: f64,
}

impl DuplicateSpec {
    /// # Errors
    /// A probability that is none.
    pub fn check(&self) -> Result<(), SpecError> {
        check_probability("duplicate", "probability", self.probability)
    }
}

/// See [`DuplicateSpec`].
#[derive(Debug)]
pub(crate) struct Duplicator(Picker);

impl Duplicator {
    pub(crate) fn new(spec: &DuplicateSpec, seed: Seed) -> Self {
        Self(Picker::new(Rule::Probability(spec.probability), seed))
    }
}

impl Element for Duplicator {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return out.pass(train);
        }
        self.0.sort(train, |pick, part| {
            out.pass(part);
            if pick == Pick::Picked {
                out.duplicate(part);
            }
        });
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Duplicate(spec) = spec {
            self.0.adopt(Rule::Probability(spec.probability));
        }
    }
}
