//! What every `Cargo.toml` says.

use toml::{Table, Value};

use crate::tree::Tree;
use crate::violation::Violation;

/// The page that gives a reason for every dependency.
pub const REASONS: &str = "docs/decisions/0003-dependencies.md";

/// Every manifest that goes its own way.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path == "Cargo.toml" || is_member(&file.path)) {
        match file.text.parse::<Table>() {
            Err(error) => found.push(Violation::of_file(&file.path, error.to_string())),
            Ok(manifest) if is_member(&file.path) => found.extend(check_member(&file.path, &manifest)),
            Ok(manifest) => {
                found.extend(check_workspace(&manifest, tree));
                found.extend(check_use(&manifest, tree));
            }
        }
    }
    found
}

fn is_member(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/Cargo.toml")
}

fn check_member(path: &str, manifest: &Table) -> Vec<Violation> {
    let mut found = Vec::new();
    let inherits = |table: Option<&Value>| table.and_then(|table| table.get("workspace")).and_then(Value::as_bool);
    if inherits(manifest.get("lints")) != Some(true) {
        found.push(Violation::of_file(path, "write [lints] workspace = true, so that the house lints hold"));
    }
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in manifest.get(section).and_then(Value::as_table).into_iter().flatten() {
            if inherits(Some(value)) != Some(true) {
                let message = format!(
                    "[{section}] {name}: write {name}.workspace = true, and its version in the root Cargo.toml"
                );
                found.push(Violation::of_file(path, message));
            }
        }
    }
    found
}

/// Dependencies of the workspace that no crate takes.
fn check_use(manifest: &Table, tree: &Tree) -> Vec<Violation> {
    let all = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    let members: Vec<&str> =
        tree.files.iter().filter(|file| is_member(&file.path)).map(|file| file.text.as_str()).collect();
    let is_taken = |name: &str| {
        let begins = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
        members.iter().any(|text| text.lines().any(begins))
    };
    let unused = all.into_iter().flatten().map(|(name, _)| name).filter(|name| !is_taken(name));
    unused.map(|name| Violation::of_file("Cargo.toml", format!("{name} is taken by no crate: leave it out"))).collect()
}

fn check_workspace(manifest: &Table, tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let all = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    let others = all.into_iter().flatten().filter(|(_, value)| value.get("path").is_none());
    let reasons = tree.get(REASONS).map_or("", |file| &file.text);
    for (name, value) in others {
        if value.get("default-features").and_then(Value::as_bool) != Some(false) {
            let message = format!("{name}: write default-features = false and name the features that are needed");
            found.push(Violation::of_file("Cargo.toml", message));
        }
        if !reasons.contains(&format!("| `{name}` |")) {
            found.push(Violation::of_file(
                REASONS,
                format!("add a row for `{name}`: why, what it costs, what else was weighed"),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of_texts(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_member_takes_lints_and_versions_from_the_workspace() {
        let good = "[lints]\nworkspace = true\n[dependencies]\na.workspace = true\nb = { workspace = true, features = [\"c\"] }";
        assert!(messages(&[("crates/a/Cargo.toml", good)]).is_empty());
        let found = messages(&[("crates/a/Cargo.toml", "[dev-dependencies]\na = \"1\"")]);
        assert!(found[0].contains("[lints] workspace = true"), "{found:?}");
        assert!(found[1].contains("[dev-dependencies] a: write a.workspace = true"), "{found:?}");
    }

    #[test]
    fn a_dependency_has_no_default_features_and_has_a_reason() {
        let member = (
            "crates/x/Cargo.toml",
            "[lints]\nworkspace = true\n[dependencies]\na.workspace = true\nours.workspace = true",
        );
        let root = "[workspace.dependencies]\na = \"1\"\nours = { path = \"x\" }";
        let found = messages(&[("Cargo.toml", root), (REASONS, "| `b` | why |"), member]);
        assert_eq!(found.len(), 2, "{found:?}");
        let root = "[workspace.dependencies]\na = { version = \"1\", default-features = false }";
        assert!(messages(&[("Cargo.toml", root), (REASONS, "| `a` | why |"), member]).is_empty());
        let found = messages(&[("Cargo.toml", root), (REASONS, "| `a` | why |")]);
        assert_eq!(found, ["Cargo.toml: a is taken by no crate: leave it out"]);
    }
}
