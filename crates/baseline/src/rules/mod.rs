//! Rules of others, for comparison: what WLCG's and SLAC's alarms would have said of the same series.
//!
//! Written from their descriptions. Both alarm on drops only.

mod moments;
mod slac;
mod wlcg;

use crate::analysis::{Analysis, Gate, Settings, analyse};
use crate::screen::Screen;
use crate::series::Sample;

/// Which rule judges a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// This crate's: screen, placement, classification.
    #[default]
    Linerate,
    /// WLCG's alarm for lower throughput: once a day, 21 days in means of 4 days, z of the last at most -2 and 50 % below the mean.
    Wlcg,
    /// SLAC's plateau detector (IEPM-BW): 6 results below mean - 2 sd of 5 days whose mean is 33 % lower.
    Slac,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linerate, Self::Wlcg, Self::Slac];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linerate => "linerate",
            Self::Wlcg => "wlcg",
            Self::Slac => "slac",
        }
    }

    /// Where the rule raises an alarm: places among the samples, in order. This crate's rule names the change itself, the others
    /// the moment at which they notice.
    #[must_use]
    pub fn alarms(self, samples: &[Sample], screen: &mut Screen) -> Vec<usize> {
        match self {
            Self::Linerate => {
                let Analysis { changes, .. } =
                    analyse(samples, &Settings { gate: Gate::Screen, ..Settings::default() }, screen);
                changes.iter().map(|change| change.at).collect()
            }
            Self::Wlcg => wlcg::alarms(samples),
            Self::Slac => slac::alarms(samples),
        }
    }
}
