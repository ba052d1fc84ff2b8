//! The largest packet that a link carries.

use serde::Deserialize;
use units::Mtu;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::reason::Drop;
use crate::spec::ElementSpec;
use crate::train::{LINK_HEADER, Train};

/// A limit of size as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MtuSpec {
    /// The largest IP packet, in bytes.
    pub bytes: Mtu,
    /// Who hears of larger ones.
    #[serde(default)]
    pub report: Report,
}

/// Who hears of packets that are too big.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Their sender, as from a router (RFC 1191, RFC 8201).
    #[default]
    Icmp,
    /// Nobody: a switch, or a router whose reports are filtered away. A black hole.
    Silent,
}

/// See [`MtuSpec`].
#[derive(Debug)]
pub(crate) struct MtuLimit(MtuSpec);

impl MtuLimit {
    pub(crate) fn new(spec: &MtuSpec) -> Self {
        Self(spec.clone())
    }

    fn is_too_big(&self, size: u32) -> bool {
        size > self.0.bytes.get() + LINK_HEADER
    }
}

impl Element for MtuLimit {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        // Model: a router would cut what may be cut; here it goes on in one piece.
        let is_cut = self.0.report == Report::Icmp && !train.whole;
        if is_cut || is_exempt(&train) || !self.is_too_big(train.size.max(train.last_size)) {
            return out.pass(train);
        }
        let all_but = u32::from(!self.is_too_big(train.last_size));
        let (too_big, rest) = train.split_front(train.count.get() - all_but);
        if let Some(too_big) = too_big {
            match self.0.report {
                Report::Icmp => out.refuse(too_big, self.0.bytes),
                Report::Silent => out.drop(too_big, Drop::TooBig),
            }
        }
        if let Some(rest) = rest {
            out.pass(rest);
        }
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Mtu(spec) = spec {
            self.0 = spec.clone();
        }
    }
}
