//! Causes that the evidence does not tell from each other, and what would.

pub use super::problem::Alike;
use super::problem::Ranked;

/// The first causes of a ranking, if no one stands out and few are left. More than three say nothing, and neither do some that are
/// hardly likelier than all others.
pub(super) fn alike(ranking: &[Ranked]) -> Option<Alike> {
    let first = ranking.first().filter(|first| first.probability < SURE)?;
    let near: Vec<&Ranked> =
        ranking.iter().take_while(|ranked| ranked.probability * NEAR >= first.probability).collect();
    let probability: f64 = near.iter().map(|ranked| ranked.probability).sum();
    if !(2..=MOST).contains(&near.len()) || probability < TOGETHER {
        return None;
    }
    let mut tests: Vec<String> = near.iter().map(|ranked| ranked.test.clone()).collect();
    tests.dedup();
    Some(Alike { causes: near.iter().map(|ranked| ranked.cause.clone()).collect(), probability, tests })
}

/// From this probability on a cause stands out.
const SURE: f64 = 0.75;
/// A cause that is less likely than the first by more than this factor is told from it.
const NEAR: f64 = 4.0;
/// A larger set is no answer.
const MOST: usize = 3;
/// How likely it is one of a set, at the least.
const TOGETHER: f64 = 0.55;

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(of: &[f64]) -> Vec<Ranked> {
        let ranked = |(number, probability): (usize, &f64)| Ranked {
            cause: format!("cause-{number}"),
            title: String::new(),
            places: Vec::new(),
            probability: *probability,
            speaks_for: Vec::new(),
            speaks_against: Vec::new(),
            test: format!("test {number}"),
            fix: Vec::new(),
            remedy: String::new(),
            verify: String::new(),
        };
        of.iter().enumerate().map(ranked).collect()
    }

    #[test]
    fn two_causes_of_about_one_probability_are_not_told_apart() {
        let alike = alike(&ranking(&[0.45, 0.35, 0.05])).unwrap_or_else(|| panic!("nothing"));
        assert_eq!(alike.causes, ["cause-0", "cause-1"]);
        assert_eq!(alike.tests, ["test 0", "test 1"]);
        assert!((alike.probability - 0.8).abs() < 1e-9);
    }

    #[test]
    fn a_cause_that_stands_out_and_a_crowd_are_no_set() {
        assert_eq!(alike(&ranking(&[0.8, 0.1])), None);
        assert_eq!(alike(&ranking(&[0.6, 0.1])), None, "the second is told from the first");
        assert_eq!(alike(&ranking(&[0.2, 0.2, 0.2, 0.2])), None);
        assert_eq!(alike(&ranking(&[0.2, 0.2])), None, "it is something else as a rule");
    }
}
