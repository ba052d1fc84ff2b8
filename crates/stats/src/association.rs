//! Whether two properties go together more often than chance makes them.

/// How many have two properties, one, the other, neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoByTwo {
    /// Both.
    pub both: u32,
    /// The first alone.
    pub first: u32,
    /// The second alone.
    pub second: u32,
    /// Neither.
    pub neither: u32,
}

impl TwoByTwo {
    /// The probability that chance puts at least as many into `both`, were the properties independent and as frequent as
    /// they are (Fisher 1935, one-sided). With one that has the first property among n it is never below 1/n.
    #[must_use]
    pub fn fisher_p(self) -> f64 {
        let (row, column) = (self.both + self.first, self.both + self.second);
        let all = row + self.second + self.neither;
        let most = row.min(column);
        let ln_all = ln_choose(all, column);
        let probability = |both: u32| {
            let elsewhere = column - both;
            if elsewhere > all - row {
                0.0
            } else {
                (ln_choose(row, both) + ln_choose(all - row, elsewhere) - ln_all).exp()
            }
        };
        (self.both..=most).map(probability).sum::<f64>().min(1.0)
    }
}

/// ln of n over k.
fn ln_choose(n: u32, k: u32) -> f64 {
    (0..k.min(n - k)).map(|i| (f64::from(n - i) / f64::from(i + 1)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_four_can_never_be_significant() {
        let p = TwoByTwo { both: 1, first: 0, second: 0, neither: 3 }.fisher_p();
        assert!((p - 0.25).abs() < 1e-12, "{p}");
    }

    #[test]
    fn a_lady_who_tastes_tea_is_as_likely_as_fisher_says() {
        // Fisher 1935, The Design of Experiments, chapter 2: all four of eight cups, and three of the four.
        let all = TwoByTwo { both: 4, first: 0, second: 0, neither: 4 }.fisher_p();
        assert!((all - 1.0 / 70.0).abs() < 1e-12, "{all}");
        let three = TwoByTwo { both: 3, first: 1, second: 1, neither: 3 }.fisher_p();
        assert!((three - 17.0 / 70.0).abs() < 1e-12, "{three}");
    }

    #[test]
    fn nobody_has_both_at_least_as_often_as_always() {
        assert_eq!(TwoByTwo { both: 0, first: 5, second: 9, neither: 2 }.fisher_p(), 1.0);
        assert_eq!(TwoByTwo { both: 0, first: 0, second: 0, neither: 0 }.fisher_p(), 1.0);
    }
}
