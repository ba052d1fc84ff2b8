//! A whole trace: bytes of a file in, a report out.

use crate::connection::Connection;
use crate::connection::table::ConnectionTable;
use crate::decode::Segment;
use crate::direction::changes::PointTaken;
use crate::direction::series::Zoom;
use crate::file::FileError;
use crate::index::Saved;
use crate::report::{ConnectionReport, TraceReport};
use crate::sharing::judge_shared;
use crate::stream::{SORT_WINDOW_NS, Stream};

/// How a trace is read.
#[derive(Debug, Clone, Copy)]
pub struct TraceOptions {
    /// Packets that stand in the file behind others that are later by less than this are put before them.
    pub sort_window_ns: i64,
    /// Connections that are followed at once; the longest silent ones are ended early.
    pub max_connections: usize,
    /// Connections that are reported: the largest.
    pub max_reports: usize,
    /// What the hash of connections starts from: anything that the author of a file cannot know.
    pub hash_seed: u64,
    /// Columns for pictures; none where none is wanted.
    pub columns: Option<usize>,
    /// The span of the columns, where not all is wanted.
    pub zoom: Option<Zoom>,
    /// With columns: an [`IndexWriter`](crate::index::IndexWriter) takes points.
    pub has_index: bool,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            sort_window_ns: SORT_WINDOW_NS,
            max_connections: 8_192,
            max_reports: 4_096,
            hash_seed: 0x5eed,
            columns: None,
            zoom: None,
            has_index: false,
        }
    }
}

/// Reads a trace. Files of several captures are read one after the other, each with a `Trace` of its own.
#[derive(Debug)]
pub struct Trace {
    stream: Stream,
    flows: Flows,
}

/// All connections of a trace, and what has come of those that are over.
#[derive(Debug)]
pub(crate) struct Flows {
    table: ConnectionTable,
    reports: Vec<ConnectionReport>,
    left_out: u64,
    /// Losses and passes for which there is room until the end, where transfers between the same hosts are seen together.
    room: usize,
    options: TraceOptions,
}

/// Losses and passes that are kept of all transfers: 20 MB.
const MAX_KEPT: usize = 1 << 18;

impl Trace {
    /// A trace of which nothing has been read.
    #[must_use]
    pub fn new(options: TraceOptions) -> Self {
        Self { stream: Stream::new(options.sort_window_ns), flows: Flows::new(options) }
    }

    /// Reads on. Returns how many of `bytes` are used up; the caller hands over the others again, with what follows them.
    ///
    /// # Errors
    /// Where the file is damaged, and how. What came before is part of the report.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, FileError> {
        let Self { stream, flows, .. } = self;
        stream.read(bytes, |next| flows.take(next))
    }

    /// Bytes of the file that are used up.
    pub(crate) fn offset(&self) -> u64 {
        self.stream.offset()
    }

    /// Saves the state of now, from which the file can be read on, as the point behind so many, and returns the time of the last packet
    /// that was counted. None before the first.
    pub(crate) fn take_point(&mut self, before: usize, out: &mut Vec<u8>) -> Option<i64> {
        let Self { stream, flows } = self;
        let counted_ns = stream.handed_on_ns()?;
        stream.save(out);
        flows.table.save(out);
        let point = PointTaken { points: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1), counted_ns };
        flows.table.live_mut().for_each(|live| live.note_point(point));
        Some(counted_ns)
    }

    /// The end of the file, of which `rest` was not used up.
    #[must_use]
    pub fn end(mut self, rest: &[u8]) -> TraceReport {
        let Self { stream, flows, .. } = &mut self;
        let damage = stream.end(rest, |next| flows.take(next));
        let Ended { mut connections, left_out } = flows.end();
        stream.name_tags(&mut connections);
        TraceReport {
            packets: stream.frames(),
            counts: stream.counts(),
            order: stream.faults(),
            drops: stream.drops(),
            damage,
            connections,
            left_out,
        }
    }
}

/// What comes of all connections.
pub(crate) struct Ended {
    pub(crate) connections: Vec<ConnectionReport>,
    pub(crate) left_out: u64,
}

impl Flows {
    pub(crate) fn new(options: TraceOptions) -> Self {
        Self {
            table: ConnectionTable::new(options.max_connections, options.hash_seed),
            reports: Vec::new(),
            left_out: 0,
            room: MAX_KEPT,
            options,
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, segment: &Segment) {
        let Self { table, reports, left_out, room, options } = self;
        let open = |connection: &mut Connection| {
            if let Some(columns) = options.columns {
                connection.keep_series(columns, options.zoom);
                if options.has_index {
                    connection.keep_changes();
                }
            }
        };
        table.take(segment, open, |connection| *left_out += keep(report_of(connection, room), reports, options));
    }

    /// Connections that are followed at the moment.
    pub(crate) fn live(&self) -> impl ExactSizeIterator<Item = &Connection> {
        self.table.live()
    }

    /// The trace is over.
    pub(crate) fn end(&mut self) -> Ended {
        let Self { table, reports, left_out, room, options } = self;
        table.end(|connection| *left_out += keep(report_of(connection, room), reports, options));
        let mut connections = std::mem::take(reports);
        *left_out += shorten(&mut connections, options.max_reports);
        judge_shared(&mut connections);
        Ended { connections, left_out: *left_out }
    }
}

/// A connection is over. What its transfers lost is kept while there is room.
fn report_of(connection: Connection, room: &mut usize) -> ConnectionReport {
    let mut report = ConnectionReport::of(connection);
    for transfer in &mut report.transfers {
        let size = transfer.losses.as_ref().map_or(0, |losses| losses.losses.len() + losses.passes.len());
        if size > *room {
            transfer.losses = None;
        } else {
            *room -= size;
        }
    }
    report
}

/// A report is kept, unless there are many larger ones. Returns how many are left out.
fn keep(report: ConnectionReport, reports: &mut Vec<ConnectionReport>, options: &TraceOptions) -> u64 {
    reports.push(report);
    if reports.len() >= options.max_reports.saturating_mul(2) { shorten(reports, options.max_reports) } else { 0 }
}

/// Keeps the largest reports; returns how many are left out.
fn shorten(reports: &mut Vec<ConnectionReport>, most: usize) -> u64 {
    if reports.len() <= most {
        return 0;
    }
    reports.sort_by_key(|report| std::cmp::Reverse(report.payload_bytes()));
    let left_out = reports.len() - most;
    reports.truncate(most);
    left_out as u64
}
