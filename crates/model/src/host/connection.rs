//! TCP connections of a namespace, as far as they say how transfers are held back.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An established TCP connection to another host. What the kernel does not have is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connection {
    /// The other end.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub remote: IpAddr,
    /// Bytes that were acknowledged or received.
    pub moved_bytes: u64,
    /// Segment size it sends with (`tcpi_snd_mss`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u32>,
    /// MTU of its path, as the route has it (`tcpi_pmtu`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmtu_bytes: Option<u32>,
    /// How far out of order packets have been, in segments (`tcpi_reordering`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<u32>,
    /// Whether both ends agreed on scaling windows (RFC 7323).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Limit of its receive buffer (`SK_MEMINFO_RCVBUF`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer_bytes: Option<u32>,
    /// Limit of its send buffer (`SK_MEMINFO_SNDBUF`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u32>,
    /// Whether its program fixed the receive buffer (`SO_RCVBUF`), which ends automatic tuning; takes the right to trace
    /// that program (`SO_BUF_LOCK`, since Linux 5.14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer_locked: Option<bool>,
    /// Whether its program fixed the send buffer (`SO_SNDBUF`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_locked: Option<bool>,
}
