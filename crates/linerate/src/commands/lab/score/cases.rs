//! Which scenarios are played, and what is true of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use diagnose::score::{Missing, Spot, Truth};
use lab::play::planted;
use lab::scenario::{Scenario, Where};

use crate::exit::{Complaint, Exit};

/// A scenario and its truth.
pub struct Case {
    /// Its name, which no other case has.
    pub name: String,
    /// The text of its file, so that what was played of another text is known for what it is.
    pub text: String,
    /// What is built and played; its faults are those of `truth`.
    pub scenario: Scenario,
    /// What a diagnosis should find.
    pub truth: Truth,
}

/// The scenarios of files and directories; files that are none are told, and the others are played all the same.
pub fn cases(paths: &[PathBuf]) -> anyhow::Result<(Vec<Case>, Vec<Missing>)> {
    let mut files = Vec::new();
    for path in paths {
        let found = files_of(path)?;
        if found.is_empty() {
            let complaint = Complaint::new(Exit::NotFound, format!("{} has no scenario files", path.display()));
            return Err(complaint.hint("a scenario is a file that ends in .toml: docs/formats/scenario.md").into());
        }
        files.extend(found);
    }
    files.sort();
    files.dedup();
    let (mut cases, mut unread, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for file in files {
        match case(&file, &mut names) {
            Ok(case) => cases.push(case),
            Err(why) => unread.push(Missing { scenario: file.display().to_string(), seed: None, why }),
        }
    }
    Ok((cases, unread))
}

/// The file itself, or what is in the directory and below it.
fn files_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = || {
        Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()))
            .hint("name scenario files, or directories with such files")
    };
    if !fs::metadata(path).with_context(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            // What a link leads to may lead back.
            if entry.file_type().with_context(unreadable)?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "toml") {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

fn case(file: &Path, names: &mut BTreeSet<String>) -> Result<Case, String> {
    let shown = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let scenario = Scenario::parse(&shown, &text).map_err(|error| error.to_string())?;
    let innocent = scenario.truth.innocent.iter().map(|place| spot(&scenario, place)).collect();
    let truth = Truth { causes: planted(&scenario), innocent };
    Ok(Case { name: unused(file, &scenario.name, names), text, scenario, truth })
}

/// Files of one name in several directories are told apart by these.
fn unused(file: &Path, name: &str, names: &mut BTreeSet<String>) -> String {
    let mut unused = name.to_owned();
    for folder in file.ancestors().skip(1).filter_map(Path::file_name) {
        if names.contains(&unused) {
            unused = format!("{}-{unused}", folder.to_string_lossy());
        }
    }
    names.insert(unused.clone());
    unused
}

fn spot(scenario: &Scenario, place: &Where) -> Spot {
    let (place, towards) = scenario.named(place);
    Spot { place, towards }
}
