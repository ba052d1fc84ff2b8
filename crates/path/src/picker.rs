//! Which packets something happens to: each with a probability, or every n-th.

use std::num::NonZeroU64;

use crate::random::{Seed, SeededRng};
use crate::train::Train;

/// A rule by which packets are picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// Each with this probability, whatever became of the others.
    Probability(f64),
    /// Every n-th.
    EveryNth(NonZeroU64),
}

/// What a rule says about packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// Nothing happens to these.
    Spared,
    /// It happens to this one.
    Picked,
}

/// Goes through trains by a rule. What it costs grows with the packets that are picked, and not with all.
#[derive(Debug)]
pub(crate) struct Picker {
    rule: Rule,
    rng: SeededRng,
    /// Packets until the next that is picked.
    spared: u64,
}

impl Picker {
    pub(crate) fn new(rule: Rule, seed: Seed) -> Self {
        let mut picker = Self { rule, rng: SeededRng::new(seed), spared: 0 };
        picker.spared = picker.gap();
        picker
    }

    /// Goes on by another rule.
    pub(crate) fn adopt(&mut self, rule: Rule) {
        if rule != self.rule {
            self.rule = rule;
            self.spared = self.gap();
        }
    }

    /// Calls `each` with the parts of a train, in their order: those that are spared in as few pieces as can be, those
    /// that are picked one by one.
    pub(crate) fn sort(&mut self, train: Train, mut each: impl FnMut(Pick, Train)) {
        let mut left = Some(train);
        while let Some(train) = left {
            let (spared, rest) = train.split_front(u32::try_from(self.spared).unwrap_or(u32::MAX));
            if let Some(spared) = spared {
                self.spared -= u64::from(spared.count.get());
                each(Pick::Spared, spared);
            }
            let Some(rest) = rest else { return };
            let (picked, rest) = rest.split_front(1);
            if let Some(picked) = picked {
                self.spared = self.gap();
                each(Pick::Picked, picked);
            }
            left = rest;
        }
    }

    fn gap(&mut self) -> u64 {
        match self.rule {
            Rule::Probability(probability) => self.rng.failures(probability),
            Rule::EveryNth(n) => n.get() - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::tests::train;

    #[test]
    fn every_nth_is_counted_across_trains() {
        let mut picker = Picker::new(Rule::EveryNth(NonZeroU64::new(3).unwrap()), Seed(0));
        let mut picked = Vec::new();
        for frame in 0..2 {
            picker.sort(train(4), |pick, part| {
                if pick == Pick::Picked {
                    picked.push((frame, part.first, part.count.get()));
                }
            });
        }
        assert_eq!(picked, [(0, 2, 1), (1, 1, 1)]);
    }

    #[test]
    fn parts_are_the_train_in_order() {
        let mut picker = Picker::new(Rule::Probability(0.3), Seed(5));
        for _ in 0..100 {
            let mut next = 0;
            picker.sort(train(40), |_, part| {
                assert_eq!(part.first, next);
                next += part.count.get();
            });
            assert_eq!(next, 40);
        }
    }
}
