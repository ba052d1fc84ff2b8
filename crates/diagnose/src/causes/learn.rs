//! Likelihoods of signs counted in incidents whose cause is known, with the values of the catalogue as prior.
//!
//! A [`Tally`] counts, for each cause, the states of each sign among the affected flows that pass its place. [`Tally::learnt`] weighs
//! the counts against the catalogue's own values and writes them as a file that a person can read and correct;
//! [`Catalogue::with_learnt`] reads it. Flows of one incident are alike, so that each incident counts as one observation of a
//! sign, shared among its flows.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::round::Round;

use super::{Catalogue, Cause};
use crate::diagnosis::{FaultLocation, shown_by_affected_flows};
use crate::signs::{ALL, Flow, SignState, flows};

/// What was planted: a cause of the catalogue at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedCause {
    /// Its id in the catalogue.
    pub cause: String,
    /// Where it was.
    pub place: FaultLocation,
}

/// Counts of states by cause.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    seen: BTreeMap<(String, SignState), f64>,
    incidents: BTreeMap<String, u32>,
}

impl Tally {
    /// Adds an incident. Causes that no flow is affected by leave the counts as they are.
    pub fn add(&mut self, round: &Round, planted: &[PlantedCause], catalogue: &Catalogue) {
        self.add_flows(round, &flows(round), planted, catalogue);
    }

    /// Adds an incident whose flows are known.
    pub(crate) fn add_flows(&mut self, round: &Round, flows: &[Flow], planted: &[PlantedCause], catalogue: &Catalogue) {
        // Of flows that are affected, causes that harm none say nothing.
        let is_alone = |planted: &&PlantedCause| catalogue.get(&planted.cause).is_some_and(|cause| cause.alone);
        let planted: Vec<&PlantedCause> = planted.iter().filter(|planted| !is_alone(planted)).collect();
        let shown = planted
            .iter()
            .map(|planted| shown_by_affected_flows(round, flows, (&planted.cause, &planted.place), catalogue));
        let shown: Vec<BTreeMap<usize, Vec<SignState>>> = shown.collect();
        for (planted, flows) in planted.iter().zip(&shown) {
            // What a flow shows that passes two faults is as much the other's.
            let is_hit_once = |number: &usize| shown.iter().filter(|flows| flows.contains_key(number)).count() == 1;
            let of_one: Vec<&Vec<SignState>> =
                flows.iter().filter(|(number, _)| is_hit_once(number)).map(|(_, shown)| shown).collect();
            self.count(&planted.cause, if of_one.is_empty() { flows.values().collect() } else { of_one });
        }
    }

    /// Counts what flows show that one cause hits, as one incident.
    fn count(&mut self, cause: &str, flows: Vec<&Vec<SignState>>) {
        if flows.is_empty() {
            return;
        }
        *self.incidents.entry(cause.to_owned()).or_default() += 1;
        let mut looked_at: BTreeMap<usize, u32> = BTreeMap::new();
        for seen in flows.iter().copied().flatten() {
            *looked_at.entry(seen.sign).or_default() += 1;
        }
        for seen in flows.into_iter().flatten() {
            let share = 1.0 / f64::from(looked_at[&seen.sign].max(1));
            *self.seen.entry((cause.to_owned(), *seen)).or_default() += share;
        }
    }

    /// Adds what another tally counted, as of another shard.
    pub fn merge(&mut self, other: &Self) {
        for (key, count) in &other.seen {
            *self.seen.entry(key.clone()).or_default() += count;
        }
        for (cause, count) in &other.incidents {
            *self.incidents.entry(cause.clone()).or_default() += count;
        }
    }

