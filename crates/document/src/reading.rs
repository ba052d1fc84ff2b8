//! Reading a file as a type, past what does not fit it.
//!
//! serde ends at the first value that is not of its type. What it names is corrected in the tree of the file or taken out of
//! it, and the rest is read again, so that a person sees all that is wrong at once. A value that is missing is given a
//! placeholder for as long as the file is read; nothing of such a file is used, since it has complaints.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use crate::complaints::Complaints;
use crate::source::{Parsed, Step};
use crate::{Complaint, DocumentError, FilePosition, Key, Source, nearest};

/// A file while it is read.
#[derive(Debug)]
pub struct Reading<'a> {
    source: &'a Source,
    tree: Spanned<DeValue<'a>>,
    complaints: Vec<Complaint<DocumentError>>,
    /// What was corrected or taken out.
    touched: Vec<Key>,
    /// Lines that are no TOML.
    broken: Vec<usize>,
}

/// A value that is not in the file, so that reading can go on.
struct Placeholder {
    /// Tables that it may belong to: a header is the whole span of each table that it opens.
    tables: Vec<Key>,
    name: String,
    attempt: usize,
    candidates: Vec<DeValue<'static>>,
}

impl<'a> Reading<'a> {
    /// Takes the text apart. Lines that are no TOML are complained about.
    #[must_use]
    pub fn new(source: &'a Source) -> Self {
        let (tree, errors) = DeTable::parse_recoverable(&source.text);
        let span = tree.span();
        let tree = Spanned::new(span, DeValue::Table(tree.into_inner()));
        let mut reading = Self { source, tree, complaints: Vec::new(), touched: Vec::new(), broken: Vec::new() };
        for error in errors {
            let place = source.place_of_byte(error.span().map_or(0, |span| span.start));
            // What follows an error in its line is the same error.
            if !reading.broken.contains(&place.line) && reading.complaints.len() < MOST_CORRECTED {
                reading.broken.push(place.line);
                reading.complaints.push(Complaint { place, problem: DocumentError::of_reader(error.message()) });
            }
        }
        reading
    }

    /// Reads the file as this type; [`None`] where what is wrong with it leaves nothing to read.
    pub fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut pending: Option<Placeholder> = None;
        for _ in 0..MOST_ATTEMPTS {
            let error = match T::deserialize(Deserializer::from(self.table())) {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let span = error.span().unwrap_or(0..0);
            let problem = DocumentError::of_reader(error.message());
            if span == PLACEHOLDER {
                self.try_next(pending.as_mut()?, &problem)?;
            } else if let Some(name) = missing_field(error.message()) {
                let placeholder = self.missing(span, name, problem)?;
                self.put(&placeholder)?;
                pending = Some(placeholder);
            } else {
                self.correct(span, &problem)?;
            }
        }
        None
    }

