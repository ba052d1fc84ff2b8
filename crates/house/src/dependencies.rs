//! Licences of dependencies, and crates compiled in two versions: `rules/dependencies.toml`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use cargo_metadata::semver::Version;
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::violation::Violation;

const TABLE: &str = "crates/house/rules/dependencies.toml";

/// Which licences and which doublets are welcome.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependencies {
    licences: Vec<String>,
    #[serde(default)]
    twice: Vec<Twice>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Twice {
    #[serde(rename = "crate")]
    name: String,
    because: String,
}

/// A dependency from outside, of whatever depth.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Name in its manifest.
    pub name: String,
    /// The version that is compiled.
    pub version: Version,
    /// The licence that its manifest states, as an SPDX expression.
    pub licence: Option<String>,
}

impl Dependencies {
    /// The rule as it is compiled in.
    ///
    /// # Errors
    /// When the file of the rule cannot be read.
    pub fn table() -> Result<Self> {
        toml::from_str(include_str!("../rules/dependencies.toml")).context(TABLE)
    }

    /// Every dependency whose licence does not let us use it.
    #[must_use]
    pub fn check_licences(&self, all: &[Dependency]) -> Vec<Violation> {
        let wrong = all.iter().filter_map(|dependency| Some((dependency, self.wrong_licence(dependency)?)));
        wrong.map(|(dependency, wrong)| violation(dependency, &wrong)).collect()
    }

    fn wrong_licence(&self, dependency: &Dependency) -> Option<String> {
        let Some(licence) = &dependency.licence else {
            return Some("states no licence: do without it".to_owned());
        };
        // Older crates write MIT/Apache-2.0.
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => return Some(format!("has a licence that SPDX does not know, {licence:?}: {error}")),
        };
        let is_allowed = |one: &spdx::LicenseReq| self.licences.contains(&one.to_string());
        if expression.evaluate(is_allowed) {
            return None;
        }
        Some(format!("is under {licence}: do without it, or add the licence to {TABLE} if Apache-2.0 may live with it"))
    }

    /// Every crate that is compiled in versions which cannot stand for each other, and every exception not needed.
    #[must_use]
    pub fn check_versions(&self, all: &[Dependency]) -> Vec<Violation> {
        let mut versions: BTreeMap<&str, BTreeSet<(u64, u64, u64)>> = BTreeMap::new();
        for dependency in all {
            versions.entry(&dependency.name).or_default().insert(compatibility(&dependency.version));
        }
        let is_listed = |name: &str| self.twice.iter().any(|twice| twice.name == name && !twice.because.is_empty());
        let doubled = |name: &str| versions.get(name).is_some_and(|versions| versions.len() > 1);
        let lock = |message: String| Violation::of_file("Cargo.lock", message);
        let mut found: Vec<Violation> = versions
            .keys()
            .filter(|name| doubled(name) && !is_listed(name))
            .map(|name| {
                lock(format!(
                    "{name} is compiled twice: `cargo tree -d` says for whom; agree on one, or give a reason in {TABLE}"
                ))
            })
            .collect();
        let needless = self.twice.iter().filter(|twice| !doubled(&twice.name));
        found.extend(
            needless.map(|twice| Violation::of_file(TABLE, format!("{} is there once: take it out", twice.name))),
        );
        found
    }
}

/// Versions with the same parts can stand for each other: the first part that is not zero, and those before it.
fn compatibility(version: &Version) -> (u64, u64, u64) {
    match (version.major, version.minor, version.patch) {
        (0, 0, patch) => (0, 0, patch),
        (0, minor, _) => (0, minor, 0),
        (major, _, _) => (major, 0, 0),
    }
}

fn violation(dependency: &Dependency, wrong: &str) -> Violation {
    Violation::of_file("Cargo.lock", format!("{} {} {wrong}", dependency.name, dependency.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, version: &str, licence: Option<&str>) -> Dependency {
        Dependency { name: name.to_owned(), version: version.parse().unwrap(), licence: licence.map(str::to_owned) }
    }

    fn wrong(licence: Option<&str>) -> usize {
        Dependencies::table().unwrap().check_licences(&[dependency("a", "1.0.0", licence)]).len()
    }

    #[test]
    fn one_welcome_branch_of_a_licence_is_enough_and_every_part_of_it_counts() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(wrong(Some(good)), 0, "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH Classpath-exception-2.0", "Mine"] {
            assert_eq!(wrong(Some(bad)), 1, "{bad}");
        }
        assert_eq!(wrong(None), 1);
    }

    #[test]
    fn two_versions_that_cannot_stand_for_each_other_need_a_reason() {
        let rule = |twice: &[&str]| {
            let twice = twice.iter().map(|name| Twice { name: (*name).to_owned(), because: "reason".to_owned() });
            Dependencies { licences: Vec::new(), twice: twice.collect() }
        };
        let two = [dependency("a", "0.1.2", None), dependency("a", "0.2.0", None)];
        let same = [dependency("a", "1.1.2", None), dependency("a", "1.2.0", None)];
        assert_eq!(rule(&[]).check_versions(&two).len(), 1);
        assert_eq!(rule(&["a"]).check_versions(&two).len(), 0);
        assert_eq!(rule(&[]).check_versions(&same).len(), 0);
        assert_eq!(rule(&["a"]).check_versions(&same).len(), 1);
    }
}
