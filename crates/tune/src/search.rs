//! From many candidates to the best, by successive halving and then by steps of single settings.
//!
//! Successive halving: Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization",
//! AISTATS 2016. All candidates of a round see the same draws, so that what differs between them comes from the settings.

use path::Seed;
use path::random::SeededRng;

use crate::candidate::Candidate;
use crate::ledger::Ledger;
use crate::question::Question;
use crate::trial::{Halt, Runner};

/// A search under way.
pub struct Search<'a> {
    /// What it knows.
    pub ledger: Ledger<'a>,
    /// The settings as they are.
    pub present: Candidate,
    /// The best that it has found so far.
    pub best: Candidate,
}

/// The fewest transfers with which anything can be said.
pub const LEAST_BUDGET: u64 = 200;

/// Of a hundred transfers of the budget, those after which no more halving is begun, and no more steps.
const HALVED: u64 = 30;
const STEPPED: u64 = 40;

impl<'a> Search<'a> {
    /// One that knows nothing yet.
    pub fn new(question: &'a Question, runner: &'a mut dyn Runner) -> Self {
        let present = Candidate::present(question);
        Self { ledger: Ledger::new(question, runner, 0), best: present.clone(), present }
    }

    /// Searches, and leaves what it finds in `best`, also where it ends early.
    ///
    /// # Errors
    /// Why it ended early.
    pub fn run(&mut self, budget: u64) -> Result<(), Halt> {
        let part = |percent: u64| budget * percent / 100;
        let first = if budget < 1_000 { 4 } else { 8 };
        let count = population(part(HALVED), first);
        let population = self.population(count);
        self.halve(population, first, Until::Few)?;
        self.step(first, part(STEPPED))
    }

    /// Candidates to begin with: the settings as they are, each single change, and then changes of any number of settings
    /// by chance.
    fn population(&self, count: usize) -> Vec<Candidate> {
        let question = self.ledger.question;
        let mut all = vec![self.present.clone()];
        // Where not all single changes have room, those come first that go the farthest.
        all.extend(self.changes(&self.present, Reach::Ends));
        all.extend(self.joint_moves(&self.present));
        let steps = self.changes(&self.present, Reach::Any);
        all.extend(steps.into_iter().filter(|_| count > 48));
        all.truncate(count / 2);
        let mut rng = SeededRng::new(question.chance());
        for _ in 0..count * 20 {
            if all.len() >= count {
                break;
            }
            let candidate = by_chance(question, &self.present, &mut rng);
            if !all.contains(&candidate) {
                all.push(candidate);
            }
        }
        all
    }

    /// Tries all with `first` draws, the better half with twice as many, and so on. The settings as they are, and the best so
    /// far, stay to the end.
    fn halve(&mut self, mut left: Vec<Candidate>, first: usize, until: Until) -> Result<(), Halt> {
        let mut draws = until.capped(FIRST.min(first));
        loop {
            self.ledger.extend(left.iter().chain([&self.present, &self.best]), draws)?;
            let ranked = self.ledger.book.ranked(self.ledger.question, draws);
            left = ranked.into_iter().filter(|candidate| left.contains(candidate)).collect();
            let is_done = draws >= first && until.is_reached(draws, left.len());
            // Whoever stops it between two rounds gets the best so far.
            if is_done || until == Until::Few {
                self.take_if_better(left.first().cloned(), draws);
            }
            if is_done {
                return Ok(());
            }
            if draws >= first {
                left.truncate(left.len().div_ceil(2).max(until.kept()));
            }
            draws = until.capped(draws * 2);
        }
    }

    fn take_if_better(&mut self, candidate: Option<Candidate>, draws: usize) {
        let stands = |candidate: &Candidate| self.ledger.book.standing(candidate, draws);
        if let Some(candidate) = candidate.filter(|candidate| stands(candidate).order(&stands(&self.best)).is_lt()) {
            self.best = candidate;
        }
    }

    /// Changes one setting of the best by one step, as long as that makes it better.
    fn step(&mut self, first: usize, until: u64) -> Result<(), Halt> {
        while self.ledger.spent < until {
            let before = self.best.clone();
            let draws = self.ledger.book.scores(&before).len();
            if self.ledger.book.standing(&before, draws).missed.some == 0 {
                break;
            }
            let mut near = self.changes(&before, Reach::Near);
            near.extend(self.joint_moves(&before));
            // As many draws as the best has, so that nothing wins by having been tried less.
            self.halve(near, first, Until::Draws(draws))?;
            if self.best == before {
                break;
            }
        }
        Ok(())
    }

