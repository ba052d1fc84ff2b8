//! How often something happens, and whether it happens less often after a change.

/// Some of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportion {
    /// How many.
    pub some: u32,
    /// Of how many.
    pub of: u32,
}

impl Proportion {
    /// The part, 0 to 1; of nothing it is not known.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| f64::from(self.some) / f64::from(self.of))
    }

    /// What the probability behind it may be: 95 of 100 such intervals hold it (Wilson, JASA 22, 1927). Of nothing it may
    /// be anything.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        let (Some(share), n) = (self.share(), f64::from(self.of)) else { return (0.0, 1.0) };
        let shrunk = 1.0 + Z * Z / n;
        let middle = (share + Z * Z / (2.0 * n)) / shrunk;
        let half = Z / shrunk * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        // At the ends rounding could leave a hair outside of what was seen.
        ((middle - half).clamp(0.0, share), (middle + half).clamp(share, 1.0))
    }
}

/// The standard normal variable is farther from zero than this in 5 of 100 cases.
const Z: f64 = 1.959_963_984_540_054;

/// The same cases before and after a change, of which only those count in which something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairs {
    /// It happened before, and not after.
    pub ended: u32,
    /// It did not happen before, and does after.
    pub began: u32,
}

impl Pairs {
    /// Counts cases, each as before and after.
    #[must_use]
    pub fn of(cases: impl IntoIterator<Item = (bool, bool)>) -> Self {
        cases.into_iter().fold(Self::default(), |pairs, case| match case {
            (true, false) => Self { ended: pairs.ended + 1, ..pairs },
            (false, true) => Self { began: pairs.began + 1, ..pairs },
            _ => pairs,
        })
    }

    /// The probability of at least such a difference where the change does nothing, so that either direction is as likely
    /// (McNemar, Psychometrika 12, 1947, in its exact form; two-sided).
    #[must_use]
    pub fn p(self) -> f64 {
        let (all, fewer) = (self.ended + self.began, self.ended.min(self.began));
        // Terms of the binomial by logarithms: 2^-n is nothing for n above a thousand.
        let mut ln_term = -f64::from(all) * std::f64::consts::LN_2;
        let mut tail = ln_term.exp();
        for number in 0..fewer {
            ln_term += (f64::from(all - number) / f64::from(number + 1)).ln();
            tail += ln_term.exp();
        }
        (2.0 * tail).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 5e-5
    }

    #[test]
    fn intervals_are_those_of_newcombe() {
        // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for (some, of, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let found = Proportion { some, of }.interval();
            assert!(close(found.0, low) && close(found.1, high), "{some} of {of}: {found:?}");
        }
        assert_eq!(Proportion { some: 0, of: 0 }.interval(), (0.0, 1.0));
        assert_eq!(Proportion { some: 7, of: 7 }.interval().1, 1.0);
    }

    #[test]
    fn a_difference_is_as_likely_as_that_many_heads() {
        assert_eq!(Pairs { ended: 0, began: 0 }.p(), 1.0);
        assert_eq!(Pairs { ended: 3, began: 3 }.p(), 1.0);
        // Ten heads of ten, twice; nine or more of ten, twice.
        assert!((Pairs { ended: 10, began: 0 }.p() - 2.0 / 1_024.0).abs() < 1e-15);
        assert!((Pairs { ended: 1, began: 9 }.p() - 22.0 / 1_024.0).abs() < 1e-15);
        assert!(Pairs { ended: 3_000, began: 0 }.p() < 1e-300);
        let cases = [(true, false), (true, true), (false, false), (true, false), (false, true)];
        assert_eq!(Pairs::of(cases), Pairs { ended: 2, began: 1 });
    }
}
