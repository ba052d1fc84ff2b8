//! Which file the archive is, and who may read it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The user's own archive: `$XDG_STATE_HOME/linerate/archive.db`, by default `~/.local/state/linerate/archive.db`
/// (XDG Base Directory Specification 0.8).
///
/// # Errors
/// If the user has no home directory.
pub fn default_path() -> Result<PathBuf, NoHome> {
    let base = etcetera::base_strategy::Xdg::new().map_err(|_| NoHome)?;
    // The strategy for XDG always knows a state directory.
    base.state_dir().map(|state| state.join("linerate").join("archive.db")).ok_or(NoHome)
}

/// There is no home directory to keep an archive in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no home directory is known for this user, so no archive either; set HOME, or name the archive's file")]
pub struct NoHome;

/// The directory that `path` is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes an empty file at `path`, readable by this user alone, and the directories above it. What exists stays as it
/// is, its mode as well.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let directory = directory_of(path);
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        // The new name is durable before anything in the file is.
        Ok(_) => File::open(directory)?.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
