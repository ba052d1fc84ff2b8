//! Disks, as far as they decide how fast a transfer can be read and written.

use serde::{Deserialize, Serialize};

/// A block device with a queue of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockDevice {
    /// Its name: `nvme0n1`, `sda`, `md0`.
    pub name: String,
    /// Bytes that the kernel reads ahead (`queue/read_ahead_kb`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// The scheduler of its queue: `none`, `mq-deadline`, `kyber`, `bfq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Whether it is made of turning disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
}

/// How the clock of a host stands (adjtimex(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockState {
    /// Whether something keeps it to a reference (`STA_UNSYNC` is not set).
    pub synchronised: bool,
    /// How wrong it may be, as its keeper says (`maxerror`).
    pub max_error_us: u64,
}
