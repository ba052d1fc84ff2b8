//! How far each kind of evidence counts, fitted to incidents whose causes are known.
//!
//! A conditional logit (McFadden 1974): the probability of a cause at a place is its share of the exponentials of weighted sums of
//! evidence; the weights are those under which the right answers are most likely, drawn towards the mechanism's own. Signs that
//! repeat each other get less of it, as they should.

use std::collections::BTreeMap;

use super::case::LearningCase;
use super::example::{Answer, Example, examples};
use super::table::Tables;
use crate::causes::Catalogue;
use crate::causes::weights::{Evidence, Weights};
use crate::signs::{ALL, SignState};

/// Weights, and how well they fit.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// How much each kind of evidence counts, how often causes are met, and what probabilities turned out to be.
    pub weights: Weights,
    /// What each cause shows, by its place in the catalogue, of signs that were counted.
    pub shown: BTreeMap<u16, BTreeMap<SignState, f64>>,
    /// Decisions that were learnt from.
    pub decisions: usize,
    /// The mean of −ln of the probability of what is right, before.
    pub before: f64,
    /// The same after.
    pub after: f64,
}

/// How many decisions outweigh what was known before.
#[derive(Debug, Clone, Copy)]
pub struct Regularization {
    /// Of how far a kind of evidence counts.
    pub evidence: f64,
    /// Of a cause: what is met in generated networks says little of how often it is met in others.
    pub causes: f64,
    /// Of how often a cause shows a state, as a logarithm.
    pub tables: f64,
}

impl Default for Regularization {
    fn default() -> Self {
        Self { evidence: 4.0, causes: 4.0, tables: 3.0 }
    }
}

/// Fits the weights of a catalogue and its tables to cases.
#[must_use]
pub fn fit(cases: &[&LearningCase], catalogue: &Catalogue, start: &Weights, regularization: Regularization) -> Fitted {
    let mut model = Model { regularization, ..Model::of(start, catalogue, cases) };
    let examples: Vec<Example> = cases.iter().flat_map(|case| examples(case, catalogue, &model.tables)).collect();
    let first = model.parameters.clone();
    let mut state = Momentum::new(first.len());
    let mut gradient = vec![0.0; first.len()];
    let before = model.loss(&examples, &mut gradient);
    for step in 1..=STEPS {
        gradient.fill(0.0);
        model.loss(&examples, &mut gradient);
        for (at, slope) in gradient.iter_mut().enumerate() {
            *slope += model.pull(at) * (model.parameters[at] - first[at]);
        }
        state.step(step, &mut model.parameters, &gradient);
        model.bound();
        model.tables.take(&model.parameters);
    }
    gradient.fill(0.0);
    let after = model.loss(&examples, &mut gradient);
    let (weights, shown) = (model.weights(start, catalogue), model.tables.shown());
    Fitted { weights, shown, decisions: examples.len(), before, after }
}

/// Evidence first, then causes, then the unknown, then what is added to the logarithms of tables.
struct Model {
    parameters: Vec<f64>,
    /// Causes that are drawn, by the order of the catalogue.
    is_drawn: Vec<bool>,
    decisions: f64,
    tables: Tables,
    unknown: usize,
    regularization: Regularization,
}

impl Model {
    fn of(weights: &Weights, catalogue: &Catalogue, cases: &[&LearningCase]) -> Self {
        let all = catalogue.all();
        let is_planted = |id: &str| cases.iter().any(|case| case.planted.iter().any(|planted| planted.cause == id));
        let is_drawn: Vec<bool> = all.iter().map(|cause| is_planted(&cause.id)).collect();
        let unknown = Evidence::COUNT + all.len();
        let tables = Tables::of(catalogue, &is_drawn, unknown + 1);
        let mut parameters = vec![0.0; unknown + 1 + tables.parameters()];
        for (number, parameter) in parameters.iter_mut().enumerate().take(Evidence::COUNT) {
            *parameter = weights.numbered(number);
        }
        for (cause, parameter) in all.iter().zip(&mut parameters[Evidence::COUNT..]) {
            *parameter = weights.of_cause(&cause.id);
        }
        parameters[unknown] = weights.unknown;
        Self { parameters, is_drawn, decisions: 1.0, tables, unknown, regularization: Regularization::default() }
    }

    fn score(&self, option: &Answer) -> f64 {
        let speaks =
            option.speaks.iter().map(|(number, weight)| self.parameters[usize::from(*number)] * f64::from(*weight));
        let seen = option.seen.iter().map(|(state, counts)| {
            let state = usize::from(*state);
            self.parameters[self.tables.sign(state)] * f64::from(*counts) * self.tables.ratio(option.cause, state)
        });
        let base = self.parameters[Evidence::COUNT + usize::from(option.cause)];
        speaks.sum::<f64>() + seen.sum::<f64>() + base + f64::from(option.fixed)
    }

