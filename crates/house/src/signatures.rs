//! The arguments of functions: which of them a caller can mix up without the compiler's noticing.
//!
//! Three rules: no tuple, whose parts have no names; no bare `bool`, of which the call says only `true`; no two of one
//! primitive type side by side, which may be swapped. Tests and functions whose signature somebody else has set (an
//! `impl` of a trait) are left out.

use crate::tree::Tree;
use crate::violation::Violation;

/// Every function that breaks one of the rules.
#[derive(Debug, Default)]
pub struct Mixable {
    /// Those of which an argument is a tuple.
    pub tuples: Vec<Violation>,
    /// Those of which an argument is a bare `bool`.
    pub bools: Vec<Violation>,
    /// Those of which two neighbouring arguments have one primitive type.
    pub neighbours: Vec<Violation>,
}

/// Looks at every function of the tree.
#[must_use]
pub fn check(tree: &Tree) -> Mixable {
    let mut found = Mixable::default();
    for file in tree.rust().filter(|file| file.path.contains("/src/") && !file.is_test()) {
        let last = file.first_test_line().unwrap_or(usize::MAX);
        for function in functions(&file.views().code).into_iter().filter(|function| function.line < last) {
            let wrong =
                |message: &str| Violation::on_line(&file.path, function.line, format!("{}() {message}", function.name));
            let types = &function.types;
            if types.iter().any(|of| of.starts_with('(') && of != "()") {
                found.tuples.push(wrong("takes a tuple: give its parts a struct with names"));
            }
            if types.iter().any(|of| of == "bool") {
                found.bools.push(wrong("takes a bare bool: make it an enum whose words say what is meant"));
            }
            if types.windows(2).any(|pair| pair[0] == pair[1] && is_primitive(&pair[0])) {
                found.neighbours.push(wrong("takes two neighbours of one primitive type: give them types or names"));
            }
        }
    }
    found
}

fn is_primitive(of: &str) -> bool {
    let of = of.strip_prefix('&').unwrap_or(of);
    let numbers =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];
    numbers.contains(&of) || ["bool", "char", "str", "String"].contains(&of)
}

/// A function whose signature is our own choice.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    /// Its line, from 1.
    line: usize,
    name: String,
    /// The types of its arguments, without blanks and lifetimes, `self` left out.
    types: Vec<String>,
}

fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let foreign = trait_implementations(code);
    for (start, _) in code.match_indices("fn ") {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c == '_' || c.is_alphanumeric()) || foreign.iter().any(|range| range.contains(&start))
        {
            continue;
        }
        let rest = &code[start + 3..];
        let name: String = rest.chars().take_while(|&c| c == '_' || c.is_alphanumeric()).collect();
        let Some(open) = after_generics(&rest[name.len()..]).filter(|_| !name.is_empty()) else { continue };
        let arguments = split_at_commas(&rest[name.len() + open + 1..]);
        let types = arguments.iter().filter_map(|argument| Some(plain_type(argument.split_once(':')?.1))).collect();
        let line = code[..start].matches('\n').count() + 1;
        found.push(Function { line, name, types });
    }
    found
}

/// The bytes between the braces of each `impl Trait for Type`.
fn trait_implementations(code: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("impl") {
        let at_line_start = code[..start].chars().next_back().is_none_or(|c| c == '\n' || c == ' ');
        let Some(brace) = code[start..].find('{').map(|at| start + at) else { break };
        let head = &code[start..brace];
        if at_line_start && head.contains(" for ") && !head.contains(';') && !head.contains("fn ") {
            found.push(brace..closing(code, brace));
        }
    }
    found
}

fn closing(code: &str, brace: usize) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code[brace..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return brace + at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Where the bracket of the arguments opens, behind generics.
fn after_generics(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    let mut before = ' ';
    for (at, character) in code.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(at),
            '{' | ';' => return None,
            _ => {}
        }
        before = character;
    }
    None
}

/// The parts up to the closing bracket, with commas between them that stand in no bracket.
fn split_at_commas(code: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth, mut before) = (Vec::new(), String::new(), 0_i32, ' ');
    for character in code.chars() {
        match character {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                before = character;
                continue;
            }
            _ => {}
        }
        part.push(character);
        before = character;
    }
    parts.push(part);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// A type without lifetimes and blanks: `&'a mut str` is `&mutstr`.
fn plain_type(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let mut plain = String::new();
    let mut characters = joined.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\'' {
            while characters.next_if(|&c| c == '_' || c.is_alphanumeric()).is_some() {}
            characters.next_if_eq(&' ');
        } else if character != ' ' {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> [usize; 3] {
        let tree = Tree::of_texts(&[("crates/a/src/b.rs", source)]);
        let found = check(&tree);
        [found.tuples, found.bools, found.neighbours].map(|found| found.len())
    }

    #[test]
    fn what_can_be_mixed_up_is_found() {
        assert_eq!(found("fn f(at: (usize, usize)) {}"), [1, 0, 0]);
        assert_eq!(found("pub(crate) fn f<T: Fn(u8, u8)>(a: T,\n on: bool) {}"), [0, 1, 0]);
        assert_eq!(found("fn f(&self, a: &'a str, b: &str) {}"), [0, 0, 1]);
        assert_eq!(found("const fn f(a: u64, b: Rate, c: u64, d: u64,) -> u64 { 0 }"), [0, 0, 1]);
    }

    #[test]
    fn what_cannot_be_mixed_up_passes() {
        assert_eq!(found("fn f(a: u64, b: u32, c: Vec<(u8, u8)>, d: [bool; 2], e: impl Fn(bool, bool)) {}"), [0; 3]);
        assert_eq!(found("fn f(&mut self, a: u64) -> (u64, u64) { g(true, false) }"), [0; 3]);
        assert_eq!(found("impl Visitor for X { fn f(a: bool, b: bool) {} }\n"), [0; 3]);
        assert_eq!(found("#[cfg(test)]\nmod tests { fn f(a: bool) {} }"), [0; 3]);
        assert_eq!(found("// fn f(a: bool)\nlet a = \"fn f(a: bool)\";"), [0; 3]);
    }

    #[test]
    fn an_implementation_ends_with_its_brace() {
        assert_eq!(found("impl A for B { fn f(a: bool) { {} } }\nimpl B { fn g(a: bool) {} }"), [0, 1, 0]);
    }
}
