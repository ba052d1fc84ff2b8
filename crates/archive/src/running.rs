//! Rounds that run: the journals beside an archive, as whoever leads a round writes them and others read them meanwhile.
//!
//! A journal has one JSON document a line: first the round as it began, then what happens. A reader reads on from where it stopped,
//! and leaves a last line that is not whole to the next time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::round::{Round, Tested};
use model::run::RunId;
use serde::{Deserialize, Serialize};

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`Round::FORMAT`] of the program that wrote it.
    pub format: u32,
    /// What tells its plan from others.
    pub plan: String,
    /// The round as it began, without tests.
    pub round: Round,
    /// All of its tests, by the number of the slot in the schedule; empty where an older version has written it.
    #[serde(default)]
    pub planned: Vec<PlannedTest>,
}

/// A test that a round has before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTest {
    /// What it is called.
    pub label: String,
    /// Host that asks.
    pub from: String,
    /// Host that answers.
    pub to: String,
}

/// A line of a journal behind the first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Number of the slot in the schedule.
    pub slot: usize,
    /// What was found.
    pub tested: Tested,
}

/// A line that says that a test has begun.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begun {
    /// Number of the slot in the schedule.
    pub begun: usize,
    /// When, after the start of the round.
    #[serde(rename = "at_us", with = "units::duration::as_us")]
    pub at: Duration,
}

/// A line that says which tests will not be run.
#[derive(Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Numbers of the slots in the schedule.
    pub left_out: Vec<usize>,
}

/// A line that says that somebody goes on with the round from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Tests that have ended by then.
    pub resumed: usize,
}

/// A round that is not kept in the archive yet.
#[derive(Debug, Clone)]
pub struct RunningRound {
    /// With the tests that have ended, in the order in which they began, without their samples.
    pub round: Arc<Round>,
    /// All tests, by the number of the slot; empty where an older version leads the round.
    pub planned: Vec<PlannedTest>,
    /// When tests began that have not ended.
    pub under_way: BTreeMap<usize, Duration>,
    /// Tests that have ended.
    pub ended: BTreeMap<usize, Tested>,
    /// Tests that will not be run: a host of theirs takes part no more.
    pub left_out: BTreeSet<usize>,
    /// Whether somebody leads it. One that was interrupted waits for the next round, which keeps it.
    pub is_led: bool,
    /// Lines of its journal that were read.
    pub lines: usize,
}

impl RunningRound {
    fn begin(header: Header) -> Self {
        let Header { round, planned, .. } = header;
        Self {
            round: Arc::new(round),
            planned,
            under_way: BTreeMap::new(),
            ended: BTreeMap::new(),
            left_out: BTreeSet::new(),
            is_led: true,
            lines: 1,
        }
    }

    fn take(&mut self, line: &[u8]) {
        self.lines += 1;
        if let Ok(Ended { slot, tested }) = serde_json::from_slice(line) {
            self.under_way.remove(&slot);
            self.ended.insert(slot, Tested { samples: None, ..tested });
        } else if let Ok(Begun { begun, at }) = serde_json::from_slice(line) {
            self.under_way.insert(begun, at);
        } else if let Ok(LeftOut { left_out }) = serde_json::from_slice(line) {
            self.left_out.extend(left_out);
        } else if serde_json::from_slice::<Resumed>(line).is_ok() {
            // What an earlier leader had begun it has not ended, and hosts that failed may be back.
            self.under_way.clear();
            self.left_out.clear();
        }
    }

    fn order(&mut self) {
        let mut tests: Vec<(&usize, &Tested)> = self.ended.iter().collect();
        tests.sort_by_key(|(slot, tested)| (tested.began, **slot));
        let tests: Vec<Tested> = tests.into_iter().map(|(_, tested)| tested.clone()).collect();
        let elapsed = tests.iter().map(|tested| tested.began).chain(self.under_way.values().copied()).max();
        self.round = Arc::new(Round { tests, elapsed: elapsed.unwrap_or_default(), ..(*self.round).clone() });
    }
}

/// Where the journals of an archive are: beside it.
#[must_use]
pub fn directory(archive: &Path) -> PathBuf {
    let mut directory = archive.as_os_str().to_owned();
    directory.push(".rounds");
    directory.into()
}

/// Journals that are read while they grow.
#[derive(Debug)]
pub struct Journals {
    directory: PathBuf,
    read: BTreeMap<PathBuf, Part>,
}

/// What was read of a journal.
#[derive(Debug, Default)]
struct Part {
    bytes: u64,
    round: Option<Arc<RunningRound>>,
}

impl Journals {
    /// Those beside an archive.
    #[must_use]
    pub fn beside(archive: &Path) -> Self {
        Self { directory: directory(archive), read: BTreeMap::new() }
    }

    /// The rounds that are not kept yet, the newest first, as far as they are now.
    ///
    /// # Errors
    /// What reading the directory gives; one that does not exist has none. Journals that cannot be read are left out: they are
    /// another user's, or their round was kept meanwhile.
    pub fn rounds(&mut self) -> io::Result<Vec<Arc<RunningRound>>> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<BTreeSet<PathBuf>>>()?;
        self.read.retain(|path, _| paths.contains(path));
        let journals = paths.into_iter().filter(|path| path.to_str().is_some_and(|path| path.ends_with(ENDING)));
        let mut rounds = Vec::new();
        for path in journals {
            let part = self.read.entry(path.clone()).or_default();
            if part.read_on(&path).is_ok() {
                rounds.extend(part.round.clone());
            }
        }
        rounds.sort_by_key(|running| std::cmp::Reverse((running.round.started, running.round.id)));
        Ok(rounds)
    }

    /// One of them.
    ///
    /// # Errors
    /// As [`Self::rounds`].
    pub fn round(&mut self, id: &RunId) -> io::Result<Option<Arc<RunningRound>>> {
        Ok(self.rounds()?.into_iter().find(|running| running.round.id == *id))
    }
}

impl Part {
    fn read_on(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        if file.metadata()?.len() < self.bytes {
            *self = Self::default();
        }
        file.seek(SeekFrom::Start(self.bytes))?;
        let mut more = Vec::new();
        (&file).take(MOST_AT_ONCE).read_to_end(&mut more)?;
        if let Some(whole) = more.iter().rposition(|byte| *byte == b'\n').map(|end| end + 1) {
            self.take(&more[..whole])?;
        }
        let Some(round) = self.round.as_mut() else { return Ok(()) };
        // Whoever leads it has locked it since before its first line was there. The lock goes with the file.
        let is_led = file.try_lock_shared().is_err();
        if round.is_led != is_led {
            Arc::make_mut(round).is_led = is_led;
        }
        Ok(())
    }

    /// Takes whole lines.
    fn take(&mut self, lines: &[u8]) -> io::Result<()> {
        // Nothing but the first line can be wrong.
        let mut known = self.round.take();
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match &mut known {
                Some(running) => Arc::make_mut(running).take(line),
                None => {
                    let header = serde_json::from_slice::<Header>(line).map_err(io::Error::from)?;
                    if header.format > Round::FORMAT {
                        return Err(io::ErrorKind::Unsupported.into());
                    }
                    known = Some(Arc::new(RunningRound::begin(header)));
                }
            }
        }
        self.bytes += lines.len() as u64;
        self.round = known.map(|mut running| {
            Arc::make_mut(&mut running).order();
            running
        });
        Ok(())
    }
}

/// How the names of journals end.
pub const ENDING: &str = ".round.jsonl";
/// Of a journal that was long before anybody looked, the rest is read at the next look.
const MOST_AT_ONCE: u64 = 256 << 20;
