//! How large an expression may be. Its reader goes down the stack with each bracket and each sign, and what is asked of each element of a list of each element of a list takes as long as all rules together.

use super::fault::Fault;

/// Refuses a text that only a mistake, or somebody with bad intentions, makes so large.
pub(super) fn check(source: &str) -> Result<(), Fault> {
    let (mut place, mut nested, mut signs) = (Place::default(), 0_usize, 0_usize);
    for (count, character) in source.chars().enumerate() {
        match character {
            '(' | '[' | '{' => nested += 1,
            ')' | ']' | '}' => nested = nested.saturating_sub(1),
            _ if SIGNS.contains(character) => signs += 1,
            _ => {}
        }
        if count >= MOST_CHARACTERS {
            return Err(place.fault(format!("an expression has {MOST_CHARACTERS} characters at most")));
        }
        if nested > MOST_NESTED {
            return Err(place.fault(format!("brackets stand within {MOST_NESTED} others at most")));
        }
        if signs > MOST_SIGNS {
            return Err(place.fault(format!("an expression has {MOST_SIGNS} signs at most")));
        }
        place.pass(character);
    }
    Ok(())
}

/// What is wrong at a character of a source.
pub(super) fn fault_at(source: &str, at: usize, message: impl Into<String>) -> Fault {
    let mut place = Place::default();
    source.chars().take(at).for_each(|character| place.pass(character));
    place.fault(message.into())
}

#[derive(Default)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn pass(&mut self, character: char) {
        if character == '\n' {
            *self = Self { line: self.line + 1, column: 0 };
        } else {
            self.column += 1;
        }
    }

    fn fault(&self, message: String) -> Fault {
        Fault { line: self.line, column: self.column, message }
    }
}

/// Lists whose elements are gone through: one within another, and in all. No rule of ours has more than one.
pub(super) const MOST_LISTS_WITHIN: usize = 2;
pub(super) const MOST_LISTS: usize = 8;

/// How many `in` and `[` there may be, for each is a level of the tree that no sign stands for.
pub(super) const MOST_DEEPER: usize = 250;

// The largest of ours has 371 characters, 38 signs and 4 brackets within each other.
const MOST_CHARACTERS: usize = 4_000;
const MOST_NESTED: usize = 24;
const MOST_SIGNS: usize = 250;
const SIGNS: &str = ".+-*/%!?:&|=<>,";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused_at_the_place_where_it_becomes_so() {
        let many = |text: &str, times: usize| text.repeat(times);
        for (source, line, column) in [
            (format!("\n{}true{}", many("(", 5_000), many(")", 5_000)), 1, MOST_NESTED),
            (many("[]", 3_000), 0, MOST_CHARACTERS),
            (many("!", 5_000), 0, MOST_SIGNS),
        ] {
            let fault = check(&source).unwrap_err();
            assert_eq!((fault.line, fault.column), (line, column), "{fault}");
        }
        assert_eq!(check("sysctl[\"net.ipv4.tcp_ecn\"] == 1"), Ok(()));
    }
}
