//! Programs that change settings by themselves, or move packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;

/// Programs that change settings by themselves, or move packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Services {
    /// Each of [`WATCHED`], by name.
    pub each: BTreeMap<String, Fact<Service>>,
    /// The active profile of TuneD: `network-throughput`.
    pub tuned_profile: Fact<String>,
    /// The settings of the active profile with all it includes, by sysctl.
    pub tuned_sysctls: Fact<BTreeMap<String, String>>,
}

/// One program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Service {
    /// Whether a process of it runs.
    pub running: bool,
    /// Whether it is started at boot; not known where no systemd is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// The programs looked for, by the name of their systemd unit.
pub const WATCHED: [&str; 9] = [
    "irqbalance",
    "tuned",
    "bpftune",
    "NetworkManager",
    "firewalld",
    "kubelet",
    "docker",
    "systemd-networkd",
    "flowd-go",
];
