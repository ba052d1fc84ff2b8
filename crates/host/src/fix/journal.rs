//! The journal on disk: a file for each fix in a directory that one helper at a time has for itself.
//!
//! An entry is written whole to a file beside it, which is on disk before it takes the place of the old one: after a
//! loss of power there is the entry before or the entry after, and never half of one.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::host::fix::journal::{Entry, FixId, State};

use super::error::FixError;
use crate::files::read_bounded;

/// A file that should be an entry and cannot be read: what its fix had changed, and whether it was decided, is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The number of the fix.
    pub fix: FixId,
    /// The file, and what is wrong with it.
    pub what: String,
}

/// The journal, held by this process alone.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    entries: BTreeMap<FixId, Entry>,
    /// Bytes on disk of each entry.
    sizes: BTreeMap<FixId, u64>,
    unreadable: Vec<Unreadable>,
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
        let mut journal = Self {
            directory,
            entries: BTreeMap::new(),
            sizes: BTreeMap::new(),
            unreadable: Vec::new(),
            last: 0,
            _lock: lock,
        };
        journal.load()?;
        Ok(journal)
    }

    /// The entries in `directory` as they stand on disk, and what cannot be read of them. Nothing is locked, recovered or
    /// written.
    ///
    /// # Errors
    /// [`FixError::Journal`] where the directory cannot be read. One that does not exist has no entry.
    pub fn look(directory: &Path) -> Result<(Vec<Entry>, Vec<Unreadable>), FixError> {
        let mut found = match Found::read(directory) {
            Err(FixError::Journal { source, .. }) if source.kind() == io::ErrorKind::NotFound => Found::default(),
            found => found?,
        };
        Ok((std::mem::take(&mut found.entries).into_values().collect(), found.unreadable))
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
    pub fn unreadable(&self) -> &[Unreadable] {
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
        let mut length = 0;
        let mut store = || {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
            let bytes = serde_json::to_vec(&entry)?;
            length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        store().map_err(|source| FixError::Journal { what: "write", path: path.clone(), source })?;
        let uid = entry.asked_by_uid;
        self.sizes.insert(entry.fix, length);
        self.entries.insert(entry.fix, entry);
        // By user: however many fixes one asks for, those of others can still be undone.
        while self.of_user(uid).count() > MOST_ENTRIES && self.forget_the_oldest(uid) {}
        Ok(())
    }

    /// Makes room for the fixes of one user: the oldest of theirs that are closed are forgotten until the rest are below
    /// `most` bytes.
    pub(super) fn keep_within(&mut self, uid: u32, most: u64) {
        let size = |journal: &Self| -> u64 {
            let of_user = journal.of_user(uid);
            of_user.filter_map(|entry| journal.sizes.get(&entry.fix)).sum()
        };
        while size(self) > most && self.forget_the_oldest(uid) {}
    }

    fn of_user(&self, uid: u32) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(move |entry| entry.asked_by_uid == uid)
    }

    /// Forgets the oldest closed fix of one user. Not where all of theirs are open.
    fn forget_the_oldest(&mut self, uid: u32) -> bool {
        // One that holds can be undone for as long as it is remembered, so those that do not go first.
        let over = self.of_user(uid).find(|entry| matches!(entry.state, State::Undone { .. } | State::GoneWithBoot));
        let oldest = over.or_else(|| self.of_user(uid).find(|entry| !entry.is_open())).map(|entry| entry.fix);
        oldest.into_iter().for_each(|fix| self.forget(fix));
        oldest.is_some()
    }

    fn forget(&mut self, fix: FixId) {
        self.entries.remove(&fix);
        self.sizes.remove(&fix);
        // One that stays on disk is there again at the next start, and no harm.
        let _ = fs::remove_file(file_of(&self.directory, fix));
    }

    fn file(&self, fix: FixId) -> PathBuf {
        file_of(&self.directory, fix)
    }

    fn load(&mut self) -> Result<(), FixError> {
        let found = Found::read(&self.directory)?;
        self.last = found.last;
        self.entries = found.entries;
        self.sizes = found.sizes;
        self.unreadable = found.unreadable;
        Ok(())
    }
}

