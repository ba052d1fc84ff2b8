//! What the kernel makes a network device of (`RTM_GETLINK`).

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What the kernel makes a network device of. What a kernel, or a text, does not tell is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// Index in its network namespace, from 1.
    pub index: u32,
    /// Its kind: `veth`, `vlan`, `vxlan`, `bond`, `bridge`; absent for hardware and loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether it is switched on.
    pub up: bool,
    /// State of its link: `up`, `down`, `lowerlayerdown`, `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operational: Option<String>,
    /// Its address, written `52:54:00:12:34:56`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Its largest packet.
    #[serde(rename = "mtu_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// The largest packet that could be set.
    #[serde(rename = "max_mtu_bytes", default, skip_serializing_if = "Option::is_none")]
    pub max_mtu: Option<u32>,
    /// Length of the transmit queue of disciplines that take it from the device.
    #[serde(rename = "txqlen_packets", default, skip_serializing_if = "Option::is_none")]
    pub txqlen: Option<u32>,
    /// Transmit queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_queues: Option<u32>,
    /// Receive queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_queues: Option<u32>,
    /// Largest segment for IPv6 (and for IPv4 before 6.3) that is cut up late.
    #[serde(rename = "gso_max_bytes", default, skip_serializing_if = "Option::is_none")]
    pub gso_max: Option<u32>,
    /// Most packets that one such segment becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gso_max_segments: Option<u32>,
    /// Largest packet for IPv6 put together from received ones.
    #[serde(rename = "gro_max_bytes", default, skip_serializing_if = "Option::is_none")]
    pub gro_max: Option<u32>,
    /// As `gso_max_bytes`, for IPv4.
    #[serde(rename = "gso_ipv4_max_bytes", default, skip_serializing_if = "Option::is_none")]
    pub gso_ipv4_max: Option<u32>,
    /// As `gro_max_bytes`, for IPv4.
    #[serde(rename = "gro_ipv4_max_bytes", default, skip_serializing_if = "Option::is_none")]
    pub gro_ipv4_max: Option<u32>,
    /// How often the carrier came or went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_changes: Option<u32>,
    /// The interface it rests on: the one under a VLAN or VXLAN. Of a veth, the peer in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<String>,
    /// Where that interface is in another namespace, as the other end of a veth: its number there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_elsewhere: Option<u32>,
    /// The bridge or bond it is a port of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// Of a VLAN: its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Of a VXLAN: its ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vxlan: Option<Vxlan>,
    /// Of a bond: how it spreads packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bond: Option<Bond>,
}

/// One end of an overlay (RFC 7348).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vxlan {
    /// The network's number.
    pub vni: u32,
    /// The UDP port of all ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The address of this end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<IpAddr>,
    /// The address of the other end, or the group of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<IpAddr>,
}

/// Several links as one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bond {
    /// How: `balance-rr`, `active-backup`, `balance-xor`, `802.3ad`.
    pub mode: String,
    /// What chooses the link of a packet: `layer2`, `layer3+4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transmit_hash: Option<String>,
}
