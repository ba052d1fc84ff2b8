//! The field's words: what a person reads, and what a programmer greps for, says `cwnd`, `bottleneck` and `retransmit`,
//! not what somebody made up for it. The table is `rules/words.toml`, its `[[term]]` entries.
//!
//! Looked at are texts (Markdown, help texts and other literals, documentation comments of the command line) and public
//! names (types, functions, traits, modules, and the modules' files).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// One row of the table: what not to write, and what to write.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Words and phrases that no text has.
    #[serde(default)]
    texts: Vec<String>,
    /// Phrases in which they pass.
    #[serde(default)]
    unless: Vec<String>,
    /// Parts of names that no public name has: `mend` stands for `mend_all`, `FixMend` and `mend.rs`.
    #[serde(default)]
    names: Vec<String>,
    /// Names of types, modules or functions that say nothing by themselves.
    #[serde(default)]
    bare: Vec<String>,
    /// The field's word.
    but: String,
}

/// Every place of a text with a word that the field does not use.
#[must_use]
pub fn check_texts(terms: &[Term], tree: &Tree) -> Vec<Violation> {
    let files = tree.files.iter().filter(|file| !file.is_test() && has_texts(&file.path));
    let by_word = by_first_word(terms);
    let mut found = Vec::new();
    for file in files {
        for (number, line) in texts(file) {
            let line = line.to_lowercase();
            let words = line.split(|c: char| !c.is_alphanumeric()).filter_map(|word| by_word.get(word));
            let near: BTreeSet<usize> = words.flatten().copied().collect();
            for term in near.into_iter().map(|index| &terms[index]) {
                if let Some(word) = term.in_text(&line) {
                    found.push(Violation::on_line(&file.path, number, format!("`{word}`: write {}", term.but)));
                }
            }
        }
    }
    found
}

/// The terms by the words with which their phrases begin, so that a line is searched for few of them.
fn by_first_word(terms: &[Term]) -> BTreeMap<&str, Vec<usize>> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, term) in terms.iter().enumerate() {
        for word in term.texts.iter().filter_map(|phrase| phrase.split(' ').next()) {
            found.entry(word).or_default().push(index);
        }
    }
    found
}

/// Every public name with a word that the field does not use.
#[must_use]
pub fn check_names(terms: &[Term], tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| file.path.contains("/src/") && !file.is_test()) {
        for (number, name) in names(file) {
            for term in terms {
                if let Some(word) = term.in_name(&name) {
                    found.push(Violation::on_line(
                        &file.path,
                        number,
                        format!("{name}: not `{word}` but {}", term.but),
                    ));
                }
            }
        }
    }
    found
}

/// Every documentation comment that only says the name of the item again: `/// Its name.`
#[must_use]
pub fn check_comments(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| file.path.contains("/src/")) {
        for (index, line) in file.views().comments.lines().enumerate() {
            if says_nothing(line) {
                let message = "give unit, bound, error, consequence or source, or the subject: `Name of the link, unique in a plan.`";
                found.push(Violation::on_line(&file.path, index + 1, message));
            }
        }
    }
    found
}

fn says_nothing(comment: &str) -> bool {
    let words: Vec<&str> = comment.split_whitespace().collect();
    matches!(words[..], ["///", "Its" | "The" | "A", noun] if noun.ends_with('.'))
}

impl Term {
    fn in_text(&self, line: &str) -> Option<&str> {
        let found = |line: &str| self.texts.iter().map(String::as_str).find(|word| holds_whole(line, word));
        let first = found(line)?;
        if self.unless.is_empty() {
            return Some(first);
        }
        found(&self.unless.iter().fold(line.to_owned(), |line, harmless| line.replace(harmless.as_str(), " ")))
    }

    fn in_name(&self, name: &str) -> Option<&str> {
        let bare = self.bare.iter().find(|word| word.as_str() == name);
        let parts = parts_of_name(name);
        bare.or_else(|| self.names.iter().find(|word| parts.contains(word.as_str()))).map(String::as_str)
    }
}

/// Texts of other programs, generated pages, and the tables of words themselves are left out.
fn has_texts(path: &str) -> bool {
    let is_code = path.ends_with(".rs") && path.contains("/src/") && !path.starts_with("crates/house/");
    let is_page = path.ends_with(".md") && !path.starts_with("fuzz/") && !path.starts_with("testdata/");
    is_code || is_page
}

