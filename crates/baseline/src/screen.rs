//! The screen at every result: a rank statistic over all splits, for thousands of series a second.

/// The largest |z| of the Mann-Whitney statistic over all splits with at least `least` samples on each side, and its split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Screened {
    /// Standard deviations; grows with the evidence for a change anywhere.
    pub z: f64,
    /// The first sample after the split.
    pub at: usize,
}

/// Memory that screens use again and again.
#[derive(Debug, Default)]
pub struct Screen {
    order: Vec<u64>,
    ranks: Vec<f32>,
}

impl Screen {
    /// Screens a series of at most 65,536 samples; of longer ones, the last so many. [`None`] where there are too few.
    pub fn screen(&mut self, levels: &[f64], least: usize) -> Option<Screened> {
        let levels = &levels[levels.len().saturating_sub(MOST)..];
        let n = levels.len();
        let least = least.max(1);
        if n < 2 * least {
            return None;
        }
        self.rank(levels);
        let mean = (n + 1) as f64 / 2.0;
        let mut sum: f64 = self.ranks[..least - 1].iter().map(|rank| f64::from(*rank) - mean).sum();
        let (mut most, mut best) = (-1.0_f64, least);
        for at in least..=n - least {
            sum += f64::from(self.ranks[at - 1]) - mean;
            let square = sum * sum / (at as f64 * (n - at) as f64);
            if square > most {
                (most, best) = (square, at);
            }
        }
        // Wilcoxon 1945: the variance of a sum of `at` of the ranks 1 to n is at (n - at) (n + 1) / 12.
        Some(Screened { z: (most * 12.0 / (n + 1) as f64).sqrt(), at: best })
    }

    /// Ranks from 1, equal values in the order in which they come: sorting one word a sample, its value above its place.
    fn rank(&mut self, levels: &[f64]) {
        self.order.clear();
        self.order.extend(levels.iter().zip(0_u64..).map(|(level, place)| (ordered(*level) & !0xffff) | place));
        self.order.sort_unstable();
        self.ranks.clear();
        self.ranks.resize(levels.len(), 0.0);
        let mut at = 0;
        while at < self.order.len() {
            let value = self.order[at] >> 16;
            let ties = self.order[at..].iter().take_while(|word| *word >> 16 == value).count();
            let rank = at as f32 + (ties + 1) as f32 / 2.0;
            for word in &self.order[at..at + ties] {
                self.ranks[(*word & 0xffff) as usize] = rank;
            }
            at += ties;
        }
    }
}

/// Doubles as integers of the same order.
const fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Samples that are screened at most: places fit into 16 bits. Values that differ by less than 1 part in 10^11 count as equal.
const MOST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stats::{normal, rank};

    use super::*;

    proptest! {
        #[test]
        fn the_screen_is_the_largest_of_all_rank_tests(values in prop::collection::vec(-1e6_f64..1e6, 60..90)) {
            let least = 26;
            let found = Screen::default().screen(&values, least).unwrap();
            // Two sets of more than 50 values are compared by the normal approximation; its half step of continuity is taken off.
            let p = |at: usize| rank::compare(&values[..at], &values[at..]).unwrap().p_two_sided;
            let best = (least..=values.len() - least).map(p).fold(1.0, f64::min);
            let (sizes, n) = (found.at as f64 * (values.len() - found.at) as f64, values.len() as f64);
            let half_step = 0.5 / (sizes * (n + 1.0) / 12.0).sqrt();
            let of_screen = normal::two_sided_tail((found.z - half_step).max(0.0));
            prop_assert!((of_screen - p(found.at)).abs() < 1e-6, "{of_screen} against {}", p(found.at));
            prop_assert!(p(found.at) <= best * 1.05, "{} against {best}", p(found.at));
        }
    }

    #[test]
    fn few_values_are_not_screened_and_equal_ones_are_no_change() {
        let mut screen = Screen::default();
        assert_eq!(screen.screen(&[1.0; 9], 5), None);
        assert!(screen.screen(&[1.0; 90], 5).unwrap().z < 1e-9);
    }
}
