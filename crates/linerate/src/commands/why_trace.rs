//! `linerate why CAPTURE`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use diagnose::causes::Catalogue;
use diagnose::diagnosis::Diagnosis;
use diagnose::diagnosis::traced::of_transfers;
use flate2::read::MultiGzDecoder;

use super::print;
use super::trace::source;
use crate::cli::Common;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::plural::counted;

/// RFC 1952 section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What pcap, pcapng and zstd files begin with; no log of a tool does.
const HEADS: [&[u8]; 6] = [
    &[0xa1, 0xb2, 0xc3, 0xd4],
    &[0xd4, 0xc3, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0x3c, 0x4d],
    &[0x4d, 0x3c, 0xb2, 0xa1],
    &[0x0a, 0x0d, 0x0d, 0x0a],
    &[0x28, 0xb5, 0x2f, 0xfd],
];
/// Transfers that are explained: the costliest.
const MOST_TRANSFERS: usize = 64;

/// Whether a file is a packet capture.
pub fn is_capture(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut head));
    if head.starts_with(&GZIP) {
        // A log may be compressed as well.
        head.clear();
        let unpacked = File::open(path).map(MultiGzDecoder::new);
        return unpacked.and_then(|file| file.take(4).read_to_end(&mut head)).is_ok()
            && HEADS.iter().any(|known| head.starts_with(known));
    }
    read.is_ok() && HEADS.iter().any(|known| head.starts_with(known))
}

/// Explains a capture in the words of the catalogue of causes.
pub fn run(common: &Common, path: &Path) -> anyhow::Result<Exit> {
    let mut report = source::read(path, None, None)?;
    if let (Some(damage), 0) = (&report.damage, report.packets) {
        return Err(Complaint::new(Exit::NotFound, format!("{}: {damage}", path.display())).into());
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
        let head = format!("{}: {}", path.display(), counted(all.len(), "transfer", "transfers"));
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
