//! A Rust source split into code, comments and literals.
//!
//! A word in a string is not the same as the word in code, and the rules care. A full parser would answer more than they
//! ask and costs seconds to compile; this reads just enough of the lexical grammar.

/// Three texts of the same shape as the source: each holds one kind of characters, in their places, and spaces elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Views {
    /// Identifiers, keywords, operators, and the quotes of literals.
    pub code: String,
    /// Comments with their slashes, documentation comments too.
    pub comments: String,
    /// What stands between the quotes of strings and characters.
    pub literals: String,
}

/// Splits a Rust source. Any text is read; where it is not Rust, the answer is some split of the same shape.
#[must_use]
pub fn split(source: &str) -> Views {
    let mut reader = Reader { rest: source.chars().collect(), at: 0, views: [const { String::new() }; 3] };
    while reader.at < reader.rest.len() {
        reader.token();
    }
    let [code, comments, literals] = reader.views;
    Views { code, comments, literals }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    /// In the order of [`Kind`].
    views: [String; 3],
}

impl Reader {
    fn token(&mut self) {
        match (self.ahead(0), self.ahead(1)) {
            ('/', '/') => self.take_while(Kind::Comment, |reader| reader.ahead(0) != '\n'),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.quote(),
            (first, _) if first == '_' || first.is_alphanumeric() => self.word(),
            _ => self.take(Kind::Code, 1),
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while !self.is_over() {
            match (self.ahead(0), self.ahead(1)) {
                ('/', '*') => {
                    depth += 1;
                    self.take(Kind::Comment, 2);
                }
                ('*', '/') => {
                    depth -= 1;
                    self.take(Kind::Comment, 2);
                }
                _ => self.take(Kind::Comment, 1),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(Kind::Code, 1);
        while !self.is_over() && self.ahead(0) != '"' {
            let length = if self.ahead(0) == '\\' { 2 } else { 1 };
            self.take(Kind::Literal, length);
        }
        self.take(Kind::Code, 1);
    }

    /// A character, or the lifetime that starts like one.
    fn quote(&mut self) {
        let is_character = self.ahead(1) == '\\' || self.ahead(2) == '\'';
        self.take(Kind::Code, 1);
        if is_character {
            let escape = if self.ahead(0) == '\\' { 2 } else { 1 };
            self.take(Kind::Literal, escape);
            self.take_while(Kind::Literal, |reader| reader.ahead(0) != '\'' && reader.ahead(0) != '\n');
            self.take(Kind::Code, 1);
        }
    }

    /// An identifier or number; or the prefix of a raw string, with the string.
    fn word(&mut self) {
        let start = self.at;
        self.take_while(Kind::Code, |reader| reader.ahead(0) == '_' || reader.ahead(0).is_alphanumeric());
        let word: String = self.rest[start..self.at].iter().collect();
        if !matches!(word.as_str(), "r" | "br" | "cr") {
            return;
        }
        let hashes = (0..).take_while(|&index| self.ahead(index) == '#').count();
        if self.ahead(hashes) != '"' {
            return;
        }
        self.take(Kind::Code, hashes + 1);
        self.take_while(Kind::Literal, |reader| {
            reader.ahead(0) != '"' || (1..=hashes).any(|index| reader.ahead(index) != '#')
        });
        self.take(Kind::Code, hashes + 1);
    }

    fn is_over(&self) -> bool {
        self.at >= self.rest.len()
    }

    /// The character so far ahead; a NUL past the end.
    fn ahead(&self, distance: usize) -> char {
        self.rest.get(self.at + distance).copied().unwrap_or('\0')
    }

    fn take_while(&mut self, kind: Kind, more: impl Fn(&Self) -> bool) {
        while !self.is_over() && more(self) {
            self.take(kind, 1);
        }
    }

    fn take(&mut self, kind: Kind, count: usize) {
        for _ in 0..count.min(self.rest.len() - self.at) {
            let character = self.rest[self.at];
            self.at += 1;
            for (view, of) in self.views.iter_mut().zip([Kind::Code, Kind::Comment, Kind::Literal]) {
                view.push(if of == kind || character == '\n' { character } else { ' ' });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn parts(source: &str) -> [String; 3] {
        let views = split(source);
        [squeezed(&views.code), squeezed(&views.comments), squeezed(&views.literals)]
    }

    #[test]
    fn comments_strings_and_code_are_told_apart() {
        assert_eq!(parts("let a = \"b // c\"; // d \"e\""), ["let a = \" \";", "// d \"e\"", "b // c"]);
        assert_eq!(parts("/* a /* b */ c */ d"), ["d", "/* a /* b */ c */", ""]);
        assert_eq!(parts("f(\"a \\\" b\", c)"), ["f(\" \", c)", "", "a \\\" b"]);
    }

    #[test]
    fn raw_strings_end_at_as_many_hashes_as_they_began_with() {
        assert_eq!(parts("r#\"a \" b\"# + c"), ["r#\" \"# + c", "", "a \" b"]);
        assert_eq!(parts("br\"a\\\" + r#type"), ["br\" \" + r#type", "", "a\\"]);
    }

    #[test]
    fn lifetimes_are_code_and_characters_are_literals() {
        assert_eq!(parts("fn f<'a>(x: &'a str)")[0], "fn f<'a>(x: &'a str)");
        assert_eq!(parts("['\"', '\\'', 'x', b'/'] // e"), ["[' ', ' ', ' ', b' ']", "// e", "\" \\' x /"]);
    }

    proptest! {
        #[test]
        fn every_character_lands_in_exactly_one_view(source in "[a-z'\"/*\\\\#\n r]{0,60}") {
            let views = split(&source);
            let rows = source.chars().zip(views.code.chars()).zip(views.comments.chars().zip(views.literals.chars()));
            for ((original, code), (comment, literal)) in rows {
                let kept = [code, comment, literal].into_iter().filter(|&kept| kept != ' ').collect::<Vec<_>>();
                prop_assert!(kept.iter().all(|&kept| kept == original));
                prop_assert!(original == '\n' || kept.len() == usize::from(original != ' '));
            }
            prop_assert_eq!(views.code.chars().count(), source.chars().count());
        }
    }
}
