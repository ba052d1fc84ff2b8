//! A policer: what comes faster than agreed is dropped, or gets a worse class of service. Nothing waits.
//!
//! One rate and one burst, as RFC 2697 has them with an excess burst of zero: a packet conforms if there are tokens for
//! all of it, and only then takes them.

use serde::Deserialize;
use units::{ByteCount, DataRate, MonoTime};

use crate::bucket::Bucket;
use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::reason::Drop;
use crate::spec::{ElementSpec, SpecError, check_burst, check_dscp, check_not_zero};
use crate::train::Train;

/// A policer as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicerSpec {
    /// What may pass in the long run, with the headers of the link.
    #[serde(deserialize_with = "units::text::read")]
    pub rate: DataRate,
    /// What may pass at once.
    #[serde(deserialize_with = "units::text::read")]
    pub burst: ByteCount,
    /// The class of service that the rest gets; it is dropped without.
    #[serde(default)]
    pub remark: Option<u8>,
}

impl PolicerSpec {
    /// # Errors
    /// A rate of zero, a burst of less than a packet, or a class of service above 63.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("policer", "rate", self.rate)?;
        check_burst("policer", self.burst)?;
        self.remark.map_or(Ok(()), |dscp| check_dscp("policer", "remark", dscp))
    }
}

/// See [`PolicerSpec`].
#[derive(Debug)]
pub(crate) struct Policer {
    bucket: Bucket,
    remark: Option<u8>,
}

impl Policer {
    pub(crate) fn new(spec: &PolicerSpec, start: MonoTime) -> Self {
        Self { bucket: Bucket::new(spec.rate, spec.burst, start), remark: spec.remark }
    }
}

impl Element for Policer {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return out.pass(train);
        }
        self.bucket.fill(out.now());
        // Model: the packets of a train come at one instant, so those that conform are its first.
        let (conform, exceed) = train.split_front(train.packets_within(self.bucket.bytes()));
        if let Some(conform) = conform {
            self.bucket.spend(conform.bytes());
            out.pass(conform);
        }
        match (exceed, self.remark) {
            (None, _) => {}
            (Some(exceed), Some(dscp)) => out.pass(Train { dscp, ..exceed }),
            (Some(exceed), None) => out.drop(exceed, Drop::Policed),
        }
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        if let ElementSpec::Policer(spec) = spec {
            self.bucket.adopt(spec.rate, spec.burst, out.now());
            self.remark = spec.remark;
        }
    }
}
