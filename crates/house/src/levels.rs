//! Which crate may know which: `rules/levels.toml`.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::violation::Violation;

/// The table of levels, and where to change it.
const TABLE: &str = "crates/house/rules/levels.toml";

/// The table of levels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// Highest first.
    level: Vec<Level>,
    tools: Level,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    crates: Vec<String>,
    #[serde(default)]
    pure: bool,
}

/// A crate of the workspace, and the crates of the workspace that its manifest names, tests' and build scripts' included.
#[derive(Clone, Debug)]
pub struct Crate {
    /// Name in the workspace, without the path.
    pub name: String,
    /// The names of what it depends on.
    pub knows: BTreeSet<String>,
}

/// Where a crate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// May know everything, and nobody may know it.
    Tool,
    /// Counted from the top.
    Level(usize),
}

impl Levels {
    /// The table as it is compiled in.
    ///
    /// # Errors
    /// When the table cannot be read, or a crate is in it twice.
    pub fn table() -> Result<Self> {
        let levels: Self = toml::from_str(include_str!("../rules/levels.toml")).context(TABLE)?;
        let mut seen = BTreeSet::new();
        for name in levels.level.iter().chain([&levels.tools]).flat_map(|level| &level.crates) {
            anyhow::ensure!(seen.insert(name), "{TABLE}: {name} is there twice");
        }
        Ok(levels)
    }

    /// Whether a crate stands below the line.
    #[must_use]
    pub fn is_pure(&self, name: &str) -> bool {
        matches!(self.place(name), Some(Place::Level(level)) if self.level[level].pure)
    }

    /// Every arrow that does not point down, and every crate without a level.
    #[must_use]
    pub fn check(&self, crates: &[Crate]) -> Vec<Violation> {
        let mut found = Vec::new();
        for from in crates {
            let Some(above) = self.place(&from.name) else {
                found.push(violation(&from.name, format!("has no level: give it one in {TABLE}")));
                continue;
            };
            for to in &from.knows {
                if let Some(wrong) = self.place(to).and_then(|below| wrong_arrow(above, below)) {
                    found.push(violation(&from.name, format!("{} -> {to} {wrong}", from.name)));
                }
            }
        }
        found
    }

    /// Every crate of the table that does not exist.
    #[must_use]
    pub fn check_existence(&self, crates: &[Crate]) -> Vec<Violation> {
        let listed = self.level.iter().chain([&self.tools]).flat_map(|level| &level.crates);
        let missing = listed.filter(|name| !crates.iter().any(|each| each.name == **name));
        missing
            .map(|name| Violation::of_file(TABLE, format!("there is no crate {name}: give levels to what exists")))
            .collect()
    }

    fn place(&self, name: &str) -> Option<Place> {
        if self.tools.crates.iter().any(|tool| tool == name) {
            return Some(Place::Tool);
        }
        self.level.iter().position(|level| level.crates.iter().any(|each| each == name)).map(Place::Level)
    }
}

/// Says what is wrong with an arrow, if anything.
fn wrong_arrow(from: Place, to: Place) -> Option<&'static str> {
    match (from, to) {
        (Place::Tool, Place::Level(_)) => None,
        (_, Place::Tool) => Some("points at a tool for developers: move what is needed into a crate with a level"),
        (Place::Level(from), Place::Level(to)) if to > from => None,
        (Place::Level(from), Place::Level(to)) if to == from => {
            Some("points sideways: move what both need into a lower crate, or join them in a higher one")
        }
        _ => Some("points up: pass it in as an argument, or move the type into a lower crate"),
    }
}

fn violation(name: &str, message: String) -> Violation {
    Violation::of_file(&format!("crates/{name}/Cargo.toml"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(name: &str, knows: &[&str]) -> Vec<String> {
        let knows = knows.iter().map(ToString::to_string).collect();
        let crates = [Crate { name: name.to_owned(), knows }];
        Levels::table().unwrap().check(&crates).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_down_are_free() {
        assert!(messages("measure", &["linux", "archive", "stats", "units"]).is_empty());
        assert!(messages("bench", &["linerate", "units"]).is_empty());
    }

    #[test]
    fn an_arrow_up_is_named() {
        let found = messages("units", &["model"]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/units/Cargo.toml: units -> model points up"), "{found:?}");
    }

    #[test]
    fn neighbours_do_not_know_each_other() {
        assert!(messages("measure", &["host"])[0].contains("points sideways"));
    }

    #[test]
    fn nobody_knows_a_tool() {
        assert!(messages("linerate", &["house"])[0].contains("tool for developers"));
        assert!(messages("bench", &["house"])[0].contains("tool for developers"));
    }

    #[test]
    fn a_crate_without_a_level_is_named() {
        assert!(messages("helpers", &[])[0].contains("has no level"));
    }

    #[test]
    fn a_level_of_a_crate_that_is_not_there_is_named() {
        let levels = Levels::table().unwrap();
        let all = levels.level.iter().chain([&levels.tools]).flat_map(|level| &level.crates);
        let mut crates: Vec<Crate> = all.map(|name| Crate { name: name.clone(), knows: Default::default() }).collect();
        assert!(levels.check_existence(&crates).is_empty());
        let gone = crates.pop().unwrap().name;
        assert!(levels.check_existence(&crates)[0].to_string().contains(&format!("no crate {gone}")));
    }

    #[test]
    fn the_line_lies_below_linux() {
        let levels = Levels::table().unwrap();
        assert!(levels.is_pure("diagnose") && levels.is_pure("units"));
        assert!(!levels.is_pure("linux") && !levels.is_pure("house"));
    }
}
