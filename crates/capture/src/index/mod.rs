//! An index of a capture: with it a part of one transfer is drawn without reading all that was before. Nothing here does I/O.
//!
//! Who had a moment depends on all packets before it: sequence numbers, windows, RTTs, what a writer has shown. So the points of an index
//! hold that state, and reading goes on from the last one before the part that is wanted. What was reported of the whole file is in
//! the index as well, and so is what became known of a moment only later: a picture from an index is the same, to the byte.
//!
//! * [`IndexWriter`] takes points while a capture is read
//! * [`TraceIndex`] is what is read again, and [`PartRead`] a part of the capture by it
//! * `saved`: state as bytes; `report`: what is reported as bytes

#[macro_use]
mod saved;
mod part;
mod report;
mod writer;

pub use part::PartRead;
pub(crate) use saved::Saved;
pub use writer::{IndexSpacing, IndexWriter};

use crate::direction::changes::Changes;
use crate::report::{ConnectionReport, TraceReport, TransferReport};

/// What an index starts with.
const MAGIC: [u8; 8] = *b"LRTIDX\r\n";

/// An index that was read. See the module.
#[derive(Debug)]
pub struct TraceIndex<'a> {
    head: Head,
    states: &'a [u8],
}

/// What all parts need.
#[derive(Debug)]
struct Head {
    identity: String,
    report: TraceReport,
    /// Of each transfer, in the order of the report.
    changes: Vec<Changes>,
    points: Vec<Point>,
}

/// A place in the capture from which it can be read on.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Bytes of the file before it.
    offset: u64,
    /// The time of the last packet that was counted there.
    counted_ns: i64,
    /// Where its state is among all states.
    at: usize,
    length: usize,
}

saved!(Head { identity, report, changes, points });
saved!(Point { offset, counted_ns, at, length });

impl<'a> TraceIndex<'a> {
    /// Reads an index. None where the bytes are damaged, or those of an index of another capture or program.
    #[must_use]
    pub fn read(bytes: &'a [u8], identity: &str) -> Option<Self> {
        let (length, bytes) = bytes.strip_prefix(&MAGIC)?.split_first_chunk()?;
        let (head, states) = bytes.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let head = zstd::decode_all(head).ok()?;
        let head = Head::load(&mut head.as_slice()).filter(|head| head.identity == identity)?;
        Some(Self { head, states })
    }

    /// What was reported of the whole capture, as [`crate::Trace::end`] had it.
    #[must_use]
    pub fn report(&self) -> &TraceReport {
        &self.head.report
    }

    /// Of a transfer of the report, what became known later than at a point.
    fn changes_of(&self, wanted: &TransferReport, of: &ConnectionReport) -> Option<&Changes> {
        let all = self.head.report.connections.iter();
        let all = all.flat_map(|connection| connection.transfers.iter().map(move |transfer| (connection, transfer)));
        let at = all.into_iter().position(|(connection, transfer)| {
            is_same(connection, of) && (transfer.from, transfer.to) == (wanted.from, wanted.to)
        })?;
        self.head.changes.get(at)
    }

    fn state(&self, point: &Point) -> Option<Vec<u8>> {
        let state = self.states.get(point.at..)?.get(..point.length)?;
        zstd::decode_all(state).ok()
    }
}

/// Whether both are the same connection of one capture.
fn is_same(one: &ConnectionReport, other: &ConnectionReport) -> bool {
    let key = |of: &ConnectionReport| (of.client, of.server, of.outer, of.first_ns, of.first_frame);
    key(one) == key(other)
}
