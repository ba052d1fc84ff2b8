//! What an expression is worth on one host.
//!
//! Logic has three values: `false && missing` is false and `true || missing` is true, whichever side is missing; anything
//! else that needs a missing fact is missing too. So a rule is unknown exactly where the answer hangs on what is missing.

use std::borrow::Cow;

use super::fault::{Unvalued, lacks};
use super::operators;
use super::slot::{Ground, View};
use super::tree::{Binary, Elements, Form, Node, Quantifier, Unary};
use crate::fact::{Fact, FactMap};

type Valued<'e> = Result<Cow<'e, Fact>, Unvalued>;

/// The element of a list that is being asked about, and of the list around it.
#[derive(Clone, Copy)]
struct Bound<'e> {
    name: &'e str,
    element: &'e Fact,
    outer: Option<&'e Bound<'e>>,
}

/// The value of a tree on the facts of a ground.
///
/// # Errors
/// Where a fact is missing, or the expression does not fit the facts.
pub(super) fn evaluate(tree: &Node, ground: &Ground<'_>) -> Result<Fact, Unvalued> {
    Evaluation { ground }.value(tree, None).map(Cow::into_owned)
}

#[derive(Clone, Copy)]
struct Evaluation<'g> {
    ground: &'g Ground<'g>,
}

impl<'g> Evaluation<'g> {
    fn value<'e>(self, node: &'e Node, bound: Option<&'e Bound<'e>>) -> Valued<'e>
    where
        'g: 'e,
    {
        match &node.form {
            Form::Literal(fact) => Ok(Cow::Borrowed(fact)),
            Form::Slot(number) => self.slot(*number),
            Form::Name(name) => named(name, bound),
            Form::List(nodes) => {
                let all = nodes.iter().map(|node| self.value(node, bound).map(Cow::into_owned));
                Ok(Cow::Owned(Fact::List(all.collect::<Result<_, _>>()?)))
            }
            Form::Map(entries) => self.map(entries, bound),
            Form::Field(operand, key) => select(self.value(operand, bound)?, &Fact::Text(key.clone())),
            Form::Index(operand, index) => {
                let operand = self.value(operand, bound)?;
                select(operand, self.value(index, bound)?.as_ref())
            }
            Form::Unary(unary, operand) => {
                let operand = self.value(operand, bound)?;
                let result = match (unary, operand.as_ref()) {
                    (Unary::Not, Fact::Bool(yes)) => Some(Fact::Bool(!yes)),
                    (Unary::Minus, Fact::Int(number)) => number.checked_neg().map(Fact::Int),
                    (Unary::Minus, Fact::Float(number)) => Some(Fact::Float(-number)),
                    _ => None,
                };
                let sign = if *unary == Unary::Not { "!" } else { "-" };
                result
                    .map(Cow::Owned)
                    .ok_or_else(|| Unvalued::Failed(format!("`{sign}` does not go with a {}", operand.type_word())))
            }
            Form::Binary(Binary::And, left, right) => self.either(false, [left, right], bound),
            Form::Binary(Binary::Or, left, right) => self.either(true, [left, right], bound),
            Form::Binary(operator, left, right) => {
                let left = self.value(left, bound)?;
                operators::apply(*operator, left.as_ref(), self.value(right, bound)?.as_ref()).map(Cow::Owned)
            }
            Form::Choice(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                self.value(if self.yes(condition, bound)? { then } else { otherwise }, bound)
            }
            Form::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.value(argument, bound));
                let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
                function.apply(&arguments).map(Cow::Owned)
            }
            Form::Elements(elements) => self.elements(elements, bound).map(Cow::Owned),
            // Names are resolved before anything is evaluated.
            Form::Counter(..) => Err(Unvalued::Failed("the name of a counter was not resolved".to_owned())),
        }
    }

    fn slot<'e>(self, number: usize) -> Valued<'e>
    where
        'g: 'e,
    {
        let slot = &self.ground.slots[number];
        let fact = match slot.view {
            View::Value => self.ground.scope.fact(&slot.path).map(Cow::Borrowed),
            View::Rate => self.ground.scope.rate(&slot.path).map(Cow::Owned),
            View::Increase => self.ground.scope.increase(&slot.path).map(Cow::Owned),
        };
        fact.map_err(|_| Unvalued::Lacks { slot: Some(number), why: String::new() })
    }

    fn map<'e>(self, entries: &'e [(Node, Node)], bound: Option<&'e Bound<'e>>) -> Valued<'e>
    where
        'g: 'e,
    {
        let mut map = FactMap::new();
        for (key, value) in entries {
            let key = self.value(key, bound)?.into_owned();
            let Fact::Text(key) = key else {
                return Err(Unvalued::Failed(format!("a {} is no key", key.type_word())));
            };
            map.insert(key, self.value(value, bound)?.into_owned());
        }
        Ok(Cow::Owned(Fact::Map(map)))
    }

    fn yes<'e>(self, node: &'e Node, bound: Option<&'e Bound<'e>>) -> Result<bool, Unvalued>
    where
        'g: 'e,
    {
        match self.value(node, bound)?.as_ref() {
            Fact::Bool(yes) => Ok(*yes),
            other => Err(Unvalued::Failed(format!("a {} is neither true nor false", other.type_word()))),
        }
    }

    /// `a && b` where false decides, `a || b` where true does: the side that decides spares the other.
    fn either<'e>(self, decides: bool, sides: [&'e Node; 2], bound: Option<&'e Bound<'e>>) -> Valued<'e>
    where
        'g: 'e,
    {
        any(decides, sides.into_iter().map(|side| self.yes(side, bound))).map(|yes| Cow::Owned(Fact::Bool(yes)))
    }

    fn elements<'e>(self, asked: &'e Elements, bound: Option<&'e Bound<'e>>) -> Result<Fact, Unvalued>
    where
        'g: 'e,
    {
        let list = self.value(&asked.list, bound)?;
        let Fact::List(list) = list.as_ref() else {
            return Err(Unvalued::Failed(format!("a {} is no list", list.type_word())));
        };
        let inside = |element| Bound { name: asked.variable.as_str(), element, outer: bound };
        let holds = |element| self.yes_inside(&asked.body, inside(element));
        match asked.quantifier {
            Quantifier::All => any(false, list.iter().map(holds)).map(Fact::Bool),
            Quantifier::Exists => any(true, list.iter().map(holds)).map(Fact::Bool),
            Quantifier::ExistsOne => {
                let kept = list.iter().map(holds).collect::<Result<Vec<_>, _>>()?;
                Ok(Fact::Bool(kept.iter().filter(|yes| **yes).count() == 1))
            }
            Quantifier::Filter => self.collected(list.iter(), inside, Some(&asked.body), None),
            Quantifier::Map => self.collected(list.iter(), inside, asked.only.as_ref(), Some(&asked.body)),
        }
    }

    /// The elements that meet a condition, or what is made of each.
    fn collected<'f>(
        self,
        list: impl Iterator<Item = &'f Fact>,
        inside: impl Fn(&'f Fact) -> Bound<'f>,
        only: Option<&Node>,
        made: Option<&Node>,
    ) -> Result<Fact, Unvalued> {
        let mut all = Vec::new();
        for element in list {
            if let Some(only) = only
                && !self.yes_inside(only, inside(element))?
            {
                continue;
            }
            all.push(match made {
                Some(node) => Evaluation { ground: self.ground }.value(node, Some(&inside(element)))?.into_owned(),
                None => element.clone(),
            });
        }
        Ok(Fact::List(all))
    }

    fn yes_inside(self, node: &Node, bound: Bound<'_>) -> Result<bool, Unvalued> {
        self.yes(node, Some(&bound))
    }
}

