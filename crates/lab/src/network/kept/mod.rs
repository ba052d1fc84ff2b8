//! Networks that outlive the command that raised them, and how other processes find them.
//!
//! The process that keeps a lab has a directory of the lab's name under the [`place`] of labs, with a lock
//! on it for as long as it lives, and writes a [`Record`] there once the network is up. A directory without a lock is
//! that of a keeper who died, and whoever finds it takes it away.
//!
//! * [`Claim`]: the keeper's side
//! * [`running`], [`Kept`]: everybody else's

mod owner;
mod record;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use linux::namespaces::Entrance;
use linux::namespaces::process::{Process, start_of};

use super::host::prepared;
use super::place::{self, PlaceError};
pub use owner::Owner;
pub use record::{HostRecord, Record, RecordError};

/// Why a lab cannot be kept, found or ended.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// What cannot be the name of a lab.
    #[error("`{name}` is no name of a lab: letters, digits, `-` and `_`, at most {LONGEST_NAME} of them")]
    Name {
        /// Name that was asked for.
        name: String,
    },
    /// A lab of this name is there, or on its way.
    #[error("a lab called `{name}` is running")]
    Taken {
        /// Name that was asked for.
        name: String,
    },
    /// There is no place for labs.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A file of the lab.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// What the keeper has written cannot be read.
    #[error("{} is no record of a lab", path.display())]
    Record {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: RecordError,
    },
    /// The keeper does not end.
    #[error("the keeper of the lab `{name}`, process {keeper}, does not end")]
    Unending {
        /// Name of the lab.
        name: String,
        /// Number of the process that keeps its namespaces.
        keeper: u32,
    },
    /// The keeper may not be signalled.
    #[error("the keeper of the lab `{name}`, process {keeper}, cannot be ended")]
    Signal {
        /// Name of the lab.
        name: String,
        /// Number of the process that keeps its namespaces.
        keeper: u32,
        /// What the kernel said.
        source: io::Error,
    },
}

/// A name that this process has for its lab, as long as it holds this.
#[derive(Debug)]
pub struct Claim {
    directory: PathBuf,
    _lock: File,
}

impl Claim {
    /// Takes a name.
    ///
    /// # Errors
    /// [`KeptError::Taken`] where another process has it.
    pub fn take(name: &str) -> Result<Self, KeptError> {
        check_name(name)?;
        let place = place::directory()?;
        let _alone = alone(&place)?;
        let directory = place::private(&place.join(name))?;
        match locked(&directory)? {
            Some(lock) => {
                // What a keeper left who died.
                let _ = fs::remove_file(directory.join(RECORD));
                Ok(Self { directory, _lock: lock })
            }
            None => Err(KeptError::Taken { name: name.to_owned() }),
        }
    }

    /// Tells other processes what there is.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn publish(&self, record: &Record) -> Result<(), KeptError> {
        let path = self.directory.join(RECORD);
        let partial = self.directory.join("partial");
        let written = fs::write(&partial, record.to_text()).and_then(|()| fs::rename(&partial, &path));
        written.map_err(|source| KeptError::File { action: "write", path, source })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _alone = self.directory.parent().map(alone);
        remove(&self.directory);
    }
}

/// The file for what the keeper of a lab says while nobody listens, empty.
///
/// # Errors
/// Where there is no place for it.
pub fn log(name: &str) -> Result<File, KeptError> {
    check_name(name)?;
    let path = log_of(&place::directory()?.join(name));
    let file = File::options().create(true).truncate(true).read(true).write(true).open(&path);
    file.map_err(|source| KeptError::File { action: "write", path, source })
}

fn log_of(directory: &Path) -> PathBuf {
    directory.with_extension("log")
}

/// A lab that is running.
#[derive(Debug)]
pub struct Kept {
    /// What its keeper has told.
    pub record: Record,
    directory: PathBuf,
}

