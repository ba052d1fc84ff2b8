//! Conditions in CEL, compiled once and evaluated on many hosts.
//!
//! When an expression is compiled, every name of a fact in it is looked up in the vocabulary and replaced by the number of
//! a [`Slot`]. So a misspelt name is found when the rule is read, the facts that a rule uses are known without running it,
//! and a missing fact names itself: CEL's own three-valued logic does the rest, in which `missing || true` is true and
//! `missing || false` stays unknown.

mod bounds;
mod evaluate;
mod functions;
mod names;
mod operators;
mod parser;
mod template;
mod token;
mod tree;

use tree::Node;

use crate::fact::{Fact, Missing, Path};
use crate::scope::{Per, Scope};
use crate::vocabulary::Vocabulary;

pub use template::Template;

/// The language of conditions: the functions it has, and the facts that expressions compiled with it use.
pub struct Language {
    slots: Vec<Slot>,
    vocabulary: Vocabulary,
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

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression {
    tree: Node,
    slots: Vec<usize>,
    source: String,
}

/// What is wrong with the text of an expression, counted from its first character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Line within the text, from 0.
    pub line: usize,
    /// Column within the line, in characters, from 0.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Why an expression has no value on this host.
#[derive(Debug, Clone, PartialEq)]
pub enum Unvalued {
    /// A fact is missing.
    Lacks {
        /// Its slot, where it is one; an element of a list has none.
        slot: Option<usize>,
        /// Why it is missing.
        why: String,
    },
    /// The expression itself failed: a division by zero, a text where a number was expected.
    Failed(String),
}

impl Language {
    /// The language over a vocabulary.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self { slots: Vec::new(), vocabulary }
    }

    /// Compiles an expression that may use the facts of a scope.
    ///
    /// # Errors
    /// Where it is no CEL, names a fact or a function that there is not, or is larger than any that is meant.
    pub fn compile(&mut self, source: &str, per: Per) -> Result<Expression, Fault> {
        let mut tree = parser::parse(source)?;
        let slots = names::resolve(&mut tree, source, per, self)?;
        Ok(Expression { tree, slots, source: source.to_owned() })
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

    fn slot_number(&mut self, slot: Slot) -> usize {
        if let Some(number) = self.slots.iter().position(|known| *known == slot) {
            return number;
        }
        self.slots.push(slot);
        self.slots.len() - 1
    }
}

impl Expression {
    /// The facts it uses, as numbers of slots.
    #[must_use]
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// The text that it was parsed from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it is with the facts of one host.
    ///
    /// # Errors
    /// Where a fact is missing, or the expression does not fit the facts.
    pub fn evaluate(&self, ground: &Ground<'_>) -> Result<Fact, Unvalued> {
        evaluate::evaluate(&self.tree, ground)
    }
}

impl View {
    /// The function by which an expression asks for it.
    fn function(self) -> &'static str {
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
    slots: &'a [Slot],
    scope: &'a Scope<'a>,
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

#[cfg(test)]
mod tests;
