//! Records on the agent's disk until the hub has them.
//!
//! A record is a file, written whole and flushed before [`Spool::add`] returns, and deleted when the hub has acknowledged it.
//! What lies between the two is delivered again, which the hub notices. Files are delivered in the order of their numbers.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use units::ByteCount;

use crate::api::record::Record;
use crate::trust::secret;

/// Records that wait for delivery.
#[derive(Debug)]
pub struct Spool {
    directory: PathBuf,
    /// Sizes of files, by their number.
    waiting: BTreeMap<u64, u64>,
    next: u64,
    limit: ByteCount,
    dropped: u64,
}

/// Some records, and where they are.
#[derive(Debug, Default)]
pub struct Batch {
    /// Records in order, each with the number of its file.
    pub records: Vec<Spooled>,
}

/// A record with the number of its file.
#[derive(Debug)]
pub struct Spooled {
    /// Number of its file, which orders delivery.
    pub number: u64,
    /// Record as it is sent.
    pub record: Record,
}

impl Spool {
    /// Opens the spool in a directory; makes it where there is none.
    ///
    /// # Errors
    /// What reading the directory gives.
    pub fn open(directory: &Path, limit: ByteCount) -> io::Result<Self> {
        secret::directory(directory)?;
        let mut waiting = BTreeMap::new();
        let mut next = 1;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            // Drafts of an interrupted start have another ending, and damaged files as well.
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(number) = name.strip_suffix(ENDING).and_then(|number| number.parse::<u64>().ok()) else {
                continue;
            };
            waiting.insert(number, entry.metadata()?.len());
            next = next.max(number + 1);
        }
        Ok(Self { directory: directory.to_owned(), waiting, next, limit, dropped: 0 })
    }

    /// How many records wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Records that were dropped since there was no room.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether there is room for another result. Changes and facts stop coming where there is none; a result of a run that
    /// was begun is kept in any case, and no run is begun.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.waiting.values().sum::<u64>() < self.limit.get()
    }

    /// Drops a record, and counts it.
    pub const fn drop_one(&mut self) {
        self.dropped += 1;
    }

    /// Keeps a record. It is on disk when this returns.
    ///
    /// # Errors
    /// What writing gives; nothing is kept then.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        let content = serde_json::to_vec(record)?;
        let number = self.next;
        secret::write(&self.file(number), &content)?;
        self.next += 1;
        self.waiting.insert(number, content.len() as u64);
        Ok(())
    }

    /// The oldest records, at most so many and, but for the first, so many bytes.
    pub fn oldest(&mut self, most: usize, bytes: u64) -> Batch {
        let mut batch = Batch::default();
        let mut room = bytes;
        for (number, size) in self.waiting.clone() {
            if batch.records.len() >= most || (!batch.records.is_empty() && size > room) {
                break;
            }
            match self.read(number) {
                Ok(record) => {
                    room = room.saturating_sub(size);
                    batch.records.push(Spooled { number, record });
                }
                Err(_) => self.put_aside(number),
            }
        }
        batch
    }

    /// Every record that waits, for who has to know what they are about.
    pub fn all(&mut self) -> Batch {
        self.oldest(usize::MAX, u64::MAX)
    }

    /// Forgets a record that the hub has.
    pub fn remove(&mut self, number: u64) {
        if self.waiting.remove(&number).is_some() {
            // What is still there is delivered again.
            let _ = fs::remove_file(self.file(number));
        }
    }

    /// Keeps a record that the hub cannot read, or that the disk has damaged, where it is not delivered any more.
    pub fn put_aside(&mut self, number: u64) {
        if self.waiting.remove(&number).is_some() {
            let file = self.file(number);
            let _ = fs::rename(&file, file.with_extension("aside"));
            self.dropped += 1;
        }
    }

    fn read(&self, number: u64) -> io::Result<Record> {
        Ok(serde_json::from_slice(&fs::read(self.file(number))?)?)
    }

    fn file(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:020}{ENDING}"))
    }
}

const ENDING: &str = ".record";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::record::RecordKind;

    fn record(name: &str) -> Record {
        Record::pack(name.to_owned(), RecordKind::Change, b"{}", None).unwrap()
    }

    #[test]
    fn records_are_there_after_a_restart_in_their_order() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut spool = Spool::open(directory.path(), ByteCount::new(1 << 20)).unwrap();
        for name in ["a", "b", "c"] {
            spool.add(&record(name)).unwrap();
        }
        spool.remove(2);
        // A draft of a kill, and a file that the disk has damaged.
        fs::write(directory.path().join("00000000000000000009.new"), b"{").unwrap();
        fs::write(directory.path().join("00000000000000000004.record"), b"{").unwrap();
        let mut spool = Spool::open(directory.path(), ByteCount::new(1 << 20)).unwrap();
        let names: Vec<String> = spool.all().records.into_iter().map(|spooled| spooled.record.name).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!((spool.len(), spool.dropped()), (2, 1));
        spool.add(&record("d")).unwrap();
        assert_eq!(spool.oldest(1, 0).records[0].record.name, "a");
    }

    #[test]
    fn full_spool_says_so() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut spool = Spool::open(directory.path(), ByteCount::new(10)).unwrap();
        assert!(spool.has_room());
        spool.add(&record("a")).unwrap();
        assert!(!spool.has_room());
    }
}
