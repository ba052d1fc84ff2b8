//! Generated meshes: every pair a series of one of the five families, two tests a pair and day, and hosts that fail.

use path::Seed;

use crate::families::{Steps, series};
use crate::monitor::RoundResult;
use crate::series::Sample;
use crate::watch::Quality;

/// What a result of a mesh depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// All that a host sends and receives.
    Host(usize),
    /// What it sends.
    From(usize),
    /// What it receives.
    To(usize),
}

/// A directed pair of hosts.
pub type Pair = (usize, usize);

/// A fault of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// The host, or what of it.
    pub element: Element,
    /// The first round with it, and the first without it again.
    pub rounds: (usize, usize),
    /// What is lost of the rate, 0 to 1.
    pub drop: f64,
}

/// A mesh of hosts that all test each other, twice a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mesh {
    /// Hosts.
    pub hosts: usize,
    /// Rounds, two a day.
    pub rounds: usize,
    /// Where all chance comes from.
    pub seed: Seed,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

impl Mesh {
    /// All pairs, with what they depend on.
    #[must_use]
    pub fn pairs(&self) -> Vec<(Pair, Vec<Element>)> {
        let pairs = (0..self.hosts).flat_map(|from| (0..self.hosts).map(move |to| (from, to)));
        let of_pair = |(from, to): Pair| {
            let elements = vec![Element::Host(from), Element::Host(to), Element::From(from), Element::To(to)];
            ((from, to), elements)
        };
        pairs.filter(|(from, to)| from != to).map(of_pair).collect()
    }

    /// The results of all rounds: families by turns, each pair at its own hour of the half day.
    #[must_use]
    pub fn results(&self) -> Vec<Vec<RoundResult<Pair>>> {
        let mut rounds = vec![Vec::with_capacity(self.hosts * self.hosts); self.rounds];
        for (number, (pair, elements)) in self.pairs().into_iter().enumerate() {
            let hourly = series(self.seed, number, self.rounds * HOURS, Steps::None).samples;
            let offset = number * 7 % HOURS;
            for (round, results) in rounds.iter_mut().enumerate() {
                let Sample { at_s, value } = hourly[round * HOURS + offset];
                let fault = self.fault.filter(|fault| {
                    (fault.rounds.0..fault.rounds.1).contains(&round) && elements.contains(&fault.element)
                });
                let value = value * fault.map_or(1.0, |fault| 1.0 - fault.drop);
                results.push(RoundResult { series: pair, sample: Sample { at_s, value }, quality: Quality::Good });
            }
        }
        rounds
    }
}

/// Hours between the rounds.
const HOURS: usize = 12;
