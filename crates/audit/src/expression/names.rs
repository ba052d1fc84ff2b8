//! Names of facts in an expression become slots.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SourceInfo, operators};
use cel::common::types::CelInt;

use super::bounds::{MOST_LISTS, MOST_LISTS_WITHIN};
use super::{Fault, Language, SLOT, Slot, View};
use crate::fact::{Path, Segment};
use crate::scope::Per;

/// Where the expression stands.
pub(super) struct Place<'a> {
    pub(super) source: &'a str,
    pub(super) info: &'a SourceInfo,
    pub(super) per: Per,
}

/// Replaces every name of a fact by its slot, and checks it.
pub(super) fn resolve(
    tree: &mut IdedExpr,
    place: &Place<'_>,
    language: &mut Language,
    found: &mut Vec<usize>,
) -> Result<(), Fault> {
    Names { place, language, found, bound: Vec::new(), lists: 0 }.visit(tree)
}

struct Names<'a> {
    place: &'a Place<'a>,
    language: &'a mut Language,
    found: &'a mut Vec<usize>,
    /// Variables of comprehensions, each with the list whose element it is, where that is a fact.
    bound: Vec<(String, Option<Path>)>,
    /// Comprehensions so far.
    lists: usize,
}

impl Names<'_> {
    fn visit(&mut self, tree: &mut IdedExpr) -> Result<(), Fault> {
        if let Some(path) = chain(&tree.expr) {
            let id = first_word(tree);
            return self.name(tree, id, path);
        }
        let id = tree.id;
        match &mut tree.expr {
            Expr::Call(call) => match view(call) {
                Some(view) => {
                    let path = call.args.first().and_then(|argument| chain(&argument.expr));
                    let path = path
                        .ok_or_else(|| self.fault(id, format!("{}() wants the name of one counter", call.func_name)))?;
                    self.slot(tree, id, path, view)
                }
                None => self.call(call),
            },
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, id),
            Expr::List(list) => list.elements.iter_mut().try_for_each(|element| self.visit(element)),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(entry) => self.visit(&mut entry.key).and_then(|()| self.visit(&mut entry.value)),
                EntryExpr::StructField(field) => self.visit(&mut field.value),
            }),
            Expr::Select(select) if select.test => Err(self
                .fault(id, "has() is not for facts: a missing fact makes a rule unknown, it is no answer".to_owned())),
            Expr::Select(select) => self.visit(&mut select.operand),
            Expr::Struct(_) | Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => Ok(()),
        }
    }

    fn call(&mut self, call: &mut CallExpr) -> Result<(), Fault> {
        if let Some(target) = &mut call.target {
            self.visit(target)?;
        }
        call.args.iter_mut().try_for_each(|argument| self.visit(argument))
    }

    fn comprehension(&mut self, comprehension: &mut ComprehensionExpr, id: u64) -> Result<(), Fault> {
        self.lists += 1;
        // Each has two variables.
        if self.lists > MOST_LISTS || self.bound.len() / 2 >= MOST_LISTS_WITHIN {
            let message =
                format!("lists are gone through {MOST_LISTS_WITHIN} within each other and {MOST_LISTS} in all at most");
            return Err(self.fault(id, message));
        }
        let list = chain(&comprehension.iter_range.expr);
        self.visit(&mut comprehension.iter_range)?;
        self.visit(&mut comprehension.accu_init)?;
        let before = self.bound.len();
        self.bound.push((comprehension.iter_var.clone(), list));
        self.bound.push((comprehension.accu_var.clone(), None));
        self.visit(&mut comprehension.loop_cond)?;
        self.visit(&mut comprehension.loop_step)?;
        self.visit(&mut comprehension.result)?;
        self.bound.truncate(before);
        Ok(())
    }

    fn name(&mut self, tree: &mut IdedExpr, id: u64, path: Path) -> Result<(), Fault> {
        let bound = self.bound.iter().rev().find(|(name, _)| *name == path.root);
        if let Some((_, list)) = bound {
            let Some(list) = list else { return Ok(()) };
            let mut element = list.clone();
            element.segments.push(Segment::Index(0));
            element.segments.extend(path.segments);
            return if self.language.vocabulary.has(&element) { Ok(()) } else { Err(self.unknown(id, &element)) };
        }
        if let Some((_, number)) = CONSTANTS.iter().find(|(name, _)| *name == path.root && path.segments.is_empty()) {
            tree.expr = Expr::Literal(LiteralValue::Int(CelInt::from(*number)));
            return Ok(());
        }
        self.slot(tree, id, path, View::Value)
    }

    fn slot(&mut self, tree: &mut IdedExpr, id: u64, path: Path, view: View) -> Result<(), Fault> {
        if !self.language.vocabulary.has(&path) {
            return Err(self.unknown(id, &path));
        }
        if !self.place.per.sees(&path.root) {
            let per = self.place.per.word();
            return Err(self.fault(id, format!("`{path}` is not a fact of one {per}: say another `per`")));
        }
        let number = self.language.slot_number(Slot { path, view });
        self.found.push(number);
        tree.expr = Expr::Ident(format!("{SLOT}{number}"));
        Ok(())
    }

    fn unknown(&self, id: u64, path: &Path) -> Fault {
        self.fault(id, format!("there is no fact `{path}`; docs/rules.md lists those there are"))
    }

    fn fault(&self, id: u64, message: String) -> Fault {
        let start = self.place.info.offset_for(id).map_or(0, |(start, _)| start as usize);
        let before: String = self.place.source.chars().take(start).collect();
        let line = before.matches('\n').count();
        let column = before.chars().rev().take_while(|&c| c != '\n').count();
        Fault { line, column, message }
    }
}

/// The first word of a name.
fn first_word(tree: &IdedExpr) -> u64 {
    match &tree.expr {
        Expr::Select(select) => first_word(&select.operand),
        Expr::Call(call) => call.args.first().map_or(tree.id, first_word),
        _ => tree.id,
    }
}

/// The name that an expression spells, with constant keys only.
fn chain(expr: &Expr) -> Option<Path> {
    let mut segments = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Ident(root) => {
                segments.reverse();
                return Some(Path { root: root.clone(), segments });
            }
            Expr::Select(select) if !select.test => {
                segments.push(Segment::Key(select.field.clone()));
                at = &select.operand.expr;
            }
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let [operand, index] = call.args.as_slice() else { return None };
                segments.push(constant(&index.expr)?);
                at = &operand.expr;
            }
            _ => return None,
        }
    }
}

fn constant(expr: &Expr) -> Option<Segment> {
    match expr {
        Expr::Literal(LiteralValue::String(key)) => Some(Segment::Key(key.inner().to_owned())),
        Expr::Literal(LiteralValue::Int(index)) => usize::try_from(*index.inner()).ok().map(Segment::Index),
        _ => None,
    }
}

fn view(call: &CallExpr) -> Option<View> {
    if call.target.is_some() || call.args.len() != 1 {
        return None;
    }
    match call.func_name.as_str() {
        "rate" => Some(View::Rate),
        "increase" => Some(View::Increase),
        _ => None,
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
