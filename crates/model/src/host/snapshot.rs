//! All facts of one host at one moment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{MonoTime, WallTime};

use super::cpu::Processors;
use super::fact::Fact;
use super::machine::Machine;
use super::namespace::{ClosedNamespace, Namespace};
use super::provenance::Provenance;
use super::service::Services;

/// All facts of one host at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Version of this format; a reader refuses a newer one.
    pub format: u32,
    /// When, by the calendar.
    #[serde(rename = "taken_unix_ns")]
    pub taken: WallTime,
    /// When, by the monotonic clock of this boot; not known of what was read from text.
    #[serde(rename = "taken_mono_ns", default, skip_serializing_if = "Option::is_none")]
    pub taken_mono: Option<MonoTime>,
    /// What read it: `linerate 0.1.0`.
    pub software: String,
    /// How it was read.
    pub way: Way,
    /// Which host it is.
    pub machine: Machine,
    /// The processors.
    pub processors: Processors,
    /// The network namespaces; the first is that of the reader.
    pub namespaces: Vec<Namespace>,
    /// Namespaces that exist and could not be entered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_namespaces: Vec<ClosedNamespace>,
    /// Programs that change settings by themselves.
    pub services: Services,
    /// Options of loaded kernel modules that matter to the network, as `module.option`.
    pub module_options: Fact<BTreeMap<String, String>>,
    /// Which file sets which value at boot.
    pub provenance: Fact<Provenance>,
    /// What a reader with more privilege would see besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// What was not understood in files and in other programs' output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<Anomaly>,
}

/// How a snapshot was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the running kernel, with all privileges.
    Privileged,
    /// From the running kernel, without privilege.
    Unprivileged,
    /// From outputs of other programs that somebody saved.
    SavedOutputs,
    /// From an archive of sosreport.
    Sosreport,
}

/// Something that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// The file.
    pub file: String,
    /// The line, from 1; none where it is of the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
}

impl Snapshot {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;

    /// The namespace of the reader.
    #[must_use]
    pub fn own(&self) -> Option<&Namespace> {
        self.namespaces.first()
    }

    /// All interfaces of all namespaces, each with its namespace.
    pub fn interfaces(&self) -> impl Iterator<Item = (&Namespace, &super::interface::Interface)> {
        self.namespaces
            .iter()
            .flat_map(|namespace| namespace.interfaces.iter().map(move |interface| (namespace, interface)))
    }
}
