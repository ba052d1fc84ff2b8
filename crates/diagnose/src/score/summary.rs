//! Many verdicts as a score.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::certainty::{self, Estimate};
use super::judge::{Claim, JudgedCause, Verdict};

/// How good diagnoses of many plays are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Score {
    /// Version of this format; readers refuse what is newer than they are.
    pub format: u32,
    /// Each play.
    pub plays: Vec<Verdict>,
    /// What could not be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// What was taken for what, as often as it happened.
    pub confusion: Vec<Taken>,
    /// Planted causes that are named first. A healthy network counts as one, named where nothing is.
    pub first: CountOf,
    /// Planted causes that are named first, or are one of the two or three that are said not to be told from each other. Never in place
    /// of [`Self::first`].
    #[serde(default)]
    pub first_or_alike: CountOf,
    /// Problems whose first causes are said not to be told from each other.
    #[serde(default)]
    pub sets: CountOf,
    /// Planted causes that are among the first three.
    pub among_three: CountOf,
    /// Planted causes whose host or segment is named first, with the direction.
    pub place: CountOf,
    /// The same of planted causes that change the rate of a flow by a tenth or more; absent where nothing was played without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub felt: Option<Felt>,
    /// The same of those that change none; absent where nothing was played without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfelt: Option<Felt>,
    /// The same of those without which the same questions to flows have the same answers, so that nobody can find them; absent where
    /// nothing was played without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_trace: Option<Felt>,
    /// The same of all others, which can be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_trace: Option<Felt>,
    /// Healthy networks in which something is named.
    pub false_alarms: CountOf,
    /// Plays in which something is blamed that must not be.
    pub innocents_blamed: CountOf,
    /// The mean of the squares by which the probability of the first name misses what it turned out to be: 0 is perfect, 0.25
    /// is a coin. Absent where nothing was named.
    pub brier: Option<f64>,
    /// How often names of about one probability were right.
    pub calibration: Vec<Band>,
    /// The expected calibration error of first names; absent where nothing was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<Estimate>,
    /// The Brier score with its interval; absent where nothing was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brier_estimate: Option<Estimate>,
    /// Half of the plays needed less than this, from the first test to the last fact.
    #[serde(rename = "measured_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub measured: Duration,
    /// The longest time from there to a diagnosis.
    #[serde(rename = "diagnosed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub diagnosed: Duration,
}

/// Planted causes without which a flow of the play has another rate, which a test of rates can show, or those without which it has not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Felt {
    /// Named first.
    pub first: CountOf,
    /// Among the first three.
    pub among_three: CountOf,
    /// Host or segment named first, with the direction.
    pub place: CountOf,
}

/// A play that gave nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The scenario, by its name or its file.
    pub scenario: String,
    /// The seed; absent where none would have helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Why.
    pub why: String,
}

/// Some of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountOf {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
}

/// What was taken for what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Taken {
    /// What was planted; [`NOTHING`] where nothing was.
    pub planted: String,
    /// What was named first; [`NOTHING`] where nothing was.
    pub named: String,
    /// How often.
    pub times: usize,
}

/// What stands for no cause in a [`Taken`].
pub const NOTHING: &str = "nothing";

/// Names of about one probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Band {
    /// From this probability.
    pub from: f64,
    /// To this one.
    pub to: f64,
    /// The mean of their probabilities.
    pub said: f64,
    /// How many of them were right.
    pub right: CountOf,
}

impl Score {
    /// The version of the format that this program writes.
    pub const FORMAT: u32 = 1;
}

impl CountOf {
    /// From 0 to 1; nothing of nothing is nothing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of plays")]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }

    fn count(all: impl Iterator<Item = bool>) -> Self {
        all.fold(Self::default(), |part, holds| Self { count: part.count + usize::from(holds), of: part.of + 1 })
    }

    const fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, of: self.of + other.of }
    }
}

