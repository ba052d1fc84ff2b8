//! Why a segment cannot be written or read.

use std::io;
use std::path::PathBuf;

/// Why a segment cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The address is none.
    #[error("segments go to a directory or to s3://BUCKET/PREFIX, and `{0}` is neither")]
    Address(String),
    /// The environment of an object store is not complete.
    #[error("{shown} cannot be used")]
    Settings {
        /// The target as its address has it.
        shown: String,
        /// What its client says.
        source: object_store::Error,
    },
    /// The object store refuses, or does not answer.
    #[error("{shown}")]
    Store {
        /// Segment or target as its address has it.
        shown: String,
        /// What its client says.
        source: object_store::Error,
    },
    /// The directory does.
    #[error("{}", file.display())]
    File {
        /// File of the segment.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The hub stops.
    #[error("the hub stops")]
    Stopped,
}
