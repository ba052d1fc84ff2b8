//! The setting of hardware that a fault hangs on.

use document::{DocumentError, Key};
use serde::Deserialize;

use crate::blueprint::Holds;
use crate::diagnostics::Diagnostics;
use crate::error::Problem;
use crate::host::Host;

/// A setting of a device, which stands in the recorded facts of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultCondition {
    /// Host, by its place in the file.
    pub host: usize,
    /// The device on this link.
    pub link: usize,
    /// What is to hold of it.
    pub holds: Holds,
}

/// `while` of `[[faults]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ConditionText {
    host: String,
    interface: String,
    feature: Option<String>,
    ring: Option<String>,
    below: Option<u32>,
}

impl ConditionText {
    pub(crate) fn settle(self, key: &Key, hosts: &[Host], diagnostics: &mut Diagnostics<'_>) -> Option<FaultCondition> {
        let host = diagnostics.host(&key.at("host"), &self.host)?;
        let link = diagnostics.link(&key.at("interface"), &self.interface)?;
        diagnostics.end(&key.at("interface"), link, host)?;
        let (holds, setting) = match (self.feature, self.ring, self.below) {
            (Some(feature), None, None) => {
                let setting = ["features".to_owned(), feature.clone(), "active".to_owned()];
                (Holds::Feature(feature), setting.to_vec())
            }
            (None, Some(ring), Some(below)) => (Holds::Ring(ring.clone(), below), vec!["rings".to_owned(), ring]),
            _ => {
                let keys = "a fault hangs on a `feature`, or on a `ring` that is `below` a number of entries";
                diagnostics.complain(key, DocumentError::Keys(keys));
                return None;
            }
        };
        let facts = hosts[host].facts.as_ref();
        let device = facts.and_then(|facts| facts.get("interfaces")?.get(&self.interface));
        if setting.iter().try_fold(device?, |table, name| table.get(name)).is_none() {
            let setting = format!("{}.facts.interfaces.{}.{}", self.host, self.interface, setting.join("."));
            diagnostics.complain(key, Problem::NotRecorded { setting });
            return None;
        }
        Some(FaultCondition { host, link, holds })
    }
}
