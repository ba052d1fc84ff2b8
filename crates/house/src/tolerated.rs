//! Rules that came after the code: how many places of each crate may still break them, `rules/tolerated.toml`.
//!
//! A count may only fall. So a new rule holds for new code from its first day, while the crates move to it one by one.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::violation::Violation;

/// The file of the counts.
pub const TABLE: &str = "crates/house/rules/tolerated.toml";

/// How many places of a crate, or of `docs`, may break a rule.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Tolerated(BTreeMap<String, BTreeMap<String, usize>>);

impl Tolerated {
    /// The counts as they are compiled in.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn table() -> Result<Self> {
        toml::from_str(include_str!("../rules/tolerated.toml")).context(TABLE)
    }

    /// Those violations of a rule that are in crates with more of them than are tolerated, a line with the counts first.
    #[must_use]
    pub fn beyond(&self, rule: &str, found: Vec<Violation>) -> Vec<Violation> {
        let mut of_crates: BTreeMap<String, Vec<Violation>> = BTreeMap::new();
        for violation in found {
            of_crates.entry(owner(&violation.file).to_owned()).or_default().push(violation);
        }
        let mut beyond = Vec::new();
        for (name, violations) in of_crates {
            let most = self.0.get(rule).and_then(|counts| counts.get(&name)).copied().unwrap_or(0);
            if violations.len() > most {
                let message = format!(
                    "rule `{rule}`: {name} has {} places, {most} are tolerated: bring the new one to the rule",
                    violations.len()
                );
                beyond.push(Violation::of_file(&name, message));
                beyond.extend(violations);
            }
        }
        beyond
    }

    /// The table with the counts of today, none of them higher than before.
    #[must_use]
    pub fn lowered(&self, found: &BTreeMap<&str, Vec<Violation>>) -> String {
        let mut text = String::from(HEAD);
        for (rule, violations) in found {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for violation in violations {
                *counts.entry(owner(&violation.file)).or_default() += 1;
            }
            let _ = write!(text, "\n[{rule}]\n");
            for (name, count) in counts {
                let before = self.0.get(*rule).and_then(|counts| counts.get(name)).copied();
                let _ = writeln!(text, "{name} = {}", before.map_or(count, |before| before.min(count)));
            }
        }
        text
    }
}

/// The crate that a file belongs to; `docs` for what belongs to none.
fn owner(path: &str) -> &str {
    path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or("docs")
}

const HEAD: &str = "\
# Rules that came after the code, each with the crates that do not keep it everywhere yet and the number of places.
# A number may only fall. `LOWER_TOLERATED=1 cargo test -p house` writes the numbers of today where they are lower; a rule
# without a table here holds everywhere.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Violation {
        Violation::of_file(path, "wrong")
    }

    #[test]
    fn what_is_tolerated_passes_and_one_more_does_not() {
        let table: Tolerated = toml::from_str("[rule]\na = 1").unwrap();
        assert!(table.beyond("rule", vec![at("crates/a/src/x.rs")]).is_empty());
        let beyond = table.beyond("rule", vec![at("crates/a/src/x.rs"), at("crates/a/src/y.rs"), at("README.md")]);
        let said: Vec<String> = beyond.iter().map(ToString::to_string).collect();
        assert!(said[0].starts_with("a: rule `rule`: a has 2 places, 1 are tolerated"), "{said:?}");
        assert!(said[3].starts_with("docs: rule `rule`: docs has 1 places, 0 are tolerated"), "{said:?}");
        assert_eq!(table.beyond("other", vec![at("crates/a/src/x.rs")]).len(), 2);
    }

    #[test]
    fn counts_only_fall() {
        let table: Tolerated = toml::from_str("[rule]\na = 1\nb = 5").unwrap();
        let found = [("rule", vec![at("crates/a/x.rs"), at("crates/a/y.rs"), at("crates/b/x.rs")])].into();
        assert!(table.lowered(&found).ends_with("\n[rule]\na = 1\nb = 1\n"));
    }
}
