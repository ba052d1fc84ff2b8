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
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
        fresh.push_str(&shown(&String::from_utf8(output.stdout).unwrap()));
        while lines.next_if(|line| line.starts_with("    ") && !line.starts_with("    $ ")).is_some() {}
    }
    assert_eq!(commands, 5);
    if std::env::var_os("UPDATE_ACCOUNTS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert_eq!(page, fresh, "UPDATE_ACCOUNTS=1 writes the page anew");
}
