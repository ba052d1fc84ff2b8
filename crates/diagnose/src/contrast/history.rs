//! Which entry of the change log precedes a change of the rate.

use model::host::change::ChangeEntry;
use serde::{Deserialize, Serialize};
use stats::level::{self, LevelChange};
use units::WallTime;

use super::class::Classes;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// When each test ran and what it gave, in any order.
    pub series: &'a [Measured],
    /// The change log.
    pub entries: &'a [ChangeEntry],
    /// The hosts at the path: its ends, and those that they depend on.
    pub hosts: &'a [String],
    /// How long before a change an entry may lie.
    pub window: std::time::Duration,
}

/// A test of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// When it ran.
    pub time: WallTime,
    /// Its rate, in any unit.
    pub value: f64,
}

/// Every change of the rate with what may have caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// The changes, in order.
    pub steps: Vec<Step>,
}

/// A change of the rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The last test before it.
    #[serde(rename = "last_before_unix_ns")]
    pub last_before: WallTime,
    /// The first test after it.
    #[serde(rename = "first_after_unix_ns")]
    pub first_after: WallTime,
    /// The median before it.
    pub before: f64,
    /// The median after it.
    pub after: f64,
    /// The probability of such a difference anywhere in the series, were there none.
    pub p: f64,
    /// Entries that precede it, the likeliest first. Empty where no entry does.
    pub suspects: Vec<Suspect>,
}

/// An entry that precedes a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspect {
    /// What was changed, when, and on which host, from the journal of changes.
    pub entry: ChangeEntry,
    /// The kind of setting.
    pub class: String,
    /// Closeness x prior x place, by which entries are ranked.
    pub score: f64,
    /// How many tests ran after the entry and were still as before.
    pub good_since: usize,
    /// Whether it changed a host at the path.
    pub is_on_path: bool,
}

/// Finds the changes of a series, and which entries precede each.
#[must_use]
pub fn history(question: &Question<'_>, classes: &Classes) -> History {
    let mut series: Vec<Measured> = question.series.to_vec();
    series.sort_by_key(|measured| measured.time);
    let values: Vec<f64> = series.iter().map(|measured| measured.value).collect();
    let changes = level::changes(&values).into_iter().filter(is_large);
    History { steps: changes.map(|change| step(question, classes, &series, &change)).collect() }
}

/// Whether a change is worth asking after.
fn is_large(change: &LevelChange) -> bool {
    let larger = change.before.abs().max(change.after.abs());
    (change.after - change.before).abs() >= LARGE * larger && larger > 0.0
}

fn step(question: &Question<'_>, classes: &Classes, series: &[Measured], change: &LevelChange) -> Step {
    // A change has tests on both sides.
    let (last_before, first_after) = (series[change.at - 1].time, series[change.at].time);
    let suspect = |entry: &ChangeEntry| {
        let began = entry.after.unwrap_or(entry.time);
        let window = units::duration::nanos(question.window);
        let opens = last_before.unix_nanos().saturating_sub(window);
        if began >= first_after || entry.time.unix_nanos() < opens {
            return None;
        }
        let good_since = series[..change.at].iter().filter(|measured| measured.time > entry.time).count();
        let is_on_path = question.hosts.contains(&entry.host);
        let (class, prior) = class(classes, entry);
        let closeness = STILL_GOOD.powi(i32::try_from(good_since).unwrap_or(i32::MAX));
        let place = if is_on_path { 1.0 } else { ELSEWHERE };
        Some(Suspect { entry: entry.clone(), class, score: closeness * prior * place, good_since, is_on_path })
    };
    let mut suspects: Vec<Suspect> =
        question.entries.iter().filter_map(suspect).filter(|suspect| suspect.score >= LEAST_SCORE).collect();
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.entry.time.cmp(&a.entry.time)));
    Step { last_before, first_after, before: change.before, after: change.after, p: change.p, suspects }
}

/// The kind of setting that an entry changed. Who enters one by hand leaves out what settings of devices begin with.
fn class(classes: &Classes, entry: &ChangeEntry) -> (String, f64) {
    let fact = entry.fact.as_str();
    let is_short = entry.subject.is_some() && !fact.contains('.') && fact != "device";
    let name = match fact {
        "mtu" | "txqlen" if is_short => format!("link.{fact}"),
        _ if is_short => format!("feature.{fact}"),
        _ => fact.to_owned(),
    };
    classes.of(&name).map(|class| (class.name.clone(), class.prior)).unwrap_or_default()
}

/// What is less than a tenth of the rate is not asked after.
const LARGE: f64 = 0.1;

/// How much a test that was still good after an entry takes from it. Some changes act late: with the next connection, the
/// next start of a service.
const STILL_GOOD: f64 = 0.5;

/// What an entry of a host that is not at the path is worth.
const ELSEWHERE: f64 = 0.1;

/// Below this an entry is not worth naming.
const LEAST_SCORE: f64 = 0.01;
