//! Lines as parts that say one thing each: clauses of a sentence, cells of a table with their headings.

use super::amount;
use super::aspects::is_moment;
use crate::stated_rate::{bare, clauses};

/// A line of what people write, or of a program that no reader knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProseLine {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// A part of a line.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub(super) line: usize,
    /// As they are written, without what surrounds them.
    pub(super) words: Vec<String>,
    /// Of its label, of its column and of the first cell of its row.
    pub(super) beside: Vec<String>,
    /// Of the heading above.
    pub(super) heading: Vec<String>,
    /// What it is called.
    pub(super) name: Option<String>,
}

/// All parts of a text.
pub(super) fn parts(lines: &[ProseLine]) -> Vec<Part> {
    let mut all = Vec::new();
    let mut heading = Heading::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let (rows, used) = table(&lines[at..]);
        if used > 0 {
            all.extend(rows.into_iter().map(|row| Part { heading: heading.at(row.line), ..row }));
            at += used;
            continue;
        }
        heading.see(line);
        let (joined, used) = paragraph(&lines[at..]);
        all.extend(clauses_of(&joined).into_iter().map(|part| Part { heading: heading.at(line.number), ..part }));
        at += used;
    }
    all
}

/// A sentence that a mail program or an editor broke: lines that go on with a small letter. With how many lines it is.
fn paragraph(lines: &[ProseLine]) -> (ProseLine, usize) {
    let mut joined = lines[0].clone();
    let mut used = 1;
    for pair in lines.windows(2) {
        let [line, next] = pair else { break };
        let text = line.text.trim_end();
        let indent = |text: &str| text.len() - text.trim_start().len();
        let goes_on = next.text.trim_start().starts_with(|letter: char| letter.is_lowercase() || letter == '(')
            && !text.ends_with(['.', ':', '?', '!', ';', '|', '`'])
            && text.len() >= WRAPPED
            && indent(&line.text) == indent(&next.text)
            && [line, next].iter().all(|line| cells(&line.text).len() < 2);
        if next.number != line.number + 1 || !goes_on || joined.text.len() + next.text.len() >= LONGEST {
            break;
        }
        joined.text = format!("{} {}", joined.text.trim_end(), next.text.trim_start());
        used += 1;
    }
    (joined, used)
}

/// Shorter lines end where their writer ended them.
const WRAPPED: usize = 50;

/// What stands above a list.
#[derive(Default)]
struct Heading {
    line: usize,
    words: Vec<String>,
}

impl Heading {
    /// Takes a line for a heading where it is short, or ends as one that announces something.
    fn see(&mut self, line: &ProseLine) {
        let words = words_of(&line.text);
        let announces = line.text.trim_end().ends_with(':');
        if announces || !has_amount(&words) && words.len() <= SHORT {
            *self = Self { line: line.number, words: lower(&words) };
        }
    }

    fn at(&self, line: usize) -> Vec<String> {
        let is_near = line > self.line && line - self.line <= NEAR;
        if is_near { self.words.clone() } else { Vec::new() }
    }
}

const SHORT: usize = 8;
const NEAR: usize = 6;

fn clauses_of(line: &ProseLine) -> Vec<Part> {
    let text = line.text.as_str();
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let (label, rest) = label(text);
    let (beside, name) = match label {
        Some(label) => (lower(&words_of(label)), Some(label.trim().to_owned())),
        None => (Vec::new(), None),
    };
    let part = |words: Vec<String>, moment: Option<&String>| Part {
        line: line.number,
        words,
        beside: beside.iter().chain(moment).cloned().collect(),
        heading: Vec::new(),
        name: name.clone(),
    };
    let mut all = Vec::new();
    for clause in clauses(rest) {
        // `Before: 0.9 Gbit/s, RTT 11 ms`: both are of that time.
        let mut moment: Option<String> = None;
        for words in segments(&words_of(clause)) {
            let own = lower(&words)
                .into_iter()
                .map(|word| word.trim_end_matches(':').to_owned())
                .find(|word| is_moment(word));
            let inherited = moment.as_ref().filter(|_| own.is_none());
            all.push(part(words, inherited));
            moment = own.or(moment);
        }
    }
    all
}

/// `iperf3 to B: 30 Mbit/s`: what stands before the colon, where no number with a unit does.
fn label(text: &str) -> (Option<&str>, &str) {
    let found = text.split_once(": ").or_else(|| text.split_once(":\t")).or_else(|| text.split_once(" = "));
    match found {
        Some((label, rest)) if label.split_whitespace().count() <= LABEL_WORDS && !label.trim().is_empty() => {
            (Some(label), rest)
        }
        _ => (None, text),
    }
}

const LABEL_WORDS: usize = 8;
const LONGEST: usize = 1_000;

/// A clause that has several amounts, parted so that each has the words that are said of it.
fn segments(words: &[String]) -> Vec<Vec<String>> {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let lower = word.to_lowercase();
        let joins = JOINS.contains(&lower.as_str());
        if joins && parts.last().is_some_and(|part| has_amount(part)) {
            parts.push(Vec::new());
        }
        let ends = word.ends_with(',');
        if let Some(part) = parts.last_mut() {
            part.push(word.trim_end_matches(',').to_owned());
        }
        if ends && parts.last().is_some_and(|part| has_amount(part)) {
            parts.push(Vec::new());
        }
    }
    // Words behind the last amount are said of it.
    if parts.len() > 1 && parts.last().is_some_and(|part| !has_amount(part)) {
        let last = parts.pop().unwrap_or_default();
        if let Some(part) = parts.last_mut() {
            part.extend(last);
        }
    }
    parts
}