/// The labs of this user that are running, by name. What is left of labs whose keeper died is taken away.
///
/// # Errors
/// Where the place of labs is not ours, or a record cannot be read.
pub fn running() -> Result<Vec<Kept>, KeptError> {
    let place = place::directory()?;
    let _alone = alone(&place)?;
    let entries = fs::read_dir(&place);
    let entries = entries.map_err(|source| KeptError::File { action: "list", path: place.clone(), source })?;
    let mut names: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    names.retain(|path| path.is_dir());
    names.sort();
    let kept = names.into_iter().filter_map(|directory| kept(directory).transpose());
    kept.collect()
}

impl Kept {
    /// Whether this owner has started it. Of a lab that an older linerate started, nobody knows.
    #[must_use]
    pub fn is_of(&self, owner: &Owner) -> bool {
        self.record.owner.as_ref().is_none_or(|of| of == owner)
    }

    /// A program in one of its hosts; [`None`] where the host is gone.
    pub fn command(&self, host: &HostRecord, program: impl AsRef<std::ffi::OsStr>) -> Option<Command> {
        let HostRecord { first_process, started_ticks, .. } = *host;
        let entrance = Entrance::open(first_process, || start_of(first_process) == Some(started_ticks)).ok()?;
        let place = self.directory.parent()?;
        Some(prepared(&entrance, place, host.recorded_facts.as_deref(), program))
    }

    /// Ends the lab, and waits until it is gone: asks its keeper, and ends it by force where that takes too long.
    ///
    /// # Errors
    /// [`KeptError::Signal`] and [`KeptError::Unending`].
    pub fn end(self) -> Result<(), KeptError> {
        let Record { ref name, keeper, keeper_started_ticks, .. } = self.record;
        let refused = |source| KeptError::Signal { name: name.clone(), keeper, source };
        if let Some(process) = Process::find(keeper, keeper_started_ticks) {
            process.ask_to_end().map_err(refused)?;
            if !process.wait(PATIENCE).map_err(refused)? {
                process.kill().map_err(refused)?;
                if !process.wait(PATIENCE).map_err(refused)? {
                    return Err(KeptError::Unending { name: name.clone(), keeper });
                }
            }
        }
        // Hosts end with their keeper, each by itself.
        for host in &self.record.hosts {
            if let Some(first) = Process::find(host.first_process, host.started_ticks) {
                first.wait(PATIENCE).map_err(refused)?;
            }
        }
        if let Some(place) = self.directory.parent() {
            let _alone = alone(place)?;
            if self.directory.exists() && locked(&self.directory)?.is_some() {
                remove(&self.directory);
            }
        }
        Ok(())
    }
}

/// The lab of a directory; [`None`] where it is not up yet, or was left behind.
fn kept(directory: PathBuf) -> Result<Option<Kept>, KeptError> {
    if let Some(_left) = locked(&directory)? {
        remove(&directory);
        return Ok(None);
    }
    let path = directory.join(RECORD);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeptError::File { action: "read", path, source }),
    };
    let record = Record::parse(&text).map_err(|source| KeptError::Record { path, source })?;
    Ok(Some(Kept { record, directory }))
}

/// Waits until no other process looks for labs or takes names, so that none takes away what another is making.
fn alone(place: &Path) -> Result<File, KeptError> {
    let path = place.join(".lock");
    let file = File::options().create(true).append(true).open(&path).and_then(|file| file.lock().map(|()| file));
    file.map_err(|source| KeptError::File { action: "lock", path, source })
}

/// The lock of a directory; [`None`] where another process has it.
fn locked(directory: &Path) -> Result<Option<File>, KeptError> {
    let path = directory.join("lock");
    let failed = |source| KeptError::File { action: "lock", path: path.clone(), source };
    let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Takes a directory away; its lock is ours.
fn remove(directory: &Path) {
    // What cannot be taken away now is tried again by the next command that looks.
    let _ = fs::remove_dir_all(directory);
    let _ = fs::remove_file(log_of(directory));
}

/// # Errors
/// [`KeptError::Name`] for what could not be a directory or half of `LAB/HOST`.
pub fn check_name(name: &str) -> Result<(), KeptError> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(KeptError::Name { name: name.chars().take(2 * LONGEST_NAME).collect() })
}

const RECORD: &str = "lab.toml";
const LONGEST_NAME: usize = 64;

/// How long a keeper may take to end what it keeps. It takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
