//! One transfer with some settings, and what came of it.

use std::time::Duration;

use sweep::case::CaseError;
use sweep::{BuffersAsked, Measure, Row};

use crate::candidate::Candidate;
use crate::question::Question;

/// A transfer that is to be simulated: some settings, and one draw of what nobody knows beforehand. The same draw is the
/// same for all settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Settings that are tried, as choices of the dials.
    pub candidate: Candidate,
    /// The number of the draw.
    pub draw: u64,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Whether it missed its deadline.
    pub missed: bool,
    /// Whether it came to its end before it was given up.
    pub finished: bool,
    /// Whether it ran into the next window.
    pub cascaded: bool,
    /// Its completion time.
    pub took: Duration,
    /// What its buffers were asked for.
    pub asked: BuffersAsked,
}

/// Why trials end early.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Halt {
    /// Somebody wants no more.
    #[error("it was stopped")]
    Stopped,
    /// One of them cannot be.
    #[error(transparent)]
    Failed(#[from] CaseError),
}

/// Whoever simulates trials, as many at once as there is room for.
pub trait Runner {
    /// What comes of each, in their order.
    ///
    /// # Errors
    /// Why they were not all done.
    fn run(&mut self, question: &Question, trials: &[Trial]) -> Result<Vec<Score>, Halt>;
}

impl Trial {
    /// Simulates it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self, question: &Question) -> Result<Score, CaseError> {
        let settings = question.settings(&self.candidate, self.draw);
        question.case(&settings, self.draw).run_with_buffers().map(|(row, asked)| Score::of(&row, asked))
    }
}

impl Score {
    fn of(row: &Row, asked: BuffersAsked) -> Self {
        let is = |measure| row.get(measure) > 0.5;
        Self {
            missed: is(Measure::Missed),
            finished: is(Measure::Finished),
            cascaded: is(Measure::Cascaded),
            took: Duration::from_micros(row.numbers[Measure::Took as usize]),
            asked,
        }
    }
}
