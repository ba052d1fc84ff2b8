//! What comes of two captures of one connection.

use std::net::SocketAddr;

use serde::Serialize;

use super::clock::ClockDifference;

/// Two captures, joined: what `linerate trace --join --json` prints.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinedDocument {
    /// The version of this format.
    pub format: u32,
    /// The two files, in the order in which they were given.
    pub files: [String; 2],
    /// What happened between them.
    #[serde(flatten)]
    pub joined: Joined,
}

/// What happened between two captures.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Joined {
    /// Connections that both captures have, those with the most segments first.
    pub connections: Vec<JoinedConnection>,
    /// Connections that only the first capture has.
    pub only_in_first: u64,
    /// Connections that only the second capture has.
    pub only_in_second: u64,
    /// Segments for which there was no room.
    pub not_kept: u64,
}

/// A connection at two places of its path.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinedConnection {
    /// Who opened it, as far as the captures show.
    pub client: SocketAddr,
    /// The host that was connected to.
    pub server: SocketAddr,
    /// Whether the first file is the one nearer to the client.
    pub is_first_at_client: bool,
    /// Whether something between the captures gives other sequence numbers.
    pub rewritten: bool,
    /// How the clock at the server differs from that at the client.
    pub clock: ClockDifference,
    /// Data of the client, and of the server.
    pub directions: TwoDirections,
}

/// Both directions of a connection.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoDirections {
    /// From the client to the server.
    pub to_server: Crossing,
    /// From the server to the client.
    pub to_client: Crossing,
}

/// What became of the packets of one direction between the captures.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crossing {
    /// Segments with data.
    pub segments: SegmentCounts,
    /// Acknowledgments without data.
    pub acks: AckCounts,
    /// One-way delays of segments; absent where none is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayReport>,
    /// Losses that follow each other within a millisecond; the largest, in the order of time.
    pub bursts: Vec<LossBurst>,
    /// Bursts for which there was no room.
    pub bursts_left_out: u64,
}

/// Segments of at most an MSS, retransmissions included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SegmentCounts {
    /// In the capture before, while the one after ran.
    pub sent: u64,
    /// In both.
    pub arrived: u64,
    /// In the capture before, and not in the one after.
    pub lost: u64,
    /// Their payload.
    pub lost_bytes: u64,
    /// A second time in the capture after.
    pub duplicated: u64,
    /// Overtaken by a later transmission (RFC 4737).
    pub reordered: u64,
    /// Acknowledged, and in no transmission in the capture after: that missed them.
    pub not_captured_after: u64,
    /// In the capture after only: the one before missed them.
    pub not_captured_before: u64,
}

/// Acknowledgments without data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AckCounts {
    /// In the capture nearer to who sends them.
    pub sent: u64,
    /// Found in the other one.
    pub paired: u64,
}

/// One-way delays, in nanoseconds, between the two captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayReport {
    /// Segments that gave one.
    pub samples: u64,
    /// The least one: propagation, right to half of the asymmetry of the path.
    pub min_ns: i64,
    /// Half of the segments took no longer.
    pub median_ns: i64,
    /// The 95th percentile.
    pub p95_ns: i64,
    /// The 99th percentile.
    pub p99_ns: i64,
    /// The greatest one.
    pub max_ns: i64,
}

/// Segments that were lost together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossBurst {
    /// When the first was sent, in nanoseconds since 1970, by the clock there.
    pub from_ns: i64,
    /// When the last was sent.
    pub to_ns: i64,
    /// How many.
    pub segments: u64,
    /// The frame of the first, in the capture before.
    pub first_frame: u64,
    /// The frame of the last.
    pub last_frame: u64,
}

impl JoinedConnection {
    /// Segments of both directions.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.directions.to_server.segments.sent + self.directions.to_client.segments.sent
    }
}

impl SegmentCounts {
    /// The part of the segments that was lost, of 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn lost_share(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { self.lost as f64 / self.sent as f64 }
    }
}

/// The schema of [`JoinedDocument`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(JoinedDocument)
}
