//! Several files, all of them or none: each is written beside its place, then all are moved there; where one move fails,
//! those before it are moved back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// One file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its path below the root.
    pub path: String,
    /// What is to be in it; [`None`] where it is to be gone.
    pub content: Option<String>,
    /// Permission bits of a new file, such as `0o644`; a file that is there keeps its own.
    pub mode: u32,
}

/// Why no file was changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}")]
pub struct WriteError {
    /// Path below the root, as in [`Planned`].
    pub path: String,
    /// What was tried.
    pub doing: &'static str,
    /// What the kernel said.
    pub source: io::Error,
}

/// Makes all files as they are planned.
///
/// # Errors
/// Why one could not be made; then all are as they were.
pub fn replace(root: &Path, planned: &[Planned]) -> Result<(), WriteError> {
    let mut staged = Vec::new();
    for file in planned {
        match stage(root, file) {
            Ok(ready) => staged.push(ready),
            Err(error) => {
                discard(&staged);
                return Err(error);
            }
        }
    }
    for (number, file) in staged.iter().enumerate() {
        if let Err(source) = file.put() {
            for done in staged[..number].iter().rev() {
                // What cannot be moved back is told by the next snapshot: there is nobody left to tell.
                let _ = done.put_back();
            }
            discard(&staged);
            return Err(WriteError { path: planned[number].path.clone(), doing: "replace", source });
        }
    }
    discard(&staged);
    Ok(())
}

/// A file that waits beside its place.
struct Staged {
    place: PathBuf,
    /// The new content; absent where the file is to be gone.
    new: Option<PathBuf>,
    /// The old content; absent where there was no file.
    old: Option<PathBuf>,
}

impl Staged {
    fn put(&self) -> io::Result<()> {
        match &self.new {
            Some(new) => fs::rename(new, &self.place)?,
            None => match fs::remove_file(&self.place) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
        }
        keep_names(&self.place)
    }

    fn put_back(&self) -> io::Result<()> {
        match &self.old {
            Some(old) => fs::rename(old, &self.place),
            None => fs::remove_file(&self.place),
        }
    }
}

fn stage(root: &Path, file: &Planned) -> Result<Staged, WriteError> {
    let place = root.join(file.path.trim_start_matches('/'));
    let failed = |doing| move |source| WriteError { path: file.path.clone(), doing, source };
    let directory = place.parent().unwrap_or(root);
    fs::create_dir_all(directory).map_err(failed("make the directory of"))?;
    let beside = |what: &str| {
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A leading dot: none of the readers takes such a file for one of theirs.
        directory.join(format!(".{name}.{what}"))
    };
    let mut staged = Staged { place: place.clone(), new: None, old: None };
    match fs::read(&place) {
        Ok(content) => {
            let mode = fs::metadata(&place).map(|known| known.permissions().mode() & 0o7777).unwrap_or(file.mode);
            staged.old = Some(write_whole(&beside("old"), &content, mode).map_err(failed("keep the old state of"))?);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed("read")(error)),
    }
    if let Some(content) = &file.content {
        match write_whole(&beside("new"), content.as_bytes(), file.mode) {
            Ok(path) => staged.new = Some(path),
            Err(error) => {
                discard(std::slice::from_ref(&staged));
                return Err(failed("write")(error));
            }
        }
    }
    Ok(staged)
}

fn write_whole(path: &Path, content: &[u8], mode: u32) -> io::Result<PathBuf> {
    // One that an interrupted call has left behind is nobody's.
    let _ = fs::remove_file(path);
    let written = || -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(content)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    };
    written().inspect_err(|_| drop(fs::remove_file(path)))?;
    Ok(path.to_owned())
}

/// A name is on disk when its directory is.
fn keep_names(place: &Path) -> io::Result<()> {
    match place.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

fn discard(staged: &[Staged]) {
    for path in staged.iter().flat_map(|file| [&file.new, &file.old]).flatten() {
        let _ = fs::remove_file(path);
    }
}
