//! How much the outcome of a test is expected to tell: the expected fall of the entropy of what is believed (Lindley 1956).

use super::asking::Asking;
use super::ground::Ground;
use super::outlook::{Question, questions};
use crate::diagnosis::{Hypothesis, Standing};

/// What is believed, and how likely each is.
#[derive(Debug)]
pub(super) struct Belief<'a> {
    /// Causes at places, the likeliest first; those that hardly count are left out.
    pub(super) hypotheses: Vec<&'a Hypothesis<'a>>,
    /// That it is something else.
    pub(super) unknown: f64,
}

impl<'a> Belief<'a> {
    /// What a problem may be.
    pub(super) fn of(standing: &'a Standing<'a>) -> Self {
        let mut hypotheses: Vec<&Hypothesis<'_>> =
            standing.hypotheses.iter().filter(|hypothesis| hypothesis.probability >= LEAST).collect();
        hypotheses.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        hypotheses.truncate(MOST);
        Self { hypotheses, unknown: standing.problem.unknown }
    }

    /// What a test is expected to tell, in bits.
    pub(super) fn gain(&self, asking: &Asking<'_>, ground: &Ground<'_>) -> f64 {
        let questions = self.questions(asking, ground);
        let before = self.probabilities();
        let outlooks = self.outlooks(&questions, asking);
        let outcomes = outlooks.first().map_or(0, Vec::len);
        let left = (0..outcomes).map(|outcome| {
            let joint = before.iter().zip(&outlooks).map(|(probability, outlook)| probability * outlook[outcome]);
            let likely: f64 = joint.sum();
            let after: Vec<f64> = before
                .iter()
                .zip(&outlooks)
                .map(|(probability, outlook)| probability * outlook[outcome].max(1e-9).powf(DAMPED))
                .collect();
            likely * entropy(&after)
        });
        let gain = (entropy(&before) - left.sum::<f64>()).max(0.0);
        if ground.has_like(asking, &self.hypotheses) { gain * TOLD_ALREADY } else { gain }
    }

    /// What a test answers about this problem.
    pub(super) fn questions(&self, asking: &Asking<'_>, ground: &Ground<'_>) -> Vec<Question> {
        let known = |sign: usize| ground.subject.observations.iter().any(|seen| seen.seen.sign == sign);
        questions(asking, known)
    }

    fn probabilities(&self) -> Vec<f64> {
        self.hypotheses.iter().map(|hypothesis| hypothesis.probability).chain([self.unknown]).collect()
    }

    /// For each hypothesis, and for the unknown, how likely each outcome is: one answer to every question.
    fn outlooks(&self, questions: &[Question], asking: &Asking<'_>) -> Vec<Vec<f64>> {
        let known = self.hypotheses.iter().map(|hypothesis| joined(questions, |of| of.likely(hypothesis, asking)));
        known.chain([joined(questions, |of| of.unknown())]).collect()
    }
}

/// The outcomes of several questions, as if they were asked one by one.
pub(super) fn joined(questions: &[Question], likely: impl Fn(&Question) -> Vec<f64>) -> Vec<f64> {
    let mut all = vec![1.0];
    for question in questions {
        let answers = likely(question);
        debug_assert_eq!(answers.len(), question.answers());
        all = all.iter().flat_map(|before| answers.iter().map(move |answer| before * answer)).collect();
    }
    all
}

/// In bits, of parts that need not add up to 1.
fn entropy(parts: &[f64]) -> f64 {
    let sum: f64 = parts.iter().sum();
    let of = |part: &f64| {
        let part = part / sum;
        if part > 0.0 { -part * part.log2() } else { 0.0 }
    };
    if sum > 0.0 { parts.iter().map(of).sum() } else { 0.0 }
}

/// What is less likely does not decide which test is next.
const LEAST: f64 = 0.002;
/// So many hypotheses are told apart at once.
const MOST: usize = 60;
/// As a diagnosis weighs a sign among others of its path (docs/diagnosis.md), so much does an answer count.
const DAMPED: f64 = 0.7;
/// What is left of a test that goes past the same places as one of its kind did before: a diagnosis counts flows of one path
/// little more than once.
const TOLD_ALREADY: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_a_coin_and_of_a_die() {
        assert!((entropy(&[0.5, 0.5]) - 1.0).abs() < 1e-12);
        assert!((entropy(&[1.0; 8]) - 3.0).abs() < 1e-12);
        assert!(entropy(&[1.0, 0.0]).abs() < 1e-12);
        assert!(entropy(&[]).abs() < 1e-12);
    }
}
