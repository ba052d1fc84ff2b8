//! Queueing disciplines of interfaces and their classes, with their options and counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Qdisc {
    /// What it is: `fq`, `fq_codel`, `pfifo_fast`, `mq`, `noqueue`...
    pub kind: String,
    /// Its own number as `tc` shows it; `0:` for one that the kernel put in by default.
    pub handle: String,
    /// What it hangs on: `root`, `ingress`, or the number of a class, such as `8001:2`.
    pub parent: String,
    /// Options that are understood, named with their unit: `maxrate_bps`, `limit_packets`, `rate_bps`, `burst_bytes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, u64>,
    /// Options as the kernel gave them (`TCA_OPTIONS`, hexadecimal), from which the qdisc can be made again. Absent in
    /// what was read from text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_options: Option<String>,
    /// What it has counted: `bytes`, `packets`, `drops`, `overlimits`, `requeues`, `backlog_bytes`, `backlog_packets`,
    /// and what its kind counts besides, as `flows_plimit` of `fq`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// The classes that somebody made in it, parents before children. Empty for kinds that make their own, as `mq` and
    /// `fq_codel`, and in what was read from text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
}

/// A class of a discipline: a part of its rate, such as of `htb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class {
    /// Its number: `1:10`.
    pub handle: String,
    /// What it hangs on: `root` for its discipline, or the number of a class.
    pub parent: String,
    /// Options that are understood, named with their unit: `rate_bps`, `ceil_bps`, `burst_bytes`, `priority`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, u64>,
    /// Options as the kernel gave them, hexadecimal, from which the class can be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_options: Option<String>,
    /// What it has counted, as [`Qdisc::counters`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

impl Class {
    /// The part of its number that is its own within the discipline: `10` of `1:10`.
    #[must_use]
    pub fn minor(&self) -> &str {
        self.handle.split_once(':').map_or(self.handle.as_str(), |(_, minor)| minor)
    }
}

impl Qdisc {
    /// Whether it belongs to the whole interface.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }

    /// Whether the kernel put it in by default.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.handle == "0:"
    }
}

/// What the discipline of a whole interface hangs on.
pub const ROOT: &str = "root";

/// What the discipline for received packets hangs on.
pub const INGRESS: &str = "ingress";
