//! A run with its samples as one JSON document, after `run-export.schema.json`.

use std::io::{self, Read, Write};

pub use model::archived::RunExport as Export;
use model::run::Run;
use model::series::RunSamples;

/// Writes the document as one line.
///
/// # Errors
/// If `out` refuses.
pub fn write_export(export: &Export, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, export)?;
    out.write_all(b"\n")
}

/// Why a file is no exported run.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read the exported run")]
    Read(#[source] io::Error),
    /// It is longer than allowed.
    #[error("the exported run is longer than {limit} bytes, which is the most that is read")]
    TooLong {
        /// The most that is read.
        limit: u64,
    },
    /// It is no JSON, or not of this kind. The cause names line, column and what was expected.
    #[error("this is not an exported run")]
    Decode(#[source] serde_json::Error),
    /// A newer linerate has written it.
    #[error("the exported run has format {found}, this program knows {}: use a newer linerate", Run::FORMAT)]
    Newer {
        /// Format that it was stored in, newer than any that is known here.
        found: u32,
    },
    /// A column is not as long as its stream's times.
    #[error("samples of stream {stream}: column `{column}` has {found} values for {rows} times")]
    Ragged {
        /// The stream; 0 for the probes.
        stream: u32,
        /// Name of the column.
        column: &'static str,
        /// Entries of the column.
        found: usize,
        /// The length it should have.
        rows: usize,
    },
}

/// Reads what `Export::write` wrote, at most `limit` bytes of it.
///
/// # Errors
/// See [`ImportError`].
pub fn read_export(input: impl Read, limit: u64) -> Result<Export, ImportError> {
    let mut json = Vec::new();
    input.take(limit.saturating_add(1)).read_to_end(&mut json).map_err(ImportError::Read)?;
    if json.len() as u64 > limit {
        return Err(ImportError::TooLong { limit });
    }
    let export: Export = serde_json::from_slice(&json).map_err(ImportError::Decode)?;
    if export.run.format > Run::FORMAT {
        return Err(ImportError::Newer { found: export.run.format });
    }
    check_lengths(&export.samples)?;
    Ok(export)
}

/// Enough for an hour of samples of one stream each millisecond.
pub const MAX_EXPORT_BYTES: u64 = 1 << 30;

/// The types cannot say that columns are of one length, and whoever plots them relies on it.
fn check_lengths(samples: &RunSamples) -> Result<(), ImportError> {
    let probes = &samples.probes;
    let of_probes = [("rtt_us", probes.rtt_us.len()), ("there_us", probes.there_us.len())]
        .map(|(column, found)| (0, column, found, probes.sent_us.len()));
    let of_streams = samples.streams.iter().flat_map(|stream| {
        stream
            .columns
            .iter()
            .map(|column| (stream.stream, column.field.name(), column.values.len(), stream.at_us.len()))
    });
    match of_probes.into_iter().chain(of_streams).find(|(_, _, found, rows)| found != rows) {
        Some((stream, column, found, rows)) => Err(ImportError::Ragged { stream, column, found, rows }),
        None => Ok(()),
    }
}