/// The lines that people read, with their numbers from 1.
fn texts(file: &File) -> Vec<(usize, String)> {
    let numbered =
        |text: &str| text.lines().map(str::to_owned).enumerate().map(|(index, line)| (index + 1, line)).collect();
    if !file.is_rust() {
        return numbered(&file.text);
    }
    let views = file.views();
    let last = file.first_test_line().unwrap_or(usize::MAX);
    let mut lines: Vec<(usize, String)> = numbered(&views.literals);
    if file.path.starts_with("crates/linerate/src/cli/") {
        // clap makes the help of these.
        let comments: Vec<(usize, String)> = numbered(&views.comments);
        lines.extend(comments.into_iter().filter(|(_, line)| line.trim_start().starts_with("///")));
    }
    lines.retain(|(number, line)| *number < last && !line.trim().is_empty());
    lines
}

/// The public types, functions, traits and modules of a file, and the file as a module.
fn names(file: &File) -> Vec<(usize, String)> {
    let code = &file.views().code;
    let last = file.first_test_line().unwrap_or(usize::MAX);
    let mut found = vec![(1, module(&file.path))];
    for (index, line) in code.lines().enumerate().take_while(|(index, _)| index + 1 < last) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(kind) = words.iter().position(|word| ["fn", "struct", "enum", "trait", "type"].contains(word)) else {
            continue;
        };
        if words.first().is_some_and(|first| *first == "pub")
            && let Some(name) = words.get(kind + 1)
        {
            found.push((index + 1, name.chars().take_while(|&c| c == '_' || c.is_alphanumeric()).collect()));
        }
    }
    found
}

fn module(path: &str) -> String {
    let mut parts = path.trim_end_matches(".rs").rsplit('/');
    let last = parts.next().unwrap_or_default();
    let name = if last == "mod" { parts.next().unwrap_or_default() } else { last };
    name.to_owned()
}

/// `FixMend` and `mend_all` have the part `mend`.
fn parts_of_name(name: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    let mut part = String::new();
    for character in name.chars() {
        if (character == '_' || character.is_uppercase()) && !part.is_empty() {
            parts.insert(std::mem::take(&mut part));
        }
        if character != '_' {
            part.extend(character.to_lowercase());
        }
    }
    parts.insert(part);
    parts
}

/// Whether a line holds a word that is no part of a longer one.
pub(crate) fn holds_whole(line: &str, word: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(|c| c == '_' || c.is_alphanumeric());
    line.match_indices(word).any(|(start, found)| {
        let (before, after) = (&line[..start], &line[start + found.len()..]);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term() -> Term {
        let text = "texts = ['round trip', 'told']\nunless = ['is told apart']\nnames = ['mend']\nbare = ['Kind']\nbut = 'RTT'";
        toml::from_str(text).unwrap()
    }

    fn counts(path: &str, text: &str) -> (usize, usize) {
        let tree = Tree::of_texts(&[(path, text)]);
        (check_texts(&[term()], &tree).len(), check_names(&[term()], &tree).len())
    }

    #[test]
    fn texts_are_pages_literals_and_help() {
        assert_eq!(counts("docs/a.md", "A Round trip.\nround trips, is told apart, toldable"), (1, 0));
        assert_eq!(counts("crates/a/src/b.rs", "f(\"was told\"); // told\n#[cfg(test)]\nf(\"told\")"), (1, 0));
        assert_eq!(counts("crates/linerate/src/cli/b.rs", "/// told\n// told\n"), (1, 0));
    }

    #[test]
    fn a_comment_says_more_than_the_name() {
        let tree =
            Tree::of_texts(&[("crates/a/src/b.rs", "/// Its name.\n/// The RTT, in µs.\n// The name.\n/// Its.\n")]);
        assert_eq!(check_comments(&tree).len(), 1);
    }

    #[test]
    fn names_are_those_that_others_can_use() {
        let code = "pub fn mend_all() {}\npub(crate) fn mend() {}\nfn mend() {}\npub struct FixMend;\npub enum Kind {}\npub enum QdiscKind {}";
        assert_eq!(counts("crates/a/src/b.rs", code), (0, 3));
        assert_eq!(counts("crates/a/src/mend/mod.rs", "pub async fn amended() {}"), (0, 1));
    }
}