    /// What is wrong so far, for who goes on to complain about what the values mean. What follows from a value that was
    /// corrected or taken out is not complained about.
    #[must_use]
    pub fn complaints<P: From<DocumentError>>(self) -> Complaints<'a, P> {
        let mut complaints = Vec::new();
        for Complaint { place, problem } in self.complaints {
            complaints.push(Complaint { place, problem: problem.into() });
        }
        let parsed = Parsed { source: self.source, top: self.tree.into_inner() };
        Complaints::of_reading(parsed, complaints, self.touched)
    }

    /// Whether the text is TOML.
    #[must_use]
    pub fn is_toml(&self) -> bool {
        self.broken.is_empty()
    }

    fn table(&self) -> Spanned<DeTable<'a>> {
        let table = match self.tree.get_ref() {
            DeValue::Table(table) => table.clone(),
            _ => DeTable::new(),
        };
        Spanned::new(self.tree.span(), table)
    }

    fn complain(&mut self, place: FilePosition, problem: DocumentError) {
        if !self.broken.contains(&place.line) && self.complaints.len() < MOST_CORRECTED {
            self.complaints.push(Complaint { place, problem });
        }
    }

    /// A value that a table needs and has not. Where it was taken out before, or may stand in a line that is no TOML, it has
    /// been complained about.
    fn missing(&mut self, span: Range<usize>, name: &str, problem: DocumentError) -> Option<Placeholder> {
        let mut tables = Vec::new();
        tables_at(&self.tree, &span, &Key::default(), &mut tables);
        // The innermost table of a header is the one that has values.
        tables.reverse();
        let is_known = tables.iter().any(|table| self.touched.contains(&table.at(name)));
        let table = tables.first()?;
        if !is_known && self.is_toml() {
            let is_top = *table == Key::default();
            let place = if is_top { self.source.place(table) } else { self.source.place_of_byte(span.start) };
            self.complain(place, problem);
        }
        self.touched.push(table.at(name));
        Some(Placeholder { tables, name: name.to_owned(), attempt: 0, candidates: candidates() })
    }

    fn put(&mut self, placeholder: &Placeholder) -> Option<()> {
        let tables = placeholder.tables.len();
        let value = placeholder.candidates.get(placeholder.attempt / tables)?.clone();
        let DeValue::Table(table) = find_mut(&mut self.tree, &placeholder.tables[placeholder.attempt % tables])? else {
            return None;
        };
        let name = Spanned::new(PLACEHOLDER, Cow::Owned(placeholder.name.clone()));
        table.insert(name, Spanned::new(PLACEHOLDER, value));
        Some(())
    }

    /// The placeholder is of another type than what is missing, or stands in another table than the one that lacks it.
    fn try_next(&mut self, placeholder: &mut Placeholder, problem: &DocumentError) -> Option<()> {
        if let DocumentError::UnknownWord { what: "word", known, .. } = problem {
            let words = known.first().map(|word| DeValue::String(Cow::Owned(word.clone())));
            placeholder.candidates.extend(words);
        }
        let table = &placeholder.tables[placeholder.attempt % placeholder.tables.len()];
        if let DeValue::Table(table) = find_mut(&mut self.tree, table)? {
            table.remove(placeholder.name.as_str());
        }
        placeholder.attempt += 1;
        self.put(placeholder)
    }

    /// Corrects the name of a key that is almost one, or takes out what is wrong.
    fn correct(&mut self, span: Range<usize>, problem: &DocumentError) -> Option<()> {
        let key = key_at(&self.tree, &span, &Key::default());
        // Of what lacks a part that was taken out, that part has been complained about.
        let follows = key.as_ref().is_some_and(|key| self.touched.iter().any(|touched| touched.is_within(key)));
        if !follows {
            self.complain(self.source.place_of_byte(span.start), problem.clone());
        }
        let key = key?;
        let (parent, step) = key.split_last()?;
        let meant = match problem {
            DocumentError::UnknownWord { what: "key", name, known } => {
                nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
            }
            _ => None,
        };
        match (find_mut(&mut self.tree, &parent)?, step) {
            (DeValue::Table(table), Step::Name(name)) => {
                let (old, value) = table.remove_entry(name.as_str())?;
                if let Some(meant) = meant.filter(|meant| !table.contains_key(meant.as_str())) {
                    self.touched.push(parent.at(&meant));
                    table.insert(Spanned::new(old.span(), Cow::Owned(meant)), value);
                }
            }
            // A table of a list has its number in complaints: it stays.
            (DeValue::Array(list), Step::Number(number)) if !list.get(number)?.get_ref().is_table() => {
                take_out(list, number);
            }
            _ => return None,
        }
        self.touched.push(key);
        Some(())
    }
}

/// A list without one of its entries.
fn take_out(list: &mut DeArray<'_>, number: usize) {
    let entries = std::mem::replace(list, DeArray::new()).into_iter().enumerate();
    *list = entries.filter(|(place, _)| *place != number).map(|(_, entry)| entry).collect();
}

/// serde's words for a key that a table needs.
fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// One of each type that a value of a file may have.
fn candidates() -> Vec<DeValue<'static>> {
    let text = |text: &'static str| DeValue::String(Cow::Borrowed(text));
    let mut candidates = vec![
        text("x"),
        DeValue::Boolean(true),
        DeValue::Table(DeTable::new()),
        DeValue::Array(DeArray::new()),
        text("1s"),
        text("1Mbit/s"),
        text("1B"),
    ];
    for list in ["x = 1", "x = 1.0", "x = ['x', 'y']"] {
        let parsed = DeTable::parse(list).ok().and_then(|table| table.into_inner().remove("x"));
        candidates.extend(parsed.map(Spanned::into_inner));
    }
    candidates
}

/// The tables with this span, each before those in it.
fn tables_at(value: &Spanned<DeValue<'_>>, span: &Range<usize>, key: &Key, found: &mut Vec<Key>) {
    match value.get_ref() {
        DeValue::Table(table) => {
            if value.span() == *span {
                found.push(key.clone());
            }
            table.iter().for_each(|(name, inner)| tables_at(inner, span, &key.at(name.get_ref()), found));
        }
        DeValue::Array(list) => {
            list.iter().enumerate().for_each(|(number, inner)| tables_at(inner, span, &key.nth(number), found));
        }
        _ => {}
    }
}

