//! `linerate trace`.

mod follow;
pub mod heads;
mod index;
mod index_file;
mod join;
pub mod source;
mod table;
mod xplot;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use capture::Zoom;
use capture::ends::View;
use capture::file::FileError;
use capture::report::{TraceDocument, TraceReport, TransferReport};
use capture::xplot::Drawn;
use chart::Form;
use index_file::IndexFile;

use super::{file, plot, print, print_text};
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::{Complaint, Exit};
use crate::show::trace as show;

/// Columns of a picture: one for each pixel of a PNG.
const COLUMNS: usize = 1_800;

/// Explains each file. One that cannot be read does not keep the others out.
pub fn run(common: &Common, args: &TraceArgs) -> anyhow::Result<Exit> {
    if let Some(picture) = &args.plot {
        plot::check(picture)?;
    }
    if args.join {
        return join::run(common, args);
    }
    if let Some(path) = &args.parquet {
        table::check(path)?;
    }
    if let Some(device) = &args.interface {
        return follow::device::run(common, args, device);
    }
    if args.follow {
        return match args.files.as_slice() {
            [file] => follow::file::run(common, args, file),
            _ => Err(Complaint::new(Exit::Usage, "--follow follows one file").hint("start one for each").into()),
        };
    }
    let (mut exit, mut documents) = (Exit::Success, Vec::new());
    for (index, path) in args.files.iter().enumerate() {
        match explain(common, args, path, index) {
            Ok(document) => documents.extend(args.parquet.is_some().then_some(document)),
            Err(error) => {
                crate::show::error::print(&error);
                exit = Exit::of_error(&error);
            }
        }
    }
    if let Some(path) = args.parquet.as_ref().filter(|_| !documents.is_empty()) {
        table::write(path, &documents)?;
    }
    Ok(exit)
}

fn explain(common: &Common, args: &TraceArgs, path: &Path, index: usize) -> anyhow::Result<TraceDocument> {
    let zoom = (args.from.is_some() || args.to.is_some()).then(|| span(args));
    let mut report = read(args, path, zoom)?;
    if let (Some(damage), 0) = (&report.damage, report.packets) {
        let complaint = Complaint::new(Exit::NotFound, format!("{}: {damage}", path.display())).hint(hint(damage));
        return Err(complaint.into());
    }
    show::rank(&mut report);
    let document = TraceDocument { format: 1, file: path.display().to_string(), report };
    if common.json {
        print(&crate::show::json::document(&document)?)?;
    } else {
        print_text(&show::text(&document, args.flow))?;
    }
    let transfers = show::transfers(&document.report);
    let number = args.flow.unwrap_or(1);
    let chosen = number.checked_sub(1).and_then(|number| transfers.get(number));
    let Some((connection, transfer)) = chosen else {
        if args.flow.is_some() || args.plot.is_some() {
            return Err(Complaint::new(Exit::NotFound, format!("{}: there is no transfer {number}", path.display()))
                .hint(format!("the capture has {} transfers", transfers.len()))
                .into());
        }
        return Ok(document);
    };
    if let Some(picture) = &args.plot {
        let picture = if args.files.len() > 1 { plot::numbered(picture, index + 1) } else { picture.clone() };
        if xplot::is_named(&picture) {
            let drawn = Drawn {
                from: transfer.from,
                to: transfer.to,
                outer: connection.outer,
                first_ns: connection.first_ns,
                last_ns: connection.last_ns,
                first_data_ns: transfer.first_ns,
                zoom,
            };
            xplot::write(path, &picture, drawn)?;
        } else {
            draw(&picture, transfer)?;
        }
    }
    Ok(document)
}

/// What a capture holds: all of it is read, unless its index knows what was before the part that is drawn.
fn read(args: &TraceArgs, path: &Path, zoom: Option<Zoom>) -> anyhow::Result<TraceReport> {
    let Some(picture) = &args.plot else { return source::read(path) };
    if xplot::is_named(picture) {
        return source::read(path);
    }
    let index_file = IndexFile::of(path);
    let view = View { columns: COLUMNS, zoom };
    let part = index_file.as_ref().and_then(|index_file| index::part(index_file, path, args.flow.unwrap_or(1), view));
    part.map_or_else(|| source::read_drawn(path, view, index_file.as_ref()), Ok)
}

/// What to do with a file that is none.
fn hint(damage: &FileError) -> String {
    let other = match damage {
        FileError::UnknownFormat { found: [0xfd, b'7', b'z', b'X'] } => "xz -dc",
        FileError::UnknownFormat { found: [b'B', b'Z', b'h', _] } => "bzip2 -dc",
        FileError::UnknownFormat { found: [0x04, 0x22, 0x4d, 0x18] } => "lz4 -dc",
        _ => return "`linerate trace` reads pcap and pcapng, plain or compressed with gzip or zstd".to_owned(),
    };
    format!("decompress it first: {other} FILE | linerate trace -")
}

/// What of a transfer a picture shows, from its first data on.
fn span(args: &TraceArgs) -> Zoom {
    let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    Zoom { from_ns: args.from.map_or(0, ns), to_ns: args.to.map(ns) }
}

fn draw(path: &Path, transfer: &TransferReport) -> anyhow::Result<()> {
    let form = Form::of(path).unwrap_or(Form::Svg);
    let picture = chart::trace::picture(transfer, form)
        .with_context(|| Complaint::new(Exit::NotFound, "there is nothing to draw in that span"))?;
    file::write(path, &picture)
}
