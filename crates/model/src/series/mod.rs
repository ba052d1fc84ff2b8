//! Samples over time.
//!
//! A run's samples are kept column by column: all values of one field of one stream at one end. Fields that a kernel
//! lacks have no column, so that a missing value is never taken for zero.
//!
//! * [`field`]: what is sampled, with the name that carries the unit
//! * [`packed`]: the form in which samples are stored and sent

pub mod field;
pub mod packed;

use serde::{Deserialize, Serialize};

use crate::measurement::{End, Heading, Whose};
use field::Field;

/// All samples of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSamples {
    /// Samples of each stream at each end that told them.
    pub streams: Vec<StreamSamples>,
    /// Latency probes.
    #[serde(default)]
    pub probes: ProbeSamples,
}

/// The samples of one stream at one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamSamples {
    /// Number of the stream, from 1.
    pub stream: u32,
    /// Which way its payload goes, seen from the host that stores the run.
    pub heading: Heading,
    /// Whether this end sends or receives the payload.
    pub end: End,
    /// Which host took the samples.
    pub whose: Whose,
    /// When each sample was taken, from the start of the test, on the clock of the host that stores the run.
    pub at_us: Vec<i64>,
    /// The values; each column is as long as `at_us`.
    pub columns: Vec<Column>,
}

impl StreamSamples {
    /// The values of `field`; `None` where the kernel did not tell it.
    #[must_use]
    pub fn column(&self, field: Field) -> Option<&[u64]> {
        self.columns.iter().find(|column| column.field == field).map(|column| column.values.as_slice())
    }
}

/// The values of one field over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Column {
    /// Which field.
    pub field: Field,
    /// Its values in order of time.
    pub values: Vec<u64>,
}

/// Latency probes in order of sending.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeSamples {
    /// When each was sent, from the start of the test; negative for the idle baseline before it.
    pub sent_us: Vec<i64>,
    /// Its round trip without the time the peer held it; absent where no answer came.
    pub rtt_us: Vec<Option<u32>>,
    /// Its way there, by both clocks; wrong by at most the clock relation's uncertainty.
    pub there_us: Vec<Option<i32>>,
}
