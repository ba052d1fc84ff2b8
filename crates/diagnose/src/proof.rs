//! Whether a change has fixed what suffered: two rounds, one before it and one after, compared pair by pair.
//!
//! The pairs that were slow before are one set, all others another. In each set every test counts as the part that it does of
//! what its pair should do, so that fast and slow links weigh alike, and the rank test says whether what is seen after the
//! change is more than noise. Pairs that one of the rounds did not test take no part.

use std::collections::BTreeMap;

use model::round::{Endpoint, Round, Tested};
use model::target::TargetRate;
use predict::target::Targets;
use serde::{Deserialize, Serialize};
use stats::gain;
use units::DataRate;

use crate::diagnosis::Diagnosis;
use crate::locate::cell::{Quality, Symptom};
use crate::locate::round::{RateTold, layers, rates_told};

/// What two rounds say of what was changed between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof {
    /// Version of this format; readers refuse what is newer than they are.
    pub format: u32,
    /// How sure an answer must be: chance alone shows such a difference in at most one minus this of all cases.
    pub confidence: f64,
    /// The pairs that were tested in both rounds, those that suffered before first.
    pub pairs: Vec<Pair>,
    /// What became of those that suffered; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suffered: Option<Change>,
    /// What became of the others; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spared: Option<Change>,
}

/// A pair in both rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// What was measured.
    pub what: Symptom,
    /// Who sends.
    pub from: Endpoint,
    /// Who receives.
    pub to: Endpoint,
    /// Whether it was slow before.
    pub suffered: bool,
    /// The rate of each test before.
    #[serde(rename = "before_bps")]
    pub before: Vec<DataRate>,
    /// The rate of each test after.
    #[serde(rename = "after_bps")]
    pub after: Vec<DataRate>,
    /// What it should be.
    #[serde(rename = "should_bps")]
    pub should: DataRate,
}

/// What became of a set of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The part of what they should do, in the middle of all tests before.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// How likely chance alone shows such a difference (Mann and Whitney 1947, two-sided).
    pub p_two_sided: f64,
    /// Gain or loss where `p_two_sided` is small enough for the confidence asked for, else noise.
    pub verdict: Verdict,
}

/// What became of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// They are higher, by more than noise.
    Gain,
    /// They are lower, by more than noise.
    Loss,
    /// What there is of a difference may be noise.
    Noise,
}

impl Proof {
    /// The version of the format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Compares two rounds.
    #[must_use]
    pub fn of(before: &Round, after: &Round, confidence: f64) -> Self {
        let old = rates(before);
        let mut new = rates(after);
        let parts = parts(before);
        let mut pairs: Vec<Pair> = old
            .into_iter()
            .filter_map(|(key, before)| {
                let after = new.remove(&key)?;
                let part = parts.get(&key).copied()?;
                let target = before.target?;
                let suffered = part < target.source.slow_below();
                let should = target.rate;
                let ((what, from, to), before, after) = (key, before.rates, after.rates);
                Some(Pair { what, from, to, suffered, before, after, should })
            })
            .collect();
        pairs.sort_by_key(|pair| !pair.suffered);
        let change = |suffered: bool| change(pairs.iter().filter(|pair| pair.suffered == suffered), confidence);
        let (suffered, spared) = (change(true), change(false));
        Self { format: Self::FORMAT, confidence, pairs, suffered, spared }
    }

    /// Whether what suffered does better, and nothing else does worse.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.suffered.is_some_and(|change| change.verdict == Verdict::Gain)
            && self.spared.is_none_or(|change| change.verdict != Verdict::Loss)
    }

    /// Pairs that suffered, or that did not.
    pub fn those(&self, suffered: bool) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.suffered == suffered)
    }
}

impl Pair {
    /// The rates in the middle, before and after.
    #[must_use]
    pub fn medians(&self) -> Option<(DataRate, DataRate)> {
        median(&self.before).zip(median(&self.after))
    }
}

/// How many tests of those that suffer it takes before a change, and as many after it, for an answer of this confidence.
#[must_use]
pub fn fewest(confidence: f64) -> Option<u32> {
    gain::fewest(confidence)
}

