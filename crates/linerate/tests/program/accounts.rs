//! docs/accounts.md against the program: each command that the page shows prints what stands below it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the logs show, without the tables of each run, which docs/reading-a-result.md explains.
fn shown(output: &str) -> String {
    const LABELS: [&str; 2] = ["evidence ", "comparison "];
    let mut page = String::new();
    for line in output.lines().filter(|line| LABELS.iter().any(|label| line.starts_with(label))) {
        writeln!(page, "    {line}").unwrap();
    }
    page
}

/// The verdict of `why`, in lines of the page.
fn verdict(output: &str) -> String {
    let paragraph = output.split("\n\n").nth(1).unwrap_or_default();
    let sentence = paragraph.lines().take_while(|line| !line.starts_with(' '));
    sentence.map(|line| format!("    {line}\n")).collect()
}

/// A verdict as it is compared: the cause that comes first and its place. Probabilities are learnt anew now and then.
fn cause_and_place(verdict: &str) -> String {
    let words = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
    let catalogue = diagnose::causes::Catalogue::built_in();
    let words = words.as_str();
    let first = catalogue.all().iter().filter_map(|cause| Some((words.find(&cause.id)?, cause.id.clone()))).min();
    let (from, id) = first.unwrap_or((0, "no cause".to_owned()));
    let place = words.get(..from).unwrap_or_default();
    let place = if place.contains(" between ") || words[from..].contains(" between ") { "path" } else { "host" };
    format!("{id} at {place}")
}

#[test]
fn the_page_of_accounts_shows_what_the_program_prints() {
    let path = root().join("docs/accounts.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut fresh = String::new();
    let mut lines = page.lines().peekable();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        writeln!(fresh, "{line}").unwrap();
        let Some(command) = line.strip_prefix("    $ linerate ") else { continue };
        commands += 1;
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(command.split_whitespace())
            .current_dir(root())
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        let mut old = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("    ") && !line.starts_with("    $ ")) {
            writeln!(old, "{line}").unwrap();
        }
        if command.starts_with("why") {
            assert!(matches!(output.status.code(), Some(0 | 10)), "{command}: {output:?}");
            let new = verdict(&printed);
            let is_same = cause_and_place(&new) == cause_and_place(&old);
            fresh.push_str(if is_same && std::env::var_os("UPDATE_ACCOUNTS").is_none() { &old } else { &new });
        } else {
            assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
            fresh.push_str(&shown(&printed));
        }
    }
    assert_eq!(commands, 11);
    if std::env::var_os("UPDATE_ACCOUNTS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert_eq!(page, fresh, "UPDATE_ACCOUNTS=1 writes the page anew");
}
