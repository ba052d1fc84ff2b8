//! Files of one crate that need each other in a circle: none of them can be read, tested or moved alone.
//!
//! A file needs another where its code names something of it: `use crate::a::b::C`, `super::d::e()`. A name that a file
//! only passes on with `pub use` belongs to the file that has it. `mod b;` is no need: it says where the file is.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{File, Tree};
use crate::violation::Violation;

/// Every file that is in a circle, with the others of it. Files are counted, not circles: a large circle that is cut into
/// two small ones is better than it was.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut of_crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in tree.rust().filter(|file| file.path.contains("/src/") && !file.is_test()) {
        if let Some((name, _)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) {
            of_crates.entry(name).or_default().push(file);
        }
    }
    of_crates.values().flat_map(|files| check_crate(files)).collect()
}

fn check_crate(files: &[&File]) -> Vec<Violation> {
    let modules = Modules::of(files);
    let needs: Vec<BTreeSet<usize>> = (0..files.len()).map(|index| modules.needs(index)).collect();
    let mut found = Vec::new();
    for circle in circles(&needs) {
        let short = |index: &usize| files[*index].path.split_once("/src/").map_or("", |(_, path)| path);
        let names: Vec<&str> = circle.iter().map(short).collect();
        let message = format!("{} files need each other: {}", names.len(), names.join(", "));
        found.extend(circle.iter().map(|index| Violation::of_file(&files[*index].path, message.clone())));
    }
    found
}

/// The files of a crate as modules.
struct Modules<'a> {
    /// `["a", "b"]` is the module `crate::a::b`, by file.
    paths: Vec<Vec<&'a str>>,
    /// The code of each file, tests left out.
    codes: Vec<String>,
    by_path: BTreeMap<Vec<&'a str>, usize>,
    /// What each file passes on, by the name that it has there: the path that is behind it.
    passed_on: Vec<BTreeMap<String, Vec<String>>>,
}

impl<'a> Modules<'a> {
    fn of(files: &[&'a File]) -> Self {
        let paths: Vec<Vec<&str>> = files.iter().map(|file| module_path(&file.path)).collect();
        let by_path = paths.iter().enumerate().map(|(index, path)| (path.clone(), index)).collect();
        let codes: Vec<String> = files.iter().map(|file| code_without_tests(file)).collect();
        let mut modules = Self { paths, codes, by_path, passed_on: Vec::new() };
        modules.passed_on = (0..files.len()).map(|index| modules.passes_on(index)).collect();
        modules
    }

    fn passes_on(&self, index: usize) -> BTreeMap<String, Vec<String>> {
        let mut passed = BTreeMap::new();
        for (path, is_public) in uses(&self.codes[index]) {
            let absolute = self.absolute(index, &path);
            if let (true, Some(absolute), Some(name)) = (is_public, absolute, path.last()) {
                passed.insert(name.clone(), absolute);
            }
        }
        passed
    }

    /// The files that a file needs.
    fn needs(&self, index: usize) -> BTreeSet<usize> {
        let code = &self.codes[index];
        let named = uses(code).into_iter().filter(|(_, is_public)| !is_public).map(|(path, _)| path);
        let paths = named.chain(inline_paths(code));
        let all = paths.filter_map(|path| self.file_of(&self.absolute(index, &path)?, 0));
        all.filter(|other| *other != index).collect()
    }

    /// A path from the root of the crate; nothing where it leads out of it.
    fn absolute(&self, index: usize, path: &[String]) -> Option<Vec<String>> {
        let here: Vec<String> = self.paths[index].iter().map(|&part| part.to_owned()).collect();
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&here, rest].concat()),
            "super" => {
                let climbs = path.iter().take_while(|part| *part == "super").count();
                let above = here.get(..here.len().checked_sub(climbs)?)?;
                Some([above, &path[climbs..]].concat())
            }
            child => {
                let below: Vec<&str> = self.paths[index].iter().copied().chain([child]).collect();
                self.by_path.contains_key(&below).then(|| [&here[..], path].concat())
            }
        }
    }

    /// The file that has what a path names, behind those that pass it on.
    fn file_of(&self, path: &[String], depth: usize) -> Option<usize> {
        let mut longest = path.len();
        let (file, rest) = loop {
            let prefix: Vec<&str> = path[..longest].iter().map(String::as_str).collect();
            if let Some(file) = self.by_path.get(&prefix) {
                break (*file, &path[longest..]);
            }
            longest = longest.checked_sub(1)?;
        };
        let name = rest.first();
        if let Some(behind) = name.and_then(|name| self.passed_on[file].get(name))
            && depth < DEEPEST
        {
            return self.file_of(&[behind, &rest[1..]].concat(), depth + 1);
        }
        Some(file)
    }
}

