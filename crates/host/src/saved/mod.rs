//! Snapshots from what other programs saved, for sites that allow no program of ours.
//!
//! * [`from_directory`]: a directory of outputs of `ethtool -k/-g/-c/-a/-l/-i/-S DEVICE`, `sysctl -a`, `ip -d link`,
//!   `tc -s qdisc`, and files of the system below it at their own path (`etc/sysctl.d/…`)
//! * [`from_archive`]: an archive of sosreport: tar, plain or compressed by gzip or xz
//! * [`naming`]: which file holds the output of which program
//! * [`ethtool`], [`sysctl`], [`ip_link`], [`tc`]: their outputs, from any bytes
//!
//! What is not understood is an anomaly of the snapshot. Nothing is written.

mod archive;
mod assemble;
mod directory;
pub mod ethtool;
pub mod ip_link;
pub mod naming;
pub mod sysctl;
pub mod tc;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use model::host::snapshot::{Anomaly, CollectionMethod, Snapshot};
use units::WallTime;

pub use archive::{MAX_ENTRIES, MAX_HELD, MAX_UNPACKED};

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// A file or directory cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// An archive in a form that is not read here.
    #[error("{path} is compressed by {by}, which is not read here")]
    Compression {
        /// Path of the archive, as it was given.
        path: String,
        /// The program that made it.
        by: &'static str,
    },
    /// Another file.
    #[error("{path} is neither a snapshot in JSON nor an archive of sosreport")]
    Foreign {
        /// Its path, as it was given.
        path: String,
    },
    /// An archive that is damaged.
    #[error("{path} is no archive of sosreport: {message}")]
    Malformed {
        /// Path of what should be an archive, as it was given.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// Nothing in it is known.
    #[error("{path} holds no output that is known here")]
    Nothing {
        /// The directory or archive.
        path: String,
    },
}

/// The result of reading text: what was understood, and the lines that were not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read<T> {
    /// What was understood.
    pub value: T,
    /// The lines that were not, with the reason.
    pub unknown: Vec<(u32, String)>,
}

impl<T> Read<T> {
    fn note(&mut self, line: u32, reason: impl Into<String>) {
        if self.unknown.len() < MAX_UNKNOWN {
            self.unknown.push((line, reason.into()));
        }
    }
}

/// Reads a directory of saved outputs. `taken` is when they were saved, as far as the caller knows.
///
/// # Errors
/// See [`SavedError`].
pub fn from_directory(path: &Path, taken: WallTime) -> Result<Snapshot, SavedError> {
    let mut anomalies = Vec::new();
    let held = directory::load(path, &mut anomalies)?;
    complete(path, assemble::snapshot(&held, taken, CollectionMethod::SavedOutputs, anomalies))
}

/// Reads an archive of sosreport. `taken` is when it was made, as far as the caller knows.
///
/// # Errors
/// See [`SavedError`].
pub fn from_archive(path: &Path, taken: WallTime) -> Result<Snapshot, SavedError> {
    let shown = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|source| SavedError::Unreadable { path: shown.clone(), source })?;
    complete(path, from_archive_bytes(file, &shown, taken)?)
}

/// Reads an archive of sosreport from a stream; `shown` names it in errors.
///
/// # Errors
/// See [`SavedError`].
pub fn from_archive_bytes(reader: impl io::Read, shown: &str, taken: WallTime) -> Result<Snapshot, SavedError> {
    let mut anomalies = Vec::new();
    let held = archive::load(reader, shown, &mut anomalies)?;
    Ok(assemble::snapshot(&held, taken, CollectionMethod::Sosreport, anomalies))
}

fn complete(path: &Path, snapshot: Snapshot) -> Result<Snapshot, SavedError> {
    let is_empty =
        snapshot.namespaces.iter().all(|namespace| namespace.interfaces.is_empty() && namespace.sysctls.is_empty());
    if is_empty { Err(SavedError::Nothing { path: path.display().to_string() }) } else { Ok(snapshot) }
}

fn anomaly(file: &str, line: Option<u32>, reason: impl Into<String>) -> Anomaly {
    Anomaly { file: file.to_owned(), line, reason: reason.into() }
}

/// Most lines of one file that are reported as not understood.
pub const MAX_UNKNOWN: usize = 64;

/// A program that could not answer says so in these words: what the kernel said, as strerror(3) has it.
fn refusal(text: &str) -> Option<model::host::fact::Missing> {
    use model::host::fact::Missing;
    let first = text.lines().take(3);
    first.into_iter().find_map(|line| {
        let said = |words: &str| line.trim_end().ends_with(words);
        if said("Operation not supported") || line.trim() == "no stats available" {
            Some(Missing::Unsupported)
        } else if said("Operation not permitted") || said("Permission denied") {
            Some(Missing::Denied)
        } else if said("No such device") {
            Some(Missing::Absent)
        } else {
            None
        }
    })
}
