//! Commands of README.md and docs/ against the argument parser: an option that was renamed is renamed there as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

use super::{Cli, habits};

#[test]
fn every_command_of_the_documentation_has_the_options_that_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages_below(&root.join("docs"), &mut pages);
    let (mut count, mut wrong) = (0, Vec::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (line, command) in commands(&text) {
            count += 1;
            if let Some(why) = slip(&command) {
                wrong.push(format!("{}:{line}: `{command}`: {why}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 300, "only {count} commands were found");
}

fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

/// The commands of a page with their lines: in blocks of code, and between backticks.
fn commands(page: &str) -> Vec<(usize, String)> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for (number, line) in (1..).zip(page.lines()) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            let line = line.trim_start().trim_start_matches("$ ").trim_start_matches("sudo ");
            found.extend(line.starts_with("linerate ").then(|| (number, line.to_owned())));
        } else {
            let code = line.split('`').skip(1).step_by(2).map(|code| code.trim_start_matches("sudo "));
            found.extend(code.filter(|code| code.starts_with("linerate ")).map(|code| (number, code.to_owned())));
        }
    }
    found
}

/// What the parser says of a command, where it does not know a word of it. Values may be placeholders, and what stands in a
/// sentence may leave out the rest.
fn slip(command: &str) -> Option<String> {
    let words = words(command);
    // What the program says begins with its name as well: `linerate hub: listening`, `linerate 0.1.0`.
    let says = |word: &String| word.ends_with(':') || word.starts_with(|letter: char| letter.is_ascii_digit());
    if words.iter().skip(1).take(2).any(says) {
        return None;
    }
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let (words, _) = habits::translated(words);
    let error = Cli::try_parse_from(words).err()?;
    matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand)
        .then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// The words until the end of the command: a pipe, a redirection, a remark behind two blanks.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ') if letters.peek() == Some(&' ') => break,
            (None, ' ') => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            (None, '|' | '>' | '<' | ';' | '&' | '#' | '(' | '─') if word.is_empty() => return words,
            (None, ';') => break,
            // One of several words, in a table; or the line goes on.
            (None, '\\') => while letters.next_if(|next| *next != ' ').is_some() {},
            _ => word.push(letter),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty() && !word.starts_with('…')));
    words.retain(|word| !word.contains('…') && !word.starts_with('['));
    words
}
