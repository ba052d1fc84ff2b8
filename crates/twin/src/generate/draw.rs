//! Draws from one seed.

use path::Seed;
use path::random::SeededRng;

/// A stream of draws.
#[derive(Debug)]
pub(super) struct Draw(SeededRng);

impl Draw {
    pub(super) fn new(seed: Seed) -> Self {
        Self(SeededRng::new(seed))
    }

    /// Evenly from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Whether something of this probability is so.
    pub(super) fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Evenly between two numbers.
    pub(super) fn between(&mut self, [from, to]: [f64; 2]) -> f64 {
        from + (to - from) * self.unit()
    }

    /// Evenly in the logarithm between two numbers.
    pub(super) fn log(&mut self, ends: [f64; 2]) -> f64 {
        on_log(self.unit(), ends)
    }

    /// A number below `count`, or 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        index(self.unit(), count)
    }

    /// One of several with their weights.
    pub(super) fn weighted<T: Copy>(&mut self, list: &[(f64, T)], otherwise: T) -> T {
        let all: f64 = list.iter().map(|(weight, _)| weight).sum();
        let mut left = self.unit() * all;
        for (weight, value) in list {
            left -= weight;
            if left < 0.0 {
                return *value;
            }
        }
        otherwise
    }
}

/// The number at a part, 0 to 1, of the way between two numbers on a logarithmic scale.
pub(super) fn on_log(part: f64, [from, to]: [f64; 2]) -> f64 {
    from * (to / from).powf(part)
}

/// The number nearest to what was drawn.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "draws are not negative, and casts saturate"
)]
pub(super) fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "lists are short")]
pub(super) fn index(unit: f64, count: usize) -> usize {
    usize::try_from(whole((unit * count as f64).floor())).unwrap_or(0).min(count.saturating_sub(1))
}
