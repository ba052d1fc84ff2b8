//! The files of the repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

use crate::rust::{self, Views};

/// Every text file that is in the repository or would be after `git add`.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The files, ordered by path.
    pub files: Vec<File>,
    /// Paths of files that hold no text.
    binaries: Vec<String>,
}

/// One text file.
#[derive(Clone, Debug)]
pub struct File {
    /// From the root of the repository, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
    /// Its text split into code, comments and literals, once somebody asks.
    views: OnceLock<Views>,
}

impl Tree {
    /// Reads this repository. Of files that are not UTF-8 the path is kept: links lead to pictures, and no other rule is about them.
    ///
    /// # Errors
    /// When git cannot list the files.
    pub fn of_repository() -> Result<Self> {
        let root = root();
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .context("cannot run git")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
        let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut paths: Vec<&str> = names.split_terminator('\0').collect();
        paths.sort_unstable();
        paths.dedup();
        // A file that is listed and gone was deleted and not yet committed.
        let (mut files, mut binaries) = (Vec::new(), Vec::new());
        for path in paths {
            match fs::read_to_string(root.join(path)) {
                Ok(text) => files.push(File::new(path, text)),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => binaries.push(path.to_owned()),
                Err(_) => {}
            }
        }
        Ok(Self { files, binaries })
    }

    /// A tree of the given paths and texts, for tests of rules.
    #[must_use]
    pub fn of_texts(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File::new(path, text.to_owned());
        Self { files: files.iter().map(file).collect(), binaries: Vec::new() }
    }

    /// The Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The file at a path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a path is a file or a folder of the tree.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let paths = self.files.iter().map(|file| &file.path).chain(&self.binaries);
        path.is_empty() || paths.into_iter().any(|one| one == path || one.starts_with(&folder))
    }
}

impl File {
    /// A file of this text.
    #[must_use]
    pub fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text, views: OnceLock::new() }
    }

    /// A Rust source split into code, comments and literals.
    #[must_use]
    pub fn views(&self) -> &Views {
        self.views.get_or_init(|| rust::split(&self.text))
    }

    /// Whether this is a Rust source.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// Whether all of it is compiled for tests only.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The first line, counted from 1, that is compiled for tests only: unit tests stand at the end of their file.
    #[must_use]
    pub fn first_test_line(&self) -> Option<usize> {
        if self.is_test() {
            return Some(1);
        }
        self.text.lines().position(|line| line.trim() == "#[cfg(test)]").map(|index| index + 1)
    }
}

/// The folder of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_tests_are_found_at_the_end_of_a_file() {
        let tree = Tree::of_texts(&[
            ("crates/a/src/lib.rs", "fn f() {}\n\n#[cfg(test)]\nmod tests {}\n"),
            ("crates/a/src/b.rs", "fn f() {}"),
            ("crates/a/tests/c.rs", "fn f() {}"),
        ]);
        let first: Vec<Option<usize>> = tree.files.iter().map(File::first_test_line).collect();
        assert_eq!(first, [Some(3), None, Some(1)]);
    }

    #[test]
    fn a_folder_is_held_when_a_file_in_it_is() {
        let tree = Tree::of_texts(&[("docs/formats/a.json", "{}")]);
        assert!(tree.holds("docs/formats") && tree.holds("docs/") && tree.holds("docs/formats/a.json"));
        assert!(!tree.holds("docs/form") && !tree.holds("docs/formats/b.json"));
    }
}