/// `crates/a/src/b/mod.rs` is `["b"]`.
fn module_path(path: &str) -> Vec<&str> {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
        parts.pop();
    }
    parts
}

fn code_without_tests(file: &File) -> String {
    let lines = file.first_test_line().unwrap_or(usize::MAX);
    file.views().code.lines().take(lines.saturating_sub(1)).collect::<Vec<_>>().join("\n")
}

/// The paths of all `use` statements, and whether each passes on what it names.
fn uses(code: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in code.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let after = trimmed
            .strip_prefix("pub")
            .map(|rest| rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest));
        let is_public = after.is_some();
        let start = after.unwrap_or(trimmed).trim_start().strip_prefix("use ");
        if let Some(start) = start {
            let offset = line_start + line.len() - start.len();
            let statement = code[offset..].split(';').next().unwrap_or("");
            let mut paths = Vec::new();
            expand(statement, &[], &mut paths);
            found.extend(paths.into_iter().map(|path| (path, is_public)));
        }
        line_start += line.len();
    }
    found
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`; a name after `as` is dropped.
fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let prefix = [before, &parts(&tree[..open])].concat();
        let inside = tree[open + 1..].trim_end().trim_end_matches('}');
        let (mut depth, mut start) = (0_i32, 0);
        for (at, character) in inside.char_indices().chain([(inside.len(), ',')]) {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&inside[start..at], &prefix, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let name = tree.split(" as ").next().unwrap_or(tree);
        let mut path = [before, &parts(name)].concat();
        if path.last().is_some_and(|last| last == "self" && path.len() > 1) {
            path.pop();
        }
        found.push(path);
    }
}

fn parts(path: &str) -> Vec<String> {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Paths in the code itself, from the crate, from above or from a module below: `super::a::b()`. Those in `use` are not.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (separator, _) in code.match_indices("::") {
        let before = &code[..separator];
        let word = before.len() - before.chars().rev().take_while(|&c| is_of_name(c)).count();
        let is_first = !code[..word].ends_with("::");
        let line = code[..word].rsplit('\n').next().unwrap_or("");
        if is_first && word < separator && !line.contains("use ") && !line.contains("(in ") {
            let end = code[word..].find(|c: char| c != ':' && !is_of_name(c)).unwrap_or(code.len() - word);
            found.push(parts(&code[word..word + end]));
        }
    }
    found
}

fn is_of_name(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}

/// Groups of numbers, each of which leads to each other (Tarjan 1972, without recursion by way of reachability).
fn circles(needs: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reaches: Vec<BTreeSet<usize>> = (0..needs.len()).map(|start| reachable(needs, start)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for start in 0..needs.len() {
        let circle: Vec<usize> = (start..needs.len())
            .filter(|other| reaches[start].contains(other) && reaches[*other].contains(&start))
            .collect();
        if circle.len() > 1 && !found.iter().any(|known| known.contains(&start)) {
            found.push(circle);
        }
    }
    found
}

fn reachable(needs: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<usize> = needs[start].iter().copied().collect();
    while let Some(index) = next.pop() {
        if reached.insert(index) {
            next.extend(&needs[index]);
        }
    }
    reached
}

/// A name is passed on so many times at most; more is a circle of `pub use`.
const DEEPEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of_texts(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_that_need_each_other_are_found() {
        let circle = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;"),
            ("crates/x/src/a.rs", "use crate::b::{self, Thing};"),
            ("crates/x/src/b.rs", "fn f() { super::a::g() }"),
        ]);
        let each = ["a.rs", "b.rs"].map(|file| format!("crates/x/src/{file}: 2 files need each other: a.rs, b.rs"));
        assert_eq!(circle, each);
    }

    #[test]
    fn a_folder_that_its_files_look_up_to_is_in_the_circle() {
        let circle = found(&[
            ("crates/x/src/a/mod.rs", "mod b;\nuse b::f;\npub struct A;"),
            ("crates/x/src/a/b.rs", "use super::A;"),
        ]);
        assert_eq!(circle.len(), 2);
    }

    #[test]
    fn passing_a_name_on_is_no_need() {
        let circle = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::{B};"),
            ("crates/x/src/a.rs", "pub struct A;"),
            ("crates/x/src/b.rs", "use crate::A;"),
        ]);
        assert_eq!(circle, Vec::<String>::new());
    }

    #[test]
    fn tests_may_look_anywhere() {
        let circle = found(&[
            ("crates/x/src/a.rs", "use crate::b::B;"),
            ("crates/x/src/b.rs", "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ]);
        assert_eq!(circle, Vec::<String>::new());
    }
}