    /// How often each state is seen among affected flows, each cause as often as any other, with the values of the table of signs as
    /// `prior` observations.
    #[must_use]
    pub fn usual(&self, prior: f64) -> BTreeMap<SignState, f64> {
        let mut shares = BTreeMap::new();
        for (sign, known) in ALL.iter().enumerate() {
            let states = (0..known.states.len()).map(|state| SignState { sign, state });
            let count = |seen: SignState| {
                let of_causes = self.seen.iter().filter(|((_, of), _)| *of == seen);
                of_causes.map(|((cause, _), count)| count / f64::from(self.incidents[cause].max(1))).sum::<f64>()
            };
            let counts: Vec<f64> = states.clone().map(count).collect();
            let all: f64 = counts.iter().sum();
            // A cause counts as one observation, however many incidents have it.
            for (seen, count) in states.zip(counts) {
                shares.insert(seen, (count + prior * seen.state().usual) / (all + prior));
            }
        }
        shares
    }

    /// How often a state is seen where a cause is at work: the counts, with the catalogue's value as `prior` observations.
    #[must_use]
    pub fn likelihood(&self, cause: &Cause, seen: SignState, prior: f64) -> f64 {
        self.counted(cause, seen, ByHand { counts: prior, value: cause.likelihood(seen) })
    }

    /// The counts, with a value set by hand as so many observations.
    fn counted(&self, cause: &Cause, seen: SignState, by_hand: ByHand) -> f64 {
        let count = |state: usize| {
            let seen = SignState { sign: seen.sign, state };
            self.seen.get(&(cause.id.clone(), seen)).copied().unwrap_or_default()
        };
        let all: f64 = (0..seen.sign().states.len()).map(count).sum();
        (count(seen.state) + by_hand.counts * by_hand.value) / (all + by_hand.counts)
    }

    /// The file of learnt likelihoods, of causes of the catalogue.
    #[must_use]
    pub fn learnt(&self, catalogue: &Catalogue, worth: Worth) -> String {
        self.learnt_of(catalogue, worth, |_, _| true)
    }

    /// The same of signs alone of which a cause of the catalogue has no state, or not every one: those that came since it was learnt.
    #[must_use]
    pub fn learnt_of_new_signs(&self, catalogue: &Catalogue, worth: Worth) -> String {
        self.learnt_of(catalogue, worth, |cause, sign| !cause.names_all_of(sign))
    }

    fn learnt_of(
        &self,
        catalogue: &Catalogue,
        Worth { prior, least }: Worth,
        is_wanted: impl Fn(&Cause, usize) -> bool,
    ) -> String {
        let mut text = String::from(
            "# Likelihoods of signs, counted in incidents with a known cause. Values of the catalogue count as prior.\n",
        );
        let shares = self.usual(USUAL_PRIOR);
        let usual = |seen: SignState| shares.get(&seen).copied().unwrap_or(seen.state().usual);
        for cause in catalogue.all() {
            let Some(incidents) = self.incidents.get(&cause.id) else { continue };
            // Writing to a text does not fail.
            let _ = writeln!(text, "\n[{}] # {incidents} incidents", cause.id);
            for (sign, known) in ALL.iter().enumerate().filter(|(sign, _)| is_wanted(cause, *sign)) {
                let states = 0..known.states.len();
                let of =
                    |state| self.seen.get(&(cause.id.clone(), SignState { sign, state })).copied().unwrap_or_default();
                if states.clone().map(of).sum::<f64>() < least {
                    continue;
                }
                let parts = states.map(|state| {
                    let seen = SignState { sign, state };
                    let part =
                        self.counted(cause, seen, ByHand { counts: prior, value: cause.likelihood_among(seen, usual) });
                    format!("{} = {:.3}", known.states[state].name, part.clamp(0.001, 0.999))
                });
                let _ = writeln!(text, "{} = {{ {} }}", known.name, parts.collect::<Vec<_>>().join(", "));
            }
        }
        text
    }

