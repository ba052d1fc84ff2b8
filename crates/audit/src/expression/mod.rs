//! Conditions in CEL, compiled once and evaluated on many hosts.
//!
//! When an expression is compiled, every name of a fact in it is looked up in the vocabulary and replaced by the number of
//! a [`Slot`]. So a misspelt name is found when the rule is read, the facts that a rule uses are known without running it,
//! and a missing fact names itself: CEL's own three-valued logic does the rest, in which `missing || true` is true and
//! `missing || false` stays unknown.

mod bounds;
mod evaluate;
mod fault;
mod functions;
mod names;
mod operators;
mod parser;
mod slot;
mod template;
mod token;
mod tree;

use tree::Node;

use crate::fact::Fact;
use crate::scope::Per;

pub use fault::{Fault, Unvalued};
pub use slot::{Ground, Language, Slot, View};
pub use template::Template;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression {
    tree: Node,
    slots: Vec<usize>,
    source: String,
}

impl Language {
    /// Compiles an expression that may use the facts of a scope.
    ///
    /// # Errors
    /// Where it is no CEL, names a fact or a function that there is not, or is larger than any that is meant.
    pub fn compile(&mut self, source: &str, per: Per) -> Result<Expression, Fault> {
        let mut tree = parser::parse(source)?;
        let slots = names::resolve(&mut tree, source, per, self)?;
        Ok(Expression { tree, slots, source: source.to_owned() })
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

#[cfg(test)]
mod tests;
