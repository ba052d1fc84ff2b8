//! One choice of settings.

use sweep::parameter::Settings;
use sweep::value::Value;

use crate::question::Question;

/// Which value each setting has, by its place among what it may be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate(Vec<usize>);

/// How much is changed: fewer settings first, then less memory, then fewer steps. The smaller is the better of two that
/// do equally well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    settings: usize,
    memory: u64,
    steps: usize,
}

impl Candidate {
    /// All settings as they are.
    #[must_use]
    pub fn present(question: &Question) -> Self {
        Self(question.dials.iter().map(|dial| dial.present).collect())
    }

    /// The place of the value of a setting, by its number among all that may be changed.
    #[must_use]
    pub fn place(&self, dial: usize) -> usize {
        self.0.get(dial).copied().unwrap_or(0)
    }

    /// The same with another value of one setting.
    #[must_use]
    pub fn with(&self, dial: usize, place: usize) -> Self {
        let mut other = self.clone();
        if let Some(old) = other.0.get_mut(dial) {
            *old = place;
        }
        other
    }

    /// The value of a setting.
    #[must_use]
    pub fn value<'a>(&self, question: &'a Question, dial: usize) -> &'a Value {
        const NOTHING: &Value = &Value::None;
        question.dials.get(dial).and_then(|of| of.values.get(self.place(dial))).unwrap_or(NOTHING)
    }

    /// The settings that are not as they are now.
    #[must_use]
    pub fn changed(&self, question: &Question) -> Vec<usize> {
        (0..question.dials.len()).filter(|dial| self.place(*dial) != question.dials[*dial].present).collect()
    }

    /// What all buffers come to, in bytes.
    #[must_use]
    pub fn memory(&self, question: &Question) -> u64 {
        let buffers = question.dials.iter().enumerate().filter(|(_, dial)| dial.is_buffer());
        let bytes = |number| if let Value::Bytes(bytes) = self.value(question, number) { bytes.get() } else { 0 };
        buffers.map(|(number, _)| bytes(number)).sum()
    }

    /// How much it changes.
    #[must_use]
    pub fn size(&self, question: &Question) -> Size {
        let dials = || question.dials.iter().enumerate();
        Size {
            settings: self.changed(question).len(),
            memory: self.memory(question),
            steps: dials().map(|(number, dial)| self.place(number).abs_diff(dial.present)).sum(),
        }
    }
}

impl Question {
    /// The settings of one transfer.
    #[must_use]
    pub fn settings(&self, candidate: &Candidate, draw: u64) -> Settings {
        let mut values = self.undrawn(candidate).values().to_vec();
        for (place, distribution) in &self.drawn {
            values[*place] = self.draw(*place, distribution, draw);
        }
        Settings::new(values)
    }

    /// The settings of a candidate, with one of the values of what is drawn.
    #[must_use]
    pub fn undrawn(&self, candidate: &Candidate) -> Settings {
        let dials = self.dials.iter().enumerate();
        let values = dials.map(|(number, dial)| (dial.place, candidate.value(self, number).clone()));
        self.with(&values.collect::<Vec<_>>())
    }
}
