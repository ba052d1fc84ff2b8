//! Documents: links that resolve, decisions that are listed, a change log, and a word on top of every crate.

use crate::tree::{File, Tree};
use crate::violation::Violation;

const DECISIONS: &str = "docs/decisions/";
const CHANGES: &str = "CHANGELOG.md";
const MAP: &str = "docs/architecture.md";

/// Every relative link of a Markdown file that leads nowhere.
#[must_use]
pub fn check_links(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, target) in links(&file.text) {
            if let Some(wrong) = wrong_link(tree, file, &target) {
                found.push(Violation::on_line(&file.path, line, wrong));
            }
        }
    }
    found
}

/// Every page of `docs/decisions/` that its index does not list.
#[must_use]
pub fn check_decisions(tree: &Tree) -> Vec<Violation> {
    let index = format!("{DECISIONS}README.md");
    let list = tree.get(&index).map_or("", |file| &file.text);
    let pages =
        tree.files.iter().filter_map(|file| file.path.strip_prefix(DECISIONS)).filter(|page| *page != "README.md");
    let missing = pages.filter(|page| !list.contains(&format!("({page})")));
    missing
        .map(|page| Violation::of_file(&index, format!("does not list {page}: add a line with a link to it")))
        .collect()
}

/// A change log without a place for what is not released yet.
#[must_use]
pub fn check_change_log(tree: &Tree) -> Vec<Violation> {
    let is_there = tree.get(CHANGES).is_some_and(|file| file.text.lines().any(|line| line == "## Unreleased"));
    if is_there { Vec::new() } else { vec![Violation::of_file(CHANGES, "needs a section `## Unreleased`")] }
}

/// Every crate whose root file does not start by saying what the crate is.
#[must_use]
pub fn check_crates(tree: &Tree) -> Vec<Violation> {
    let is_root = |file: &&File| {
        let parts: Vec<&str> = file.path.split('/').collect();
        matches!(parts[..], ["crates", _, "src", "lib.rs" | "main.rs"] | ["crates", _, "src", "bin", _])
    };
    let roots = tree.rust().filter(is_root);
    let silent = roots.filter(|file| !file.text.starts_with("//! "));
    silent
        .map(|file| Violation::on_line(&file.path, 1, "start with `//!` and a sentence: what the crate is for"))
        .collect()
}

/// Every crate that the map of the architecture has no paragraph about.
#[must_use]
pub fn check_map(tree: &Tree) -> Vec<Violation> {
    let map = tree.get(MAP).map_or("", |file| &file.text);
    let manifests = tree.files.iter().filter_map(|file| file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
    let missing = manifests
        .filter(|name| !name.contains('/') && !map.lines().any(|line| line.starts_with(&format!("**{name}**"))));
    missing
        .map(|name| {
            let message =
                format!("says nothing of {name}: a paragraph that begins `**{name}**`: purpose, entry, limits");
            Violation::of_file(MAP, message)
        })
        .collect()
}

/// The targets of inline links, images and link definitions, with their lines; of code only paths that climb.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code || line.starts_with("    ") {
            continue;
        }
        let code = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("../")).map(str::to_owned);
        found.extend(code.map(|path| (index + 1, path)));
        let line = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let definition = line.starts_with('[').then(|| line.split("]: ").nth(1)).flatten();
        found.extend(inline.chain(definition).map(|target| (index + 1, target.trim().to_owned())));
    }
    found
}

fn wrong_link(tree: &Tree, file: &File, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, section) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = (if path.is_empty() { Some(file.path.clone()) } else { resolved(&file.path, path) }) else {
        return Some(format!("the link to {target} leaves the repository: link to a file inside, or to an address"));
    };
    if !tree.holds(&path) {
        return Some(format!("the link to {target} leads nowhere: there is no {path}"));
    }
    let to = tree.get(&path)?;
    let has_section =
        section.is_empty() || !path.ends_with(".md") || anchors(&to.text).iter().any(|each| each == section);
    (!has_section).then(|| format!("the link to {target} leads nowhere: {path} has no heading of that name"))
}

/// The path of a link, from the root of the repository; `None` outside it.
fn resolved(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The names by which headings can be linked to, as code forges make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings.map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &[Violation]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    fn broken_links(text: &str) -> Vec<String> {
        let others = [("docs/formats/run.md", "# One run\n\n## What it holds, and why\n"), ("README.md", "")];
        let all: Vec<(&str, &str)> = [("docs/a.md", text)].into_iter().chain(others).collect();
        shown(&check_links(&Tree::of_texts(&all)))
    }

    #[test]
    fn links_to_files_folders_headings_and_addresses_resolve() {
        for text in [
            "[a](formats/run.md)",
            "[a](../README.md)",
            "[a](formats/)",
            "![a](formats/run.md)",
            "[a](https://b.c/d)",
            "[a](formats/run.md#what-it-holds-and-why)",
            "# My Part\n[a](#my-part)",
            "`[a](none.md)`",
            "see `../README.md` or `formats/none.md`",
            "```\n[a](none.md)\n```",
        ] {
            assert_eq!(broken_links(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_line() {
        assert_eq!(
            broken_links("\n[a](none.md)"),
            ["docs/a.md:2: the link to none.md leads nowhere: there is no docs/none.md"]
        );
        assert_eq!(broken_links("[a]: none.md").len(), 1);
        assert!(broken_links("[a](../../b.md)")[0].contains("leaves the repository"));
        assert!(broken_links("see `../../b.md`")[0].contains("leaves the repository"));
        assert!(broken_links("[a](formats/run.md#nothing)")[0].contains("no heading of that name"));
    }

    #[test]
    fn every_decision_is_in_the_index() {
        let tree = Tree::of_texts(&[
            ("docs/decisions/README.md", "[0001](0001-a.md)"),
            ("docs/decisions/0001-a.md", ""),
            ("docs/decisions/0002-b.md", ""),
        ]);
        let found = shown(&check_decisions(&tree));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("does not list 0002-b.md"), "{found:?}");
    }

    #[test]
    fn the_change_log_has_a_place_for_what_comes_next() {
        assert!(check_change_log(&Tree::of_texts(&[(CHANGES, "# Changes\n\n## Unreleased\n")])).is_empty());
        assert_eq!(check_change_log(&Tree::of_texts(&[(CHANGES, "# Changes\n")])).len(), 1);
        assert_eq!(check_change_log(&Tree::of_texts(&[])).len(), 1);
    }

    #[test]
    fn a_crate_says_first_what_it_is() {
        let tree = Tree::of_texts(&[
            ("crates/a/src/lib.rs", "//! A.\n"),
            ("crates/b/src/main.rs", "fn main() {}"),
            ("crates/b/src/c.rs", ""),
        ]);
        assert_eq!(shown(&check_crates(&tree)).len(), 1);
    }
}
