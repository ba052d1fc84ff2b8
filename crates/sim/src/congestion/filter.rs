//! The largest value of the last rounds.

/// The largest of the last `length` rounds, as three candidates (Kathleen Nichols; Linux lib/win_minmax.c).
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargestOf {
    length: u64,
    best: [(u64, f64); 3],
}

impl LargestOf {
    pub(crate) fn new(length: u64) -> Self {
        Self { length, best: [(0, 0.0); 3] }
    }

    pub(crate) fn get(&self) -> f64 {
        self.best[0].1
    }

    pub(crate) fn add(&mut self, round: u64, value: f64) {
        let new = (round, value);
        if value >= self.best[0].1 || round.saturating_sub(self.best[2].0) > self.length {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        self.expire(new);
    }

    fn expire(&mut self, new: (u64, f64)) {
        let age = new.0.saturating_sub(self.best[0].0);
        if age > self.length {
            self.best = [self.best[1], self.best[2], new];
            if new.0.saturating_sub(self.best[0].0) > self.length {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > self.length / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > self.length / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_forgotten_after_its_rounds() {
        let mut filter = LargestOf::new(10);
        filter.add(1, 9.0);
        for round in 2..=11 {
            filter.add(round, 5.0);
            assert!((filter.get() - 9.0).abs() < f64::EPSILON, "{round}");
        }
        filter.add(12, 4.0);
        assert!((filter.get() - 5.0).abs() < f64::EPSILON);
    }
}
