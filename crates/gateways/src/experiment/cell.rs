//! One combination of an experiment: a policy and settings.

use crate::cluster::settings::Settings;

/// A policy with settings, of which each seed makes a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The variant that it is of, where there are any.
    pub variant: Option<String>,
    /// The policy's name.
    pub policy: &'static str,
    /// What varies, as it is written: `reports.usage-s` and `20`.
    pub varied: Vec<(String, String)>,
    /// All that is set.
    pub settings: Settings,
}

impl Cell {
    /// What tells it from the others, for people.
    #[must_use]
    pub fn label(&self) -> String {
        let varied = self.varied.iter().map(|(name, value)| format!("{name} {value}"));
        self.variant.iter().cloned().chain(varied).collect::<Vec<_>>().join(", ")
    }

    /// The number of the first setting that varies, where it is one.
    #[must_use]
    pub fn abscissa(&self) -> Option<f64> {
        self.varied.first().and_then(|(_, value)| value.parse().ok())
    }
}
