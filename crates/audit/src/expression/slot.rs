//! The facts that expressions use, each under a number.

use crate::fact::{Fact, Missing, Path};
use crate::scope::Scope;
use crate::vocabulary::Vocabulary;

/// The language of conditions: the functions it has, and the facts that expressions compiled with it use.
pub struct Language {
    slots: Vec<Slot>,
    pub(super) vocabulary: Vocabulary,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Language").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// A fact that some expression uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Path of the fact that is asked for.
    pub path: Path,
    /// What is asked about it.
    pub view: View,
}

/// What is asked about a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The value as it is.
    Value,
    /// By how much a counter grew per second since the snapshot before.
    Rate,
    /// By how much a counter grew since the snapshot before.
    Increase,
}

impl Language {
    /// The language over a vocabulary.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self { slots: Vec::new(), vocabulary }
    }

    /// A slot by its number.
    #[must_use]
    pub fn slot(&self, number: usize) -> &Slot {
        &self.slots[number]
    }

    /// The facts there are.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// What expressions are evaluated in: the facts of one scope.
    #[must_use]
    pub fn ground<'a>(&'a self, scope: &'a Scope<'a>) -> Ground<'a> {
        Ground { slots: &self.slots, scope }
    }

    /// The number of a slot, which is a new one where none is like it.
    pub(super) fn slot_number(&mut self, slot: Slot) -> usize {
        if let Some(number) = self.slots.iter().position(|known| *known == slot) {
            return number;
        }
        self.slots.push(slot);
        self.slots.len() - 1
    }
}

impl View {
    /// The function by which an expression asks for it.
    pub(super) fn function(self) -> &'static str {
        match self {
            Self::Value => "",
            Self::Rate => "rate",
            Self::Increase => "increase",
        }
    }
}

/// The facts of a scope by the numbers of their slots.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    pub(super) slots: &'a [Slot],
    pub(super) scope: &'a Scope<'a>,
}

impl<'a> Ground<'a> {
    /// The value of a slot.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn value(&self, number: usize) -> Result<Fact, Missing> {
        let slot = &self.slots[number];
        match slot.view {
            View::Value => self.scope.fact(&slot.path).cloned(),
            View::Rate => self.scope.rate(&slot.path),
            View::Increase => self.scope.increase(&slot.path),
        }
    }
}
