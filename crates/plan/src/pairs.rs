//! The directed pairs of hosts that a group and a test stand for.

use std::collections::BTreeSet;

use crate::plan::{Group, Plan, Shape, Ways};

/// A pair of hosts, from the one that asks to the one that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The host that asks.
    pub from: usize,
    /// The host that answers.
    pub to: usize,
}

impl Pair {
    /// The way back.
    #[must_use]
    pub const fn back(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

impl Group {
    /// Its directed pairs in order, each once. Nobody tests itself.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        match &self.shape {
            Shape::Mesh(hosts) => {
                pairs.extend(hosts.iter().flat_map(|&from| hosts.iter().map(move |&to| Pair { from, to })));
            }
            Shape::Disjoint { a, b, ways } => {
                let there = a.iter().flat_map(|&from| b.iter().map(move |&to| Pair { from, to }));
                pairs.extend(there.clone());
                if *ways == Ways::Both {
                    pairs.extend(there.map(Pair::back));
                }
            }
            Shape::List(list) => pairs.extend(list.iter().map(|&(from, to)| Pair { from, to })),
        }
        let mut seen = BTreeSet::new();
        pairs
            .retain(|pair| pair.from != pair.to && !self.without.contains(&(pair.from, pair.to)) && seen.insert(*pair));
        pairs
    }

    /// No fewer than its pairs, and much sooner known.
    pub(crate) fn most_pairs(&self) -> usize {
        match &self.shape {
            Shape::Mesh(hosts) => hosts.len().saturating_mul(hosts.len().saturating_sub(1)),
            Shape::Disjoint { a, b, .. } => a.len().saturating_mul(b.len()).saturating_mul(2),
            Shape::List(list) => list.len(),
        }
    }
}

impl Plan {
    /// The pairs that a test runs between, in order. A test in both directions at once needs only one of a pair and its
    /// way back.
    #[must_use]
    pub fn pairs(&self, test: usize) -> Vec<Pair> {
        let test = &self.tests[test];
        let mut pairs = self.groups[test.group].pairs();
        if test.task.is_both_ways() {
            let mut seen = BTreeSet::new();
            pairs.retain(|pair| {
                seen.insert(*pair);
                !seen.contains(&pair.back())
            });
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(shape: Shape) -> Group {
        Group { name: "g".to_owned(), shape, network: None, without: BTreeSet::from([(1, 0)]) }
    }

    fn shown(shape: Shape) -> Vec<(usize, usize)> {
        group(shape).pairs().into_iter().map(|pair| (pair.from, pair.to)).collect()
    }

    #[test]
    fn each_shape_has_its_pairs_less_those_left_out() {
        assert_eq!(shown(Shape::Mesh(vec![0, 1, 2])), [(0, 1), (0, 2), (1, 2), (2, 0), (2, 1)]);
        let sides = |ways| Shape::Disjoint { a: vec![0], b: vec![1, 2], ways };
        assert_eq!(shown(sides(Ways::One)), [(0, 1), (0, 2)]);
        assert_eq!(shown(sides(Ways::Both)), [(0, 1), (0, 2), (2, 0)]);
        assert_eq!(shown(Shape::List(vec![(2, 0), (1, 0), (2, 0), (1, 1)])), [(2, 0)]);
    }
}
