//! How often each state is seen with each cause, while that is fitted: distributions that stay such whatever is added to them.

use std::collections::BTreeMap;

use crate::causes::{Catalogue, Cause};
use crate::diagnosis::ground::MOST;
use crate::signs::{ALL, SignState};

/// The tables of all causes that were counted.
#[derive(Debug)]
pub(super) struct Tables {
    /// Where the states of each sign begin among all states.
    offsets: Vec<usize>,
    /// By the order of the catalogue; none for a cause that nothing was counted of.
    causes: BTreeMap<u16, Table>,
}

/// What one cause shows.
#[derive(Debug)]
struct Table {
    /// Where its parameters begin.
    at: usize,
    /// Logarithms as they were counted, by state.
    counted: Vec<f64>,
    /// What these are now, as probabilities.
    shares: Vec<f64>,
    /// Logarithms of what a state is worth beside what is usual.
    ratios: Vec<f64>,
    usual: Vec<f64>,
    /// Signs whose states were counted.
    signs: Vec<usize>,
    slopes: Vec<f64>,
}

impl Tables {
    /// The tables of causes of a catalogue that name all states of a sign, whose parameters begin behind so many others.
    pub(super) fn of(catalogue: &Catalogue, is_drawn: &[bool], behind: usize) -> Self {
        let offsets: Vec<usize> =
            ALL.iter().scan(0, |at, sign| Some(std::mem::replace(at, *at + sign.states.len()))).collect();
        let drawn = catalogue.all().iter().zip(0_u16..).zip(is_drawn).filter(|(_, is_drawn)| **is_drawn);
        let tables = drawn.enumerate().map(|(slot, ((cause, number), _))| {
            let at = behind + slot * states().count();
            (number, Table::of(cause, catalogue, at))
        });
        Self { causes: tables.collect(), offsets }
    }

    /// How many parameters they have together.
    pub(super) fn parameters(&self) -> usize {
        self.causes.len() * states().count()
    }

    /// Whether a cause has a table.
    pub(super) fn has(&self, cause: u16) -> bool {
        self.causes.contains_key(&cause)
    }

    pub(super) fn number(&self, seen: SignState) -> usize {
        self.offsets[seen.sign] + seen.state
    }

    /// The sign of a state.
    pub(super) fn sign(&self, state: usize) -> usize {
        self.offsets.partition_point(|offset| *offset <= state) - 1
    }

    /// What a state is worth, a logarithm.
    pub(super) fn ratio(&self, cause: u16, state: usize) -> f64 {
        self.causes.get(&cause).map_or(0.0, |table| table.ratios[state])
    }

    /// Notes by how much the loss grows with what a state is worth.
    pub(super) fn note(&mut self, cause: u16, state: usize, slope: f64) {
        if let Some(table) = self.causes.get_mut(&cause) {
            table.slopes[state] += slope;
        }
    }

    /// Takes over what was added to the logarithms.
    pub(super) fn take(&mut self, parameters: &[f64]) {
        for table in self.causes.values_mut() {
            table.take(parameters, &self.offsets);
        }
    }

    /// Adds the slopes of the parameters, and forgets what was noted.
    pub(super) fn slopes(&mut self, gradient: &mut [f64]) {
        for table in self.causes.values_mut() {
            for sign in &table.signs {
                let states = self.offsets[*sign]..self.offsets[*sign] + ALL[*sign].states.len();
                let all: f64 = states.clone().map(|state| table.slopes[state]).sum();
                for state in states {
                    gradient[table.at + state] += table.slopes[state] - table.shares[state] * all;
                }
            }
            table.slopes.fill(0.0);
        }
    }

    /// What each cause shows, as it is now.
    pub(super) fn shown(&self) -> BTreeMap<u16, BTreeMap<SignState, f64>> {
        let of_table = |table: &Table| {
            let counted = states().filter(|seen| table.signs.contains(&seen.sign));
            counted.map(|seen| (seen, table.shares[self.number(seen)])).collect()
        };
        self.causes.iter().map(|(cause, table)| (*cause, of_table(table))).collect()
    }
}

