//! The directory in which labs keep what other processes may read of them.
//!
//! It is `$XDG_RUNTIME_DIR/linerate/lab`, or `/tmp/linerate-lab-UID` where that variable is not set. Nobody else may
//! write or read it. Inside a host it is covered with files of the host's own.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use linux::namespaces::rights::outer_user;

/// Why there is no directory for labs.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something is there that is not ours alone.
    #[error("{} is {what}", path.display())]
    NotOurs {
        /// Where.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// It cannot be made or looked at.
    #[error("cannot make the directory {}", path.display())]
    Failed {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The directory, which is made where it is not there.
///
/// # Errors
/// See [`PlaceError`].
pub fn directory() -> Result<PathBuf, PlaceError> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(runtime) = runtime.filter(|path| path.is_dir()) {
        let ours = private(&runtime.join("linerate"))?;
        return private(&ours.join("lab"));
    }
    private(&Path::new("/tmp").join(format!("linerate-lab-{}", outer_user())))
}

/// A directory that only this user can write, read and enter, which is made where it is not there.
///
/// # Errors
/// See [`PlaceError`]: a link, or a directory of somebody else, is never followed.
pub fn private(path: &Path) -> Result<PathBuf, PlaceError> {
    let failed = |source| PlaceError::Failed { path: path.to_owned(), source };
    let not_ours = |what| PlaceError::NotOurs { path: path.to_owned(), what };
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(path).map_err(failed)?;
    if !found.is_dir() {
        return Err(not_ours("no directory, though something of that name is there"));
    }
    if found.uid() != linux::namespaces::rights::user() {
        return Err(not_ours("a directory of somebody else"));
    }
    if found.mode() & 0o077 != 0 {
        return Err(not_ours("a directory that others may enter"));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_is_not_ours_alone_is_refused() {
        let own = std::env::temp_dir().join(format!("linerate-place-{}", std::process::id()));
        private(&own).unwrap();
        let [link, open, file] = ["link", "open", "file"].map(|name| own.join(name));
        symlink("/tmp", &link).unwrap();
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&file, "").unwrap();
        for path in [&link, &open, &file] {
            assert!(matches!(private(path), Err(PlaceError::NotOurs { .. })), "{}", path.display());
        }
        assert_eq!(private(&own).unwrap(), own, "what is ours already is taken as it is");
        fs::remove_dir_all(&own).unwrap();
    }
}
