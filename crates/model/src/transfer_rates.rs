//! What transfers of real applications reached with each peer over some minutes: the history that an agent delivers.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::measurement::Heading;

/// Transfers of one host over some minutes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferRates {
    /// Version of this format; see [`TransferRates::FORMAT`].
    pub format: u32,
    /// When they begin.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long they are.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// Who moved most, the most first: of each peer and direction one.
    pub peers: Vec<PeerRate>,
    /// Peers beyond the most that are kept.
    pub left_out: u64,
}

impl TransferRates {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// What transfers with one peer reached in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeerRate {
    /// The other end.
    pub peer: IpAddr,
    /// Its network: 24 bits of IPv4, 48 of IPv6.
    pub prefix: String,
    /// Where the payload went.
    pub heading: Heading,
    /// Payload a second of all its connections, which a quarter of the seconds with any exceeded.
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// Payload moved.
    #[serde(rename = "moved_bytes")]
    pub moved: ByteCount,
    /// Intervals with payload.
    pub intervals: u64,
    /// Segments retransmitted by the host.
    pub retransmits: PacketCount,
    /// What limited most of the payload.
    pub limited_by: RateLimit,
}

/// On whose side the limit of a rate was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateLimit {
    /// A program had nothing ready, or did not read: a lower rate says nothing of the path.
    Program,
    /// The path, or TCP at either end; also where samples do not say.
    Transport,
}