/// What is in a directory.
#[derive(Debug, Default)]
struct Found {
    entries: BTreeMap<FixId, Entry>,
    sizes: BTreeMap<FixId, u64>,
    unreadable: Vec<Unreadable>,
    last: u64,
}

impl Found {
    fn read(directory: &Path) -> Result<Self, FixError> {
        let wrong = |source: io::Error| FixError::Journal { what: "read", path: directory.to_owned(), source };
        let mut numbers = Vec::new();
        for entry in fs::read_dir(directory).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name().into_string().unwrap_or_default();
            let number = name.strip_prefix("fix-").and_then(|rest| rest.strip_suffix(".json"));
            numbers.extend(number.and_then(|number| number.parse().ok()).map(FixId));
        }
        numbers.sort_unstable();
        let mut found = Self::default();
        for fix in numbers {
            found.last = found.last.max(fix.0);
            let path = file_of(directory, fix);
            let read = read_bounded(&path).and_then(|bytes| {
                let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                Ok((serde_json::from_slice::<Entry>(&bytes)?, length))
            });
            let what = match read {
                Ok((entry, length)) if entry.format == Entry::FORMAT && entry.fix == fix => {
                    found.sizes.insert(fix, length);
                    found.entries.insert(fix, entry);
                    continue;
                }
                Ok(_) => format!("{}: of another version, or another fix", path.display()),
                Err(error) => format!("{}: {error}", path.display()),
            };
            found.unreadable.push(Unreadable { fix, what });
        }
        Ok(found)
    }
}

fn file_of(directory: &Path, fix: FixId) -> PathBuf {
    directory.join(format!("fix-{:06}.json", fix.0))
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

/// Fixes of one user that are remembered.
pub const MOST_ENTRIES: usize = 1_000;

#[cfg(test)]
mod tests {
    use model::host::fix::journal::Because;

    use super::*;

    fn entry(fix: FixId, uid: u32, state: State) -> Entry {
        let none = r#"{"format":1,"fix":1,"reason":"","asked_by_uid":0,"boot_id":"","begun_ns":0,"changed_ns":0,"state":"kept",
"steps":[],"before":[],"after":[]}"#;
        let none: Entry = serde_json::from_str(none).unwrap();
        Entry { fix, asked_by_uid: uid, state, reason: "r".repeat(1_000), ..none }
    }

    fn write(journal: &mut Journal, uid: u32, state: State) -> FixId {
        let fix = journal.next_id();
        journal.write(entry(fix, uid, state)).unwrap();
        fix
    }

    #[test]
    fn a_user_who_asks_for_many_fixes_has_no_other_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path()).unwrap();
        let of_root = write(&mut journal, 0, State::Kept);
        let kept = write(&mut journal, 1, State::Kept);
        // As if they were on disk, which would have to say so each time.
        for _ in 0..MOST_ENTRIES {
            let fix = journal.next_id();
            journal.entries.insert(fix, entry(fix, 1, State::Undone { because: Because::Asked }));
        }
        write(&mut journal, 1, State::Undone { because: Because::Asked });
        assert!(journal.get(of_root).is_some());
        assert!(journal.get(kept).is_some(), "what holds is forgotten last");
        assert_eq!(journal.of_user(1).count(), MOST_ENTRIES);
    }

    #[test]
    fn a_user_has_so_many_bytes_of_the_journal_and_what_waits_stays() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path()).unwrap();
        let waits = write(&mut journal, 1, State::Unconfirmed);
        for _ in 0..50 {
            write(&mut journal, 1, State::Kept);
            journal.keep_within(1, 20_000);
        }
        let files = fs::read_dir(directory.path()).unwrap();
        let bytes = files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>();
        assert!((10_000..=20_000).contains(&bytes), "{bytes}");
        assert!(journal.get(waits).is_some());
        journal.keep_within(1, 0);
        assert_eq!(journal.of_user(1).map(|entry| entry.fix).collect::<Vec<_>>(), [waits]);
    }
}