/// The score of some plays.
#[must_use]
pub fn score(plays: Vec<Verdict>, missing: Vec<Missing>) -> Score {
    let planted = || plays.iter().flat_map(|play| &play.planted);
    let healthy = || plays.iter().filter(|play| play.is_healthy());
    let quiet = CountOf::count(healthy().map(|play| play.besides.is_empty()));
    let claims: Vec<Claim> = plays.iter().flat_map(|play| play.claims.iter().copied()).collect();
    let mut times: Vec<Duration> = plays.iter().map(|play| play.measured).collect();
    times.sort_unstable();
    Score {
        format: Score::FORMAT,
        confusion: confusion(&plays),
        first: quiet.plus(CountOf::count(planted().map(|found| found.rank == Some(1)))),
        first_or_alike: quiet.plus(CountOf::count(planted().map(|found| found.rank == Some(1) || found.is_alike))),
        sets: CountOf {
            count: plays.iter().map(|play| play.sets.len()).sum(),
            of: claims.iter().filter(|claim| claim.is_first).count(),
        },
        among_three: quiet.plus(CountOf::count(planted().map(|found| found.rank.is_some_and(|rank| rank <= 3)))),
        place: CountOf::count(planted().map(|found| found.is_place_right)),
        felt: of_some(&plays, |found| Some(found.rate_change? >= FELT)),
        unfelt: of_some(&plays, |found| Some(found.rate_change? < FELT)),
        without_trace: of_some(&plays, |found| Some(!found.leaves_trace?)),
        with_trace: of_some(&plays, |found| found.leaves_trace),
        false_alarms: CountOf { count: quiet.of - quiet.count, of: quiet.of },
        innocents_blamed: CountOf::count(plays.iter().map(|play| !play.innocents_blamed.is_empty())),
        brier: brier(&claims),
        calibration: calibration(&claims),
        calibration_error: certainty::calibration_error(&plays),
        brier_estimate: certainty::brier(&plays),
        measured: times.get(times.len() / 2).copied().unwrap_or_default(),
        diagnosed: plays.iter().map(|play| play.diagnosed).max().unwrap_or_default(),
        plays,
        missing,
    }
}

/// The score of planted causes of one kind; [`None`] where it is known of none whether it is of that kind.
fn of_some(plays: &[Verdict], is_so: impl Fn(&JudgedCause) -> Option<bool>) -> Option<Felt> {
    let all = || plays.iter().flat_map(|play| &play.planted);
    let some = || all().filter(|found| is_so(found) == Some(true));
    all().any(|found| is_so(found).is_some()).then(|| Felt {
        first: CountOf::count(some().map(|found| found.rank == Some(1))),
        among_three: CountOf::count(some().map(|found| found.rank.is_some_and(|rank| rank <= 3))),
        place: CountOf::count(some().map(|found| found.is_place_right)),
    })
}

fn confusion(plays: &[Verdict]) -> Vec<Taken> {
    let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut add = |planted: &str, named: &str| *times.entry((planted.to_owned(), named.to_owned())).or_default() += 1;
    for play in plays {
        for found in &play.planted {
            add(&found.cause, found.named.as_ref().map_or(NOTHING, |named| &named.cause));
        }
        for named in &play.besides {
            add(NOTHING, &named.cause);
        }
        if play.is_healthy() && play.besides.is_empty() {
            add(NOTHING, NOTHING);
        }
    }
    times.into_iter().map(|((planted, named), times)| Taken { planted, named, times }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of claims")]
fn brier(claims: &[Claim]) -> Option<f64> {
    let misses: Vec<f64> = claims
        .iter()
        .filter(|claim| claim.is_first)
        .map(|claim| (claim.probability - f64::from(u8::from(claim.is_right))).powi(2))
        .collect();
    (!misses.is_empty()).then(|| misses.iter().sum::<f64>() / misses.len() as f64)
}

fn calibration(claims: &[Claim]) -> Vec<Band> {
    let bands = BANDS.windows(2).filter_map(|ends| {
        let &[from, to] = ends else { return None };
        let inside = |claim: &&Claim| claim.probability >= from && (claim.probability < to || to >= 1.0);
        let right = CountOf::count(claims.iter().filter(inside).map(|claim| claim.is_right));
        #[expect(clippy::cast_precision_loss, reason = "counts of claims")]
        let said = claims.iter().filter(inside).map(|claim| claim.probability).sum::<f64>() / right.of as f64;
        (right.of > 0).then_some(Band { from, to, said, right })
    });
    bands.collect()
}

/// From this part on a change of a rate is one: tests of a few seconds differ by less from one to the next.
const FELT: f64 = 0.1;
/// Where the bands of probability begin and end. What is said with less than a hundredth is not said.
const BANDS: [f64; 8] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0];
