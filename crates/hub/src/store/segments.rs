//! Which runs have their samples in which segment.

use units::WallTime;

use super::error::StoreError;
use crate::segments::layout::{SegmentFolder, SegmentName};

/// A run whose samples are to be in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRun {
    /// Key of its record.
    pub record: u64,
    /// The folder of its segment.
    pub folder: SegmentFolder,
    /// Bytes of its packed samples.
    pub bytes: u64,
    /// When it came.
    pub received: WallTime,
}

/// Runs that were sorted, and up to which record all are.
#[derive(Debug, Clone, Default)]
pub struct SortedRuns {
    /// The last record that was looked at.
    pub upto: u64,
    /// Those with samples.
    pub runs: Vec<SegmentRun>,
}

/// Runs of a folder that are in no segment yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRuns {
    /// Folder that their segment will be in.
    pub folder: SegmentFolder,
    /// How many.
    pub runs: u64,
    /// Bytes of their packed samples.
    pub bytes: u64,
    /// When the first of them came.
    pub oldest: WallTime,
}

/// What is to be a segment: the runs of a folder that came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// Folder of the segment.
    pub folder: SegmentFolder,
    /// At most so many runs.
    pub most_runs: u64,
    /// And so many bytes of packed samples, or one run.
    pub most_bytes: u64,
    /// What names of segments of these hubs begin with.
    pub owner: String,
}

/// What a segment has that was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClosedRuns {
    /// Runs; none where another hub was faster.
    pub runs: u64,
    /// Bytes of their packed samples.
    pub bytes: u64,
}

/// A segment that is closed and not known to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// Key of the segment, in the order of closing.
    pub key: u64,
    /// Path of the segment below its target.
    pub path: String,
    /// What it has.
    pub records: Vec<SegmentRecord>,
}

/// A run of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRecord {
    /// Key of its record.
    pub key: u64,
    /// Name of the run, which says its pair.
    pub run: String,
}

/// What a hub keeps of segments. Every change may be made twice, by two hubs or by one that was killed.
pub trait SegmentIndex {
    /// Up to which record runs are sorted.
    ///
    /// # Errors
    /// Where the database refuses, as for every call of this trait.
    fn sorted(&self) -> Result<u64, StoreError>;

    /// Keeps runs by day and pair.
    ///
    /// # Errors
    /// Where the database refuses.
    fn sort(&self, sorted: SortedRuns) -> Result<(), StoreError>;

    /// Runs that are in no segment, by folder.
    ///
    /// # Errors
    /// Where the database refuses.
    fn waiting(&self) -> Result<Vec<WaitingRuns>, StoreError>;

    /// Closes a segment: from now on it has these runs, and no other will.
    ///
    /// # Errors
    /// Where the database refuses.
    fn close(&self, closing: Closing) -> Result<ClosedRuns, StoreError>;

    /// The first segment that is closed and not known to be written.
    ///
    /// # Errors
    /// Where the database refuses.
    fn unwritten(&self) -> Result<Option<SegmentRow>, StoreError>;

    /// A segment is written, without the records whose samples nobody can read: those stay in the database as they are.
    ///
    /// # Errors
    /// Where the database refuses.
    fn written(&self, key: u64, unreadable: Vec<u64>) -> Result<(), StoreError>;

    /// Forgets the samples of one segment that is written and whose runs all came before; whether there was one.
    ///
    /// # Errors
    /// Where the database refuses.
    fn prune(&self, before: WallTime) -> Result<bool, StoreError>;

    /// The path of the written segment that has the samples of a record.
    ///
    /// # Errors
    /// Where the database refuses.
    fn segment_of(&self, record: u64) -> Result<Option<String>, StoreError>;
}

/// A segment of the runs that came first of those that wait.
#[derive(Debug)]
pub(super) struct NewSegment {
    /// What it has.
    pub(super) closed: ClosedRuns,
    /// Where it will be, below its target.
    pub(super) path: String,
    /// When the last of its runs came.
    pub(super) newest: WallTime,
    /// Key of the last record that it has.
    pub(super) last: u64,
}

impl NewSegment {
    /// Of runs in the order of their records, with their names; none where none waits.
    pub(super) fn of(waiting: Vec<(SegmentRun, String)>, closing: &Closing) -> Option<Self> {
        let (mut runs, mut names): (Vec<SegmentRun>, Vec<String>) = waiting.into_iter().unzip();
        let closed = taken(&runs, closing);
        runs.truncate(usize::try_from(closed.runs).unwrap_or(usize::MAX));
        names.truncate(runs.len());
        let (first, last) = (runs.first()?, runs.last()?);
        let name = SegmentName { folder: closing.folder, owner: &closing.owner, first: first.record, runs: &names };
        let newest = runs.iter().map(|run| run.received).max().unwrap_or(last.received);
        Some(Self { closed, path: name.to_string(), newest, last: last.record })
    }
}

/// How many of the runs that wait are a segment within its limits: one at least, where there is one.
fn taken(waiting: &[SegmentRun], closing: &Closing) -> ClosedRuns {
    let mut closed = ClosedRuns::default();
    for run in waiting {
        let is_full = closed.runs >= closing.most_runs || closed.bytes + run.bytes > closing.most_bytes;
        if closed.runs > 0 && is_full {
            break;
        }
        closed = ClosedRuns { runs: closed.runs + 1, bytes: closed.bytes + run.bytes };
    }
    closed
}
