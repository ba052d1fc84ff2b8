//! Text in lines that fit a terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The words of a text in lines of at most 96 characters, each indented by so many blanks.
pub fn text(words: &str, indent: usize) -> String {
    let paragraphs = words.trim().split("\n\n");
    paragraphs.map(|paragraph| lines(paragraph.split_whitespace(), Columns { indent, width: 96 })).collect()
}

/// The same in 80 columns, for what is pasted into mails and tickets; a number keeps its unit, and a command its line.
pub fn narrow(words: &str, indent: usize) -> String {
    let paragraphs = words.trim().split("\n\n");
    paragraphs.map(|paragraph| lines(unbreakable(paragraph).into_iter(), Columns { indent, width: 80 })).collect()
}

/// Where lines begin and end.
#[derive(Debug, Clone, Copy)]
struct Columns {
    indent: usize,
    width: usize,
}

fn lines(words: impl Iterator<Item = impl AsRef<str>>, columns: Columns) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in words {
        let word = word.as_ref();
        let length = word.chars().count();
        if used > 0 && columns.indent + used + 1 + length > columns.width {
            lines.push('\n');
            used = 0;
        }
        if used == 0 {
            lines.extend(std::iter::repeat_n(' ', columns.indent));
        } else {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines.push('\n');
    lines
}

/// Words that stay on one line: a number with its unit, and what stands between backquotes, so that a command can be copied.
fn unbreakable(paragraph: &str) -> Vec<String> {
    const UNITS: [&str; 12] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "s", "ms", "µs", "kB", "MB", "GB", "B"];
    /// Longer ones break all the same.
    const LONGEST: usize = 60;
    let mut words: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        let joins = words.last().is_some_and(|last| {
            let is_number = last.ends_with(|letter: char| letter.is_ascii_digit());
            let is_open = last.matches('`').count() % 2 == 1 && last.chars().count() < LONGEST;
            (is_number && (bare == "%" || UNITS.contains(&bare))) || is_open
        });
        match words.last_mut().filter(|_| joins) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Columns of the terminal that standard output is, where it is one and tells.
pub fn terminal_width() -> Option<usize> {
    width_of(&std::io::stdout())
}

/// A line for standard error, broken between words where that is a terminal.
pub fn for_standard_error(line: &str) -> String {
    width_of(&std::io::stderr()).map_or_else(|| line.to_owned(), |width| fitted(line, width))
}

fn width_of(out: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width >= NARROWEST)
}

/// Narrower ones get lines as they are: nothing fits them anyway.
const NARROWEST: usize = 40;

/// The same text with long lines broken between words. What follows a label keeps its column; a command that is to be
/// typed is continued as a shell wants it.
pub fn fitted(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if line.chars().count() <= width {
            fitted.push_str(line);
        } else {
            fitted.push_str(&broken(line, width));
        }
        fitted.push_str(end);
    }
    fitted
}

fn broken(line: &str, width: usize) -> String {
    let indent = hanging(line).min(width / 2);
    let typed = line.starts_with("next, ") || line.trim_start().starts_with("linerate ");
    let (mark, room) = if typed { (" \\", width.saturating_sub(2)) } else { ("", width) };
    let (mut lines, mut used) = (String::new(), 0);
    for (index, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        // The blanks of an indented line are empty words, which stay.
        let beginning = used <= indent && !lines.is_empty();
        if index > 0 && !beginning && used + 1 + length > room {
            lines.push_str(mark);
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if index > 0 && (used != indent || !lines.contains('\n')) {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

/// Where the second line of a broken one begins: under what follows its label, bullet or indentation.
fn hanging(line: &str) -> usize {
    let blanks = line.chars().take_while(|letter| *letter == ' ').count();
    if line[blanks..].starts_with("- ") {
        return blanks + 2;
    }
    // A label is a word or two, then at least two blanks or the column where values begin.
    const VALUES: usize = 13;
    let label = line.chars().take(VALUES).collect::<String>();
    if blanks == 0 && label.ends_with(' ') && label.chars().count() == VALUES { VALUES } else { blanks + 2 }
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn long_lines_break_between_words_under_their_label() {
        let line = format!("{:<12} {}\n", "expected", "word ".repeat(30).trim_end());
        let text = fitted(&line, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("             word")), "{text}");
        assert_eq!(text.split_whitespace().count(), 31);
        assert_eq!(fitted(&line, 400), line);
    }

    #[test]
    fn a_command_is_continued_as_a_shell_wants_it() {
        let line =
            "next, here: linerate test dtn.example.org --port 5301 --netns ingress --time 30s --pace 812Mbit/s\n";
        let text = fitted(line, 80);
        assert!(text.lines().next().unwrap().ends_with(" \\"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(
            text.replace(" \\\n", "").split_whitespace().collect::<Vec<_>>(),
            line.split_whitespace().collect::<Vec<_>>()
        );
    }

    #[test]
    fn bars_and_bullets_keep_their_indentation() {
        let text = fitted(&format!("- {}", "word ".repeat(30).trim_end()), 60);
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")), "{text}");
    }

    #[test]
    fn no_line_is_longer_than_a_terminal_unless_a_word_is() {
        let text = super::text(&"word ".repeat(100), 4);
        assert!(text.lines().all(|line| line.len() <= 96 && line.starts_with("    word")));
        assert_eq!(text.split_whitespace().count(), 100);
        assert_eq!(super::text(&"x".repeat(200), 0).lines().count(), 1);
        let text = super::narrow(&"of 12.5 % at 3 ms: `ping -M do -s 1472`. ".repeat(20), 0);
        for line in text.lines() {
            assert!(
                !line.starts_with(['%']) && !line.starts_with("ms") && line.matches('`').count() % 2 == 0,
                "{text}"
            );
        }
    }
}
