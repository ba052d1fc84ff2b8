//! The socket where callers ask.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket in the file system, which goes when this is dropped.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at `path`; for the user alone, or for `group` as well. What is left of a helper that is no more goes.
    pub(super) fn bind(path: &Path, group: Option<u32>) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
        }
        remove_if_dead(path)?;
        let listener = UnixListener::bind(path)?;
        if let Some(group) = group {
            chown(path, None, Some(group))?;
        }
        // Who connects before this is asked who they are all the same.
        let mode = if group.is_some() { 0o660 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path: path.to_owned() })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // What cannot be removed is found dead by the next helper.
        let _ = fs::remove_file(&self.path);
    }
}

fn remove_if_dead(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if !found.file_type().is_socket() => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) => match UnixStream::connect(path) {
            Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another helper listens there")),
            Err(_) => fs::remove_file(path),
        },
    }
}
