//! Names of facts in an expression become slots.

use super::bounds::{MOST_LISTS, MOST_LISTS_WITHIN, fault_at};
use super::fault::Fault;
use super::slot::{Language, Slot, View};
use super::tree::{Elements, Form, Node};
use crate::fact::{Fact, Path, Segment};
use crate::scope::Per;

/// Replaces every name of a fact by its slot, and checks it.
///
/// # Errors
/// A name that is not in the vocabulary, or not of what is asked, and lists within lists beyond the bounds.
pub(super) fn resolve(tree: &mut Node, source: &str, per: Per, language: &mut Language) -> Result<Vec<usize>, Fault> {
    let mut names = Names { source, per, language, found: Vec::new(), bound: Vec::new(), lists: 0 };
    names.visit(tree)?;
    let mut found = names.found;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

struct Names<'a> {
    source: &'a str,
    per: Per,
    language: &'a mut Language,
    found: Vec<usize>,
    /// Variables of lists that are gone through, each with the name of an element, where the list is a fact.
    bound: Vec<(String, Option<Path>)>,
    /// Lists that are gone through so far.
    lists: usize,
}

impl Names<'_> {
    fn visit(&mut self, node: &mut Node) -> Result<(), Fault> {
        if let Some(path) = node.path() {
            return self.name(node, path);
        }
        let at = node.at;
        match &mut node.form {
            Form::Literal(_) | Form::Slot(_) | Form::Name(_) => Ok(()),
            Form::Counter(view, counter) => {
                let (view, path) = (*view, counter.path());
                let path =
                    path.ok_or_else(|| self.fault(at, format!("{}() wants the name of one counter", view.function())))?;
                self.slot(node, path, view)
            }
            Form::List(nodes) | Form::Call(_, nodes) => nodes.iter_mut().try_for_each(|node| self.visit(node)),
            Form::Map(entries) => entries.iter_mut().try_for_each(|(key, value)| {
                self.visit(key)?;
                self.visit(value)
            }),
            Form::Field(operand, _) | Form::Unary(_, operand) => self.visit(operand),
            Form::Index(first, second) | Form::Binary(_, first, second) => {
                self.visit(first)?;
                self.visit(second)
            }
            Form::Choice(parts) => parts.iter_mut().try_for_each(|part| self.visit(part)),
            Form::Elements(elements) => self.elements(elements, at),
        }
    }

    fn elements(&mut self, elements: &mut Elements, at: usize) -> Result<(), Fault> {
        self.lists += 1;
        if self.lists > MOST_LISTS || self.bound.len() >= MOST_LISTS_WITHIN {
            let message =
                format!("lists are gone through {MOST_LISTS_WITHIN} within each other and {MOST_LISTS} in all at most");
            return Err(self.fault(at, message));
        }
        let element = elements.list.path().and_then(|list| self.path_from_root(list)).map(|mut list| {
            list.segments.push(Segment::Index(0));
            list
        });
        self.visit(&mut elements.list)?;
        self.bound.push((elements.variable.clone(), element));
        if let Some(only) = &mut elements.only {
            self.visit(only)?;
        }
        self.visit(&mut elements.body)?;
        self.bound.pop();
        Ok(())
    }

    /// The name from the root of the facts, where it may start at the variable of a list. Nothing where the list is none
    /// of the facts.
    fn path_from_root(&self, path: Path) -> Option<Path> {
        match self.bound.iter().rev().find(|(name, _)| *name == path.root) {
            Some((_, element)) => {
                let mut whole = element.clone()?;
                whole.segments.extend(path.segments);
                Some(whole)
            }
            None => Some(path),
        }
    }

    fn name(&mut self, node: &mut Node, path: Path) -> Result<(), Fault> {
        if self.bound.iter().any(|(name, _)| *name == path.root) {
            // Of what has been computed nobody knows the names.
            let Some(element) = self.path_from_root(path) else { return Ok(()) };
            return if self.language.vocabulary.has(&element) { Ok(()) } else { Err(self.unknown(node.at, &element)) };
        }
        if let Some((_, number)) = CONSTANTS.iter().find(|(name, _)| *name == path.root && path.segments.is_empty()) {
            node.form = Form::Literal(Fact::Int(*number));
            return Ok(());
        }
        self.slot(node, path, View::Value)
    }

    fn slot(&mut self, node: &mut Node, path: Path, view: View) -> Result<(), Fault> {
        if !self.language.vocabulary.has(&path) {
            return Err(self.unknown(node.at, &path));
        }
        if !self.per.sees(&path.root) {
            let per = self.per.word();
            return Err(self.fault(node.at, format!("`{path}` is not a fact of one {per}: say another `per`")));
        }
        let number = self.language.slot_number(Slot { path, view });
        self.found.push(number);
        node.form = Form::Slot(number);
        Ok(())
    }

    fn unknown(&self, at: usize, path: &Path) -> Fault {
        self.fault(at, format!("there is no fact `{path}`; docs/rules.md lists those there are"))
    }

    fn fault(&self, at: usize, message: String) -> Fault {
        fault_at(self.source, at, message)
    }
}

/// Numbers with names. `M` is 10^6 and `Mi` is 2^20, as everywhere.
const CONSTANTS: [(&str, i64); 7] = [
    ("Kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("ms", 1_000),
];
