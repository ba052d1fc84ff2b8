//! What crates below the line must not mention: `rules/purity.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::levels::Levels;
use crate::rust;
use crate::tree::{File, Tree};
use crate::violation::Violation;

/// The rule of pure crates: no I/O, no clock, no randomness, no global state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purity {
    crates: Vec<String>,
    path: Vec<Forbidden>,
    word: Vec<Forbidden>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forbidden {
    find: Vec<String>,
    instead: String,
}

impl Purity {
    /// The rule as it is compiled in.
    ///
    /// # Errors
    /// When the file of the rule cannot be read.
    pub fn table() -> Result<Self> {
        toml::from_str(include_str!("../rules/purity.toml")).context("crates/house/rules/purity.toml")
    }

    /// Whether a pure crate may not depend on this one. (Its tests may: property tests draw random numbers.)
    #[must_use]
    pub fn forbids_dependency(&self, name: &str) -> bool {
        self.crates.iter().any(|each| each == name)
    }

    /// Every place in the sources of pure crates that mentions what they must not know.
    #[must_use]
    pub fn check(&self, tree: &Tree, levels: &Levels) -> Vec<Violation> {
        let is_pure = |file: &&File| pure_source_of(file).is_some_and(|name| levels.is_pure(name));
        tree.rust().filter(is_pure).flat_map(|file| self.check_file(file)).collect()
    }

    fn check_file(&self, file: &File) -> Vec<Violation> {
        let code = rust::split(&file.text).code;
        let mut found = Vec::new();
        let mut find = |rules: &[Forbidden], line: usize, text: &str| {
            for rule in rules {
                if let Some(name) = rule.find.iter().find(|name| text.contains(name.as_str())) {
                    let message = format!("a pure crate must not mention {name}: {}", rule.instead);
                    found.push(Violation::on_line(&file.path, line, message));
                }
            }
        };
        for (index, line) in code.lines().enumerate() {
            find(&self.word, index + 1, line);
            if !line.trim_start().trim_start_matches("pub ").starts_with("use ") {
                find(&self.path, index + 1, line);
            }
        }
        for (line, path) in imports(&code) {
            find(&self.path, line, &path);
        }
        found.sort();
        found.dedup();
        found
    }
}

/// The crate whose source a file is; tests are not sources.
fn pure_source_of(file: &File) -> Option<&str> {
    let (name, rest) = file.path.strip_prefix("crates/")?.split_once('/')?;
    rest.starts_with("src/").then_some(name)
}

/// Every path that a `use` statement imports, written out, with the line on which the statement starts.
fn imports(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("use ") {
        let is_statement =
            code[..start].trim_end().ends_with([';', '}', '{', ']', ')']) || code[..start].trim().is_empty();
        let is_public = code[..start].trim_end().ends_with("pub");
        if !is_statement && !is_public {
            continue;
        }
        let statement: String =
            code[start + 4..].chars().take_while(|&c| c != ';').filter(|c| !c.is_whitespace()).collect();
        let line = code[..start].matches('\n').count() + 1;
        found.extend(written_out(&statement).into_iter().map(|path| (line, path)));
    }
    found
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`; given without white space.
fn written_out(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start, mut branches) = (0_usize, 0, Vec::new());
    for (index, character) in inside.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                branches.push(&inside[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    branches.push(&inside[start..]);
    let written = branches.into_iter().filter(|branch| !branch.is_empty()).flat_map(written_out);
    written.map(|branch| format!("{prefix}{branch}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let found = Purity::table().unwrap().check(&Tree::of_texts(&[(path, text)]), &Levels::table().unwrap());
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_path_is_found_however_the_import_is_written() {
        for text in [
            "use std::fs;",
            "use std::{io, fs::{self, File}};",
            "pub use std::{\n fmt,\n fs,\n};",
            "fn f() { std::fs::read(p) }",
        ] {
            assert_eq!(messages("crates/stats/src/a.rs", text).len(), 1, "{text}");
        }
        for text in ["use std::fmt;", "use std::net::IpAddr;", "// std::fs is for others", "let a = \"std::fs\";"] {
            assert_eq!(messages("crates/stats/src/a.rs", text).len(), 0, "{text}");
        }
    }

    #[test]
    fn clocks_prints_and_global_state_are_found_with_their_line() {
        let found = messages("crates/sim/src/a.rs", "fn f() {\n    println!();\n}\nstatic mut A: u8 = 0;\n");
        assert!(found[0].starts_with("crates/sim/src/a.rs:2: a pure crate must not mention println!"), "{found:?}");
        assert!(found[1].starts_with("crates/sim/src/a.rs:4: "), "{found:?}");
        assert_eq!(messages("crates/sim/src/a.rs", "let a = Instant::now();").len(), 1);
    }

    #[test]
    fn tests_folders_and_crates_above_the_line_are_free() {
        assert!(messages("crates/stats/tests/a.rs", "use std::fs;").is_empty());
        assert!(messages("crates/linux/src/a.rs", "use std::fs;").is_empty());
    }

    #[test]
    fn nested_imports_are_written_out() {
        assert_eq!(written_out("a::{b,c::{d,e},}"), ["a::b", "a::c::d", "a::c::e"]);
    }
}
