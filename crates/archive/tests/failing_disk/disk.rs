//! What is wrong with the disk, and since which call; and what of it a power cut would take.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::ffi;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Whatever needs room fails (ENOSPC).
    Full,
    /// Any call fails (EIO).
    Broken,
    /// A write ends half way, and fails.
    Torn,
    /// As broken; and of what was not written through, every second write is lost.
    PowerCut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Once,
    ForGood,
}

/// A disk that is ill from a call on, counted from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    pub(crate) trouble: Trouble,
    pub(crate) lasting: Lasting,
    pub(crate) call: u64,
}

/// What SQLite asks of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Opening a file that may have to be made.
    Make,
    Open,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Delete,
    Access,
    /// Mapping the index of the log.
    Map,
}

/// How a call ends that does not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// At once, with this code.
    With(i32),
    /// After half of what was to be written, with this code.
    HalfWay(i32),
}

/// A write that was not written through yet.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) offset: u64,
    pub(crate) new: Vec<u8>,
    /// What was there, and how long the file was.
    pub(crate) old: Vec<u8>,
    pub(crate) old_size: u64,
}

#[derive(Default)]
struct State {
    ill: Option<Disk>,
    calls: u64,
    failed: bool,
    pending: BTreeMap<PathBuf, Vec<Pending>>,
}

static STATE: Mutex<State> = Mutex::new(State { ill: None, calls: 0, failed: false, pending: BTreeMap::new() });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn fall_ill(disk: Disk) {
    *state() = State { ill: Some(disk), ..State::default() };
}

/// Makes the disk well again, with the losses of a power cut. Returns whether a call had failed.
pub(crate) fn heal() -> bool {
    let State { ill, failed, pending, .. } = std::mem::take(&mut *state());
    if failed && ill.is_some_and(|disk| disk.trouble == Trouble::PowerCut) {
        pending.into_iter().for_each(|(path, writes)| lose_every_second(path, &writes));
    }
    failed
}

/// How the next call ends.
pub(crate) fn next(call: Call) -> Option<Failure> {
    let mut state = state();
    let disk = state.ill?;
    if !disk.trouble.meets(call) {
        return None;
    }
    state.calls += 1;
    let fails = match disk.lasting {
        Lasting::Once => state.calls == disk.call,
        Lasting::ForGood => state.calls >= disk.call,
    };
    state.failed |= fails;
    fails.then(|| disk.trouble.failure(call))
}

pub(crate) fn written(path: PathBuf, pending: Pending) {
    state().pending.entry(path).or_default().push(pending);
}

/// What was written to a file is on the disk, come what may.
pub(crate) fn written_through(path: &PathBuf) {
    state().pending.remove(path);
}

impl Trouble {
    fn meets(self, call: Call) -> bool {
        match self {
            Self::Full => matches!(call, Call::Make | Call::Write | Call::Sync | Call::Map),
            Self::Broken | Self::PowerCut => true,
            Self::Torn => call == Call::Write,
        }
    }

    fn failure(self, call: Call) -> Failure {
        match (self, call) {
            (Self::Full, Call::Write) => Failure::HalfWay(ffi::SQLITE_FULL),
            (Self::Torn, _) => Failure::HalfWay(ffi::SQLITE_IOERR_WRITE),
            _ => Failure::With(call.code()),
        }
    }
}

impl Disk {
    /// Whether an error says what was wrong with the disk, or with what it kept SQLite from doing.
    pub(crate) fn is_what(self, error: &str) -> bool {
        let usual = ["the disk may be full or broken", "it cannot be opened"];
        usual.iter().any(|words| error.contains(words))
            || (self.trouble == Trouble::Full && error.contains("the disk is full"))
    }
}

impl Call {
    /// What SQLite's own access to files says of each (src/os_unix.c).
    fn code(self) -> i32 {
        match self {
            Self::Make | Self::Open => ffi::SQLITE_CANTOPEN,
            Self::Read => ffi::SQLITE_IOERR_READ,
            Self::Write => ffi::SQLITE_IOERR_WRITE,
            Self::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Self::Sync => ffi::SQLITE_IOERR_FSYNC,
            Self::Size => ffi::SQLITE_IOERR_FSTAT,
            Self::Delete => ffi::SQLITE_IOERR_DELETE,
            Self::Access => ffi::SQLITE_IOERR_ACCESS,
            Self::Map => ffi::SQLITE_IOERR_SHMSIZE,
        }
    }
}

/// A disk writes in an order of its own: of two writes the later may have arrived alone.
fn lose_every_second(path: PathBuf, writes: &[Pending]) {
    // A file that was deleted is gone.
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    for write in writes.iter().rev() {
        file.write_all_at(&write.old, write.offset).unwrap();
        file.set_len(write.old_size).unwrap();
    }
    for write in writes.iter().skip(1).step_by(2) {
        file.write_all_at(&write.new, write.offset).unwrap();
    }
}
