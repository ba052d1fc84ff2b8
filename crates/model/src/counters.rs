//! What a host's kernel counted while a run went on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counters of one host, read before and after a run.
///
/// Names are dotted and start with where the counter lives: `Tcp.RetransSegs`, `TcpExt.TCPTimeouts`,
/// `Udp.RcvbufErrors`, `softnet.cpu0.dropped`, `dev.eth0.rx_dropped`, `qdisc.eth0.8001:.drops`, `nic.eth0.rx_missed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterReadings {
    /// Each counter's two readings.
    pub values: BTreeMap<String, Reading>,
    /// Groups of counters that could not be read, and why. What is missing is unknown, never zero.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unreadable: BTreeMap<String, String>,
}

/// One counter before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// Before the first byte.
    pub before: u64,
    /// After the last byte.
    pub after: u64,
}

impl Reading {
    /// How far the counter went; `None` where it went backwards (it was reset, or is a gauge).
    #[must_use]
    pub const fn change(self) -> Option<u64> {
        self.after.checked_sub(self.before)
    }
}

impl CounterReadings {
    /// How far the counter `name` went; `None` where it is not known.
    #[must_use]
    pub fn change(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.change()
    }

    /// Counters that moved, by name.
    pub fn moved(&self) -> impl Iterator<Item = (&str, u64)> {
        self.values.iter().filter_map(|(name, reading)| {
            reading.change().filter(|change| *change > 0).map(|change| (name.as_str(), change))
        })
    }
}
