//! What is said of the settings that were tried, for programs.

use std::collections::BTreeMap;

use audit::fix::plan::FixPlan;
use serde::{Deserialize, Serialize};
use sweep::report::Setting;
use units::ByteCount;

use crate::candidate::Candidate;
use crate::confirm::TunedSettings;
use crate::fixes::{Places, fixes};
use crate::front::{Cost, front};
use crate::ledger::{Book, times};
use crate::question::Question;
use crate::split::{Split, splits};
use crate::trial::Score;

/// Which settings keep a deadline most often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The version of this format.
    pub format: u32,
    /// The name of the question.
    pub name: String,
    /// Where all chance came from.
    pub seed: u64,
    /// The program that simulated the transfers.
    pub program: String,
    /// Transfers that the numbers are of. Those that differ only by buffers that never limit are simulated once.
    pub flows: u64,
    /// Whether the search came to its end, or was stopped before.
    pub whole: bool,
    /// Whether the numbers are of draws that no choice was made by. Where they are not, the best looks better than it is.
    pub fresh: bool,
    /// What it comes to.
    pub verdict: Verdict,
    /// The probability of such a difference between the present settings and the best, in the same draws, if there were
    /// none (McNemar, exact, two-sided).
    pub p: f64,
    /// The settings as they are.
    pub present: Tried,
    /// Settings that miss the fewest deadlines, changed least where several do; perhaps the present ones.
    pub best: Tried,
    /// The best with one change taken back, for each of its changes.
    pub without: Vec<Without>,
    /// The trade-off between deadline misses, settings changed and memory: all that no other beats in one without being worse
    /// in another, by the number of changes.
    #[serde(default)]
    pub front: Vec<TradeOff>,
    /// Others that did well.
    pub others: Vec<Tried>,
    /// The same where bursts have a queue of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_queue: Option<OwnQueue>,
    /// The same by what was drawn.
    pub by: Vec<Split>,
    /// What changes at the sender, as `linerate host fix` reads it.
    pub sender: FixPlan,
    /// What changes at the receiver.
    pub receiver: FixPlan,
    /// What changes elsewhere.
    pub elsewhere: Vec<String>,
}

/// What an answer comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The best misses less often, and by more than chance.
    Helps,
    /// Nothing is missed as it is.
    NothingMissed,
    /// No setting makes a difference that is more than chance.
    NothingHelps,
}

/// How settings did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tried {
    /// What differs from the present settings, under the names of a sweep's columns.
    pub set: BTreeMap<String, Setting>,
    /// How often they were tried.
    pub draws: u32,
    /// How often the deadline was missed.
    pub missed: u32,
    /// From where the probability of that may lie, 95 % sure (Wilson).
    pub missed_low: f64,
    /// To where.
    pub missed_high: f64,
    /// How often it was given up; such completion times are only known to be longer.
    #[serde(default)]
    pub gave_up: u32,
    /// How often it ran into the next window.
    pub cascaded: u32,
    /// Median of the completion times, in microseconds.
    pub took_median_us: f64,
    /// 95th percentile of the completion times, in microseconds.
    pub took_p95_us: f64,
}

/// One point of the trade-off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeOff {
    /// How many settings differ from the present ones.
    pub changed: usize,
    /// What the buffers that may be changed come to.
    pub memory_bytes: ByteCount,
    /// How it did.
    pub tried: Tried,
}

/// The best with one change taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Without {
    /// The setting that is as it was.
    pub setting: String,
    /// How the rest did.
    pub tried: Tried,
    /// How often the best missed in the same draws.
    pub best_missed: u32,
    /// The probability of such a difference to the best if there were none.
    pub p: f64,
}

/// How settings did where bursts had a queue of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnQueue {
    /// The settings as they are.
    pub present: Tried,
    /// The settings that were found best, in these transfers.
    pub best: Tried,
}

/// The schema of [`Answer`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Answer)
}

/// Chance alone makes a difference of more in 5 of 100 cases.
const SURE: f64 = 0.05;

