//! A part of a capture, read from a point of its index.

use std::ops::Range;

use super::{Point, Saved, TraceIndex};
use crate::connection::Connection;
use crate::connection::table::ConnectionTable;
use crate::decode::{Endpoints, Segment, address_bits};
use crate::direction::Direction;
use crate::direction::changes::Changes;
use crate::direction::series::{Series, Zoom};
use crate::file::FileError;
use crate::report::{ConnectionReport, TransferReport};
use crate::stream::Stream;
use crate::trace::TraceOptions;

/// Reads what a part of one transfer needs: the bytes that [`PartRead::next_span`] names, until it names none.
#[derive(Debug)]
pub struct PartRead {
    stream: Stream,
    table: ConnectionTable,
    wanted: Wanted,
    /// The connection, once it is over.
    ended: Option<Connection>,
    /// Where reading goes on.
    offset: u64,
    /// Points behind the part, the nearest last: where reading may stop.
    stops: Vec<Stop>,
    /// Points before the place where it has stopped; none at the end of the file.
    stopped: Option<u32>,
    /// What becomes known behind that.
    changes: Changes,
}

#[derive(Debug, Clone, Copy)]
struct Stop {
    offset: u64,
    /// Points up to and with this one.
    points: u32,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    endpoints: Endpoints,
    first_frame: u64,
    /// The one that the client sends, or the other.
    direction: usize,
    columns: usize,
    zoom: Zoom,
    /// Its end, in nanoseconds since 1970.
    until_ns: i64,
}

impl TraceIndex<'_> {
    /// A part of a transfer of the report, in so many columns. None where the index does not hold what that takes.
    #[must_use]
    pub fn part(
        &self,
        connection: &ConnectionReport,
        transfer: &TransferReport,
        columns: usize,
        zoom: Zoom,
    ) -> Option<PartRead> {
        let changes = self.changes_of(transfer, connection)?.clone();
        let from_ns = transfer.first_ns.saturating_add(zoom.from_ns);
        let until_ns = zoom.to_ns.map_or(i64::MAX, |to_ns| transfer.first_ns.saturating_add(to_ns));
        let wanted = Wanted {
            endpoints: Endpoints {
                source: address_bits(connection.client.ip()),
                destination: address_bits(connection.server.ip()),
                source_port: connection.client.port(),
                destination_port: connection.server.port(),
                outer: connection.outer,
            },
            first_frame: connection.first_frame,
            direction: usize::from(connection.client != transfer.from),
            columns,
            zoom,
            until_ns,
        };
        let points = &self.head.points;
        // What was counted before a point is not drawn from there.
        let start = points.iter().rposition(|point| point.counted_ns < from_ns);
        let (stream, mut table, offset) = match start.and_then(|at| points.get(at)) {
            Some(point) => self.restored(point)?,
            None => (Stream::new(TraceOptions::default().sort_window_ns), no_connections(), 0),
        };
        for live in table.live_mut().filter(|live| wanted.is_of(live)) {
            wanted.draw(live);
        }
        let behind = points.iter().zip(1..).skip(start.map_or(0, |at| at + 1));
        let behind = behind.filter(|(point, _)| point.counted_ns > until_ns && !changes.is_full);
        let mut stops: Vec<_> = behind.map(|(point, points)| Stop { offset: point.offset, points }).collect();
        stops.reverse();
        Some(PartRead { stream, table, wanted, ended: None, offset, stops, stopped: None, changes })
    }

    /// The state at a point.
    fn restored(&self, point: &Point) -> Option<(Stream, ConnectionTable, u64)> {
        let state = self.state(point)?;
        let mut from = state.as_slice();
        let stream = Stream::load(&mut from)?;
        let table = no_connections().load(&mut from)?;
        from.is_empty().then_some((stream, table, point.offset))
    }
}

impl PartRead {
    /// What of the file is to be read next, from where to where; up to its end where that is the largest of all numbers. None where
    /// the part is complete.
    pub fn next_span(&mut self) -> Option<Range<u64>> {
        if self.stopped.is_some() && self.is_complete() || self.offset == u64::MAX {
            return None;
        }
        let stop = self.stops.pop();
        self.stopped = stop.map(|stop| stop.points);
        let end = stop.map_or(u64::MAX, |stop| stop.offset);
        let start = std::mem::replace(&mut self.offset, end);
        Some(start..end)
    }

    /// Reads on. Returns how many of `bytes` are used up; the caller hands over the others again, with what follows them.
    ///
    /// # Errors
    /// Where the file is damaged, which it was not when the index was made.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, FileError> {
        let Self { stream, table, wanted, ended, .. } = self;
        stream.read(bytes, |next| take(next, table, *wanted, ended))
    }

    /// What the transfer did in the part. None where the file is not the one that the index is of.
    #[must_use]
    pub fn end(mut self) -> Option<Box<Series>> {
        if self.stopped.is_none() {
            let Self { stream, table, wanted, ended, .. } = &mut self;
            if stream.end(&[], |next| take(next, table, *wanted, ended)).is_some() {
                return None;
            }
            table.end(|connection| keep(connection, *wanted, ended));
        }
        let Self { ended, mut table, wanted, changes, stopped, .. } = self;
        let mut series = match ended {
            Some(connection) => {
                let mut direction = connection.directions.into_iter().nth(wanted.direction)?;
                direction.end();
                direction.series?
            }
            None => {
                table.live_mut().find(|live| wanted.is_of(live))?.directions.get_mut(wanted.direction)?.series.take()?
            }
        };
        for change in changes.since(stopped.unwrap_or(u32::MAX)) {
            series.reassign(change.from_ns..change.to_ns, change.before, change.after);
        }
        if let Some((before, after)) = changes.of_all {
            series.reassign_all(before, after);
        }
        Some(series)
    }

    /// Each moment of the part has its owner.
    fn is_complete(&mut self) -> bool {
        let Self { table, wanted, ended, .. } = self;
        let until_ns = wanted.until_ns;
        let live = table.live_mut().find(|live| wanted.is_of(live));
        let is_owned = |direction: &Direction| direction.span.owned_until_ns > until_ns;
        ended.is_some() || live.is_some_and(|live| live.directions.get(wanted.direction).is_some_and(is_owned))
    }
}

impl Wanted {
    fn is_of(&self, connection: &Connection) -> bool {
        (connection.endpoints, connection.first_frame) == (self.endpoints, self.first_frame)
    }

    /// A connection is drawn from here on.
    fn draw(&self, connection: &mut Connection) {
        let first_ns = connection.first_ns;
        if let Some(direction) = connection.directions.get_mut(self.direction) {
            let has_data = direction.counts.data_packets > 0;
            let first_ns = if has_data { direction.span.first_data_ns } else { first_ns };
            direction.series = Some(Box::new(Series::new(first_ns, self.columns, Some(self.zoom))));
        }
    }
}

fn no_connections() -> ConnectionTable {
    let options = TraceOptions::default();
    ConnectionTable::new(options.max_connections, options.hash_seed)
}

fn take(segment: &Segment, table: &mut ConnectionTable, wanted: Wanted, ended: &mut Option<Connection>) {
    let open = |connection: &mut Connection| {
        if wanted.is_of(connection) {
            wanted.draw(connection);
        }
    };
    table.take(segment, open, |connection| keep(connection, wanted, ended));
}

fn keep(connection: Connection, wanted: Wanted, ended: &mut Option<Connection>) {
    if wanted.is_of(&connection) {
        *ended = Some(connection);
    }
}
