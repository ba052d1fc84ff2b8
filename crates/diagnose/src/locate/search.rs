//! Which few elements together explain all cells best.
//!
//! A set of elements is scored by ln of its likelihood over that of a healthy network, plus ln of its prior. Greedy set
//! cover, as SCORE does it (Kompella, Yates, Greenberg and Snoeren 2005), finds a good set; exchanging its elements one
//! at a time mends what greed got wrong; and all small sets of the most promising elements are then tried, so that what
//! explains the cells as well is known too.

use super::candidate::Candidate;
use super::evidence::{Evidence, SHALLOWEST};
use super::shape::Ground;

/// A set of elements that may be at fault.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// The candidates, ascending.
    pub(super) of: Vec<usize>,
    /// The depth of each.
    pub(super) depth: Vec<f64>,
    /// ln of the likelihood over that of a healthy network.
    pub(super) fit: f64,
    /// `fit`, and ln of the prior.
    pub(super) score: f64,
}

/// Scores sets of candidates; keeps what it needs for that.
pub(super) struct Search<'a> {
    evidence: &'a Evidence,
    candidates: &'a [Candidate],
    ground: &'a Ground,
    /// The depth that each cell has under the set that is being scored.
    depth: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> Search<'a> {
    pub(super) fn new(evidence: &'a Evidence, candidates: &'a [Candidate], ground: &'a Ground) -> Self {
        Self { evidence, candidates, ground, depth: vec![0.0; evidence.len()], scratch: Vec::new() }
    }

    /// The best set and others worth knowing, best first; empty where nothing is better than a healthy network.
    pub(super) fn run(&mut self) -> Vec<Solution> {
        let alone = self.gains(&[]);
        let greedy = self.greedy();
        let best = self.exchanged(greedy);
        let mut found = self.small_sets(&best, &alone);
        found.push(best);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.of.cmp(&b.of)));
        found.dedup_by(|a, b| a.of == b.of);
        found.retain(|solution| !solution.of.is_empty() && solution.score.is_finite());
        found
    }

    fn greedy(&mut self) -> Solution {
        let mut best = self.score(Vec::new());
        while best.of.len() < MOST_FAULTS {
            let Some((_, candidate)) = self.gains(&best.of).first().copied() else { break };
            let next = self.score(best.of.iter().copied().chain([candidate]).collect());
            if next.score <= best.score {
                break;
            }
            best = next;
        }
        best
    }

    /// Each element in turn is taken out, and put back or exchanged for a better one, until nothing gets better.
    fn exchanged(&mut self, mut best: Solution) -> Solution {
        for _ in 0..EXCHANGES {
            let before = best.score;
            for out in best.of.clone() {
                let rest: Vec<usize> = best.of.iter().copied().filter(|candidate| *candidate != out).collect();
                let gains = self.gains(&rest);
                let without = self.score(rest.clone());
                let with = gains.iter().take(3).map(|(_, candidate)| *candidate).collect::<Vec<_>>();
                let with = with.into_iter().map(|candidate| [&rest[..], &[candidate]].concat());
                let others: Vec<Solution> = with.map(|set| self.score(set)).chain([without]).collect();
                best = others.into_iter().fold(best, |best, other| if other.score > best.score { other } else { best });
            }
            if best.score <= before || best.of.len() < 2 {
                break;
            }
        }
        best
    }

    /// All sets of up to three of the most promising candidates, as far as the work allows; of larger answers, all that
    /// differ in one element.
    fn small_sets(&mut self, best: &Solution, alone: &[(f64, usize)]) -> Vec<Solution> {
        let mut promising: Vec<usize> = best.of.clone();
        promising
            .extend(alone.iter().map(|(_, candidate)| *candidate).filter(|candidate| !best.of.contains(candidate)));
        promising.truncate(self.affordable(&promising).max(best.of.len()));
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (i, a) in promising.iter().enumerate() {
            sets.push(vec![*a]);
            for (j, b) in promising.iter().enumerate().skip(i + 1) {
                sets.push(vec![*a, *b]);
                sets.extend(promising[j + 1..].iter().map(|c| vec![*a, *b, *c]));
            }
        }
        if best.of.len() > 2 {
            for out in &best.of {
                let rest = || best.of.iter().copied().filter(|candidate| candidate != out);
                sets.extend(promising[best.of.len()..].iter().map(|other| rest().chain([*other]).collect()));
            }
        }
        sets.into_iter().map(|set| self.score(set)).collect()
    }

    /// How many candidates can be tried in all sets of three.
    fn affordable(&self, promising: &[usize]) -> usize {
        let cells = promising.iter().take(MOST_PROMISING).map(|candidate| self.candidates[*candidate].cells.len());
        let (mut sum, mut count) = (0, 0);
        for cells in cells {
            let sets_of_each = (count + 1) * count / 2 + count + 1;
            if (sum + cells) * sets_of_each > WORK && count >= 3 {
                break;
            }
            sum += cells;
            count += 1;
        }
        count
    }

    /// What each candidate would add to `set`, best first; only those that add something.
    fn gains(&mut self, set: &[usize]) -> Vec<(f64, usize)> {
        let depths = self.depths_of(set);
        self.lay(set, &depths);
        let mut gains: Vec<(f64, usize)> = (0..self.candidates.len())
            .filter_map(|candidate| self.gain(candidate).map(|gain| (gain, candidate)))
            .filter(|(gain, _)| *gain > 0.0)
            .collect();
        self.lift(set);
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        gains
    }

    /// What one more candidate adds to the set that is laid down.
    fn gain(&mut self, candidate: usize) -> Option<f64> {
        let Candidate { cells, prior, .. } = &self.candidates[candidate];
        let depth = self.median_of_deeper(cells)?;
        let gain = cells.iter().map(|cell| *cell as usize).fold(*prior, |gain, cell| {
            let laid = self.depth[cell];
            if laid >= depth { gain } else { gain + self.evidence.under(cell, depth) - self.ln_likelihood(cell, laid) }
        });
        Some(gain)
    }

    fn ln_likelihood(&self, cell: usize, depth: f64) -> f64 {
        if depth == 0.0 { self.evidence.healthy[cell] } else { self.evidence.under(cell, depth) }
    }

    /// The median depth of those cells that are clearly deeper than what is laid down.
    fn median_of_deeper(&mut self, cells: &[u32]) -> Option<f64> {
        self.scratch.clear();
        for cell in cells.iter().map(|cell| *cell as usize) {
            if self.evidence.is_deeper_than(cell, self.depth[cell]) {
                self.scratch.push(self.evidence.depth[cell]);
            }
        }
        let middle = self.scratch.len() / 2;
        if self.scratch.is_empty() {
            return None;
        }
        let (_, median, _) = self.scratch.select_nth_unstable_by(middle, f64::total_cmp);
        Some(median.max(SHALLOWEST))
    }

    /// The depth of each candidate of a set. The deepest is taken first, then what it leaves unexplained: a cell is as deep
    /// as the deepest element on its way. One without anything left to explain is as shallow as can be.
    fn depths_of(&mut self, set: &[usize]) -> Vec<f64> {
        let mut order: Vec<(f64, usize)> = (0..set.len())
            .map(|at| (self.median_of_deeper(&self.candidates[set[at]].cells).unwrap_or(SHALLOWEST), at))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut depths = vec![0.0; set.len()];
        for (alone, at) in order {
            let cells = &self.candidates[set[at]].cells;
            // Cells that a deeper one explains tell nothing of this one.
            depths[at] = self.median_of_deeper(cells).unwrap_or(SHALLOWEST).min(alone);
            self.lay_one(cells, depths[at]);
        }
        self.lift(set);
        depths
    }

    fn lay(&mut self, set: &[usize], depths: &[f64]) {
        for (candidate, depth) in set.iter().zip(depths) {
            self.lay_one(&self.candidates[*candidate].cells, *depth);
        }
    }

    fn lay_one(&mut self, cells: &[u32], depth: f64) {
        for cell in cells.iter().map(|cell| *cell as usize) {
            self.depth[cell] = self.depth[cell].max(depth);
        }
    }

    fn lift(&mut self, set: &[usize]) {
        for candidate in set {
            for cell in &self.candidates[*candidate].cells {
                self.depth[*cell as usize] = 0.0;
            }
        }
    }

    pub(super) fn score(&mut self, mut set: Vec<usize>) -> Solution {
        set.sort_unstable();
        let depth = self.depths_of(&set);
        self.lay(&set, &depth);
        let mut fit = 0.0;
        for candidate in &set {
            for cell in self.candidates[*candidate].cells.iter().map(|cell| *cell as usize) {
                // Each cell counts once: it is lifted when it has been counted.
                if self.depth[cell] > 0.0 {
                    fit += self.evidence.under(cell, self.depth[cell]) - self.evidence.healthy[cell];
                    self.depth[cell] = 0.0;
                }
            }
        }
        let prior: f64 = set.iter().map(|candidate| self.candidates[*candidate].prior).sum();
        let score = if self.says_twice(&set) { f64::NEG_INFINITY } else { fit + prior };
        Solution { of: set, depth, fit, score }
    }

    /// Whether a set has an element in both directions beside the same one in one direction: the two directions say it
    /// better.
    fn says_twice(&self, set: &[usize]) -> bool {
        let first = |candidate: &usize| self.candidates[*candidate].shapes.first();
        set.iter().enumerate().any(|(at, a)| {
            let others = set[at + 1..].iter();
            others.filter_map(|b| first(a).zip(first(b))).any(|(a, b)| self.ground.is_direction_of_other(*a, *b))
        })
    }
}

/// More faults at once than these are not looked for.
const MOST_FAULTS: usize = 6;

/// How often the whole set is gone through for exchanges.
const EXCHANGES: usize = 3;

/// How many candidates all small sets are made of, and how many cells all of these sets may have: about 30 ms.
const MOST_PROMISING: usize = 24;
const WORK: usize = 600_000;
