//! What an optical module measures of itself (digital optical monitoring), and the limits that its maker gave it.

use serde::{Deserialize, Serialize};

/// A module in the cage of a NIC. Of a copper cable nothing but maker and part is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Optics {
    /// Who made it, as it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// The maker's part number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Temperature in thousandths of a degree Celsius.
    #[serde(rename = "temperature_mc", default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<i64>,
    /// Its lasers and receivers in order, one of an SFP, 4 of a QSFP, 8 of a QSFP-DD.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<OpticalLane>,
    /// Alarm thresholds.
    #[serde(default)]
    pub limits: OpticalLimits,
}

/// One laser and the receiver beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpticalLane {
    /// Light that arrives, in nanowatt.
    #[serde(rename = "received_nw", default, skip_serializing_if = "Option::is_none")]
    pub received: Option<i64>,
    /// Light that leaves, in nanowatt.
    #[serde(rename = "sent_nw", default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<i64>,
    /// Current of the laser in microampere; 0 where the lane is not used.
    #[serde(rename = "bias_ua", default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<i64>,
}

/// Outside of these the maker calls for an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpticalLimits {
    /// Of the temperature, in thousandths of a degree Celsius.
    #[serde(rename = "temperature_mc", default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<AlarmLimits>,
    /// Of received light, in nanowatt.
    #[serde(rename = "received_nw", default, skip_serializing_if = "Option::is_none")]
    pub received: Option<AlarmLimits>,
    /// Of sent light, in nanowatt.
    #[serde(rename = "sent_nw", default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<AlarmLimits>,
    /// Of the current of a laser, in microampere.
    #[serde(rename = "bias_ua", default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<AlarmLimits>,
}

/// A low and a high alarm threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlarmLimits {
    /// Below it there is too little.
    pub low: i64,
    /// Above it there is too much.
    pub high: i64,
}

impl AlarmLimits {
    /// Whether a value is outside. Makers write zeros, or the same twice, where they give no limits.
    #[must_use]
    pub fn exclude(&self, value: i64) -> bool {
        self.low < self.high && !(self.low..=self.high).contains(&value)
    }
}

impl OpticalLane {
    /// Whether the laser is on: a cable that is split leaves lanes dark.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.bias != Some(0) || self.sent.is_some_and(|sent| sent > 0)
    }
}
