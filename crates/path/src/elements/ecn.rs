//! A middlebox that does something to congestion notification which it should not.

use serde::Deserialize;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::reason::{Drop, Mark};
use crate::spec::ElementSpec;
use crate::train::{Ecn, Train};

/// What happens to the ECN field (RFC 3168), as it is written in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnSpec {
    /// It is cleared, so that no mark arrives.
    Bleach,
    /// Every packet that understands marks gets one, although no queue is full.
    MarkAll,
    /// Packets that understand marks are dropped.
    DropCapable,
}

/// See [`EcnSpec`].
#[derive(Debug)]
pub(crate) struct EcnBox(EcnSpec);

impl EcnBox {
    pub(crate) fn new(spec: EcnSpec) -> Self {
        Self(spec)
    }
}

impl Element for EcnBox {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) || !train.ecn.may_be_marked() {
            return out.pass(train);
        }
        let train = match self.0 {
            EcnSpec::Bleach => out.mark(train, Ecn::NotCapable, Mark::Bleached),
            EcnSpec::MarkAll => out.mark(train, Ecn::Marked, Mark::Always),
            EcnSpec::DropCapable => return out.drop(train, Drop::EcnCapable),
        };
        out.pass(train);
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Ecn(spec) = spec {
            self.0 = *spec;
        }
    }
}
