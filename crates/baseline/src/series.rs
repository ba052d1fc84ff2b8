//! Series of measurements: samples, their scale, and what is left out.

use stats::summary::Ordered;

/// A measurement: a moment in seconds, and a value in the unit of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Seconds since 1970-01-01 UTC, or since any midnight: only the time of day counts.
    pub at_s: i64,
    /// In the unit of the series. NaN and infinities are left out.
    pub value: f64,
}

/// On which scale values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// By ratio: rates, RTTs. Values that are not above zero count as the least positive value of the series.
    #[default]
    Ratio,
    /// By difference: shares of loss, counts, MTU.
    Difference,
}

/// A series on the scale on which it is compared: finite, in order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepared {
    /// Seconds.
    pub times: Vec<i64>,
    /// Logarithms on the ratio scale, else values.
    pub levels: Vec<f64>,
    /// Of each, its place among the samples that were given.
    pub places: Vec<usize>,
}

impl Prepared {
    /// Sorts samples by time (equal times keep their order) and leaves out what is no number.
    #[must_use]
    pub fn new(samples: &[Sample], scale: Scale) -> Self {
        let mut places: Vec<usize> = (0..samples.len()).filter(|place| samples[*place].value.is_finite()).collect();
        places.sort_by_key(|place| samples[*place].at_s);
        let least =
            places.iter().map(|place| samples[*place].value).filter(|value| *value > 0.0).fold(f64::MAX, f64::min);
        let level = |value: f64| match scale {
            Scale::Ratio => value.max(least).ln(),
            Scale::Difference => value,
        };
        Self {
            times: places.iter().map(|place| samples[*place].at_s).collect(),
            levels: places.iter().map(|place| level(samples[*place].value)).collect(),
            places,
        }
    }
}

impl Scale {
    /// Where a value lies on this scale. On the ratio scale that of 0 is minus infinity.
    #[must_use]
    pub fn level(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.ln(),
            Self::Difference => value,
        }
    }

    /// A value of the series, from its level on this scale.
    #[must_use]
    pub fn value(self, level: f64) -> f64 {
        match self {
            Self::Ratio => level.exp(),
            Self::Difference => level,
        }
    }
}

/// The median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    Ordered::new(values.to_vec()).median().unwrap_or(0.0)
}

/// The standard deviation that the median distance from the median implies; 0 of nothing.
pub(crate) fn spread(values: &[f64]) -> f64 {
    Ordered::new(values.to_vec()).mad().unwrap_or(0.0) * MAD_TO_SIGMA
}

/// Of a normal distribution, its standard deviation over its median absolute deviation.
pub(crate) const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;
