//! The history of one pair, with its changes of level.

use std::collections::BTreeSet;

use baseline::analysis::{Change, Gate, Segment, Settings, Shape, analyse};
use baseline::screen::Screen;
use baseline::series::Sample;
use model::host::change::LoggedChange;
use model::spec::Protocol;
use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::query::Query;
use crate::source::results::PairResult;
use crate::source::{Pair, Source, SourceError};
use crate::view::incident::IncidentLine;

/// Results of one host sending to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairView {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// The network; the usual addresses of hosts where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The tests of a plan that it has results of, by their labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// The test whose levels and changes these are, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Results of all tests within the period, in order of time.
    pub results: Vec<PairResult>,
    /// Results outside of the period.
    pub outside: usize,
    /// Levels of TCP's goodput and what is normal within each; empty of fewer results than a baseline needs.
    pub levels: Vec<Level>,
    /// When the goodput of TCP changed.
    pub changes: Vec<GoodputChange>,
    /// What changed on the two hosts within the period.
    pub log: Vec<LoggedChange>,
    /// Incidents that one of the two hosts is part of, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<IncidentLine>,
}

/// A stretch of one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its first result, in seconds since 1970-01-01 UTC.
    pub from_s: i64,
    /// Its last result.
    pub until_s: i64,
    /// Results in it.
    pub results: usize,
    /// Median goodput in bit/s.
    pub level_bps: f64,
    /// What 95 of 100 results are above.
    pub low_bps: f64,
    /// What 95 of 100 results are below.
    pub high_bps: f64,
}

/// A change of goodput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoodputChange {
    /// `step`, `drift`, `spread` or `share`.
    pub shape: String,
    /// When, in seconds since 1970-01-01 UTC.
    pub at_s: i64,
    /// Goodput before in bit/s; of a spread, its standard deviation.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// Standard errors between the two.
    pub z: f64,
}

/// What of a history is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    period: Period,
    /// The test whose levels are wanted; that with the deepest fall where it is [`None`].
    test: Option<String>,
}

impl Asked {
    pub(crate) fn of(query: &Query) -> Self {
        Self { period: Period::of(query), test: query.text("test").map(str::to_owned) }
    }
}

/// A period of time; everything where it has no ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Period {
    since: Option<WallTime>,
    until: Option<WallTime>,
}

impl Period {
    fn of(query: &Query) -> Self {
        let time = |name| query.number::<u64>(name).map(|s| WallTime::from_unix_nanos(s.saturating_mul(1_000_000_000)));
        Self { since: time("since_s"), until: time("until_s") }
    }

    fn holds(&self, time: WallTime) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time <= until)
    }
}

impl PairView {
    pub(crate) fn of(source: &dyn Source, pair: Pair, asked: Asked) -> Result<Self, SourceError> {
        let Asked { period, test } = asked;
        let all = source.results(&pair)?;
        let count = all.len();
        let mut results: Vec<PairResult> = all.into_iter().filter(|result| period.holds(result.started)).collect();
        let excess = results.len().saturating_sub(MOST_RESULTS);
        results.drain(..excess);
        let mut log = Vec::new();
        for host in [&pair.from, &pair.to] {
            log.extend(
                source.changes(host, MOST_CHANGES)?.into_iter().filter(|change| period.holds(change.entry.time)),
            );
        }
        log.sort_by_key(|change| (change.entry.time, change.number));
        let incidents = incidents(source, &pair, period)?;
        let tests = tests(&results);
        let test = test.or_else(|| most_telling(&results, &tests));
        let is_judged = |result: &&PairResult| test.is_none() || result.test == test;
        let samples = thinned(results.iter().filter(is_judged).filter_map(sample).collect());
        // A person asks for this one series.
        let settings = Settings { gate: Gate::Open, ..Settings::default() };
        let found = analyse(&samples, &settings, &mut Screen::default());
        Ok(Self {
            from: pair.from,
            to: pair.to,
            network: pair.network,
            test: test.filter(|_| tests.len() > 1),
            tests,
            outside: count - results.len(),
            results,
            levels: found.segments.iter().map(level).collect(),
            changes: found.changes.iter().map(change).collect(),
            log,
            incidents,
        })
    }
}

/// The labels of all results, each once.
fn tests(results: &[PairResult]) -> Vec<String> {
    let labels: BTreeSet<&String> = results.iter().filter_map(|result| result.test.as_ref()).collect();
    labels.into_iter().cloned().collect()
}

