//! What has happened since the start, for `/metrics` and the log.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a hub. Each only grows.
#[derive(Debug, Default)]
pub struct Counters {
    counts: [AtomicU64; Event::ALL.len()],
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A connection was accepted.
    Connection,
    /// A connection was closed at once: too many of them.
    ConnectionRefused,
    /// A TLS handshake failed or took too long.
    HandshakeFailed,
    /// A request was answered.
    Request,
    /// A request was refused: no right, a wrong token, a certificate that nobody knows.
    RequestForbidden,
    /// A request was refused: too large, too slow, not understood.
    RequestRefused,
    /// A request failed: the database.
    RequestFailed,
    /// A record was stored.
    RecordStored,
    /// A record came again.
    RecordDuplicate,
    /// A record could not be read or was not wanted.
    RecordRefused,
    /// A run was leased.
    RunLeased,
    /// A segment of samples was written.
    SegmentWritten,
    /// No segment could be written, for now.
    SegmentFailed,
}

impl Event {
    const ALL: [Self; 13] = [
        Self::Connection,
        Self::ConnectionRefused,
        Self::HandshakeFailed,
        Self::Request,
        Self::RequestForbidden,
        Self::RequestRefused,
        Self::RequestFailed,
        Self::RecordStored,
        Self::RecordDuplicate,
        Self::RecordRefused,
        Self::RunLeased,
        Self::SegmentWritten,
        Self::SegmentFailed,
    ];

    /// Its name in the metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connections",
            Self::ConnectionRefused => "connections_refused",
            Self::HandshakeFailed => "handshakes_failed",
            Self::Request => "requests",
            Self::RequestForbidden => "requests_forbidden",
            Self::RequestRefused => "requests_refused",
            Self::RequestFailed => "requests_failed",
            Self::RecordStored => "records_stored",
            Self::RecordDuplicate => "records_duplicate",
            Self::RecordRefused => "records_refused",
            Self::RunLeased => "runs_leased",
            Self::SegmentWritten => "segments_written",
            Self::SegmentFailed => "segments_failed",
        }
    }

    /// What is counted, in a line.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Connection => "Connections accepted",
            Self::ConnectionRefused => "Connections closed at once: too many of them",
            Self::HandshakeFailed => "TLS handshakes that failed or took too long",
            Self::Request => "Requests answered",
            Self::RequestForbidden => {
                "Requests without the right: no token or a wrong one, a certificate that nobody knows"
            }
            Self::RequestRefused => "Requests refused: too large, too slow, not understood",
            Self::RequestFailed => "Requests that the database refused",
            Self::RecordStored => "Records of agents stored",
            Self::RecordDuplicate => "Records that came again",
            Self::RecordRefused => "Records that could not be read or were not wanted",
            Self::RunLeased => "Heavy runs given to agents",
            Self::SegmentWritten => "Segments of samples written",
            Self::SegmentFailed => "Attempts to write segments that failed: samples wait in the database",
        }
    }
}

impl Counters {
    /// It has happened once more.
    pub fn count(&self, event: Event) {
        self.counts[event as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often.
    #[must_use]
    pub fn get(&self, event: Event) -> u64 {
        self.counts[event as usize].load(Ordering::Relaxed)
    }

    /// All of them, each with how often.
    pub fn all(&self) -> impl Iterator<Item = (Event, u64)> {
        Event::ALL.into_iter().map(|event| (event, self.get(event)))
    }
}
