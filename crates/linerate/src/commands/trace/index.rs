//! Parts of a capture, by its index: once a picture of a large capture was drawn, they are drawn without reading it anew.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use capture::ends::View;
use capture::index::{PartRead, TraceIndex};
use capture::report::TraceReport;

use super::index_file::IndexFile;
use super::source;
use crate::show::trace as show;

/// What the capture holds, with a part of the transfer of a number drawn, if its index is kept.
pub fn part(index_file: &IndexFile, capture: &Path, number: usize, view: View) -> Option<TraceReport> {
    let zoom = view.zoom?;
    let bytes = index_file.read().ok()?;
    let index = TraceIndex::read(&bytes, index_file.identity())?;
    let mut report = index.report().clone();
    show::rank(&mut report);
    let (connection, transfer) = show::transfers(&report).get(number.checked_sub(1)?).copied()?;
    let mut part = index.part(connection, transfer, view.columns, zoom)?;
    let (first_frame, from) = (connection.first_frame, transfer.from);
    read(capture, &mut part).ok()?;
    let series = part.end()?;
    let connections = report.connections.iter_mut().filter(|connection| connection.first_frame == first_frame);
    let mut transfers = connections.flat_map(|connection| &mut connection.transfers);
    transfers.find(|transfer| transfer.from == from)?.series = Some(series);
    Some(report)
}

/// Reads what a part needs of its capture.
fn read(capture: &Path, part: &mut PartRead) -> anyhow::Result<()> {
    let mut file = File::open(capture)?;
    while let Some(Range { start, end }) = part.next_span() {
        file.seek(SeekFrom::Start(start))?;
        let rest = source::follow((&mut file).take(end - start), |bytes| part.read(bytes))?;
        anyhow::ensure!(rest.is_empty(), "the capture has changed");
    }
    Ok(())
}
