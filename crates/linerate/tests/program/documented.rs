//! Commands in blocks of README.md and docs/, run as they are printed: page by page, each page in a directory of its own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use tempfile::TempDir;

/// documented.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exceptions {
    /// Beginnings of commands that run only where an earlier command of their page has written what they read.
    reads_of_the_reader: Vec<String>,
    not_run: Vec<NotRun>,
}

impl Exceptions {
    /// The beginnings of a command that are listed, with what they depend on.
    fn of<'a>(&'a self, command: &Shown) -> Vec<(&'a str, Unless)> {
        let never = self.not_run.iter().flat_map(|group| &group.commands).map(|begin| (begin.as_str(), Unless::Never));
        let reads = self.reads_of_the_reader.iter().map(|begin| (begin.as_str(), Unless::Written));
        never.chain(reads).filter(|(begin, _)| command.text.starts_with(begin)).collect()
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.not_run.iter().flat_map(|group| &group.commands).chain(&self.reads_of_the_reader)
    }
}

/// When a command runs that is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unless {
    Never,
    /// What it reads is there.
    Written,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NotRun {
    reason: String,
    commands: Vec<String>,
}

/// A command of a page.
struct Shown {
    line: usize,
    /// As it stands there, remarks included; a line that goes on is put together.
    text: String,
}

/// A command that runs until somebody stops it is no command for this test: it is listed.
const PATIENCE_S: &str = "600";

/// Code that says that something was found, which is what some commands show.
const FOUND: i32 = 10;

#[test]
fn every_command_in_a_block_runs_as_printed_or_says_why_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let exceptions = fs::read_to_string(root.join("crates/linerate/tests/program/documented.toml")).unwrap();
    let exceptions: Exceptions = toml::from_str(&exceptions).unwrap();
    assert!(exceptions.not_run.iter().all(|group| !group.reason.is_empty()));
    let mut unused: BTreeSet<&str> = exceptions.all().map(String::as_str).collect();
    let mut pages = vec![root.join("README.md")];
    pages_below(&root.join("docs"), &mut pages);
    let (mut ran, mut wrong) = (0, Vec::new());
    for page in pages {
        let shown = commands(&fs::read_to_string(&page).unwrap());
        let place = Place::new(&root);
        for command in shown {
            let written = command.text.split_whitespace().skip(1).any(|word| place.has(word));
            let mut listed = exceptions.of(&command);
            listed.retain(|(_, unless)| *unless == Unless::Never || !written);
            if !listed.is_empty() {
                unused.retain(|begin| listed.iter().all(|(used, _)| used != begin));
                continue;
            }
            ran += 1;
            wrong.extend(place.failure(&command.text).map(|why| format!("{}:{}: {why}", page.display(), command.line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "no page shows these any more: {unused:#?}");
    assert!(ran > 35, "only {ran} commands ran");
}

/// Where the commands of a page run: beside what a clone of the repository has, with an archive of its own.
struct Place(TempDir);

impl Place {
    fn new(root: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        for name in ["testdata", "crates", "scenarios", "sweeps"] {
            symlink(root.join(name), folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    /// Whether an earlier command has written this file.
    fn has(&self, word: &str) -> bool {
        !word.contains('/') && word.contains('.') && self.0.path().join(word).is_file()
    }

    /// Why a command ended as none should that a page shows.
    fn failure(&self, text: &str) -> Option<String> {
        let program = Path::new(env!("CARGO_BIN_EXE_linerate")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let ended = Command::new("timeout")
            .args([PATIENCE_S, "sh", "-c", without_remark(text)])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("HOME", self.0.path())
            .env("LINERATE_ARCHIVE", self.0.path().join("archive.db"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let code = ended.status.code();
        let prints = !ended.stdout.is_empty() || !ended.stderr.is_empty() || text.contains('>');
        let as_shown = [Some(0), Some(FOUND)].contains(&code) && prints;
        (!as_shown).then(|| format!("`{text}` ended with {code:?}: {}", String::from_utf8_lossy(&ended.stderr)))
    }
}

/// The command without what a page says of it behind two blanks. The words of a command have one between them.
fn without_remark(text: &str) -> &str {
    text.split_once("  ").map_or(text, |(command, _)| command)
}

fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

/// The commands in blocks of a page.
fn commands(page: &str) -> Vec<Shown> {
    let (mut shown, mut fenced): (Vec<Shown>, bool) = (Vec::new(), false);
    let mut goes_on = false;
    for (line, text) in (1..).zip(page.lines()) {
        fenced ^= text.starts_with("```");
        if !fenced && !text.starts_with("    ") {
            goes_on = false;
            continue;
        }
        let text = text.trim();
        if let (true, Some(last)) = (goes_on, shown.last_mut()) {
            last.text.push_str(text);
        } else {
            let command = text.trim_start_matches("$ ").trim_start_matches("sudo ");
            if !command.starts_with("linerate ") {
                continue;
            }
            shown.push(Shown { line, text: command.to_owned() });
        }
        let Some(last) = shown.last_mut() else { continue };
        goes_on = last.text.ends_with('\\');
        if goes_on {
            last.text.pop();
        }
    }
    shown
}
