//! Raw samples of runs as Parquet segments, in a directory that hubs share or in a bucket of S3.
//!
//! * [`layout`]: day and pair of a run, and what its segment is called
//! * [`target`]: where segments are; `bucket` and `https`: in an object store; [`mod@error`]: why not
//! * `columns`: a row for each sample; `encode` and [`mod@decode`]: rows of runs, and back
//! * `cycle`: which runs become a segment, and when their samples leave the database
//!
//! A sample is in the database until its segment is whole. Which runs a segment has is decided in a transaction, before its first
//! byte is written, so a hub that is killed or a second hub writes the same rows under the same name: once more, and never double.

mod bucket;
mod columns;
mod cycle;
pub mod decode;
mod encode;
pub mod error;
mod https;
pub mod layout;
pub mod target;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::server::directory::SegmentSettings;
use crate::store::rows::StoredRecord;
use crate::store::{Store, StoreError};
use crate::trust::digest::Fingerprint;
use decode::SegmentError;
use error::TargetError;
use model::series::{RunSamples, packed};
use target::SegmentTarget;

pub(crate) use cycle::write;

/// The segments of a hub.
#[derive(Debug)]
pub struct Segments {
    target: Arc<SegmentTarget>,
    /// When a segment is closed, and how long samples stay in the database as well.
    terms: Terms,
    /// Tells names of hubs of another database in the same directory apart.
    owner: String,
    stop: watch::Sender<bool>,
    bell: Condvar,
    rung: Mutex<()>,
}

/// When segments are closed.
#[derive(Debug, Clone, Copy)]
struct Terms {
    /// A run waits for others of its segment at most so long.
    close_after: Duration,
    /// So many runs are a segment.
    runs: u64,
    /// Groups of pairs, each with files of its own.
    pair_groups: u16,
    /// How long samples stay in the database after they came.
    keep: Duration,
}

/// Why samples of a run cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SamplesError {
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The segment cannot be fetched.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It is not as it was written.
    #[error("segment {path}: {source}")]
    Segment {
        /// Path of the segment below its target.
        path: String,
        /// What reading gave.
        source: SegmentError,
    },
    /// They are in a segment, and the hub's settings name no segments any more.
    #[error("the samples are in segment {path}, and the hub's settings do not say where segments are")]
    Nowhere {
        /// Path of the segment below the target that it had.
        path: String,
    },
}

impl Segments {
    /// Those of a hub with these settings.
    ///
    /// # Errors
    /// Where the address of the target is not understood.
    pub fn new(settings: &SegmentSettings, authority: Fingerprint) -> Result<Self, TargetError> {
        let terms = Terms {
            close_after: settings.close_after.unwrap_or(CLOSE_AFTER),
            runs: settings.runs.map_or(MOST_RUNS, u64::from).clamp(1, MOST_RUNS),
            pair_groups: settings.pair_groups.unwrap_or(PAIR_GROUPS).max(1),
            keep: settings.keep.unwrap_or(KEEP),
        };
        let target = Arc::new(SegmentTarget::parse(&settings.to)?);
        let (stop, _) = watch::channel(false);
        Ok(Self {
            target,
            terms,
            owner: authority.to_string().chars().take(OWNER).collect(),
            stop,
            bell: Condvar::new(),
            rung: Mutex::default(),
        })
    }

    /// Where they are.
    #[must_use]
    pub fn target(&self) -> &Arc<SegmentTarget> {
        &self.target
    }

    /// Ends what is under way; the same segment is written by whoever comes next.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
        self.bell.notify_all();
    }

    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits for a moment, or until [`Self::stop`].
    fn wait(&self, most: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_stopped() {
            drop(self.bell.wait_timeout(rung, most));
        }
    }
}

/// The samples of a run, from the database or from its segment; [`None`] where it has none.
///
/// # Errors
/// See [`SamplesError`].
pub fn samples(
    store: &dyn Store,
    target: Option<&SegmentTarget>,
    record: &StoredRecord,
) -> Result<Option<RunSamples>, SamplesError> {
    if let Some(packed) = &record.samples {
        return Ok(packed::unpack(packed).ok());
    }
    let Some(path) = store.segment_of(record.key)? else { return Ok(None) };
    let Some(target) = target else { return Err(SamplesError::Nowhere { path }) };
    let bytes = target.get(&path)?;
    decode::samples(bytes, record.key).map_err(|source| SamplesError::Segment { path, source })
}

/// Letters of an authority's digest: a directory has few of them.
const OWNER: usize = 8;
/// A day, and an hour for what agents deliver late: most pairs have one segment a day.
const CLOSE_AFTER: Duration = Duration::from_secs(25 * 3_600);
/// Runs of a segment: 800,000 rows of runs with 200 samples.
const MOST_RUNS: u64 = 4_000;
/// Packed samples of a segment, which a hub has in memory while it writes it, as Parquet.
const MOST_BYTES: u64 = 16 << 20;
/// Files of a day at least, and what a query of one pair reads of it.
const PAIR_GROUPS: u16 = 8;
/// Diagnoses look at the latest results.
const KEEP: Duration = Duration::from_secs(2 * 86_400);
