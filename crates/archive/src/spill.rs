//! Where a run goes that the archive cannot take now: a file of its own, until the archive can.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::run::Run;
use model::series::RunSamples;

use crate::export::json::{MAX_EXPORT_BYTES, read_export};
use crate::export::{Export, write_export};
use crate::store::{Archive, StoreError};

/// Runs that wait to be stored, each in a file as `linerate runs export` writes them.
#[derive(Debug, Clone)]
pub struct Spill {
    directories: Vec<PathBuf>,
}

/// A run that was waiting.
#[derive(Debug)]
pub struct TakenIn {
    /// The file, which is gone where the run was stored.
    pub file: PathBuf,
    /// Why it could not be read or stored; it stays then.
    pub failure: Option<String>,
}

impl Spill {
    /// Beside the archive at `archive`, and where that directory takes nothing either, in `temporary`.
    #[must_use]
    pub fn beside(archive: &Path, temporary: &Path) -> Self {
        let mut beside = archive.as_os_str().to_owned();
        beside.push(".waiting");
        let mine = temporary.join(format!("linerate-waiting-{}", own_uid()));
        Self { directories: vec![PathBuf::from(beside), mine] }
    }

    /// Writes a run to a file of its own, and returns which. It is on disk when this returns.
    ///
    /// # Errors
    /// If no directory takes it; the first one's error.
    pub fn write(&self, run: Run, samples: RunSamples) -> io::Result<PathBuf> {
        let id = run.id;
        let mut bytes = Vec::new();
        write_export(&Export { run, samples }, &mut bytes)?;
        let mut first = None;
        for directory in &self.directories {
            match write_private(directory, &format!("{id}.json"), &bytes) {
                Ok(path) => return Ok(path),
                Err(error) => drop(first.get_or_insert(error)),
            }
        }
        Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Whether a run waits.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.files().next().is_some()
    }

    /// Stores every run that waits. What cannot be read or stored stays, and is told; an archive that takes nothing is not
    /// asked again for each.
    pub fn take_in(&self, archive: &mut Archive) -> Vec<TakenIn> {
        let files: Vec<PathBuf> = self.files().collect();
        let mut refused: Option<String> = None;
        let mut taken = Vec::new();
        for file in files {
            let outcome = match &refused {
                Some(why) => Err(why.clone()),
                None => take(&file, archive).map_err(|failure| match failure {
                    TakeError::Archive(why) => refused.insert(why).clone(),
                    TakeError::File(why) => why,
                }),
            };
            taken.push(TakenIn { failure: outcome.err(), file });
        }
        taken
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.directories.iter().filter(|directory| is_mine(directory)).flat_map(|directory| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        })
    }
}

/// Why a run still waits.
enum TakeError {
    /// It cannot be read, stored or removed.
    File(String),
    /// The archive takes nothing now.
    Archive(String),
}

fn take(file: &Path, archive: &mut Archive) -> Result<(), TakeError> {
    let of_file = |error: &dyn std::error::Error| TakeError::File(error.to_string());
    let open = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(file).map_err(|error| of_file(&error))?;
    let export = read_export(open, MAX_EXPORT_BYTES).map_err(|error| of_file(&error))?;
    match archive.store(&export.run, &export.samples) {
        Ok(()) | Err(StoreError::AlreadyStored { .. }) => {}
        Err(error @ StoreError::Database { .. }) => return Err(TakeError::Archive(error.to_string())),
        Err(error) => return Err(of_file(&error)),
    }
    fs::remove_file(file).map_err(|error| of_file(&error))
}

/// `O_NOFOLLOW` (include/uapi/asm-generic/fcntl.h): nobody lends us another file's contents.
const NO_FOLLOW: i32 = 0o400_000;

/// A directory in a place that others may write to counts only where it is ours alone.
fn is_mine(directory: &Path) -> bool {
    let metadata = fs::symlink_metadata(directory);
    metadata.is_ok_and(|it| it.is_dir() && it.uid() == own_uid() && it.mode() & 0o022 == 0)
}

fn write_private(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    if !is_mine(directory) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory is somebody else's"));
    }
    let (partial, path) = (directory.join(format!("{name}.partial")), directory.join(name));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(NO_FOLLOW)
        .open(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&partial, &path))
        .and_then(|()| File::open(directory)?.sync_all());
    if written.is_err() {
        // A full disk is not to be kept full by half a file.
        let _ = fs::remove_file(&partial);
    }
    written.map(|()| path)
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