/// Whether any of several is `decides`; what is unknown counts only where none is.
fn any(decides: bool, sides: impl Iterator<Item = Result<bool, Unvalued>>) -> Result<bool, Unvalued> {
    let mut unknown = None;
    for side in sides {
        match side {
            Ok(yes) if yes == decides => return Ok(decides),
            Ok(_) => {}
            Err(unvalued) => unknown = unknown.or(Some(unvalued)),
        }
    }
    unknown.map_or(Ok(!decides), Err)
}

fn named<'e>(name: &str, mut bound: Option<&'e Bound<'e>>) -> Valued<'e> {
    while let Some(inner) = bound {
        if inner.name == name {
            return match inner.element {
                Fact::Missing(missing) => Err(lacks("an element", missing)),
                element => Ok(Cow::Borrowed(element)),
            };
        }
        bound = inner.outer;
    }
    Err(Unvalued::Failed(format!("`{name}` names nothing here")))
}

/// A fact below another, by its key or its number.
fn select<'e>(operand: Cow<'e, Fact>, index: &Fact) -> Valued<'e> {
    let below = match operand {
        Cow::Borrowed(operand) => below(operand, index)?.map(Cow::Borrowed),
        Cow::Owned(operand) => below(&operand, index)?.cloned().map(Cow::Owned),
    };
    match below {
        Some(fact) => match fact.as_ref() {
            Fact::Missing(missing) => Err(lacks(&index.to_string(), missing)),
            _ => Ok(fact),
        },
        None => Err(Unvalued::Lacks { slot: None, why: format!("{index} is absent") }),
    }
}

fn below<'f>(operand: &'f Fact, index: &Fact) -> Result<Option<&'f Fact>, Unvalued> {
    match (operand, index) {
        (Fact::Map(map), Fact::Text(key)) => Ok(map.get(key)),
        (Fact::List(list), Fact::Int(number)) => Ok(usize::try_from(*number).ok().and_then(|number| list.get(number))),
        (operand, index) => {
            Err(Unvalued::Failed(format!("a {} has nothing at a {}", operand.type_word(), index.type_word())))
        }
    }
}
