//! Gateways that fail, lie, are silent or flap.

use serde::{Deserialize, Serialize};

use super::bounds::SettingsError;

/// A fault of one gateway for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// Which gateway, from 1.
    pub gateway: usize,
    /// What is wrong with it.
    pub what: FaultType,
    /// From when on, hours from the start.
    pub from_hour: f64,
    /// Until when.
    pub to_hour: f64,
}

/// What is wrong with a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultType {
    /// It is gone: what was in flight fails, and the balancer sees it leave and log in again.
    Down,
    /// It takes nothing new, and what is in flight ends.
    Drained,
    /// It reports that it does nothing.
    Lies,
    /// It reports nothing, and is not known to be gone.
    Silent,
    /// It leaves and logs in again every minute, and what was in flight fails.
    Flaps,
    /// Its NIC moves a tenth of its rate.
    Slow,
    /// It reports that its load average and its CPU are at 100 %, whatever it moves.
    Busy,
}

impl Fault {
    /// Whether it is there at a moment, in hours from the start.
    #[must_use]
    pub fn is_at(&self, hour: f64) -> bool {
        (self.from_hour..self.to_hour).contains(&hour)
    }

    pub(super) fn check(&self, gateways: usize) -> Result<(), SettingsError> {
        if !(1..=gateways).contains(&self.gateway) {
            let value = super::bounds::small(self.gateway);
            return Err(SettingsError { name: "faults.gateway", value, expected: "the number of a gateway, from 1" });
        }
        if self.from_hour >= 0.0 && self.to_hour > self.from_hour && self.to_hour.is_finite() {
            return Ok(());
        }
        let expected = "after `from-hour`, which is 0 or more";
        Err(SettingsError { name: "faults.to-hour", value: self.to_hour, expected })
    }
}
