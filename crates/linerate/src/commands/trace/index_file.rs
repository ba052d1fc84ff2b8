//! Where the index of a capture is kept: in the user's cache, and not beside the capture.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use capture::index::IndexSpacing;

use super::heads::is_plain;

/// A smaller capture is read in some hundredths of a second.
const LEAST_FILE_BYTES: u64 = 4 << 20;
/// What all indexes of a user may take; the oldest ones give way.
const MOST_KEPT_BYTES: u64 = 256 << 20;

/// Where the index of a capture is kept.
#[derive(Debug)]
pub struct IndexFile {
    path: PathBuf,
    /// Says which capture, as it is now, and which program an index is of.
    identity: String,
    file_bytes: u64,
}

impl IndexFile {
    /// None for what is read once (a pipe), small, or compressed, and where the user has no cache.
    pub fn of(capture: &Path) -> Option<Self> {
        let capture = fs::canonicalize(capture).ok()?;
        let about = fs::metadata(&capture).ok()?;
        if !about.is_file() || about.len() < LEAST_FILE_BYTES || !is_plain(&capture) {
            return None;
        }
        let program = std::env::current_exe().and_then(fs::metadata).ok()?;
        let version = env!("CARGO_PKG_VERSION");
        let dated = |of: &fs::Metadata| format!("{} {} {}.{:09}", of.ino(), of.len(), of.mtime(), of.mtime_nsec());
        let identity = format!("{}\n{}\n{version} {}", capture.display(), dated(&about), dated(&program));
        let named = capture
            .as_os_str()
            .as_bytes()
            .iter()
            .fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
        Some(Self { path: folder()?.join(format!("{named:016x}.index")), identity, file_bytes: about.len() })
    }

    /// Keeps an index. Where that fails, the next picture takes as long as this one.
    pub fn keep(&self, pieces: &[Vec<u8>]) {
        if self.write(pieces).is_ok() {
            make_room(&self.path);
        }
    }

    pub fn spacing(&self) -> IndexSpacing {
        IndexSpacing { file_bytes: self.file_bytes, least_bytes: IndexSpacing::LEAST_BYTES }
    }

    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// What is kept there.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.path)
    }

    fn write(&self, pieces: &[Vec<u8>]) -> io::Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let beside = self.path.with_extension(std::process::id().to_string());
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        let written = pieces.iter().try_for_each(|piece| file.write_all(piece));
        written.and_then(|()| fs::rename(&beside, &self.path)).inspect_err(|_| {
            // It is of no use to anybody.
            let _ = fs::remove_file(&beside);
        })
    }
}

/// FNV-1a.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// `$XDG_CACHE_HOME/linerate/captures`, by default `~/.cache/linerate/captures` (XDG Base Directory Specification 0.8).
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("linerate/captures"))
}

/// Removes the oldest indexes beyond what all may take, but not the one that was just kept.
fn make_room(kept: &Path) {
    let Some(entries) = kept.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    let about = |entry: fs::DirEntry| {
        let about = entry.metadata().ok()?;
        Some((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), entry.path()))
    };
    let mut all: Vec<_> = entries.flatten().filter_map(about).collect();
    all.sort();
    let mut total: u64 = all.iter().map(|(_, length, _)| length).sum();
    for (_, length, path) in all {
        if total <= MOST_KEPT_BYTES {
            return;
        }
        if path != kept && fs::remove_file(&path).is_ok() {
            total -= length;
        }
    }
}
