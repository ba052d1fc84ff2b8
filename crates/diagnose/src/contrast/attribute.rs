//! What hosts have, and which of them are bad.

use std::collections::BTreeMap;

use audit::compare::Comparison;
use serde::{Deserialize, Serialize};

/// What was seen of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Its tests are as they should be.
    Good,
    /// Something at this host is blamed.
    Bad,
    /// Nothing is known of it. It still tells what is usual among hosts.
    Unknown,
}

/// One attribute of several hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its whole name, as people are shown it: `fastest NIC: feature.rx-gro-hw`.
    pub name: String,
    /// Its name without the device, which tells its kind: `feature.rx-gro-hw`.
    pub setting: String,
    /// What each host has: its value, or nothing where there is no such thing. A host of which that is not known is absent.
    pub values: BTreeMap<String, Option<String>>,
}

/// The attributes in which hosts differ. That all have something alike separates nothing.
#[must_use]
pub fn attributes(comparison: &Comparison) -> Vec<Attribute> {
    let of = |difference: &audit::compare::Difference| {
        let held = difference.values.iter().flat_map(|held| {
            let value = held.value.as_ref().map(|value| value.text.clone());
            held.by.iter().map(move |host| (host.clone(), value.clone()))
        });
        Attribute { name: difference.key.to_string(), setting: difference.key.name.clone(), values: held.collect() }
    };
    comparison.differences.iter().map(of).collect()
}
