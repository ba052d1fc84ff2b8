//! Files of the kernel that are written to: by fanotify, which tells the writer, or else by inotify, which does not.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, fstat, open, stat};

use super::Heard;
use super::fanotify::Fanotify;
use super::inotify::Inotify;

/// Watches the files of directories.
///
/// A directory is watched, not each file: the kernel makes the files of /proc/sys anew whenever it is short of memory,
/// and a mark on one of them would be lost. The directory is held open, so it stays.
#[derive(Debug)]
pub struct FileMonitor {
    way: Way,
    directories: Mutex<BTreeMap<PathBuf, Held>>,
}

/// Somebody wrote to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The file, as the kernel has its path.
    pub path: PathBuf,
    /// The writer's process; none where only root may know, or where it is not visible from here.
    pub pid: Option<u32>,
}

/// What is told of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEventDetail {
    /// Which file, and whose process.
    FileAndWriter,
    /// Which file.
    File,
}

#[derive(Debug)]
enum Way {
    Fanotify(Fanotify),
    Inotify(Inotify),
}

#[derive(Debug)]
struct Held {
    directory: OwnedFd,
    /// Device and inode: another directory may come to have the same path.
    identity: (u64, u64),
    watch: Option<i32>,
}

impl FileMonitor {
    /// Watches nothing yet. Writers are told where this process has `CAP_SYS_ADMIN` outside of any user namespace.
    ///
    /// # Errors
    /// `EMFILE` where this user has too many monitors (`fs.inotify.max_user_instances`).
    pub fn open() -> io::Result<Self> {
        let way = match Fanotify::open() {
            Ok(fanotify) => Way::Fanotify(fanotify),
            Err(_) => Way::Inotify(Inotify::open()?),
        };
        Ok(Self { way, directories: Mutex::new(BTreeMap::new()) })
    }

    /// The same without asking for the writer, as any user may.
    ///
    /// # Errors
    /// As [`FileMonitor::open`].
    pub fn open_without_writers() -> io::Result<Self> {
        Ok(Self { way: Way::Inotify(Inotify::open()?), directories: Mutex::new(BTreeMap::new()) })
    }

    /// What it tells.
    #[must_use]
    pub fn detail(&self) -> FileEventDetail {
        match self.way {
            Way::Fanotify(_) => FileEventDetail::FileAndWriter,
            Way::Inotify(_) => FileEventDetail::File,
        }
    }

    /// Watches these directories, and none besides; tells how many were not watched before. Those that do not exist are left out. A path is looked up by the
    /// calling thread, so of /proc/sys/net the directory of its network namespace is meant.
    ///
    /// # Errors
    /// What the kernel says to one of them; the others are watched. `ENOSPC` where there are too many
    /// (`fs.fanotify.max_user_marks`, `fs.inotify.max_user_watches`).
    pub fn watch(&self, wanted: &[PathBuf]) -> io::Result<usize> {
        let mut directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<PathBuf> = directories
            .iter()
            .filter(|(path, held)| !wanted.contains(path) || identity(path) != Some(held.identity))
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            if let Some(held) = directories.remove(&path) {
                self.forget(&held);
            }
        }
        let (mut new, mut outcome) = (0, Ok(()));
        for path in wanted {
            if directories.contains_key(path) {
                continue;
            }
            match self.hold(path) {
                Ok(held) => {
                    directories.insert(path.clone(), held);
                    new += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| new)
    }

    /// Hands all writes that have come to `each`, without waiting.
    ///
    /// # Errors
    /// What reading gives; the loss of events is no error but [`Heard::NotEverything`].
    pub fn read(&self, each: impl FnMut(FileWrite)) -> io::Result<Heard> {
        match &self.way {
            Way::Fanotify(fanotify) => fanotify.read(each),
            Way::Inotify(inotify) => inotify.read(each, |watch| {
                let directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
                directories.iter().find(|(_, held)| held.watch == Some(watch)).map(|(path, _)| path.clone())
            }),
        }
    }

    /// How many directories are watched.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn hold(&self, path: &Path) -> io::Result<Held> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open(path, flags, Mode::empty())?;
        let status = fstat(&directory)?;
        let watch = match &self.way {
            Way::Fanotify(fanotify) => {
                fanotify.mark(&directory)?;
                None
            }
            Way::Inotify(inotify) => Some(inotify.add(&directory)?),
        };
        Ok(Held { directory, identity: (status.st_dev, status.st_ino), watch })
    }

    fn forget(&self, held: &Held) {
        match (&self.way, held.watch) {
            (Way::Fanotify(fanotify), _) => fanotify.unmark(&held.directory),
            (Way::Inotify(inotify), Some(watch)) => inotify.remove(watch),
            (Way::Inotify(_), None) => {}
        }
    }
}

impl AsFd for FileMonitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.way {
            Way::Fanotify(fanotify) => fanotify.as_fd(),
            Way::Inotify(inotify) => inotify.as_fd(),
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    stat(path).ok().map(|status| (status.st_dev, status.st_ino))
}
