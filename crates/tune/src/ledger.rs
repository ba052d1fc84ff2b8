//! What came of all trials so far.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use stats::proportion::{Pairs, Proportion};
use stats::summary::Ordered;

use crate::alike::Alike;
use crate::candidate::Candidate;
use crate::question::Question;
use crate::trial::{Halt, Runner, Score, Trial};

/// All scores so far, by settings, each in the order of its draws from the first on.
#[derive(Debug, Clone, Default)]
pub struct Book(BTreeMap<Candidate, Vec<Score>>);

/// A book, and what is needed to write more into it.
pub struct Ledger<'a> {
    /// What is asked.
    pub question: &'a Question,
    /// What is known.
    pub book: Book,
    /// How many transfers it holds, which is what a budget allows.
    pub spent: u64,
    /// How many of them were simulated; the others are the same as one of these.
    pub simulated: u64,
    alike: Alike,
    runner: &'a mut dyn Runner,
    first: u64,
}

/// How settings do: fewer misses are better, and where as many are missed, less time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Misses of how many.
    pub missed: Proportion,
    /// The mean completion time.
    pub mean: Duration,
}

impl<'a> Ledger<'a> {
    /// An empty one, whose draws begin at a number.
    pub fn new(question: &'a Question, runner: &'a mut dyn Runner, first: u64) -> Self {
        Self { question, book: Book::default(), spent: 0, simulated: 0, alike: Alike::new(question), runner, first }
    }

    /// Simulates until each of these has been tried with so many draws.
    ///
    /// # Errors
    /// Why it ended before; nothing of what was begun is kept.
    pub fn extend<'c>(
        &mut self,
        candidates: impl IntoIterator<Item = &'c Candidate>,
        draws: usize,
    ) -> Result<(), Halt> {
        let mut asked: Vec<&Candidate> = Vec::new();
        let mut trials = Vec::new();
        for candidate in candidates {
            if asked.contains(&candidate) {
                continue;
            }
            asked.push(candidate);
            let missing = self.book.scores(candidate).len()..draws;
            trials.extend(missing.map(|draw| Trial { candidate: candidate.clone(), draw: self.first + draw as u64 }));
        }
        let scores = self.simulate(&trials)?;
        self.spent += trials.len() as u64;
        for (trial, score) in trials.into_iter().zip(scores) {
            self.book.0.entry(trial.candidate).or_default().push(score);
        }
        Ok(())
    }

    /// Simulates what cannot be known from others: of those that differ by buffers alone the one with the most of them first, since it
    /// says how small they may be.
    fn simulate(&mut self, trials: &[Trial]) -> Result<Vec<Score>, Halt> {
        let mut scores: Vec<Option<Score>> = vec![None; trials.len()];
        loop {
            for (score, trial) in scores.iter_mut().zip(trials).filter(|(score, _)| score.is_none()) {
                *score = self.alike.score(trial);
            }
            let unknown = scores.iter().zip(trials).filter(|(score, _)| score.is_none()).map(|(_, trial)| trial);
            let next = self.alike.largest(unknown);
            if next.is_empty() {
                return Ok(scores.into_iter().flatten().collect());
            }
            let simulated = self.runner.run(self.question, &next)?;
            self.simulated += next.len() as u64;
            next.iter().zip(simulated).for_each(|(trial, score)| self.alike.keep(trial, score));
        }
    }
}

impl Book {
    /// What came of settings.
    #[must_use]
    pub fn scores(&self, candidate: &Candidate) -> &[Score] {
        self.0.get(candidate).map_or(&[], Vec::as_slice)
    }

    /// How settings do over their first draws.
    #[must_use]
    pub fn standing(&self, candidate: &Candidate, draws: usize) -> Standing {
        let scores = self.scores(candidate);
        Standing::of(&scores[..draws.min(scores.len())])
    }

    /// The draws that two have in common, as missed by the one and by the other.
    #[must_use]
    pub fn pairs(&self, one: &Candidate, other: &Candidate) -> Pairs {
        Pairs::of(self.scores(one).iter().zip(self.scores(other)).map(|(one, other)| (one.missed, other.missed)))
    }

    /// Settings by how they stand over so many draws, the best first; of equals the smaller change. Those that were tried
    /// less often are left out.
    #[must_use]
    pub fn ranked(&self, question: &Question, draws: usize) -> Vec<Candidate> {
        let tried = self.0.keys().filter(|candidate| self.scores(candidate).len() >= draws.max(1));
        let mut ranked: Vec<(&Candidate, Standing)> = tried.map(|of| (of, self.standing(of, draws))).collect();
        ranked.sort_by(|(one, stands), (other, other_stands)| {
            stands.order(other_stands).then_with(|| one.size(question).cmp(&other.size(question)))
        });
        ranked.into_iter().map(|(candidate, _)| candidate.clone()).collect()
    }

    /// How often the settings that were tried most often were tried.
    #[must_use]
    pub fn most_draws(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }
}

impl Standing {
    fn of(scores: &[Score]) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let of = count(scores.len());
        let some = count(scores.iter().filter(|score| score.missed).count());
        let whole: Duration = scores.iter().map(|score| score.took).sum();
        Self { missed: Proportion { some, of }, mean: whole / of.max(1) }
    }

    /// The better first.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let share = |standing: &Self| standing.missed.share().unwrap_or(1.0);
        share(self).total_cmp(&share(other)).then(self.mean.cmp(&other.mean))
    }
}

/// The completion times of scores, for quantiles.
#[must_use]
pub fn times(scores: &[Score]) -> Ordered {
    scores.iter().map(|score| score.took.as_secs_f64() * 1e6).collect()
}
