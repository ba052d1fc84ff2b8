//! Files that have grown too long: `rules/sizes.toml`. (The length of functions is clippy's `too_many_lines`.)

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tree::Tree;
use crate::violation::Violation;

const TABLE: &str = "crates/house/rules/sizes.toml";

/// How long a Rust file may be, and which may be longer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    lines: usize,
    #[serde(default)]
    long: Vec<Long>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    file: String,
    because: String,
}

impl Sizes {
    /// The rule as it is compiled in.
    ///
    /// # Errors
    /// When the file of the rule cannot be read.
    pub fn table() -> Result<Self> {
        toml::from_str(include_str!("../rules/sizes.toml")).context(TABLE)
    }

    /// Every file that is too long, and every exception that is not needed or has no reason.
    #[must_use]
    pub fn check(&self, tree: &Tree) -> Vec<Violation> {
        let is_long = |text: &str| text.lines().count() > self.lines;
        let is_listed = |path: &str| self.long.iter().any(|long| long.file == path && !long.because.is_empty());
        let too_long = tree.rust().filter(|file| is_long(&file.text) && !is_listed(&file.path)).map(|file| {
            let lines = file.text.lines().count();
            let message =
                format!("has {lines} lines, more than {}: split it by idea, or say why not in {TABLE}", self.lines);
            Violation::of_file(&file.path, message)
        });
        let needless = self.long.iter().filter(|long| !tree.get(&long.file).is_some_and(|file| is_long(&file.text)));
        let needless =
            needless.map(|long| Violation::of_file(TABLE, format!("{} is not that long: take it out", long.file)));
        too_long.chain(needless).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(long: &[(&str, &str)], lines: usize) -> Vec<String> {
        let long = long.iter().map(|(file, because)| Long { file: (*file).to_owned(), because: (*because).to_owned() });
        let sizes = Sizes { lines: 2, long: long.collect() };
        let tree = Tree::of_texts(&[("a.rs", &"x\n".repeat(lines)), ("b.md", "x\nx\nx\n")]);
        sizes.check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        assert!(check(&[], 2).is_empty());
        assert!(check(&[], 3)[0].starts_with("a.rs: has 3 lines, more than 2"));
        assert!(check(&[("a.rs", "a table")], 3).is_empty());
        assert_eq!(check(&[("a.rs", "")], 3).len(), 1);
    }

    #[test]
    fn an_exception_that_is_not_needed_is_named() {
        assert!(check(&[("a.rs", "a table")], 2)[0].contains("a.rs is not that long"));
    }
}