impl Answer {
    /// What is said of what was found.
    #[must_use]
    pub fn new(question: &Question, found: &TunedSettings, program: &str, places: &Places) -> Self {
        let tried = |candidate: &Candidate| Tried::new(question, &found.book, candidate);
        let own = found.own_queue.as_ref();
        let from_to = [&found.present, &found.best].map(|candidate| question.undrawn(candidate));
        let fixes = fixes(question, &from_to[0], &from_to[1], places);
        let p = found.book.pairs(&found.present, &found.best).p();
        let mut present = tried(&found.present);
        let mut best = tried(&found.best);
        if !found.is_fresh {
            // One may have been tried more often than the other: only what both were tried with is compared.
            let common = found.book.scores(&found.present).len().min(found.book.scores(&found.best).len());
            present = Tried::first(question, &found.book, &found.present, common);
            best = Tried::first(question, &found.book, &found.best, common);
        }
        Self {
            format: 1,
            name: question.name.clone(),
            seed: question.seed().0,
            program: program.to_owned(),
            flows: found.spent,
            whole: found.is_whole,
            fresh: found.is_fresh,
            verdict: match (present.missed, best.missed < present.missed && p <= SURE) {
                (0, _) => Verdict::NothingMissed,
                (_, true) => Verdict::Helps,
                (_, false) => Verdict::NothingHelps,
            },
            p,
            present,
            best,
            without: found.without.iter().map(|(dial, candidate)| without(question, found, *dial, candidate)).collect(),
            front: trade_off(question, found),
            others: found.others.iter().map(tried).collect(),
            own_queue: own.map(|(question, book)| OwnQueue {
                present: Tried::new(question, book, &found.present),
                best: Tried::new(question, book, &found.best),
            }),
            by: splits(question, found),
            sender: fixes.sender,
            receiver: fixes.receiver,
            elsewhere: fixes.elsewhere,
        }
    }
}

fn trade_off(question: &Question, found: &TunedSettings) -> Vec<TradeOff> {
    let all = [&found.present, &found.best].into_iter().chain(&found.fewer).chain(&found.others);
    let tried = all.map(|candidate| (candidate, Tried::new(question, &found.book, candidate)));
    let costs = tried.filter(|(_, tried)| tried.draws > 0).map(|(candidate, tried)| {
        let missed = f64::from(tried.missed) / f64::from(tried.draws);
        let (changed, memory) = (candidate.changed(question).len(), candidate.memory(question));
        (Cost { missed, changed, memory }, tried)
    });
    let points = front(costs.collect());
    let point = |(cost, tried): (Cost, Tried)| TradeOff {
        changed: cost.changed,
        memory_bytes: ByteCount::new(cost.memory),
        tried,
    };
    points.into_iter().map(point).collect()
}

fn without(question: &Question, found: &TunedSettings, dial: usize, candidate: &Candidate) -> Without {
    let tried = Tried::new(question, &found.book, candidate);
    Without {
        setting: question.dials[dial].parameter.name.to_owned(),
        best_missed: found.book.standing(&found.best, tried.draws as usize).missed.some,
        p: found.book.pairs(candidate, &found.best).p(),
        tried,
    }
}

impl Tried {
    fn new(question: &Question, book: &Book, candidate: &Candidate) -> Self {
        Self::first(question, book, candidate, usize::MAX)
    }

    /// How settings did over their first draws.
    fn first(question: &Question, book: &Book, candidate: &Candidate, draws: usize) -> Self {
        let scores = book.scores(candidate);
        let scores = &scores[..draws.min(scores.len())];
        let missed = book.standing(candidate, scores.len()).missed;
        let (missed_low, missed_high) = missed.interval();
        let times = times(scores);
        let changed = candidate.changed(question).into_iter();
        Self {
            set: changed
                .map(|dial| {
                    let value = Setting::from(candidate.value(question, dial));
                    (question.dials[dial].parameter.column(), value)
                })
                .collect(),
            draws: missed.of,
            missed: missed.some,
            missed_low,
            missed_high,
            gave_up: count(scores, |score| !score.finished),
            cascaded: count(scores, |score| score.cascaded),
            took_median_us: times.median().unwrap_or(0.0),
            took_p95_us: times.quantile(0.95).unwrap_or(0.0),
        }
    }
}

fn count(scores: &[Score], is: impl Fn(&Score) -> bool) -> u32 {
    u32::try_from(scores.iter().filter(|score| is(score)).count()).unwrap_or(u32::MAX)
}
