//! What a driver lets be set: features, rings, channels, coalescing, pause frames, receive hashing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One feature of a device, as the kernel keeps it. What is `false` is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Feature {
    /// Whether the driver offers to switch it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hw: bool,
    /// Whether it is asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wanted: bool,
    /// Whether it works.
    #[serde(default, skip_serializing_if = "is_false")]
    pub active: bool,
    /// Whether the kernel never lets it be switched.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nochange: bool,
}

impl Feature {
    /// Whether it cannot be switched, as `ethtool -k` shows it.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        !self.hw || self.nochange
    }
}

/// Entries of the rings between device and driver. What a driver does not have is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rings {
    /// Of the receive ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx: Option<u32>,
    /// Most of the receive ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_max: Option<u32>,
    /// Of the ring for small packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_mini: Option<u32>,
    /// Most of the ring for small packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_mini_max: Option<u32>,
    /// Of the ring for jumbo frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_jumbo: Option<u32>,
    /// Most of the ring for jumbo frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_jumbo_max: Option<u32>,
    /// Of the transmit ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<u32>,
    /// Most of the transmit ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_max: Option<u32>,
    /// Size of a receive buffer.
    #[serde(rename = "rx_buffer_bytes", default, skip_serializing_if = "Option::is_none")]
    pub rx_buffer: Option<u32>,
}

/// Channels: queues with an interrupt of their own. What a driver does not have is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channels {
    /// That only receive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx: Option<u32>,
    /// Most that only receive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_max: Option<u32>,
    /// That only send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<u32>,
    /// Most that only send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_max: Option<u32>,
    /// For all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u32>,
    /// Most for all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_max: Option<u32>,
    /// That receive and send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combined: Option<u32>,
    /// Most that receive and send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combined_max: Option<u32>,
}

/// Interrupt coalescing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coalesce {
    /// Whether the driver adapts it to what is received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_rx: Option<bool>,
    /// Whether the driver adapts it to what is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_tx: Option<bool>,
    /// Numbers by the names of `ethtool -c`: `rx-usecs`, `rx-frames`, `tx-usecs`, `tx-frames`, `rx-usecs-high`...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, u32>,
}

/// Pause frames (IEEE 802.3 annex 31B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pause {
    /// Whether it is agreed on with the other end.
    pub autonegotiation: bool,
    /// Whether the device obeys them.
    pub rx: bool,
    /// Whether the device sends them.
    pub tx: bool,
    /// How many were received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_frames: Option<u64>,
    /// How many were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_frames: Option<u64>,
}

/// How received packets are spread over queues.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiveHashing {
    /// The function: `toeplitz`, `xor`, `crc32`; absent where the driver does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Hash of the table of queues (SHA-256 of its 32-bit entries, little end first; hexadecimal).
    pub table_sha256: String,
    /// Entries of the table.
    pub table_entries: u32,
    /// How many different queues are in it.
    pub queues: u32,
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}