impl Table {
    fn of(cause: &Cause, catalogue: &Catalogue, at: usize) -> Self {
        let weights = catalogue.weights();
        let likelihood = |seen| cause.likelihood_among(seen, |seen| weights.usual(seen)).max(LEAST);
        let shares: Vec<f64> = states().map(likelihood).collect();
        let usual: Vec<f64> = states().map(|seen| weights.usual(seen)).collect();
        let ratios = shares.iter().zip(&usual).map(|(share, usual)| (share / usual).ln().clamp(-MOST, MOST)).collect();
        Self {
            at,
            counted: shares.iter().map(|share| share.ln()).collect(),
            ratios,
            usual,
            signs: (0..ALL.len()).filter(|sign| cause.names_all_of(*sign)).collect(),
            slopes: vec![0.0; shares.len()],
            shares,
        }
    }

    fn take(&mut self, parameters: &[f64], offsets: &[usize]) {
        for sign in &self.signs {
            let states = offsets[*sign]..offsets[*sign] + ALL[*sign].states.len();
            let odds = |state: usize| (self.counted[state] + parameters[self.at + state]).exp();
            let all: f64 = states.clone().map(odds).sum();
            for state in states {
                self.shares[state] = (self.counted[state] + parameters[self.at + state]).exp() / all;
                self.ratios[state] = (self.shares[state] / self.usual[state]).ln().clamp(-MOST, MOST);
            }
        }
    }
}

/// All states of all signs, in their order.
fn states() -> impl Iterator<Item = SignState> {
    let of_sign = |(sign, known): (usize, &'static crate::signs::Sign)| {
        (0..known.states.len()).map(move |state| SignState { sign, state })
    };
    ALL.iter().enumerate().flat_map(of_sign)
}

/// No answer is impossible.
const LEAST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause of which every state of one sign was counted.
    fn tables() -> (Tables, u16, SignState) {
        let learnt = Catalogue::by_hand()
            .with_learnt("[policer]\nmembers = { alike = 0.7, some-only = 0.3 }")
            .unwrap_or_else(|error| panic!("{error}"));
        let is_drawn: Vec<bool> = learnt.all().iter().map(|cause| cause.id == "policer").collect();
        let at = is_drawn.iter().position(|is_drawn| *is_drawn).unwrap_or_default();
        let seen = SignState::named("members", "some-only").unwrap_or_else(|| panic!("no such sign"));
        (Tables::of(&learnt, &is_drawn, 0), u16::try_from(at).unwrap_or_default(), seen)
    }

    #[test]
    fn whatever_is_added_a_table_stays_a_distribution() {
        let (mut tables, cause, seen) = tables();
        let mut parameters = vec![0.0; tables.parameters()];
        parameters[tables.number(seen)] = 1.5;
        tables.take(&parameters);
        let shown = &tables.shown()[&cause];
        let of_sign: f64 = shown.iter().filter(|(of, _)| of.sign == seen.sign).map(|(_, share)| share).sum();
        assert!((of_sign - 1.0).abs() < 1e-9, "{of_sign}");
        assert!(shown[&seen] > 0.6, "{}", shown[&seen]);
    }

    #[test]
    fn slopes_are_those_of_what_states_are_worth() {
        let (mut tables, cause, seen) = tables();
        let state = tables.number(seen);
        let mut parameters = vec![0.0; tables.parameters()];
        let before = tables.ratio(cause, state);
        tables.note(cause, state, 1.0);
        let mut gradient = vec![0.0; parameters.len()];
        tables.slopes(&mut gradient);
        parameters[state] = 1e-6;
        tables.take(&parameters);
        let slope = (tables.ratio(cause, state) - before) / 1e-6;
        assert!((slope - gradient[state]).abs() < 1e-3, "{slope} is not {}", gradient[state]);
    }
}
