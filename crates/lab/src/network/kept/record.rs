//! What a keeper tells other processes of its lab.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::owner::Owner;
use crate::network::Network;

/// A lab that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of this form.
    pub format: u32,
    /// Name of the lab, unique for this user.
    pub name: String,
    /// What it was made from: a file, or a name of the library.
    pub scenario: String,
    /// Where its chance comes from.
    pub seed: u64,
    /// Who has started it; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// When it was up.
    pub up_unix_ns: WallTime,
    /// The process that keeps it.
    pub keeper: u32,
    /// When that was started, in ticks of the machine's clock.
    pub keeper_started_ticks: u64,
    /// Hosts in the order of the scenario.
    pub hosts: Vec<HostRecord>,
}

/// A host of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRecord {
    /// Name in the scenario.
    pub name: String,
    /// The addresses by which others know it.
    pub addresses: Vec<IpAddr>,
    /// Its first process.
    pub first_process: u32,
    /// When that was started, in ticks of the machine's clock.
    pub started_ticks: u64,
    /// The file of recorded facts, as programs in the host see it.
    pub recorded_facts: Option<PathBuf>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is in another form.
    #[error("it does not have the form that a keeper writes")]
    Form(#[from] toml::de::Error),
    /// It is of another version of linerate.
    #[error("it is of format {found}, and this linerate reads {}", Record::FORMAT)]
    Version {
        /// Version of the record, newer than any that is known here.
        found: u32,
    },
}

impl Record {
    /// The version of this form.
    pub const FORMAT: u32 = 1;

    /// The hosts of a network that this process keeps.
    #[must_use]
    pub fn hosts_of(network: &Network) -> Vec<HostRecord> {
        let hosts = network.hosts().iter().map(|host| HostRecord {
            name: host.name().to_owned(),
            addresses: host.addresses().to_vec(),
            first_process: host.first_process(),
            started_ticks: linux::namespaces::process::start_of(host.first_process()).unwrap_or_default(),
            recorded_facts: host.recorded_facts(),
        });
        hosts.collect()
    }

    /// The host of this name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&HostRecord> {
        self.hosts.iter().find(|host| host.name == name)
    }

    pub(super) fn to_text(&self) -> String {
        // Every field has a form in TOML: what is absent is left out.
        toml::to_string(self).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let Version { format } = toml::from_str(text)?;
        if format != Self::FORMAT {
            return Err(RecordError::Version { found: format });
        }
        Ok(toml::from_str(text)?)
    }
}
