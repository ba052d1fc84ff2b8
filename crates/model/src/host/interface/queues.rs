//! Which processors serve the queues and interrupts of a device.

use serde::{Deserialize, Serialize};

/// The queues of a device (sysfs).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queues {
    /// Of each receive queue, in order.
    pub rx: Vec<ReceiveQueue>,
    /// Of each transmit queue, in order.
    pub tx: Vec<TransmitQueue>,
}

/// One receive queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiveQueue {
    /// Mask of the processors that its packets are handed to (`rps_cpus`); all zero where that is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps_cpus: Option<String>,
    /// Flows remembered for that (`rps_flow_cnt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps_flows: Option<u32>,
}

/// One transmit queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransmitQueue {
    /// Mask of the processors that send by it (`xps_cpus`); absent where the device has one queue only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xps_cpus: Option<String>,
    /// Limit of bytes that wait in the device, of the moment (`byte_queue_limits/limit`).
    #[serde(rename = "bql_limit_bytes", default, skip_serializing_if = "Option::is_none")]
    pub bql_limit: Option<u64>,
}

/// One interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interrupt {
    /// Number in `/proc/interrupts`.
    pub number: u32,
    /// What `/proc/interrupts` calls it: `mlx5_comp0@pci:0000:3b:00.0`.
    pub name: String,
    /// The processors it may go to, as a list: `0-15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cpus: Option<String>,
    /// The processors it does go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_cpus: Option<String>,
}
