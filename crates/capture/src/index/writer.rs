//! How an index is made: points are taken while the capture is read.

use std::io::{self, Write};

use super::{MAGIC, Point, Saved};
use crate::report::TraceReport;
use crate::trace::Trace;

/// How far the points of an index are apart.
#[derive(Debug, Clone, Copy)]
pub struct IndexSpacing {
    /// The size of the capture: there are at most 64 points, and fewer where thousands of connections are open at once.
    pub file_bytes: u64,
    /// A point is not worth less than this.
    pub least_bytes: u64,
}

/// Takes points of a trace whose [`TraceOptions::has_index`](crate::TraceOptions) is set.
#[derive(Debug)]
pub struct IndexWriter {
    spacing: IndexSpacing,
    /// The next point is not before this.
    next_offset: u64,
    /// Bytes of all states, before they are compressed.
    state_bytes: u64,
    points: Vec<Point>,
    states: Vec<u8>,
    is_failed: bool,
}

/// A part of a file is read from the point before it: of so many.
const POINTS: u64 = 64;
/// What all states may take before they are compressed: where thousands of connections are open at once, points are further apart.
const MAX_STATE_BYTES: u64 = 64 << 20;
/// Of the levels of zstd, one that costs little.
const LEVEL: i32 = 1;

impl IndexWriter {
    /// Before the capture is read.
    #[must_use]
    pub fn new(spacing: IndexSpacing) -> Self {
        Self {
            spacing,
            next_offset: spacing.behind(0),
            state_bytes: 0,
            points: Vec::new(),
            states: Vec::new(),
            is_failed: false,
        }
    }

    /// Takes a point where one is due: to be asked after each piece that `trace` has read.
    pub fn offer(&mut self, trace: &mut Trace) {
        let offset = trace.offset();
        if offset < self.next_offset || self.state_bytes >= MAX_STATE_BYTES || self.is_failed {
            return;
        }
        let mut state = Vec::new();
        let Some(counted_ns) = trace.take_point(self.points.len(), &mut state) else { return };
        let state_bytes = state.len() as u64;
        self.state_bytes += state_bytes;
        self.next_offset = offset.saturating_add(self.spacing.behind(state_bytes));
        match packed(&state) {
            Ok(packed) => {
                self.points.push(Point { offset, counted_ns, at: self.states.len(), length: packed.len() });
                self.states.extend(packed);
            }
            Err(_) => self.is_failed = true,
        }
    }

    /// The index, once the whole file is read, in two pieces to be written one behind the other. None where reading the file again takes no
    /// longer, or where it is damaged.
    #[must_use]
    pub fn finish(self, report: &TraceReport, identity: &str) -> Option<[Vec<u8>; 2]> {
        if self.points.is_empty() || self.is_failed || report.damage.is_some() {
            return None;
        }
        let transfers = report.connections.iter().flat_map(|connection| &connection.transfers);
        let changes = transfers.map(|transfer| {
            let series = transfer.series.as_ref();
            series.and_then(|series| series.changes.as_deref()).cloned().unwrap_or_default()
        });
        let mut head = Vec::new();
        identity.to_owned().save(&mut head);
        report.save(&mut head);
        changes.collect::<Vec<_>>().save(&mut head);
        self.points.save(&mut head);
        let head = packed(&head).ok()?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend(head);
        Some([bytes, self.states])
    }
}

impl IndexSpacing {
    /// The least that makes parts of large captures quick to draw.
    pub const LEAST_BYTES: u64 = 256 << 10;

    /// How far behind a point of so many bytes the next one is.
    fn behind(self, state_bytes: u64) -> u64 {
        let by_size = u128::from(self.file_bytes) * u128::from(state_bytes) / u128::from(MAX_STATE_BYTES);
        let by_size = u64::try_from(by_size).unwrap_or(u64::MAX);
        (self.file_bytes / POINTS).max(by_size).max(self.least_bytes)
    }
}

/// Compressed, with a check sum.
fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}
