//! What a round has measured so far, on disk: whoever led it may be killed, and nothing that was measured is lost.
//!
//! A file has one JSON document a line: first the round as it began, then each test as it ended. A line is on disk before the
//! next test is counted as ended. The file is locked while the round runs, so that one that nobody leads any more is known by
//! its lock; its last line may be cut, and is then left out.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use archive::running::{Begun, ENDING, Ended, Header, LeftOut, PlannedTest, Resumed};
use model::round::{Round, Tested};
use serde::Serialize;

/// The journal of a round that runs.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    plan: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    failed: Option<io::Error>,
}

/// A round that nobody leads any more, as far as it came.
#[derive(Debug)]
pub struct Interrupted {
    /// What tells its plan from others, as [`Journal::begin`] was given it.
    pub plan: String,
    /// The round as it began, without tests.
    pub round: Round,
    /// What was measured, by the number of the slot in the schedule.
    pub tests: BTreeMap<usize, Tested>,
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Begins the journal of a round in `directory`, which is made where it does not exist. `plan` tells its plan from others.
    ///
    /// # Errors
    /// What the file system says.
    pub fn begin(directory: &Path, name: &str, plan: &str) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let path = directory.join(format!("{name}{ENDING}"));
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&path)?;
        file.try_lock().map_err(io::Error::from)?;
        File::open(directory)?.sync_all()?;
        Ok(Self { path, plan: plan.to_owned(), state: Mutex::new(State { file, failed: None }) })
    }

    /// Goes on with the journal of a round that was interrupted.
    ///
    /// # Errors
    /// What the file system says.
    pub fn resume(interrupted: &Interrupted) -> io::Result<Self> {
        // The last line may have been cut: what follows begins a line of its own.
        let mut file = interrupted.file.try_clone()?;
        file.write_all(b"\n")?;
        let state = Mutex::new(State { file, failed: None });
        let journal = Self { path: interrupted.path.clone(), plan: interrupted.plan.clone(), state };
        journal.note(&Resumed { resumed: interrupted.tests.len() });
        Ok(journal)
    }

    /// The round begins, with all of these tests before it.
    pub(super) fn begins(&self, round: &Round, planned: Vec<PlannedTest>) {
        self.add(&Header {
            format: Round::FORMAT,
            plan: self.plan.clone(),
            round: Round { tests: Vec::new(), ..round.clone() },
            planned,
        });
    }

    /// A test has begun.
    pub(super) fn begun(&self, slot: usize, at: Duration) {
        self.note(&Begun { begun: slot, at });
    }

    /// Tests will not be run.
    pub(super) fn left_out(&self, slots: Vec<usize>) {
        self.note(&LeftOut { left_out: slots });
    }

    /// A test has ended.
    pub(super) fn ended(&self, slot: usize, tested: &Tested) {
        self.add(&Ended { slot, tested: tested.clone() });
    }

    /// Why not all of the round is in it, if so.
    pub fn failure(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failed.as_ref().map(ToString::to_string)
    }

    /// File that the journal is written to while the round runs.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The round is kept elsewhere.
    ///
    /// # Errors
    /// What removing the file gives.
    pub fn done(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Adds what must not be lost.
    fn add<T: Serialize>(&self, document: &T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = write(&mut state.file, document).and_then(|()| state.file.sync_data());
        // The round goes on: what it measures is in memory, and kept at its end.
        if let Err(error) = written {
            state.failed.get_or_insert(error);
        }
    }

    /// Adds what is for those who look at the round while it runs: nothing depends on it.
    fn note<T: Serialize>(&self, document: &T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write(&mut state.file, document);
    }
}

fn write<T: Serialize>(file: &mut File, document: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    file.write_all(&line)
}

impl Interrupted {
    /// The round as far as it came.
    #[must_use]
    pub fn round(&self) -> Round {
        Round { tests: self.tests.values().cloned().collect(), ..self.round.clone() }
    }

