//! Lines that say something by themselves, by a table: what they look like, when they say it, and what they say.
//!
//! A tool of which one line or one table says what is wrong needs no reader of its own: an entry of `lines.toml`, which says at its head
//! how one is written, is enough.
//!
//! * `pattern`: lines with gaps
//! * `condition`: comparisons of what the gaps hold
//! * `phrase`: sentences with gaps

mod condition;
mod pattern;
mod phrase;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use condition::Condition;
use pattern::{Captures, Pattern};

use crate::command::after_prompt;

/// What lines say by the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureFact {
    /// How much it decides.
    pub weight: SignatureWeight,
    /// The sentence, with `{host}` where the host's name belongs.
    pub says: String,
}

/// How much a line decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureWeight {
    /// It shows a fault outright.
    Decisive,
    /// It should not be.
    Fault,
    /// It is as good as it gets.
    Well,
    /// It helps to judge.
    Fact,
}

/// What was found at the first of some lines.
pub(crate) struct SignaturesFound {
    pub(crate) facts: Vec<SignatureFact>,
    pub(crate) lines: usize,
}

/// Whether the table may know a line.
pub(crate) fn may_know(line: &str) -> bool {
    line.len() <= LONGEST && TABLE.starting(line).any(|signature| !signature.beside)
}

/// What lines say that others read as well, by the number of the line from 1.
pub(crate) fn beside(text: &str) -> Vec<(usize, SignatureFact)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with('[') || line.len() > LONGEST || found.len() >= MOST_BESIDE {
            continue;
        }
        for signature in TABLE.starting(line).filter(|signature| signature.beside) {
            let facts = signature.find(&[line]).map(|(facts, _)| facts).unwrap_or_default();
            found.extend(facts.into_iter().map(|fact| (number + 1, fact)));
        }
    }
    found
}

/// A log of a day has more rows than anybody reads of.
const MOST_BESIDE: usize = 16;

/// All that the first of some lines, with those below it, says by the table.
pub(crate) fn read(lines: &[&str]) -> Option<SignaturesFound> {
    let first = *lines.first()?;
    (first.len() <= LONGEST).then_some(())?;
    let mut all: Vec<SignatureFact> = Vec::new();
    let mut used = 0;
    for signature in TABLE.starting(first).filter(|signature| !signature.beside) {
        let Some((facts, lines)) = signature.find(lines) else { continue };
        if facts.is_empty() {
            continue;
        }
        all.extend(facts);
        used = used.max(lines);
    }
    (used > 0).then_some(())?;
    // What says that all is well is said where nothing else is.
    let says_more = all.iter().any(|fact| matches!(fact.weight, SignatureWeight::Decisive | SignatureWeight::Fault));
    all.retain(|fact| !says_more || !matches!(fact.weight, SignatureWeight::Well | SignatureWeight::Fact));
    Some(SignaturesFound { facts: all, lines: used })
}

/// An entry of `lines.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: Option<String>,
    lines: Vec<String>,
    #[serde(default)]
    rows: Rows,
    case: Vec<WrittenCase>,
    otherwise: Option<String>,
    #[serde(default)]
    beside: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    #[serde(default)]
    when: Vec<String>,
    weight: SignatureWeight,
    says: String,
}

/// Whether a line comes once or for each of several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rows {
    #[default]
    Once,
    Each,
    Sum,
}

#[derive(Debug, Deserialize)]
struct File {
    signature: Vec<Written>,
}

struct Signature {
    title: Option<Pattern>,
    lines: Vec<Pattern>,
    rows: Rows,
    cases: Vec<Case>,
    otherwise: Option<String>,
    beside: bool,
}

/// What lines say where some conditions hold.
struct Case {
    when: Vec<Condition>,
    weight: SignatureWeight,
    says: String,
}

impl Case {
    fn of(written: WrittenCase) -> Option<Self> {
        let when: Option<Vec<Condition>> = written.when.iter().map(|text| Condition::parse(text)).collect();
        Some(Self { when: when?, weight: written.weight, says: written.says })
    }

    fn said(&self, found: &Captures) -> Option<SignatureFact> {
        let holds = self.when.iter().all(|condition| condition.holds(found));
        holds.then(|| SignatureFact { weight: self.weight, says: phrase::fill(&self.says, found) })
    }
}

impl Signature {
    fn of(written: Written) -> Option<Self> {
        let lines: Option<Vec<Pattern>> = written.lines.iter().map(|line| Pattern::parse(line)).collect();
        let title = match &written.title {
            Some(title) => Some(Pattern::parse(title)?),
            None => None,
        };
        let mut written = written;
        let cases: Option<Vec<Case>> = std::mem::take(&mut written.case).into_iter().map(Case::of).collect();
        let lines = lines.filter(|lines| !lines.is_empty())?;
        let Written { rows, otherwise, beside, .. } = written;
        Some(Self { title, lines, rows, cases: cases?, otherwise, beside })
    }

    fn first(&self) -> Option<&Pattern> {
        self.title.as_ref().or_else(|| self.lines.first())
    }

