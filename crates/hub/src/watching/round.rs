//! The latest results of a mesh as a round, which the diagnosis works on.

use std::collections::BTreeMap;
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Metric, Series};
use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::RunId;
use model::series::packed;
use units::{DataRate, WallTime};

use super::{LatestRun, PairTest};
use crate::api::record::{RunResult, content, unpacked};
use crate::schedule::planned::{Planned, TestName};
use crate::store::rows::{RecordQuery, StoredRecord};
use crate::store::{Store, StoreError};
use crate::trust::secret;

/// What there is of each pair.
pub struct Latest {
    /// The latest run of each test of a pair.
    pub runs: BTreeMap<PairTest, LatestRun>,
    /// What each series usually has, in the unit of its metric.
    pub usual: BTreeMap<Series, f64>,
}

/// A round of the latest result of each test and pair, with the newest facts of each host: of the newest [`MOST_TESTS`].
///
/// # Errors
/// Where the database refuses.
pub fn of(store: &dyn Store, planned: &Planned, latest: &Latest, now: WallTime) -> Result<Round, StoreError> {
    let plan = planned.plan();
    let oldest = oldest(planned, now);
    let mut records: Vec<u64> = latest.runs.values().filter(|run| run.began >= oldest).map(|run| run.record).collect();
    records.sort_unstable();
    records.dedup();
    records.reverse();
    records.truncate(MOST_TESTS);
    let mut tests = Vec::new();
    for key in records {
        let Some(record) = store.record(key)? else { continue };
        tests.extend(tested(planned, latest, &record));
    }
    tests.sort_by_key(|(at, _)| *at);
    let started = tests.first().map_or(now, |(at, _)| *at);
    let mut members = Vec::new();
    for (number, host) in plan.hosts.iter().enumerate() {
        let mut member = plan.member(number);
        member.before = snapshot(store, &host.name)?;
        members.push(member);
    }
    let since = |at: WallTime| clock::between(started, at);
    let tests = tests.into_iter().map(|(at, tested)| Tested { began: since(at), ..tested }).collect();
    Ok(Round {
        format: Round::FORMAT,
        id: RunId::new(now, u128::from_le_bytes(secret::random()?)),
        title: plan.title.clone(),
        started,
        elapsed: since(now),
        members,
        segments: plan.round_segments(),
        tests,
    })
}

/// Results from when on are the latest: of a pair that has none since, nothing is known.
#[must_use]
pub fn oldest(planned: &Planned, now: WallTime) -> WallTime {
    clock::earlier(now, planned.period().saturating_mul(3))
}

fn tested(planned: &Planned, latest: &Latest, record: &StoredRecord) -> Option<(WallTime, Tested)> {
    let pair = PairTest::of(record.run.as_deref()?)?;
    let plan = planned.plan();
    let test = planned.test(TestName { label: &pair.test, group: &pair.group })?;
    let network = plan.groups[plan.tests[test].group].network;
    // Whoever has asked stands first.
    let (asker, answerer) = if record.agent == pair.from { (&pair.from, &pair.to) } else { (&pair.to, &pair.from) };
    let (from, to) = (plan.host(asker)?, plan.host(answerer)?);
    let result: RunResult = content(&record.content).ok()?;
    let samples = record.samples.as_deref().and_then(|bytes| packed::unpack(bytes).ok()).map(Box::new);
    let usual = || {
        let PairTest { test, from, to, .. } = pair.clone();
        let series = Series { from, to, test, family: None, metric: Metric::Goodput };
        // What nobody has tested before, transfers may have shown.
        let of_transfers = || latest.usual.get(&super::ends::series([&series.from, &series.to]));
        latest.usual.get(&series).or_else(of_transfers).map(|value| rate(*value))
    };
    let expected = plan.expected_rate(test, from, to).or_else(|| match &result.finding {
        Finding::Run(_) => usual(),
        _ => None,
    });
    let tested = Tested {
        label: pair.test.clone(),
        from: plan.endpoint(from, network),
        to: plan.endpoint(to, network),
        began: Duration::ZERO,
        expected,
        way: plan.passages(from, to, network),
        way_back: plan.passages(to, from, network),
        emulator: None,
        attempt: None,
        finding: result.finding,
        samples,
    };
    Some((result.began, tested))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "goodput is whole bits a second")]
fn rate(bps: f64) -> DataRate {
    DataRate::from_bps(bps.max(0.0) as u64)
}

/// The newest facts of a host.
///
/// # Errors
/// Where the database refuses.
pub fn snapshot(store: &dyn Store, host: &str) -> Result<Option<Box<Snapshot>>, StoreError> {
    let query = RecordQuery { kind: "snapshot", agent: Some(host), since: WallTime::default(), most: 1 };
    let record = store.newest(query)?.pop();
    Ok(record
        .and_then(|record| unpacked(&record.content).ok())
        .and_then(|text| Snapshot::read(&text).ok())
        .map(Box::new))
}

/// Tests of a round: all pairs of a mesh of 100 hosts. The latest are taken.
pub const MOST_TESTS: usize = 20_000;
