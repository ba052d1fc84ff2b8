//! Which runs become a segment, and when their samples leave the database.
//!
//! Runs are sorted by day and pair as they come; a segment is closed when it is full or its oldest run has waited long enough; it is
//! written; and some days later the database forgets the samples. Each step is a transaction that may be done again.

use std::sync::Arc;
use std::time::Duration;

use mesh::clock;
use model::played::Finding;
use model::series::packed;
use parquet::errors::ParquetError;
use units::WallTime;

use super::Segments;
use super::encode::{SampledRun, SegmentWriter};
use super::error::TargetError;
use super::layout::SegmentFolder;
use crate::api::record::{RunResult, content};
use crate::server::counters::Event;
use crate::server::state::Hub;
use crate::store::rows::StoredRecord;
use crate::store::segments::{Closing, SegmentRow, SegmentRun, SortedRuns};
use crate::store::{Store, StoreError};
use crate::watching::{Judges, PairTest};

/// Why segments are behind.
#[derive(Debug, thiserror::Error)]
enum CycleError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("a segment cannot be encoded")]
    Parquet(#[from] ParquetError),
}

/// Writes segments until the hub stops. Of hubs that share a database the one that judges does.
pub(crate) fn write(hub: &Arc<Hub>, segments: &Segments) {
    let mut failures = 0_u32;
    let mut trouble = None;
    while !segments.is_stopped() {
        let outcome = match hub.watching.judges() {
            Judges::Here => segments.advance(hub),
            Judges::Elsewhere => Ok(()),
        };
        failures = if outcome.is_ok() { 0 } else { failures.saturating_add(1) };
        let found = outcome.err().filter(|_| !segments.is_stopped()).map(|error| shown(&error));
        if let Some(why) = &found {
            hub.counters.count(Event::SegmentFailed);
            if trouble.as_ref() != Some(why) {
                let waits = "samples stay in the database, and segments follow later";
                hub.log.say(hub.now(), format_args!("segments in {}: {why}; {waits}", segments.target));
            }
        } else if trouble.is_some() {
            hub.log.say(hub.now(), format_args!("segments in {} are written again", segments.target));
        }
        trouble = found;
        segments.wait(BEAT.saturating_mul(1 << failures.min(MOST_DOUBLINGS)));
    }
}

fn shown(error: &CycleError) -> String {
    crate::server::answer::shown(error)
}

impl Segments {
    fn advance(&self, hub: &Hub) -> Result<(), CycleError> {
        let store = hub.store.as_ref();
        while !self.is_stopped() && self.sort(store)? {}
        self.close(store, hub.now())?;
        while !self.is_stopped()
            && let Some(segment) = store.unwritten()?
        {
            self.write_one(hub, segment)?;
        }
        let period = hub.schedule.planned().map_or(Duration::ZERO, |planned| planned.period());
        let kept = self.terms.keep.max(period.saturating_mul(KEPT_PERIODS));
        while !self.is_stopped() && store.prune(clock::earlier(hub.now(), kept))? {}
        Ok(())
    }

    /// Sorts some runs; whether there were any.
    fn sort(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let after = store.sorted()?;
        let records = store.unjudged(after, SORTED_TOGETHER)?;
        let Some(upto) = records.last().map(|record| record.key) else { return Ok(false) };
        let runs = records.iter().filter_map(|record| self.sorted(record)).collect();
        store.sort(SortedRuns { upto, runs })?;
        Ok(true)
    }

    fn sorted(&self, record: &StoredRecord) -> Option<SegmentRun> {
        #[derive(serde::Deserialize)]
        struct Began {
            #[serde(rename = "began_unix_ns")]
            began: WallTime,
        }
        let bytes = record.samples.as_ref()?.len() as u64;
        let pair = PairTest::of(record.run.as_deref()?)?;
        let Began { began } = content(&record.content).ok()?;
        let folder = SegmentFolder::of([&pair.from, &pair.to], began, self.terms.pair_groups);
        Some(SegmentRun { record: record.key, folder, bytes, received: record.received })
    }

    fn close(&self, store: &dyn Store, now: WallTime) -> Result<(), StoreError> {
        let oldest = clock::earlier(now, self.terms.close_after);
        for waiting in store.waiting()? {
            let mut left = waiting;
            while left.runs >= self.terms.runs
                || left.bytes >= super::MOST_BYTES
                || left.runs > 0 && left.oldest <= oldest
            {
                let closing = Closing {
                    folder: left.folder,
                    most_runs: self.terms.runs,
                    most_bytes: super::MOST_BYTES,
                    owner: self.owner.clone(),
                };
                let closed = store.close(closing)?;
                left.runs = left.runs.saturating_sub(closed.runs);
                left.bytes = left.bytes.saturating_sub(closed.bytes);
                if closed.runs == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    fn write_one(&self, hub: &Hub, segment: SegmentRow) -> Result<(), CycleError> {
        let SegmentRow { key, path, mut records } = segment;
        // Rows of a pair stand together, so that a query of one passes over the groups of others.
        records.sort_by_cached_key(|one| PairTest::of(&one.run).map(|pair| (pair.from, pair.to, pair.test, one.key)));
        let mut writer = SegmentWriter::new()?;
        let mut unreadable = Vec::new();
        for one in records {
            let record = hub.store.record(one.key)?.filter(|record| record.samples.is_some());
            // Another hub has written the segment meanwhile, and they are there alone by now.
            let Some(record) = record else { return Ok(()) };
            match sampled(record) {
                Some(run) => writer.add(run)?,
                None => unreadable.push(one.key),
            }
            if self.is_stopped() {
                return Err(TargetError::Stopped.into());
            }
        }
        if !unreadable.is_empty() {
            let count = unreadable.len();
            hub.log
                .say(hub.now(), format_args!("samples of {count} runs cannot be read; segment {path} is without them"));
        }
        self.target.put(&path, writer.finish()?, self.stop.subscribe())?;
        hub.store.written(key, unreadable)?;
        hub.counters.count(Event::SegmentWritten);
        Ok(())
    }
}

/// A run as its segment has it; [`None`] where nobody can read its samples.
fn sampled(record: StoredRecord) -> Option<SampledRun> {
    let StoredRecord { key, agent, run, content: packed_content, samples, .. } = record;
    let result: RunResult = content(&packed_content).ok()?;
    let started = match &result.finding {
        Finding::Run(run) => run.started,
        _ => result.began,
    };
    let run = run?;
    let pair = PairTest::of(&run)?;
    let samples = packed::unpack(&samples?).ok()?;
    Some(SampledRun { record: key, run, pair, agent, started, samples })
}

/// From one look to the next.
const BEAT: Duration = Duration::from_secs(1);
/// After failures it becomes a minute.
const MOST_DOUBLINGS: u32 = 6;
/// Records in memory at once.
const SORTED_TOGETHER: usize = 64;
/// A diagnosis looks back three periods of the plan.
const KEPT_PERIODS: u32 = 4;
