//! What each processor is set to, and what it has received.

use serde::{Deserialize, Serialize};

use super::fact::Fact;

/// The processors of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpus {
    /// Those online, as the kernel lists them: `0-31`.
    pub online: Fact<String>,
    /// Hyper-threading: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Fact<String>,
    /// Each processor.
    pub each: Vec<Cpu>,
}

/// One processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// Number of the logical CPU, from 0.
    pub number: u32,
    /// Socket that it sits in (`physical_package_id`).
    pub socket: Fact<u32>,
    /// Its NUMA node.
    pub numa_node: Fact<u32>,
    /// The frequency governor: `performance`, `powersave`, `schedutil`.
    pub governor: Fact<String>,
    /// The energy and performance preference: `performance`, `balance_performance`, `power`.
    pub energy_preference: Fact<String>,
    /// The highest frequency allowed.
    #[serde(rename = "max_khz")]
    pub max_frequency: Fact<u64>,
    /// Its idle states.
    pub idle_states: Fact<Vec<IdleState>>,
    /// What it has received.
    pub softnet: Fact<Softnet>,
    /// Time in soft interrupts since the start (`/proc/stat`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq_us: Option<u64>,
    /// Time that the hypervisor gave to others since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_us: Option<u64>,
}

/// One idle state of a processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleState {
    /// Its name: `C1E`, `C6`.
    pub name: String,
    /// How long leaving it takes.
    #[serde(rename = "exit_us")]
    pub exit: u64,
    /// Whether it is switched off.
    pub disabled: bool,
}

/// Packets as one processor received them (`/proc/net/softnet_stat`); 32 bits each, which wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Softnet {
    /// Packets processed.
    pub processed: u32,
    /// Packets dropped because the backlog was full.
    pub dropped: u32,
    /// How often the budget of a round ended with packets left.
    pub time_squeeze: u32,
    /// How often another processor woke this one up to process packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_rps: Option<u32>,
    /// Packets dropped because one flow had more than its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_limit: Option<u32>,
}
