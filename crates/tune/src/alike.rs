//! Transfers that are the same as one that was simulated: their buffers differ, and none of them was ever asked for more than it
//! may hold.

use std::collections::BTreeMap;

use sweep::parameter::Parameter;
use sweep::value::Value;

use crate::candidate::Candidate;
use crate::question::Question;
use crate::trial::{Score, Trial};

/// What is known of transfers, by their draw and by their settings other than `wmem` and `rmem`.
#[derive(Debug)]
pub(crate) struct Alike {
    send: Option<Buffer>,
    receive: Option<Buffer>,
    known: BTreeMap<(Candidate, u64), Vec<Simulated>>,
}

/// A buffer that may be changed.
#[derive(Debug)]
struct Buffer {
    /// Its number among all that may be changed.
    dial: usize,
    /// Bytes, for each of its values.
    sizes: Vec<u64>,
}

/// A transfer, and the sizes of the buffers that it had.
#[derive(Debug, Clone, Copy)]
struct Simulated {
    sizes: Sizes,
    score: Score,
}

/// Bytes of the buffers of both hosts; those that may not be changed are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    send: u64,
    receive: u64,
}

impl Alike {
    pub(crate) fn new(question: &Question) -> Self {
        let buffer = |name: &str| {
            let (place, _) = Parameter::find(name)?;
            let (dial, of) = question.dials.iter().enumerate().find(|(_, dial)| dial.place == place)?;
            let size = |value: &Value| if let Value::Bytes(bytes) = value { bytes.get() } else { 0 };
            Some(Buffer { dial, sizes: of.values.iter().map(size).collect() })
        };
        Self { send: buffer("wmem"), receive: buffer("rmem"), known: BTreeMap::new() }
    }

    /// What comes of a transfer, where that is known.
    pub(crate) fn score(&self, trial: &Trial) -> Option<Score> {
        let sizes = self.sizes(&trial.candidate);
        let known = self.known.get(&self.key(trial))?;
        known.iter().find(|simulated| simulated.is_that_of(sizes)).map(|simulated| simulated.score)
    }

    /// Of those that differ by their buffers alone the one with the most, in the order in which they are given.
    pub(crate) fn largest<'t>(&self, trials: impl Iterator<Item = &'t Trial>) -> Vec<Trial> {
        let mut places: BTreeMap<(Candidate, u64), usize> = BTreeMap::new();
        let mut largest: Vec<&Trial> = Vec::new();
        for trial in trials {
            let place = *places.entry(self.key(trial)).or_insert(largest.len());
            match largest.get_mut(place) {
                Some(other) if self.sizes(&trial.candidate).sum() > self.sizes(&other.candidate).sum() => {
                    *other = trial;
                }
                Some(_) => {}
                None => largest.push(trial),
            }
        }
        largest.into_iter().cloned().collect()
    }

    pub(crate) fn keep(&mut self, trial: &Trial, score: Score) {
        let simulated = Simulated { sizes: self.sizes(&trial.candidate), score };
        self.known.entry(self.key(trial)).or_default().push(simulated);
    }

    fn key(&self, trial: &Trial) -> (Candidate, u64) {
        let buffers = [&self.send, &self.receive].into_iter().flatten();
        (buffers.fold(trial.candidate.clone(), |candidate, buffer| candidate.with(buffer.dial, 0)), trial.draw)
    }

    fn sizes(&self, candidate: &Candidate) -> Sizes {
        let size = |buffer: &Option<Buffer>| {
            buffer.as_ref().and_then(|buffer| buffer.sizes.get(candidate.place(buffer.dial))).copied().unwrap_or(0)
        };
        Sizes { send: size(&self.send), receive: size(&self.receive) }
    }
}

impl Sizes {
    fn sum(self) -> u64 {
        self.send.saturating_add(self.receive)
    }
}

impl Simulated {
    /// Whether the transfer would have been the same with buffers of these sizes.
    fn is_that_of(&self, sizes: Sizes) -> bool {
        let asked = self.score.asked;
        let alike = |had: u64, has: u64, asked: u64| had == has || asked <= had.min(has);
        alike(self.sizes.send, sizes.send, asked.send.get())
            && alike(self.sizes.receive, sizes.receive, asked.receive.get())
    }
}
