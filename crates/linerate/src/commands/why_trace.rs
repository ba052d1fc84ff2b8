//! `linerate why CAPTURE`.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use anyhow::Context;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::Diagnosis;
use diagnose::diagnosis::traced::of_transfers;
use flate2::read::MultiGzDecoder;

use super::trace::heads::is_capture as is_capture_head;
use super::trace::source;
use super::{print, standard_input};
use crate::cli::Common;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::plural::counted;

/// RFC 1952 section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// RFC 8878 section 3.1.1.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Of a compressed file, enough to say what it holds.
const LEAST_HEAD: u64 = 4 << 10;
/// Transfers that are explained: the costliest.
const MOST_TRANSFERS: usize = 64;

/// Whether a file is a packet capture, or what standard input (`-`) holds: that can be read all the same.
///
/// # Errors
/// Where standard input cannot be read.
pub fn is_capture(path: &Path) -> anyhow::Result<bool> {
    if path == Path::new("-") {
        let known = standard_input::look_ahead(begins_capture);
        let unreadable = || Complaint::new(Exit::NotFound, "cannot read standard input");
        return Ok(known.with_context(unreadable)?.unwrap_or_default());
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LEAST_HEAD).read_to_end(&mut head));
    Ok(read.is_ok() && begins_capture(&head).unwrap_or_default())
}

/// Whether a file that begins so is a capture. None where that takes more bytes of it.
fn begins_capture(head: &[u8]) -> Option<bool> {
    if head.starts_with(&GZIP) {
        // A log may be compressed as well.
        let mut unpacked = Vec::new();
        return match MultiGzDecoder::new(head).take(4).read_to_end(&mut unpacked) {
            _ if unpacked.len() >= 4 => Some(is_capture_head(&unpacked)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            _ => Some(false),
        };
    }
    // No log of a tool is compressed with zstd.
    (head.len() >= 4).then(|| is_capture_head(head) || head.starts_with(&ZSTD))
}

/// Explains a capture in the words of the catalogue of causes.
pub fn run(common: &Common, path: &Path) -> anyhow::Result<Exit> {
    let mut report = source::read(path)?;
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    if let (Some(damage), 0) = (&report.damage, report.packets) {
        return Err(Complaint::new(Exit::NotFound, format!("{name}: {damage}")).into());
    }
    show::trace::rank(&mut report);
    let all = show::trace::transfers(&report);
    let transfers: Vec<_> = all.iter().map(|(_, transfer)| *transfer).take(MOST_TRANSFERS).collect();
    let catalogue = Catalogue::built_in();
    let mut diagnosis = of_transfers(&transfers, catalogue);
    notes(&report, all.len(), &mut diagnosis);
    if common.json {
        print(&show::json::document(&diagnosis)?)?;
    } else {
        let head = format!("{name}: {}", counted(all.len(), "transfer", "transfers"));
        print(show::why::of_capture(&head, &diagnosis, catalogue).as_bytes())?;
    }
    Ok(if diagnosis.is_healthy() { Exit::Success } else { Exit::Found })
}

/// What the file lacks.
fn notes(report: &capture::report::TraceReport, transfers: usize, diagnosis: &mut Diagnosis) {
    if let Some(damage) = &report.damage {
        diagnosis.notes.push(format!("the capture is read up to its damage: {damage}"));
    }
    if let Some(more) = transfers.checked_sub(MOST_TRANSFERS).filter(|more| *more > 0) {
        diagnosis.notes.push(format!("{more} transfers with a lower cost were left out"));
    }
}
