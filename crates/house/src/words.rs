//! Words that do not belong in this repository, each with what to write instead: `rules/words.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::terms::{Term, holds_whole};
use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The file of the table, which names every word that it forbids.
const TABLE: &str = "crates/house/rules/words.toml";

/// The table of words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The rules, in the order of the table.
    pub word: Vec<Word>,
    /// The field's words, in the order of the table.
    pub term: Vec<Term>,
}

/// One rule of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// What an exception in place calls it.
    pub name: String,
    find: Vec<String>,
    #[serde(rename = "where")]
    places: Vec<Place>,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    quotable: bool,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    elsewhere: Vec<String>,
    instead: String,
    because: String,
    /// Paths and texts in which the rule is broken.
    pub caught: Vec<(String, String)>,
    /// Paths and texts in which it is kept.
    pub passes: Vec<(String, String)>,
}

/// Parts of files that a rule looks at.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Place {
    Code,
    TestCode,
    Comment,
    Literal,
    Prose,
}

impl Words {
    /// The table as it is compiled in.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn table() -> Result<Self> {
        toml::from_str(include_str!("../rules/words.toml")).context(TABLE)
    }

    /// Every place of the tree where a rule is broken.
    #[must_use]
    pub fn check(&self, tree: &Tree) -> Vec<Violation> {
        let files = tree.files.iter().filter(|file| file.path != TABLE && file.path != "Cargo.lock");
        let mut found: Vec<Violation> = files.flat_map(|file| check_file(&self.word, file)).collect();
        found.sort();
        found
    }
}

/// Every place of one file where one of the rules is broken.
fn check_file(words: &[Word], file: &File) -> Vec<Violation> {
    let mut found = Vec::new();
    let allowed: Vec<&str> = file.text.lines().collect();
    for (number, place, line) in lines(file) {
        for word in words.iter().filter(|word| word.looks_at(place, &file.path)) {
            if word.is_in(&line, place) && !is_allowed(&word.name, &allowed, number) {
                found.push(Violation::on_line(&file.path, number, word.message()));
            }
        }
    }
    found
}

/// The lines of a file, once for each kind of place, counted from 1.
fn lines(file: &File) -> Vec<(usize, Place, String)> {
    let number = |place: Place, text: &str| -> Vec<(usize, Place, String)> {
        text.lines().enumerate().map(|(index, line)| (index + 1, place, line.to_owned())).collect()
    };
    if !file.is_rust() {
        return number(Place::Prose, &file.text);
    }
    let views = file.views();
    let first_test_line = file.first_test_line().unwrap_or(usize::MAX);
    let mut all = number(Place::Code, &views.code);
    for (line, place, _) in &mut all {
        if *line >= first_test_line {
            *place = Place::TestCode;
        }
    }
    all.extend(number(Place::Comment, &views.comments));
    all.extend(number(Place::Literal, &views.literals));
    all
}

/// Whether the line, or the one above it, says why the word is right here.
fn is_allowed(name: &str, lines: &[&str], number: usize) -> bool {
    let mark = format!("allow({name}): ");
    [number.wrapping_sub(1), number.wrapping_sub(2)].into_iter().any(|index| {
        let reason = lines.get(index).and_then(|line| line.split(&mark).nth(1));
        reason.is_some_and(|reason| reason.trim().len() > 3)
    })
}

impl Word {
    fn looks_at(&self, place: Place, path: &str) -> bool {
        self.places.contains(&place) && !self.elsewhere.iter().any(|prefix| path.starts_with(prefix.as_str()))
    }

    fn is_in(&self, line: &str, place: Place) -> bool {
        let mut line = line.to_lowercase();
        if self.quotable && matches!(place, Place::Comment | Place::Prose) {
            line = without_quotations(&line);
        }
        for harmless in &self.unless {
            line = line.replace(harmless.as_str(), " ");
        }
        self.find.iter().any(|word| if self.whole { holds_whole(&line, word) } else { line.contains(word.as_str()) })
    }

    fn message(&self) -> String {
        format!(
            "{}: write {}, because {} (or say why it is right here: `allow({}): ...`)",
            self.name, self.instead, self.because, self.name
        )
    }
}

/// The line without what stands between backticks.
fn without_quotations(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(word: &Word, (path, text): &(String, String)) -> usize {
        check_file(std::slice::from_ref(word), &File::new(path, text.clone())).len()
    }

    #[test]
    fn every_word_is_caught_where_its_row_says_so_and_passes_where_it_says_so() {
        let words = Words::table().unwrap().word;
        assert!(words.len() > 5);
        for word in words {
            assert!(!word.caught.is_empty() && !word.passes.is_empty(), "{}: show both", word.name);
            for example in &word.caught {
                assert_eq!(violations(&word, example), 1, "{} should be caught in {example:?}", word.name);
            }
            for example in &word.passes {
                assert_eq!(violations(&word, example), 0, "{} should pass in {example:?}", word.name);
            }
        }
    }

    #[test]
    fn an_exception_needs_the_name_of_the_rule_and_a_reason() {
        let words = Words::table().unwrap().word;
        let count = |text: &str| check_file(&words, &Tree::of_texts(&[("crates/a/tests/b.rs", text)]).files[0]).len();
        assert_eq!(count("sleep(x); // allow(sleep): the kernel has no event for this"), 0);
        assert_eq!(count("// allow(sleep): the kernel has no event for this\nsleep(x);"), 0);
        assert_eq!(count("// allow(later): the kernel has no event for this\nsleep(x);"), 1);
        assert_eq!(count("sleep(x); // allow(sleep): "), 1);
    }

    #[test]
    fn a_violation_names_the_line_and_what_to_write() {
        let found = Words::table().unwrap().check(&Tree::of_texts(&[("docs/a.md", concat!("a\nb speed", "test c\n"))]));
        assert_eq!(found[0].line, Some(2));
        assert!(
            found[0].to_string().starts_with(concat!("docs/a.md:2: speed", "test: write test for")),
            "{}",
            found[0]
        );
    }
}
