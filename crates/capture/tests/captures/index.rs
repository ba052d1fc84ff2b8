//! Parts of a capture that are drawn from its index: the same, to the last column, as by reading all of it.

use std::ops::Range;

use capture::index::{IndexSpacing, IndexWriter, TraceIndex};
use capture::report::TraceReport;
use capture::{Series, Trace, TraceOptions, Zoom};

use crate::support::{MS, Written};

const RTT: u64 = 20 * MS;
const COLUMNS: usize = 200;
/// As a file comes off a disk.
const PIECE: usize = 4 << 10;
const NAME: &str = "this capture";

/// Seconds of a transfer that is limited by one thing after the other, with losses and pauses between; and of another one beside it that is over
/// soon.
fn changing() -> Written {
    let mut written = Written::new(u32::MAX - 400_000, RTT, 400);
    let (mut at_ns, mut next) = (2 * RTT, 0);
    for round in 0..300_u32 {
        let flight = match round {
            0..20 => (round + 1) * 2,
            // The window of 51,200 bytes.
            20..100 => 51,
            100..160 => 20,
            160..230 => 12 + round % 7,
            _ => 30,
        };
        for segment in next..next + flight {
            written.data(at_ns + u64::from(segment - next) * MS / 10, segment);
        }
        let is_lost = round % 40 == 39;
        for segment in next..next + flight {
            let arrived_ns = at_ns + RTT + u64::from(segment - next) * MS / 10;
            match segment - next {
                _ if !is_lost => written.ack(arrived_ns, segment + 1, &[]),
                0..2 => written.ack(arrived_ns, segment + 1, &[]),
                2 => {}
                _ => written.ack(arrived_ns, next + 2, &[(next + 3, segment + 1)]),
            }
        }
        at_ns += RTT + u64::from(flight) * MS / 10;
        next += flight;
        if is_lost {
            written.data(at_ns, next - flight + 2);
            written.ack(at_ns + RTT, next, &[]);
            at_ns += RTT + MS;
        }
        if round % 60 == 59 {
            at_ns += 700 * MS;
        }
    }
    written
}

/// Reads all of a file in pieces, and makes an index.
fn whole(bytes: &[u8], zoom: Option<Zoom>, least_bytes: u64) -> (TraceReport, Option<Vec<u8>>) {
    let options = TraceOptions { columns: Some(COLUMNS), zoom, has_index: true, ..TraceOptions::default() };
    let mut trace = Trace::new(options);
    let mut index = IndexWriter::new(IndexSpacing { file_bytes: bytes.len() as u64, least_bytes });
    let mut rest = Vec::new();
    for piece in bytes.chunks(PIECE) {
        rest.extend(piece);
        let used = trace.read(&rest).unwrap();
        rest.drain(..used);
        index.offer(&mut trace);
    }
    let report = trace.end(&rest);
    let index = index.finish(&report, NAME).map(|pieces| pieces.concat());
    (report, index)
}

/// A part of the first transfer by an index, and how many bytes of the file were read for it.
fn part(bytes: &[u8], index: &[u8], zoom: Zoom) -> (Series, u64) {
    let index = TraceIndex::read(index, NAME).unwrap();
    let connection = &index.report().connections[0];
    let mut part = index.part(connection, &connection.transfers[0], COLUMNS, zoom).unwrap();
    let mut read = 0;
    while let Some(Range { start, end }) = part.next_span() {
        let [start, end] = [start, end].map(|at| usize::try_from(at).unwrap());
        let span = start..bytes.len().min(end);
        read += span.len() as u64;
        let mut rest = Vec::new();
        for piece in bytes[span].chunks(777) {
            rest.extend(piece);
            let used = part.read(&rest).unwrap();
            rest.drain(..used);
        }
        assert!(rest.is_empty(), "reading stops between two records");
    }
    (*part.end().unwrap(), read)
}