/// The test whose worst result is the farthest below what it usually has: what a person comes to look at.
fn most_telling(results: &[PairResult], tests: &[String]) -> Option<String> {
    let depth = |label: &String| {
        let of_test = results.iter().filter(|result| result.test.as_ref() == Some(label));
        let mut rates: Vec<u64> = of_test.filter_map(|result| Some(result.goodput?.bps())).collect();
        rates.sort_unstable();
        // In thousandths.
        let usual = rates.get(rates.len() / 2).copied().unwrap_or_default();
        usual.saturating_mul(1_000) / rates.first().copied().unwrap_or(1).max(1)
    };
    // Of equal ones the first.
    tests.iter().rev().max_by_key(|label| depth(label)).cloned()
}

/// What was going on at either host while the results came.
fn incidents(source: &dyn Source, pair: &Pair, period: Period) -> Result<Vec<IncidentLine>, SourceError> {
    let mut found = source.incidents()?.unwrap_or_default();
    found.retain(|incident| {
        let is_of_pair = incident.hosts.contains(&pair.from) || incident.hosts.contains(&pair.to);
        is_of_pair && (period.holds(incident.since) || period.holds(incident.opened))
    });
    Ok(found.iter().rev().take(MOST_INCIDENTS).map(IncidentLine::of).collect())
}

/// Medians of neighbours in place of more samples than changes can be placed among at once: of a year of one each hour, of 8 hours.
fn thinned(samples: Vec<Sample>) -> Vec<Sample> {
    let together = samples.len().div_ceil(MOST_ANALYSED).max(1);
    let median = |neighbours: &[Sample]| {
        let mut ordered = neighbours.to_vec();
        ordered.sort_by(|one, other| one.value.total_cmp(&other.value));
        Sample { at_s: neighbours[0].at_s, value: ordered[ordered.len() / 2].value }
    };
    if together == 1 { samples } else { samples.chunks(together).map(median).collect() }
}

#[expect(clippy::cast_precision_loss, reason = "a rate, for statistics")]
fn sample(result: &PairResult) -> Option<Sample> {
    let goodput = result.goodput.filter(|_| result.protocol == Protocol::Tcp && result.failure.is_none())?;
    let at_s = i64::try_from(result.started.unix_nanos() / 1_000_000_000).ok()?;
    Some(Sample { at_s, value: goodput.bps() as f64 })
}

fn level(segment: &Segment) -> Level {
    Level {
        from_s: segment.from_s,
        until_s: segment.until_s,
        results: segment.samples,
        level_bps: segment.level,
        low_bps: segment.low,
        high_bps: segment.high,
    }
}

fn change(change: &Change) -> GoodputChange {
    let shape = match change.shape {
        Shape::Step => "step",
        Shape::Drift => "drift",
        Shape::Spread => "spread",
        Shape::Share => "share",
    };
    GoodputChange {
        shape: shape.to_owned(),
        at_s: change.at_s,
        before: change.before,
        after: change.after,
        z: change.z,
    }
}

const MOST_RESULTS: usize = 10_000;
/// Exact placement of changes costs up to the square of their number: of 8,760 of them 3 CPU seconds.
const MOST_ANALYSED: usize = 1_200;
const MOST_CHANGES: u32 = 1_000;
const MOST_INCIDENTS: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_of_the_test_that_fell() {
        let result = |test: &str, mbit: u64| PairResult {
            started: WallTime::default(),
            run: None,
            round: None,
            test: Some(test.to_owned()),
            protocol: Protocol::Tcp,
            goodput: Some(units::DataRate::from_bps(mbit * 1_000_000)),
            retransmits: None,
            loaded_rtt_us: None,
            failure: None,
        };
        let results = [("a", 185), ("a", 185), ("a", 1), ("b", 191), ("b", 191), ("b", 190)];
        let results: Vec<PairResult> = results.iter().map(|(test, mbit)| result(test, *mbit)).collect();
        assert_eq!(most_telling(&results, &tests(&results)).as_deref(), Some("a"));
        assert_eq!(most_telling(&[], &[]), None);
    }

    #[test]
    fn a_year_of_results_is_judged_by_medians_of_neighbours() {
        let sample = |hour: i64| Sample { at_s: hour * 3_600, value: if hour % 8 == 3 { 0.0 } else { 9e8 } };
        let thinned = thinned((0..8_760).map(sample).collect());
        assert_eq!(thinned.len(), 1_095);
        assert!(thinned.iter().all(|sample| sample.value == 9e8 && sample.at_s % (8 * 3_600) == 0));
        assert_eq!(super::thinned(vec![sample(3)]), vec![sample(3)]);
    }
}