    /// The same of a catalogue that was fitted after it was counted: signs of which it has every state.
    #[must_use]
    pub fn fitted(&self, catalogue: &Catalogue) -> String {
        let mut text = String::from(
            "# Likelihoods of signs, counted in incidents with a known cause and fitted to others. Correct a number where you know better.\n",
        );
        for cause in catalogue.all() {
            let Some(incidents) = self.incidents.get(&cause.id) else { continue };
            // Writing to a text does not fail.
            let _ = writeln!(text, "\n[{}] # {incidents} incidents", cause.id);
            for (sign, known) in ALL.iter().enumerate() {
                let part = |state: usize| {
                    let part = cause.shows.get(&SignState { sign, state })?;
                    Some(format!("{} = {:.3}", known.states[state].name, part.clamp(0.001, 0.999)))
                };
                let parts: Option<Vec<String>> = (0..known.states.len()).map(part).collect();
                if let Some(parts) = parts {
                    let _ = writeln!(text, "{} = {{ {} }}", known.name, parts.join(", "));
                }
            }
        }
        text
    }
}

/// What counts are worth beside what the authors of the catalogue set, in incidents.
#[derive(Debug, Clone, Copy)]
pub struct Worth {
    /// A cause's own values count as so many.
    pub prior: f64,
    /// A sign that was looked at less often stays as it is.
    pub least: f64,
}

/// A value set by hand.
#[derive(Clone, Copy)]
struct ByHand {
    /// As so many observations.
    counts: f64,
    value: f64,
}

/// Shares among all affected flows by hand count as so many causes.
pub(crate) const USUAL_PRIOR: f64 = 2.0;

/// Why a file of learnt likelihoods cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LearntError {
    /// It is no such file.
    #[error("learnt likelihoods: {0}")]
    Syntax(#[from] toml::de::Error),
    /// It names a cause, sign or state that does not exist.
    #[error("learnt likelihoods: there is no {what} `{name}`")]
    Unknown {
        /// `cause`, `sign` or `state`: what the catalogue does not have.
        what: &'static str,
        /// As the file spells it.
        name: String,
    },
    /// The parts of a sign are no distribution.
    #[error("learnt likelihoods: {cause}: the parts of `{sign}` add up to {sum:.3}")]
    Sum {
        /// Id of the cause of that row.
        cause: String,
        /// Id of the sign whose states they are.
        sign: String,
        /// 1 where they are a distribution.
        sum: f64,
    },
}

impl Catalogue {
    /// The same catalogue with other likelihoods, by the place of the cause.
    #[must_use]
    pub(crate) fn with_shown(mut self, shown: &BTreeMap<u16, BTreeMap<SignState, f64>>) -> Self {
        for (cause, of_cause) in shown {
            if let Some(cause) = self.causes.get_mut(usize::from(*cause)) {
                cause.shows.extend(of_cause.iter().map(|(seen, part)| (*seen, *part)));
            }
        }
        self
    }

    /// The same catalogue, with learnt likelihoods in place of those of the signs that the file names.
    ///
    /// # Errors
    /// If the text names what does not exist, or parts that do not add up to 1.
    pub fn with_learnt(&self, text: &str) -> Result<Self, LearntError> {
        type Learnt = BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>;
        let learnt: Learnt = toml::from_str(text)?;
        let mut causes = self.causes.clone();
        for (id, signs) in learnt {
            let unknown = |what, name: &str| LearntError::Unknown { what, name: name.to_owned() };
            let cause = causes.iter_mut().find(|cause| cause.id == id).ok_or_else(|| unknown("cause", &id))?;
            for (sign, states) in signs {
                let sum: f64 = states.values().sum();
                if !(0.97..=1.03).contains(&sum) {
                    return Err(LearntError::Sum { cause: id, sign, sum });
                }
                for (state, part) in states {
                    let seen =
                        SignState::named(&sign, &state).ok_or_else(|| unknown("state", &format!("{sign}={state}")))?;
                    cause.shows.insert(seen, part);
                }
            }
        }
        Ok(Self { causes, weights: self.weights.clone() })
    }
}