    /// The mean of −ln p(right), and adds its slopes.
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    fn loss(&mut self, examples: &[Example], gradient: &mut [f64]) -> f64 {
        self.decisions = examples.len().max(1) as f64;
        let mut loss = 0.0;
        let last = self.unknown;
        for example in examples {
            let unknown = self.parameters[last];
            let scores: Vec<f64> = example.options.iter().map(|option| self.score(option)).collect();
            let most = scores.iter().copied().fold(unknown, f64::max);
            let odds: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let of_unknown = (unknown - most).exp();
            let all: f64 = odds.iter().sum::<f64>() + of_unknown;
            let is_right = |option: &Answer| option.is_right && !example.is_unknown;
            let right: f64 =
                example.options.iter().zip(&odds).filter(|(option, _)| is_right(option)).map(|(_, odds)| odds).sum();
            let right = (right + if example.is_unknown { of_unknown } else { 0.0 }).max(1e-300);
            loss -= (right / all).ln();
            for (option, odds) in example.options.iter().zip(&odds) {
                let pull = odds / all - if is_right(option) { odds / right } else { 0.0 };
                if pull.abs() < 1e-7 {
                    continue;
                }
                for (number, weight) in &option.speaks {
                    gradient[usize::from(*number)] += pull * f64::from(*weight) / self.decisions;
                }
                for (state, counts) in &option.seen {
                    let (state, pull) = (usize::from(*state), pull * f64::from(*counts) / self.decisions);
                    let sign = self.tables.sign(state);
                    gradient[sign] += pull * self.tables.ratio(option.cause, state);
                    self.tables.note(option.cause, state, pull * self.parameters[sign]);
                }
                gradient[Evidence::COUNT + usize::from(option.cause)] += pull / self.decisions;
            }
            let pull = of_unknown / all - if example.is_unknown { of_unknown / right } else { 0.0 };
            gradient[last] += pull / self.decisions;
        }
        self.tables.slopes(gradient);
        loss / self.decisions
    }

    /// How strongly a parameter stays where the mechanism has it.
    fn pull(&self, at: usize) -> f64 {
        let regularization = match at {
            at if at < Evidence::COUNT => self.regularization.evidence,
            at if at <= self.unknown => self.regularization.causes,
            _ => self.regularization.tables,
        };
        regularization / self.decisions
    }

    /// Evidence never counts against what it speaks for. That a cause is not drawn says nothing of how often it is met: it gives way
    /// to the others where nothing speaks for it, and not where something does.
    fn bound(&mut self) {
        let of_causes = self.parameters[Evidence::COUNT..].iter_mut().zip(&self.is_drawn);
        for (parameter, is_drawn) in of_causes {
            let (least, most) = if *is_drawn { (-MOST_OF_CAUSES, MOST_OF_CAUSES) } else { (LEAST_OF_OTHERS, 0.0) };
            *parameter = parameter.clamp(least, most);
        }
        for parameter in &mut self.parameters[..Evidence::COUNT] {
            *parameter = parameter.clamp(0.05, MOST_OF_EVIDENCE);
        }
        for (sign, parameter) in ALL.iter().zip(&mut self.parameters) {
            if sign.states.iter().any(|state| state.is_direct) {
                *parameter = parameter.max(LEAST_OF_DIRECT);
            }
        }
        // No drawn fault is a slow interface or an MTU that neighbours disagree about: that these say nothing of what was drawn is no news.
        for of_hosts in [Evidence::Rules, Evidence::Vanished, Evidence::Speeds, Evidence::Mtus] {
            let parameter = &mut self.parameters[of_hosts.number()];
            *parameter = parameter.max(LEAST_OF_DIRECT);
        }
        // Drawn rounds have more that nobody planted (noise that complains, faults that hide each other) than causes that nobody knows.
        let unknown = &mut self.parameters[self.unknown];
        *unknown = unknown.min(MOST_OF_UNKNOWN);
        // Few drawn incidents have many flows, and those with several faults teach that flows elsewhere say little.
        for of_place in [Evidence::Spared, Evidence::Elsewhere] {
            let parameter = &mut self.parameters[of_place.number()];
            *parameter = parameter.max(LEAST_OF_PLACES);
        }
    }

    fn weights(&self, start: &Weights, catalogue: &Catalogue) -> Weights {
        let causes: BTreeMap<String, f64> = catalogue
            .all()
            .iter()
            .zip(&self.parameters[Evidence::COUNT..])
            .filter(|(_, base)| base.abs() >= 5e-4)
            .map(|(cause, base)| (cause.id.clone(), *base))
            .collect();
        start.with(&self.parameters[..Evidence::COUNT], &causes, self.parameters[self.unknown])
    }
}

/// Adam (Kingma and Ba 2015).
struct Momentum {
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Momentum {
    fn new(count: usize) -> Self {
        Self { mean: vec![0.0; count], square: vec![0.0; count] }
    }

    fn step(&mut self, step: i32, parameters: &mut [f64], gradient: &[f64]) {
        let rate = RATE / (1.0 + f64::from(step) / 150.0);
        let all = parameters.iter_mut().zip(gradient).zip(self.mean.iter_mut().zip(&mut self.square));
        for ((parameter, slope), (mean, square)) in all {
            *mean = 0.9 * *mean + 0.1 * slope;
            *square = 0.999 * *square + 0.001 * slope * slope;
            let (mean, square) = (*mean / (1.0 - 0.9_f64.powi(step)), *square / (1.0 - 0.999_f64.powi(step)));
            *parameter -= rate * mean / (square.sqrt() + 1e-9);
        }
    }
}

/// How far a kind of evidence counts at the most: as if it repeated nothing that others say, and its table were a little too flat.
/// More would be a habit of the incidents that were drawn.
const MOST_OF_EVIDENCE: f64 = 1.3;
/// What "something else" weighs at the most, a logarithm.
const MOST_OF_UNKNOWN: f64 = 0.0;
/// What a sign counts at the least that may show a fault outright: who made that observation is to be believed, also where drawn
/// incidents repeat it by other signs.
const LEAST_OF_DIRECT: f64 = 0.8;
/// What flows that do well, or suffer elsewhere, count at the least.
const LEAST_OF_PLACES: f64 = 0.5;
/// What a cause that is drawn is given or taken at the most: how often it is met elsewhere, its prior says.
const MOST_OF_CAUSES: f64 = 1.0;
/// What a cause is given at the least that no incident has, a logarithm.
const LEAST_OF_OTHERS: f64 = -0.5;
const STEPS: i32 = 400;
const RATE: f64 = 0.05;