/// The innermost key or value with this span.
fn key_at(value: &Spanned<DeValue<'_>>, span: &Range<usize>, key: &Key) -> Option<Key> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => table.iter().find_map(|(name, inner)| {
            let inside = key.at(name.get_ref());
            key_at(inner, span, &inside).or_else(|| (name.span() == *span).then_some(inside))
        }),
        DeValue::Array(list) => {
            list.iter().enumerate().find_map(|(number, inner)| key_at(inner, span, &key.nth(number)))
        }
        _ => None,
    };
    inner.or_else(|| (value.span() == *span).then(|| key.clone()))
}

fn find_mut<'t, 'a>(tree: &'t mut Spanned<DeValue<'a>>, key: &Key) -> Option<&'t mut DeValue<'a>> {
    let mut value = tree.get_mut();
    for step in key.steps() {
        value = match (value, step) {
            (DeValue::Table(table), Step::Name(name)) => table.get_mut(name.as_str())?.get_mut(),
            (DeValue::Array(list), Step::Number(number)) => list.get_mut(*number)?.get_mut(),
            _ => return None,
        };
    }
    Some(value)
}

/// The span of what is not in the file.
const PLACEHOLDER: Range<usize> = usize::MAX - 1..usize::MAX;

/// Nobody corrects more than this in one go.
const MOST_CORRECTED: usize = 50;

/// Each correction takes one reading, each placeholder at most one for each type.
const MOST_ATTEMPTS: usize = 400;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read is of interest")]
    struct Whole {
        title: String,
        hosts: BTreeMap<String, Host>,
        #[serde(default)]
        tests: Vec<Test>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read is of interest")]
    struct Host {
        address: String,
        port: Option<u16>,
        ways: Option<BTreeMap<String, String>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read is of interest")]
    struct Test {
        kind: Kind,
        pair: [String; 2],
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Tcp,
    }

    fn told(text: &str) -> Vec<String> {
        let source = Source { file: "f".to_owned(), text: text.to_owned() };
        let mut reading = Reading::new(&source);
        let read: Option<Whole> = reading.read();
        let complaints = reading.complaints::<DocumentError>();
        assert!(read.is_some(), "nothing was read of {text}: {complaints:?}");
        match complaints.close(()) {
            Ok(()) => Vec::new(),
            Err(complaints) => complaints.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_file_without_errors_has_no_complaints() {
        assert!(told("title = 't'\n[hosts.a]\naddress = 'a'\n[[tests]]\nkind = 'tcp'\npair = ['a', 'b']\n").is_empty());
    }

    #[test]
    fn everything_that_does_not_fit_is_told_at_once() {
        let text = "[hosts.a]\nadress = 'a'\nport = 'x'\n[hosts.b]\nport = 1\n[hosts.c.ways]\nx = 1\n[[tests]]\nkind = 'tpc'\npair = ['a', 3]\n[[tests]]\ncolour = 1\n";
        assert_eq!(
            told(text),
            [
                "f:1:1: missing field `title`",
                "f:2:1: hosts.a.adress: unknown key `adress`",
                "f:3:8: hosts.a.port: invalid type: string \"x\", expected u16",
                "f:4:1: hosts.b: missing field `address`",
                "f:6:8: hosts.c: missing field `address`",
                "f:7:5: hosts.c.ways.x: invalid type: integer `1`, expected a string",
                "f:9:8: tests[0].kind: unknown word `tpc`",
                "f:10:14: tests[0].pair[1]: invalid type: integer `3`, expected a string",
                "f:11:1: tests[1]: missing field `kind`",
                "f:11:1: tests[1]: missing field `pair`",
                "f:12:1: tests[1].colour: unknown key `colour`",
            ]
        );
    }

    #[test]
    fn lines_that_are_no_toml_are_each_told_once() {
        let lines = told("title = t\n[hosts.a]\naddress = \n[hosts.b]\naddress = 'b'\nprt = 3\n");
        let places: Vec<&str> = lines.iter().map(|line| &line[..3]).collect();
        assert_eq!(places, ["f:1", "f:3", "f:6"], "{lines:#?}");
    }

    #[test]
    fn a_file_of_errors_ends() {
        let text: String = (0..2_000).map(|number| format!("key{number} = {number}\n")).collect();
        let source = Source { file: "f".to_owned(), text };
        let mut reading = Reading::new(&source);
        let _: Option<Whole> = reading.read();
        assert_eq!(reading.complaints.len(), MOST_CORRECTED);
    }
}