/// What is drawn.
fn drawn(series: &Series) -> String {
    format!("{} {} {:?}", series.from_ns, series.width_ns, series.columns)
}

fn zooms() -> impl Iterator<Item = Zoom> {
    let ms = |ms: i64| ms * 1_000_000;
    let spans = (0..30).flat_map(move |at| [30, 400, 3_000].map(|length| (at * 290, Some(at * 290 + length))));
    spans.chain([(0, None), (4_000, None)]).map(move |(from, to)| Zoom { from_ns: ms(from), to_ns: to.map(ms) })
}

#[test]
fn a_part_is_the_same_by_the_index_as_by_reading_all_of_the_capture() {
    let bytes = changing().bytes;
    let (_, index) = whole(&bytes, None, 8 << 10);
    let index = index.expect("a capture of so many bytes has points");
    let mut owners = 0;
    for zoom in zooms() {
        let (report, _) = whole(&bytes, Some(zoom), u64::MAX);
        let by_all = report.connections[0].transfers[0].series.clone().unwrap();
        let (by_index, _) = part(&bytes, &index, zoom);
        assert_eq!(drawn(&by_index), drawn(&by_all), "{zoom:?}");
        owners += by_all.columns.iter().filter(|column| column.owner().is_some()).count();
    }
    assert!(owners > 1_000, "only {owners} columns show anything");
}

#[test]
fn of_a_long_capture_little_is_read_for_a_part() {
    let bytes = changing().bytes;
    let (_, index) = whole(&bytes, None, 8 << 10);
    let zoom = Zoom { from_ns: 5_000_000_000, to_ns: Some(5_050_000_000) };
    let (_, read) = part(&bytes, &index.unwrap(), zoom);
    assert!(read * 8 < bytes.len() as u64, "{read} of {} bytes", bytes.len());
}

#[test]
fn an_index_holds_what_was_reported() {
    let bytes = changing().bytes;
    let (report, index) = whole(&bytes, None, 8 << 10);
    let index = index.unwrap();
    let kept = TraceIndex::read(&index, NAME).unwrap();
    let told = |report: &TraceReport| {
        let mut report = report.clone();
        let transfers = report.connections.iter_mut().flat_map(|connection| &mut connection.transfers);
        transfers.for_each(|transfer| transfer.series = None);
        format!(
            "{:?} {:?} {:?}",
            report.counts,
            report.order,
            report
                .connections
                .iter()
                .map(|of| (
                    of.packets,
                    of.client,
                    &of.transfers[0].verdicts,
                    &of.transfers[0].events,
                    of.transfers[0].counts
                ))
                .collect::<Vec<_>>()
        )
    };
    assert_eq!(told(kept.report()), told(&report));
}

#[test]
fn an_index_of_another_capture_or_one_that_is_damaged_is_none() {
    let bytes = changing().bytes;
    let (_, index) = whole(&bytes, None, 8 << 10);
    let index = index.unwrap();
    assert!(TraceIndex::read(&index, "another capture").is_none());
    let zoom = Zoom { from_ns: 5_000_000_000, to_ns: Some(5_050_000_000) };
    for at in (0..index.len()).step_by(index.len() / 199) {
        let mut damaged = index.clone();
        damaged[at] ^= 0x20;
        // The part that is damaged is not the one that is wanted, or it is found to be damaged.
        if let Some(read) = TraceIndex::read(&damaged, NAME) {
            let connection = &read.report().connections[0];
            if read.part(connection, &connection.transfers[0], COLUMNS, zoom).is_some() {
                assert_eq!(drawn(&part(&bytes, &damaged, zoom).0), drawn(&part(&bytes, &index, zoom).0), "byte {at}");
            }
        }
    }
}

#[test]
fn a_capture_that_is_damaged_or_small_has_no_index() {
    let bytes = changing().bytes;
    assert!(whole(&bytes[..bytes.len() - 5], None, 8 << 10).1.is_none());
    assert!(whole(&bytes, None, 64 << 20).1.is_none());
}