    /// The round is kept elsewhere.
    ///
    /// # Errors
    /// What removing the file gives.
    pub fn done(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// The rounds in `directory` that nobody leads any more, the oldest first. One of which not even the beginning can be read
/// is left where it is.
///
/// # Errors
/// What reading the directory gives; one that does not exist has none.
pub fn interrupted(directory: &Path) -> io::Result<Vec<Interrupted>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.to_str().is_some_and(|path| path.ends_with(ENDING)) {
            found.extend(read(path)?);
        }
    }
    found.sort_by_key(|interrupted| interrupted.round.started);
    Ok(found)
}

fn read(path: PathBuf) -> io::Result<Option<Interrupted>> {
    let file = OpenOptions::new().read(true).append(true).open(&path)?;
    if is_led(&file) {
        return Ok(None);
    }
    let mut lines = BufReader::new(file.try_clone()?).split(b'\n');
    let Some(Ok(first)) = lines.next() else { return Ok(None) };
    let Ok(header) = serde_json::from_slice::<Header>(&first) else { return Ok(None) };
    if header.format > Round::FORMAT {
        return Ok(None);
    }
    let mut tests = BTreeMap::new();
    for line in lines {
        if let Ok(Ended { slot, tested }) = serde_json::from_slice(&line?) {
            tests.insert(slot, tested);
        }
    }
    Ok(Some(Interrupted { plan: header.plan, round: header.round, tests, path, file }))
}

/// Whether somebody has it locked. A lock that was given up is still held by a program that is just being started, from its
/// fork to its exec, so a moment passes before it counts.
fn is_led(file: &File) -> bool {
    let is_locked = |attempt: u32| {
        if attempt > 0 {
            std::thread::sleep(FORK_TO_EXEC);
        }
        file.try_lock().is_err()
    };
    (0..ATTEMPTS).all(is_locked)
}

const FORK_TO_EXEC: Duration = Duration::from_millis(10);
const ATTEMPTS: u32 = 10;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::played::Finding;
    use units::WallTime;

    use super::*;

    fn round() -> Round {
        Round {
            format: Round::FORMAT,
            id: serde_json::from_str("\"01JC0000000000000000000000\"").unwrap(),
            title: "three".to_owned(),
            started: WallTime::from_unix_nanos(1),
            elapsed: Duration::ZERO,
            members: Vec::new(),
            segments: Vec::new(),
            tests: Vec::new(),
        }
    }

    fn tested(detail: &str) -> Tested {
        let end = serde_json::json!({ "host": "a", "address": "192.0.2.1" });
        serde_json::from_value(serde_json::json!({
            "label": "ping", "from": end, "to": end, "began_us": 0,
            "finding": serde_json::to_value(Finding::Nothing { detail: detail.to_owned() }).unwrap(),
        }))
        .unwrap()
    }

    #[test]
    fn what_was_measured_is_there_after_the_leader_is_gone_at_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::begin(folder.path(), "one", "digest").unwrap();
        journal.begins(&round(), Vec::new());
        assert!(interrupted(folder.path()).unwrap().is_empty(), "somebody leads it");
        journal.ended(0, &tested("first"));
        let whole = fs::read(journal.path()).unwrap().len();
        journal.ended(4, &tested("second"));
        let path = journal.path().to_owned();
        drop(journal);
        let bytes = fs::read(&path).unwrap();
        for length in whole..=bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let found = interrupted(folder.path()).unwrap().remove(0);
            // The end of the line is not needed to read it.
            let both = length + 1 >= bytes.len();
            assert_eq!((found.tests.len(), found.plan.as_str()), (if both { 2 } else { 1 }, "digest"), "{length}");
        }
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let cut = interrupted(folder.path()).unwrap().remove(0);
        let journal = Journal::resume(&cut).unwrap();
        journal.ended(4, &tested("again"));
        drop((journal, cut));
        let found = interrupted(folder.path()).unwrap().remove(0);
        assert_eq!(found.tests.keys().copied().collect::<Vec<_>>(), [0, 4]);
        found.done().unwrap();
        assert!(interrupted(folder.path()).unwrap().is_empty());
    }
}