    /// What the lines say, and how many they are.
    fn find(&self, lines: &[&str]) -> Option<(Vec<SignatureFact>, usize)> {
        let mut found = Captures::default();
        let titles = usize::from(self.title.is_some());
        if let Some(title) = &self.title {
            found = title.find(lines.first()?)?;
        }
        // The first line may be a command itself.
        let is_of_it = |(number, line): &(usize, &&str)| {
            (*number == 0 && titles == 0) || after_prompt(line.trim_start()).is_none()
        };
        let below = lines[titles..].iter().take(REACH).enumerate().take_while(is_of_it);
        let below: Vec<&str> = below.map(|(_, line)| *line).collect();
        if self.rows == Rows::Once {
            let used = self.in_order(&below, &mut found)?;
            return Some((self.facts(&[found]), titles + used));
        }
        let (rows, used) = self.rows_of(&below, &found)?;
        let facts = if self.rows == Rows::Sum {
            self.facts(&[summed(&rows, self.lines[0].numbers())])
        } else {
            self.facts(&rows)
        };
        Some((facts, titles + used))
    }

    /// The lines one below the other, with others between them.
    fn in_order(&self, below: &[&str], found: &mut Captures) -> Option<usize> {
        let mut at = 0;
        for (number, pattern) in self.lines.iter().enumerate() {
            // Without a title the first stands at once.
            let reach = if number == 0 && self.title.is_none() { 1 } else { below.len() };
            let (line, own) = below
                .iter()
                .enumerate()
                .take(reach)
                .skip(at)
                .find_map(|(line, text)| Some((line, pattern.find(text)?)))?;
            found.numbers.extend(own.numbers);
            found.texts.extend(own.texts);
            at = line + 1;
        }
        Some(at)
    }

    /// Lines of one kind; without a title they stand one below the other.
    fn rows_of(&self, below: &[&str], title: &Captures) -> Option<(Vec<Captures>, usize)> {
        let pattern = self.lines.first()?;
        let (mut rows, mut used) = (Vec::new(), 0);
        for (number, line) in below.iter().enumerate() {
            match pattern.find(line) {
                Some(mut row) => {
                    row.numbers.extend(title.numbers.clone());
                    row.texts.extend(title.texts.clone());
                    rows.push(row);
                    used = number + 1;
                }
                None if self.title.is_none() => break,
                None => {}
            }
        }
        (!rows.is_empty()).then_some((rows, used))
    }

    /// What each of the rows says, or the last one where none says anything.
    fn facts(&self, rows: &[Captures]) -> Vec<SignatureFact> {
        let said = rows.iter().flat_map(|row| self.cases.iter().filter_map(|case| case.said(row)));
        let said: Vec<SignatureFact> = said.take(MOST_ROWS).collect();
        if !said.is_empty() {
            return said;
        }
        let otherwise = self.otherwise.as_ref().zip(rows.last());
        let fact =
            otherwise.map(|(says, row)| SignatureFact { weight: SignatureWeight::Fact, says: phrase::fill(says, row) });
        fact.into_iter().collect()
    }
}

/// The rows' numbers added up.
fn summed<'a>(rows: &[Captures], names: impl Iterator<Item = &'a str>) -> Captures {
    let mut sum = rows.last().cloned().unwrap_or_default();
    for name in names {
        let all = rows.iter().filter_map(|row| row.numbers.get(name)).fold(0_u64, |sum, one| sum.saturating_add(*one));
        sum.numbers.insert(name.to_owned(), all);
        sum.texts.insert(name.to_owned(), (all / 1_000).to_string());
    }
    sum
}

/// Lines below a title that may be of it.
const REACH: usize = 80;
/// Rows that are said.
const MOST_ROWS: usize = 4;
/// No tool prints longer ones that say anything.
const LONGEST: usize = 400;

/// All entries, and those that a line may begin, by a word of it.
struct Table {
    all: Vec<Signature>,
    by_word: HashMap<String, Vec<usize>>,
    by_none: Vec<usize>,
}

impl Table {
    fn of(all: Vec<Signature>) -> Self {
        let (mut by_word, mut by_none) = (HashMap::<String, Vec<usize>>::new(), Vec::new());
        for (number, signature) in all.iter().enumerate() {
            match signature.first().and_then(|first| first.word.clone()) {
                Some(word) => by_word.entry(word).or_default().push(number),
                None => by_none.push(number),
            }
        }
        Self { all, by_word, by_none }
    }

    /// Those whose first line may be this one, in the order of the table.
    fn starting<'a>(&'a self, line: &str) -> impl Iterator<Item = &'a Signature> {
        let mut found: Vec<usize> = Vec::new();
        for word in line.split_whitespace() {
            found.extend(self.by_word.get(word).into_iter().flatten());
        }
        // Without a word of their own they begin with a text: `cpu={cpu} …`.
        found.extend(self.by_none.iter().filter(|number| {
            let first = self.all.get(**number).and_then(Signature::first).and_then(Pattern::start);
            first.is_some_and(|start| line.trim_start().starts_with(start))
        }));
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|number| self.all.get(number))
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("lines.toml")).unwrap_or(File { signature: Vec::new() });
    Table::of(file.signature.into_iter().filter_map(Signature::of).collect())
});

#[cfg(test)]
mod tests;
