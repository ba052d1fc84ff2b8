//! Files, pipes and what they are compressed with.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::Context;
use capture::ends::{Recorder, Recording, View};
use capture::file::{FileError, decompressed};
use capture::index::IndexWriter;
use capture::report::TraceReport;
use capture::{Trace, TraceOptions};

use super::super::standard_input;
use super::index_file::IndexFile;

use crate::exit::{Complaint, Exit};

/// What is read at once; a record of a capture is half as long at most.
const BUFFER_BYTES: usize = 2 * capture::file::MAX_RECORD_BYTES;
pub const READ_BYTES: usize = 256 << 10;

/// Reads one capture to its end.
///
/// # Errors
/// Where the file cannot be opened or read. Damage in it is part of the report.
pub fn read(path: &Path) -> anyhow::Result<TraceReport> {
    let mut trace = Trace::new(options());
    let rest = feed(path, |bytes| trace.read(bytes))?;
    Ok(trace.end(&rest))
}

/// The same with columns for pictures, of all or of a part. Where `index_file` is known, an index of the capture is kept there.
///
/// # Errors
/// Where the file cannot be opened or read.
pub fn read_drawn(path: &Path, view: View, index_file: Option<&IndexFile>) -> anyhow::Result<TraceReport> {
    let has_index = index_file.is_some();
    let View { columns, zoom } = view;
    let mut trace = Trace::new(TraceOptions { columns: Some(columns), zoom, has_index, ..options() });
    let mut index = index_file.map(|index_file| IndexWriter::new(index_file.spacing()));
    let rest = feed(path, |bytes| {
        let used = trace.read(bytes);
        if let Some(index) = &mut index {
            index.offer(&mut trace);
        }
        used
    })?;
    let report = trace.end(&rest);
    if let Some((index_file, index)) = index_file.zip(index)
        && let Some(pieces) = index.finish(&report, index_file.identity())
    {
        index_file.keep(&pieces);
    }
    Ok(report)
}

fn options() -> TraceOptions {
    // Where the kernel gives no random bytes, a known seed costs time on a hostile file and nothing else.
    let hash_seed = linux::random::bytes().map_or(0, u64::from_ne_bytes);
    TraceOptions { hash_seed, ..TraceOptions::default() }
}

/// Keeps the packets of one capture.
///
/// # Errors
/// Where the file cannot be opened or read. Damage in it is part of the recording.
pub fn record(path: &Path, mut recorder: Recorder) -> anyhow::Result<Recording> {
    let rest = feed(path, |bytes| recorder.read(bytes))?;
    Ok(recorder.end(&rest))
}

/// Hands a file over piece by piece, and returns what `take` has left of it at its end.
///
/// # Errors
/// Where the file cannot be opened or read.
pub fn feed(path: &Path, take: impl FnMut(&[u8]) -> Result<usize, FileError>) -> anyhow::Result<Vec<u8>> {
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()));
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(standard_input::read())
    } else {
        Box::new(File::open(path).with_context(unreadable)?)
    };
    let input = decompressed(BufReader::with_capacity(READ_BYTES, input)).with_context(unreadable)?;
    follow(input, take).with_context(unreadable)
}

/// Hands over what comes, piece by piece, and returns what `take` has left of it at its end.
pub fn follow(mut input: impl Read, mut take: impl FnMut(&[u8]) -> Result<usize, FileError>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut from, mut to) = (0, 0);
    loop {
        if buffer.len() - to < READ_BYTES {
            buffer.copy_within(from..to, 0);
            (from, to) = (0, to - from);
        }
        let room = buffer.len().min(to + READ_BYTES);
        let read = match input.read(&mut buffer[to..room]) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // What was read of a damaged archive is worth as much as that of a damaged capture.
            Err(error) if error.kind() != io::ErrorKind::IsADirectory => {
                eprintln!("linerate: the file cannot be read to its end: {error}");
                break;
            }
            Err(error) => return Err(error),
        };
        to += read;
        match take(&buffer[from..to]) {
            Ok(used) => from += used,
            Err(_) => break,
        }
    }
    Ok(buffer[from..to].to_vec())
}