    /// Candidates in which settings change that only help together: all buffers by one step or to their largest, with each
    /// choice of the congestion control and with the fewest and the most streams. By single steps a larger buffer of one host
    /// does nothing while that of the other is what limits, and one stream with large buffers is never reached from several
    /// with small ones.
    fn joint_moves(&self, from: &Candidate) -> Vec<Candidate> {
        let dials = || self.ledger.question.dials.iter().enumerate();
        let raised = |steps: usize| {
            let buffers = dials().filter(|(_, dial)| dial.is_buffer());
            buffers.fold(from.clone(), |candidate, (number, dial)| {
                let place = candidate.place(number).saturating_add(steps).min(dial.values.len() - 1);
                candidate.with(number, place)
            })
        };
        let mut all: Vec<Candidate> = Vec::new();
        for level in [raised(1), raised(usize::MAX)] {
            let mut moves = vec![level.clone()];
            for (number, dial) in dials() {
                let last = dial.values.len() - 1;
                match dial.parameter.name {
                    "congestion" => moves.extend((0..=last).map(|place| level.with(number, place))),
                    "streams" => {
                        let spread: Vec<Candidate> =
                            moves.iter().flat_map(|of| [of.with(number, 0), of.with(number, last)]).collect();
                        moves.extend(spread);
                    }
                    _ => {}
                }
            }
            all.extend(moves);
        }
        all.retain(|candidate| candidate != from);
        all.sort();
        all.dedup();
        all
    }

    /// Candidates that differ from one by one setting.
    fn changes(&self, from: &Candidate, reach: Reach) -> Vec<Candidate> {
        let dials = &self.ledger.question.dials;
        let mut all = Vec::new();
        for (number, dial) in dials.iter().enumerate() {
            let (at, last) = (from.place(number), dial.values.len() - 1);
            let is_near = |place: usize| match reach {
                Reach::Any => true,
                Reach::Ends => !dial.is_ordered() || place == 0 || place == last,
                Reach::Near => !dial.is_ordered() || place.abs_diff(at) == 1,
            };
            all.extend(
                (0..=last).filter(|place| *place != at && is_near(*place)).map(|place| from.with(number, place)),
            );
        }
        all
    }
}

/// How far a setting is changed.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// To its next value.
    Near,
    /// To its least and its most.
    Ends,
    /// To any.
    Any,
}

/// When halving ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// When few are left.
    Few,
    /// When the last one was tried so often.
    Draws(usize),
}

/// Draws after which a first best is known, for whoever does not want to wait.
const FIRST: usize = 2;
/// No more halving among so few.
const FEW: usize = 4;

impl Until {
    fn capped(self, draws: usize) -> usize {
        if let Self::Draws(last) = self { draws.min(last) } else { draws }
    }

    fn is_reached(self, draws: usize, left: usize) -> bool {
        if let Self::Draws(last) = self { draws >= last } else { left <= FEW }
    }

    fn kept(self) -> usize {
        if self == Self::Few { FEW } else { 1 }
    }
}

/// How many candidates can be halved down to a few with so many transfers.
fn population(transfers: u64, first: usize) -> usize {
    let cost = |count: usize| {
        let halvings = (count / FEW).max(1).ilog2() as usize;
        (count * first + halvings * count * first / 2) as u64
    };
    (8..=256).take_while(|count| cost(*count) <= transfers).last().unwrap_or(8)
}

/// Each setting stays as it is in one of three cases.
fn by_chance(question: &Question, present: &Candidate, rng: &mut SeededRng) -> Candidate {
    let mut candidate = present.clone();
    for (number, dial) in question.dials.iter().enumerate() {
        if rng.below(3) > 0 {
            let place = usize::try_from(rng.below(dial.values.len() as u64)).unwrap_or(dial.present);
            candidate = candidate.with(number, place);
        }
    }
    candidate
}

/// The part of a seed that candidates are drawn from.
pub(crate) const CANDIDATES: u64 = 0x6361_6e64;

impl Question {
    fn chance(&self) -> Seed {
        self.seed().part(CANDIDATES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_population_is_as_large_as_the_budget_allows() {
        assert_eq!(population(0, 4), 8);
        let (small, large) = (population(100, 4), population(1_000, 6));
        assert!(small < large && large <= 256, "{small} {large}");
    }
}
