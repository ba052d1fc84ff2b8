//! The journal on disk: a file for each fix in a directory that one helper at a time has for itself.
//!
//! An entry is written whole to a file beside it, which is on disk before it takes the place of the old one: after a
//! loss of power there is the entry before or the entry after, and never half of one.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::host::fix::journal::{Entry, FixId};

use super::error::FixError;
use crate::files::read_bounded;

/// The journal, held by this process alone.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    entries: BTreeMap<FixId, Entry>,
    unreadable: Vec<String>,
    last: u64,
    /// Held for as long as this lives; the kernel lets go of it however the process ends.
    _lock: File,
}

impl Journal {
    /// Opens the journal in `directory`, which is made where it does not exist.
    ///
    /// # Errors
    /// [`FixError::Locked`] where another process has it, [`FixError::Journal`] where it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, FixError> {
        let wrong = |what| move |source| FixError::Journal { what, path: directory.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(wrong("make"))?;
        belongs_to_us(directory).map_err(wrong("trust"))?;
        let options = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).to_owned();
        let lock = options.open(directory.join("lock")).map_err(wrong("open"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => FixError::Locked { directory: directory.to_owned() },
            TryLockError::Error(source) => wrong("lock")(source),
        })?;
        let directory = directory.to_owned();
        let mut journal = Self { directory, entries: BTreeMap::new(), unreadable: Vec::new(), last: 0, _lock: lock };
        journal.load()?;
        Ok(journal)
    }

    /// All entries in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.values()
    }

    /// One entry.
    #[must_use]
    pub fn get(&self, fix: FixId) -> Option<&Entry> {
        self.entries.get(&fix)
    }

    /// Files that should be entries and are not, each with the reason.
    #[must_use]
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    /// The number for the next fix. A number is given once, also where its file can be read no more.
    pub(super) fn next_id(&mut self) -> FixId {
        self.last += 1;
        FixId(self.last)
    }

    /// Has an entry on disk before it returns.
    pub(super) fn write(&mut self, entry: Entry) -> Result<(), FixError> {
        let path = self.file(entry.fix);
        let beside = path.with_extension("json.new");
        let store = || {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
            file.write_all(&serde_json::to_vec(&entry)?)?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        store().map_err(|source| FixError::Journal { what: "write", path: path.clone(), source })?;
        self.entries.insert(entry.fix, entry);
        self.forget_the_oldest();
        Ok(())
    }

    fn file(&self, fix: FixId) -> PathBuf {
        self.directory.join(format!("fix-{:06}.json", fix.0))
    }

    fn load(&mut self) -> Result<(), FixError> {
        let wrong = |source: io::Error| FixError::Journal { what: "read", path: self.directory.clone(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name().into_string().unwrap_or_default();
            let number = name.strip_prefix("fix-").and_then(|rest| rest.strip_suffix(".json"));
            found.extend(number.and_then(|number| number.parse().ok()).map(FixId));
        }
        for fix in found {
            self.last = self.last.max(fix.0);
            let path = self.file(fix);
            let read = read_bounded(&path).and_then(|bytes| Ok(serde_json::from_slice::<Entry>(&bytes)?));
            match read {
                Ok(entry) if entry.format == Entry::FORMAT && entry.fix == fix => {
                    self.entries.insert(fix, entry);
                }
                Ok(_) => self.unreadable.push(format!("{}: of another version, or another fix", path.display())),
                Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
            }
        }
        Ok(())
    }

    fn forget_the_oldest(&mut self) {
        while self.entries.len() > MOST_ENTRIES {
            let closed = self.entries.values().find(|entry| !entry.is_open()).map(|entry| entry.fix);
            let Some(fix) = closed else { return };
            self.entries.remove(&fix);
            // One that stays on disk is there again at the next start, and no harm.
            let _ = fs::remove_file(self.file(fix));
        }
    }
}

/// Old values are written back by whoever is privileged, so nobody else may write them.
fn belongs_to_us(directory: &Path) -> io::Result<()> {
    let found = fs::metadata(directory)?;
    let user = linux::namespaces::rights::user();
    if found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let reason = format!("it must belong to user {user} and be writable for nobody else (chown, chmod 700)");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Fixes that are remembered.
pub const MOST_ENTRIES: usize = 1_000;
