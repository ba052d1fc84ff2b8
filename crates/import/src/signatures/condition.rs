//! When lines say something: `lost * 100 >= all`, `rx >= 200`.

use super::pattern::{Captures, thousandths};

/// A comparison of two terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    left: Term,
    relation: Relation,
    right: Term,
}

/// A number or a gap, times a number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    of: Operand,
    times: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    /// In thousandths.
    Number(u64),
    Gap(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Condition {
    /// Of its text; `None` where it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| relation(word).is_some())?;
        Some(Self { left: term(&words[..at])?, relation: relation(words[at])?, right: term(&words[at + 1..])? })
    }

    /// Whether it holds; not where a gap is missing.
    pub(super) fn holds(&self, found: &Captures) -> bool {
        let (Some(left), Some(right)) = (self.left.value(found), self.right.value(found)) else { return false };
        match self.relation {
            Relation::AtLeast => left >= right,
            Relation::AtMost => left <= right,
            Relation::Above => left > right,
            Relation::Below => left < right,
        }
    }

    /// The gaps that it names.
    #[cfg(test)]
    pub(super) fn gaps(&self) -> impl Iterator<Item = &str> {
        [&self.left, &self.right].into_iter().filter_map(|term| match &term.of {
            Operand::Gap(name) => Some(name.as_str()),
            Operand::Number(_) => None,
        })
    }
}

impl Term {
    fn value(&self, found: &Captures) -> Option<u128> {
        let own = match &self.of {
            Operand::Number(number) => *number,
            Operand::Gap(name) => *found.numbers.get(name)?,
        };
        Some(u128::from(own) * u128::from(self.times))
    }
}

fn relation(word: &str) -> Option<Relation> {
    Some(match word {
        ">=" => Relation::AtLeast,
        "<=" => Relation::AtMost,
        ">" => Relation::Above,
        "<" => Relation::Below,
        _ => return None,
    })
}

fn term(words: &[&str]) -> Option<Term> {
    let (of, times) = match words {
        [of] => (*of, 1),
        [of, "*", times] => (*of, times.parse().ok()?),
        _ => return None,
    };
    let of = thousandths(of).map_or_else(|| Operand::Gap(of.to_owned()), Operand::Number);
    Some(Term { of, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_compared_without_a_fraction() {
        let mut found = Captures::default();
        found.numbers.insert("lost".to_owned(), 12_000);
        found.numbers.insert("all".to_owned(), 1_000_000);
        let holds = |text: &str| Condition::parse(text).expect("a condition").holds(&found);
        assert!(holds("lost * 100 >= all"));
        assert!(!holds("lost * 50 >= all"));
        assert!(holds("lost < 12.5") && holds("lost <= 12") && !holds("lost > 12"));
        assert!(!holds("missing >= 0"), "of what is not there nothing holds");
        assert_eq!(Condition::parse("lost"), None);
    }
}