const JOINS: [&str; 15] = [
    "and", "vs", "vs.", "versus", "against", "und", "et", "y", "e", "or", "compared", "but", "while", "whereas", "then",
];

fn has_amount(words: &[String]) -> bool {
    (0..words.len()).any(|at| {
        let rest: Vec<&str> = words[at..].iter().map(String::as_str).collect();
        matches!(amount::at(&rest), Some(found) if !matches!(found.amount, amount::Amount::Number(_)))
    })
}

/// A table that begins at the first line: a row of headings of which one has a unit, and rows of as many cells.
fn table(lines: &[ProseLine]) -> (Vec<Part>, usize) {
    let Some(first) = lines.first() else { return (Vec::new(), 0) };
    let heads = cells(&first.text);
    // The unit stands in a heading, or behind each number of the column.
    let has_own = || {
        let rows = lines[1..].iter().take(2).map(|line| cells(&line.text));
        rows.filter(|row| row.len() == heads.len()).any(|row| row.iter().any(|cell| is_value(cell)))
    };
    let has_unit = heads.iter().any(|head| unit_of(head).is_some()) || first.text.contains('|') && has_own();
    let numbers = heads.iter().filter(|head| head.starts_with(|letter: char| letter.is_ascii_digit())).count();
    if heads.len() < 2 || !has_unit || numbers > 0 {
        return (Vec::new(), 0);
    }
    let mut all = Vec::new();
    let mut used = 1;
    for (line, previous) in lines[1..].iter().zip(lines) {
        let row = cells(&line.text);
        let is_rule = line.text.chars().all(|letter| matches!(letter, '-' | '|' | '+' | ':' | '=' | ' '));
        if line.number > previous.number + 2 || used > MOST_ROWS {
            break;
        }
        if !is_rule {
            if row.len() != heads.len() {
                break;
            }
            all.extend(cells_as_parts(line.number, &heads, &row));
        }
        used += 1;
    }
    if all.is_empty() { (Vec::new(), 0) } else { (all, used) }
}

const MOST_ROWS: usize = 200;

fn cells_as_parts(line: usize, heads: &[String], row: &[String]) -> Vec<Part> {
    let is_number = |cell: &String| cell.trim_matches('*').starts_with(|letter: char| letter.is_ascii_digit());
    // What says of what the row is: cells that are words, and columns without a unit, as `streams 8`.
    let mut said: Vec<String> = Vec::new();
    for (head, cell) in heads.iter().zip(row) {
        if let Some(state) = switch(cell) {
            // `tso | on`.
            said.push(format!("{}={state}", head.trim().to_lowercase()));
        } else if !is_number(cell) {
            said.extend(words_of(cell));
        } else if unit_of(head).is_none() && !is_value(cell) {
            said.extend(words_of(cell));
            said.extend(words_of(head));
        }
    }
    let name = row.first().map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty());
    let part = |head: &String, cell: &String| {
        let mut words = words_of(cell.trim_matches('*'));
        if let Some(unit) = unit_of(head).filter(|_| words.len() == 1) {
            words.push(unit.to_owned());
        }
        let beside = lower(&[said.clone(), words_of(head)].concat());
        Part { line, words, beside, heading: Vec::new(), name: name.clone() }
    };
    heads.iter().zip(row).filter(|(_, cell)| is_number(cell)).map(|(head, cell)| part(head, cell)).collect()
}

/// A number with its unit.
fn is_value(cell: &str) -> bool {
    let words = words_of(cell.trim_matches('*'));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(amount::at(&words), Some(found) if !matches!(found.amount, amount::Amount::Number(_)))
}

/// Whether a cell says that its column's thing is there or not.
fn switch(cell: &str) -> Option<&'static str> {
    match cell.trim().to_lowercase().as_str() {
        "on" | "enabled" | "yes" | "an" | "ja" => Some("on"),
        "off" | "disabled" | "no" | "aus" | "nein" => Some("off"),
        _ => None,
    }
}

/// The unit in a heading: `Mbit/s`, `RTT (ms)`, `loss %`, `RTT_ms`.
fn unit_of(head: &str) -> Option<&str> {
    head.split([' ', '(', ')', '[', ']', '_', ',']).find(|word| {
        let rate = format!("1{word}");
        let is_long = word.len() > 1 || *word == "%";
        is_long
            && matches!(
                amount::at(&[&rate]),
                Some(found) if !matches!(found.amount, amount::Amount::Number(_) | amount::Amount::Bytes(_))
            )
    })
}

/// Cells between `|`, tabs, or two blanks and more.
fn cells(text: &str) -> Vec<String> {
    let text = text.trim().trim_matches('|');
    let parts: Vec<&str> = if text.contains('|') {
        text.split('|').collect()
    } else if text.contains('\t') {
        text.split('\t').collect()
    } else {
        text.split("  ").filter(|cell| !cell.trim().is_empty()).collect()
    };
    parts.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Words as they are written, without quotes and brackets; a comma behind them stays.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let comma = if word.ends_with(',') { "," } else { "" };
        format!("{}{comma}", bare(word))
    };
    text.split_whitespace().map(word).filter(|word| !word.is_empty() && word != ",").collect()
}

pub(super) fn lower(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.trim_end_matches(',').to_lowercase()).collect()
}
