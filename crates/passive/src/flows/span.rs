//! What was seen of one connection.

use std::time::Duration;

use model::measurement::Heading;
use model::transfer::{ReceivedCount, TransferEnd};
use units::MonoTime;

use super::loss::{TimedLoss, TimedRun};
use super::reading::Ends;
use super::series::Sample;

/// A part of a connection's life: all of it, or its last seconds.
#[derive(Debug, Clone)]
pub struct Span {
    /// The ends of the connection.
    pub ends: Ends,
    /// The direction that carried more.
    pub heading: Heading,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) before: u64,
    pub(super) start: MonoTime,
    pub(super) start_within: Option<Duration>,
    pub(super) end: MonoTime,
    pub(super) ending: Ending,
    pub(super) retransmits: u64,
    pub(super) congestion_control: Option<String>,
    pub(super) spacing: Duration,
    pub(super) samples: Vec<Sample>,
    pub(super) losses: Vec<TimedLoss>,
    pub(super) runs: Vec<TimedRun>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) how: TransferEnd,
    /// Whether the received bytes are payload to the last one.
    pub(super) received: ReceivedCount,
}

impl Ending {
    /// It has not: its counters are those of an open connection.
    pub(super) const OPEN: Self = Self { how: TransferEnd::WatchEnded, received: ReceivedCount::Exact };
}
