//! What to watch.

use std::time::Duration;

use linux::netns::NetnsRef;
use units::{ByteCount, DataRate};

/// What to watch.
#[derive(Debug, Clone)]
pub struct Request {
    /// The network namespace; none for that of the calling thread.
    pub namespace: Option<NetnsRef>,
    /// How long an interval is: one walk over all connections.
    pub interval: Duration,
    /// The time between two looks at the busiest connections.
    pub spacing: Duration,
    /// How many connections are looked at between walks.
    pub busiest: usize,
    /// How many connections an interval shows.
    pub shown: usize,
    /// Connections that moved less are no transfers.
    pub least: ByteCount,
    /// How many intervals; none for no end.
    pub intervals: Option<u64>,
    /// The line rate that the user declares.
    pub line_rate: Option<DataRate>,
}
