//! What stands between two values: arithmetic, comparison, membership.
//!
//! As CEL has it: whole numbers and numbers with a point do not mix in arithmetic, and are compared by what they are worth;
//! values of different types are not equal.

use std::cmp::Ordering;

use super::fault::{Unvalued, lacks};
use super::tree::Binary;
use crate::fact::Fact;

/// The value of `left operator right`; `&&` and `||` are not among the operators, since they may spare one side.
///
/// # Errors
/// Where the operator does not go with such values, or the result is out of range.
pub(super) fn apply(operator: Binary, left: &Fact, right: &Fact) -> Result<Fact, Unvalued> {
    match operator {
        Binary::Equal => Ok(Fact::Bool(are_equal(left, right))),
        Binary::Unequal => Ok(Fact::Bool(!are_equal(left, right))),
        Binary::Less => Ok(Fact::Bool(compared(operator, left, right)?.is_lt())),
        Binary::AtMost => Ok(Fact::Bool(compared(operator, left, right)?.is_le())),
        Binary::Greater => Ok(Fact::Bool(compared(operator, left, right)?.is_gt())),
        Binary::AtLeast => Ok(Fact::Bool(compared(operator, left, right)?.is_ge())),
        Binary::In => is_in(left, right).map(Fact::Bool),
        _ => arithmetic(operator, left, right),
    }
}

/// Whether two values are the same; numbers by what they are worth.
#[expect(clippy::cast_precision_loss, reason = "as CEL compares them")]
fn are_equal(left: &Fact, right: &Fact) -> bool {
    match (left, right) {
        (Fact::Int(whole), Fact::Float(number)) | (Fact::Float(number), Fact::Int(whole)) => *whole as f64 == *number,
        (Fact::List(left), Fact::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| are_equal(left, right))
        }
        _ => left == right,
    }
}

fn compared(operator: Binary, left: &Fact, right: &Fact) -> Result<Ordering, Unvalued> {
    let order = match (left, right) {
        (Fact::Int(left), Fact::Int(right)) => Some(left.cmp(right)),
        (Fact::Text(left), Fact::Text(right)) => Some(left.cmp(right)),
        (Fact::Bool(left), Fact::Bool(right)) => Some(left.cmp(right)),
        _ => left.as_number().zip(right.as_number()).and_then(|(left, right)| left.partial_cmp(&right)),
    };
    order.ok_or_else(|| does_not_go(operator, left, right))
}

fn is_in(wanted: &Fact, within: &Fact) -> Result<bool, Unvalued> {
    match (wanted, within) {
        (Fact::Text(key), Fact::Map(map)) => Ok(map.contains_key(key)),
        (wanted, Fact::List(list)) => {
            if list.iter().any(|element| are_equal(element, wanted)) {
                return Ok(true);
            }
            // The missing one might be it.
            let missing = list.iter().find_map(|element| match element {
                Fact::Missing(missing) => Some(lacks("an element", missing)),
                _ => None,
            });
            missing.map_or(Ok(false), Err)
        }
        _ => Err(does_not_go(Binary::In, wanted, within)),
    }
}

fn arithmetic(operator: Binary, left: &Fact, right: &Fact) -> Result<Fact, Unvalued> {
    match (left, right) {
        (Fact::Int(left), Fact::Int(right)) => whole(operator, *left, *right).map(Fact::Int),
        (Fact::Float(left), Fact::Float(right)) => {
            number(operator, *left, *right).map(Fact::Float).ok_or_else(|| Unvalued::Failed(NO_REMAINDER.to_owned()))
        }
        (Fact::Text(left), Fact::Text(right)) if operator == Binary::Add => Ok(Fact::Text(format!("{left}{right}"))),
        (Fact::List(left), Fact::List(right)) if operator == Binary::Add => {
            Ok(Fact::List(left.iter().chain(right).cloned().collect()))
        }
        _ => Err(does_not_go(operator, left, right)),
    }
}

fn whole(operator: Binary, left: i64, right: i64) -> Result<i64, Unvalued> {
    let result = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => {
            return Err(Unvalued::Failed(format!("{left} {} 0 is a division by zero", operator.sign())));
        }
        Binary::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.ok_or_else(|| Unvalued::Failed(format!("{left} {} {right} has more than 63 bits", operator.sign())))
}

fn number(operator: Binary, left: f64, right: f64) -> Option<f64> {
    match operator {
        Binary::Add => Some(left + right),
        Binary::Subtract => Some(left - right),
        Binary::Multiply => Some(left * right),
        Binary::Divide => Some(left / right),
        _ => None,
    }
}

fn does_not_go(operator: Binary, left: &Fact, right: &Fact) -> Unvalued {
    let (sign, left, right) = (operator.sign(), left.type_word(), right.type_word());
    let mixed = matches!((left, right), ("whole number", "number") | ("number", "whole number"));
    let hint = if mixed { ": write double(…) around the whole number" } else { "" };
    Unvalued::Failed(format!("`{sign}` does not go with a {left} and a {right}{hint}"))
}

const NO_REMAINDER: &str = "`%` is for whole numbers";
