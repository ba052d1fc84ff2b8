//! Markdown whose sections people edit, and that grows with the record.
//!
//! Each section that we write stands between two comments, the first with a sum of its text. A section whose text has another sum was edited
//! by somebody: it stays as it is. What stands outside of the comments is theirs as well.

use std::fmt::Write as _;

use crate::sections::Section;

/// A document, and the sections that were kept as somebody has edited them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole document, as Markdown.
    pub text: String,
    /// Titles of the sections that were kept.
    pub kept: Vec<String>,
}

/// A new document.
#[must_use]
pub fn new(title: &str, sections: &[Section]) -> String {
    let mut text = format!("# {title}\n");
    for section in sections {
        let _ = write!(text, "\n## {}\n\n{}\n", section.title, block(section));
    }
    text
}

/// A document of before with what the record says now.
#[must_use]
pub fn merge(before: &str, sections: &[Section], title: &str) -> Merged {
    let (mut text, mut kept, mut seen) = (String::new(), Vec::new(), Vec::new());
    let mut rest = before;
    while let Some(found) = Block::first(rest) {
        text.push_str(&rest[..found.begins]);
        let section = sections.iter().find(|section| section.key == found.key);
        match section {
            Some(section) if found.sum == sum(found.body) => text.push_str(&block(section)),
            Some(section) => {
                // What is as it would be written anyway was edited by nobody.
                if found.body != body(section) {
                    kept.push(section.title.clone());
                }
                text.push_str(&rest[found.begins..found.ends]);
            }
            None => text.push_str(&rest[found.begins..found.ends]),
        }
        seen.push(found.key.to_owned());
        rest = &rest[found.ends..];
    }
    if seen.is_empty() && before.trim().is_empty() {
        return Merged { text: new(title, sections), kept };
    }
    text.push_str(rest);
    for section in sections.iter().filter(|section| !seen.contains(&section.key)) {
        let _ = write!(text, "\n## {}\n\n{}\n", section.title, block(section));
    }
    Merged { text, kept }
}

/// A section between its comments.
struct Block<'a> {
    key: &'a str,
    sum: &'a str,
    body: &'a str,
    begins: usize,
    ends: usize,
}

impl<'a> Block<'a> {
    fn first(text: &'a str) -> Option<Self> {
        let mut from = 0;
        loop {
            let begins = from + text[from..].find(BEGINS)?;
            let head = begins + BEGINS.len();
            let close = head + text[head..].find(CLOSES)?;
            let after = close + CLOSES.len();
            let words: Vec<&str> = text[head..close].split_whitespace().collect();
            match (words.as_slice(), text[after..].find(ENDS)) {
                ([key, sum], Some(end)) => {
                    let ends = after + end + ENDS.len();
                    return Some(Self { key, sum, body: &text[after..after + end], begins, ends });
                }
                // No comment of ours, or one whose end somebody has removed: the text is theirs.
                _ => from = after,
            }
        }
    }
}

fn block(section: &Section) -> String {
    let body = body(section);
    format!("{BEGINS}{} {}{CLOSES}{body}{ENDS}", section.key, sum(&body))
}

fn body(section: &Section) -> String {
    // A comment of ours inside of it would end it.
    format!("{}\n", section.text.replace("<!--", "< !--").trim_end())
}

/// FNV-1a (Fowler, Noll, Vo), of 64 bits: it recognises edits, and protects from nobody.
fn sum(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

const BEGINS: &str = "<!-- linerate ";
const CLOSES: &str = " -->\n";
const ENDS: &str = "<!-- end -->";

#[cfg(test)]
mod tests {
    use super::*;

    fn section(key: &str, text: &str) -> Section {
        Section { key: key.to_owned(), title: key.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_nobody_has_edited_grows_with_the_record() {
        let before = new("T", &[section("summary", "open"), section("actions", "none")]);
        let now = [section("summary", "closed"), section("actions", "none"), section("timeline", "- a")];
        let merged = merge(&before, &now, "T");
        assert_eq!(merged, Merged { text: new("T", &now), kept: Vec::new() });
    }

    #[test]
    fn edits_inside_and_outside_of_sections_are_kept() {
        let before = new("T", &[section("summary", "open"), section("lessons", "to be written")]);
        let edited =
            before.replace("to be written", "Look at the log first.").replace("# T", "# Our title\n\nAda wrote this.");
        let merged = merge(&edited, &[section("summary", "closed"), section("lessons", "more was learnt")], "T");
        assert_eq!(merged.kept, ["lessons"]);
        for part in ["Look at the log first.", "# Our title\n\nAda wrote this.", "closed"] {
            assert!(merged.text.contains(part), "{part}: {}", merged.text);
        }
        assert!(!merged.text.contains("more was learnt"), "{}", merged.text);
        let again = merge(&merged.text, &[section("summary", "closed"), section("lessons", "more was learnt")], "T");
        assert_eq!(again.text, merged.text);
    }

    #[test]
    fn text_of_strangers_ends_no_section_and_a_lost_end_loses_no_word() {
        let text = new("T", &[section("summary", "a <!-- end --> b"), section("actions", "c")]);
        assert_eq!(text.matches(ENDS).count(), 2, "{text}");
        let torn = text.replacen(ENDS, "", 1);
        let merged = merge(&torn, &[section("summary", "new"), section("actions", "d")], "T");
        assert!(merged.text.contains("a < !-- end --> b"), "{}", merged.text);
    }
}