/// The tests of a round by which its slow pairs are known, by their places in it.
#[must_use]
pub fn slow_tests(round: &Round) -> Vec<usize> {
    let targets = Targets::of(round);
    let parts = parts(round);
    let is_slow = |told: RateTold| {
        let part = parts.get(&(told.symptom, told.from, told.to));
        told.target.is_ok_and(|target| part.is_some_and(|part| *part < target.source.slow_below()))
    };
    let tells = |test: &(usize, &Tested)| rates_told(&targets, *test).into_iter().any(is_slow);
    round.tests.iter().enumerate().filter(tells).map(|(number, _)| number).collect()
}

type Key = (Symptom, Endpoint, Endpoint);

#[derive(Default)]
struct Rates {
    rates: Vec<DataRate>,
    target: Option<TargetRate>,
}

fn rates(round: &Round) -> BTreeMap<Key, Rates> {
    let mut all: BTreeMap<Key, Rates> = BTreeMap::new();
    let targets = Targets::of(round);
    for told in round.tests.iter().enumerate().flat_map(|test| rates_told(&targets, test)) {
        let rates = all.entry((told.symptom, told.from, told.to)).or_default();
        rates.rates.push(told.rate);
        rates.target = rates.target.take().or(told.target.ok());
    }
    all
}

/// The part that each pair does of what it should.
fn parts(round: &Round) -> BTreeMap<Key, f64> {
    let mut parts = BTreeMap::new();
    for layer in layers(round) {
        for cell in layer.cells {
            if let Quality::Known { part, .. } = cell.quality {
                parts.insert((layer.symptom, cell.from, cell.to), part);
            }
        }
    }
    parts
}

fn change<'a>(pairs: impl Iterator<Item = &'a Pair>, confidence: f64) -> Option<Change> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for pair in pairs {
        let part = |rate: &DataRate| rate.share_of(pair.should);
        before.extend(pair.before.iter().filter_map(part));
        after.extend(pair.after.iter().filter_map(part));
    }
    let judged = gain::judge(&before, &after, confidence)?;
    let verdict = match judged.verdict {
        gain::Verdict::Gain => Verdict::Gain,
        gain::Verdict::Loss => Verdict::Loss,
        gain::Verdict::Noise => Verdict::Noise,
    };
    let p_two_sided = judged.comparison.p_two_sided;
    Some(Change { before: judged.before, after: judged.after, p_two_sided, verdict })
}

/// The rate in the middle; of two, the lower.
fn median(rates: &[DataRate]) -> Option<DataRate> {
    let mut rates = rates.to_vec();
    rates.sort_unstable();
    rates.get(rates.len().checked_sub(1)? / 2).copied()
}

/// A chapter of a demonstration: what was wrong, what was done, what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chapter {
    /// Version of this format; readers refuse what is newer than they are.
    pub format: u32,
    /// The scenario that was played.
    pub scenario: String,
    /// What it is about.
    pub title: String,
    /// What was found before anything was changed.
    pub diagnosis: Diagnosis,
    /// What was changed.
    #[serde(alias = "mended")]
    pub fixes: Vec<AppliedFix>,
    /// The same tests before and after; absent where nothing suffered, or nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Where the emulation did not keep up, in words. Then nothing of this is evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_by_emulation: Vec<String>,
}

/// Something that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum AppliedFix {
    /// A setting of a host.
    Host {
        /// Name of the host in the plan.
        host: String,
        /// The command that was run there.
        command: String,
        /// What it printed.
        said: String,
    },
    /// Those who run a network would have to; the lab did it for them.
    Network {
        /// Where.
        place: String,
        /// What they have to do.
        remedy: String,
        /// The faults of the scenario that ended.
        faults: Vec<String>,
    },
}

impl Chapter {
    /// The version of the format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Whether what suffered is shown to do better. A network in which nothing is wrong has nothing to mend.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.limited_by_emulation.is_empty()
            && self.proof.as_ref().map_or_else(|| self.diagnosis.is_healthy(), Proof::is_fixed)
    }
}

/// The schemas of a proof and a demonstration, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("proof.schema.json", schemars::schema_for!(Proof)),
        ("demonstration.schema.json", schemars::schema_for!(Vec<Chapter>)),
    ]
}
