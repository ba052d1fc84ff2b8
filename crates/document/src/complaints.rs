//! What was found wrong with a file while it is read.

use std::fmt;

use crate::source::Parsed;
use crate::{Complaint, DocumentError, Key, Source};

/// Complaints about a file. Reading goes on after one, so that a person sees all of them at once.
#[derive(Debug)]
pub struct Complaints<'a, P> {
    parsed: Parsed<'a>,
    complaints: Vec<Complaint<P>>,
    /// What was not read as it stands: complaints about it, or about what contains it, follow from others.
    touched: Vec<Key>,
}

/// A name that a file gives to something.
#[derive(Debug, Clone, Copy)]
pub struct NewName<'a> {
    /// What it names: `a link`.
    pub what: &'static str,
    /// Name as the file has it.
    pub name: &'a str,
    /// What is wrong with it, if anything.
    pub fault: Option<&'static str>,
}

/// A name by which a file refers to something that it should define.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// What it should be: `link`.
    pub what: &'static str,
    /// Name as the file has it.
    pub name: &'a str,
}

/// A key of a table with its value, where the file has one.
#[derive(Debug, Clone, Copy)]
pub struct Entry<T> {
    /// Key as files have it.
    pub key: &'static str,
    /// [`None`] where the table lacks the key.
    pub value: Option<T>,
}

impl<'a, P> Complaints<'a, P> {
    /// Nothing has been found yet.
    #[must_use]
    pub fn new(source: &'a Source) -> Self {
        Self { parsed: source.parsed(), complaints: Vec::new(), touched: Vec::new() }
    }

    /// What was found while the file was read as its type.
    pub(crate) fn of_reading(parsed: Parsed<'a>, complaints: Vec<Complaint<P>>, touched: Vec<Key>) -> Self {
        Self { parsed, complaints, touched }
    }
}

impl<P: From<DocumentError> + PartialEq + fmt::Debug> Complaints<'_, P> {
    /// The keys of a table, in the order of the file.
    #[must_use]
    pub fn keys_of(&self, table: &Key) -> Vec<String> {
        self.parsed.keys_of(table)
    }

    /// Writes a problem down, unless there are more than anybody reads.
    pub fn complain(&mut self, key: &Key, problem: impl Into<P>) {
        let follows = self.touched.iter().any(|touched| touched.is_on_the_way_of(key));
        if !follows && self.complaints.len() < MOST_COMPLAINTS {
            self.complaints.push(Complaint { place: self.parsed.place(key), problem: problem.into() });
        }
    }

    /// Whether a new name is one that such a thing can have, and not taken.
    pub fn name_is_good(&mut self, key: &Key, named: NewName<'_>, taken: &[String]) -> bool {
        let NewName { what, name, fault } = named;
        if let Some(why) = fault {
            self.complain(key, DocumentError::Name { what, name: name.chars().take(LONGEST_SHOWN).collect(), why });
            return false;
        }
        let twice = taken.iter().any(|other| other == name);
        if twice {
            let what = what.split_once(' ').map_or(what, |(_article, what)| what);
            self.complain(key, DocumentError::Twice { what, name: name.to_owned() });
        }
        !twice
    }

    /// Where a name stands among those that are defined; a complaint where it does not.
    pub fn defined(&mut self, key: &Key, reference: Reference<'_>, known: &[String]) -> Option<usize> {
        let Reference { what, name } = reference;
        let found = known.iter().position(|other| other == name);
        if found.is_none() {
            self.complain(key, DocumentError::Undefined { what, name: name.to_owned(), known: known.to_vec() });
        }
        found
    }

    /// Complains about keys of a table that things of its kind do not have.
    pub fn only_keys(&mut self, table: &Key, of: &str, known: &[&str]) {
        for key in self.keys_of(table) {
            if !known.contains(&key.as_str()) {
                let known = known.iter().map(|&word| word.to_owned()).collect();
                self.complain(&table.at(&key), DocumentError::NotOfKind { of: of.to_owned(), key: key.clone(), known });
            }
        }
    }

    /// What a table of this kind needs; a complaint where it is missing.
    pub fn needed<T>(&mut self, table: &Key, of: &str, entry: Entry<T>) -> Option<T> {
        let Entry { key, value } = entry;
        if value.is_none() {
            self.complain(table, DocumentError::Needs { of: of.to_owned(), key });
        }
        value
    }

    /// Whether nothing has been found wrong so far.
    #[must_use]
    pub fn is_content(&self) -> bool {
        self.complaints.is_empty()
    }

    /// What was made, unless there were complaints.
    ///
    /// # Errors
    /// All complaints, in the order of the file.
    pub fn close<T>(self, made: T) -> Result<T, Vec<Complaint<P>>> {
        if self.complaints.is_empty() { Ok(made) } else { Err(self.into_all()) }
    }

    /// All complaints, in the order of the file.
    #[must_use]
    pub fn into_all(mut self) -> Vec<Complaint<P>> {
        self.complaints.sort_by_key(|complaint| (complaint.place.line, complaint.place.column));
        self.complaints.dedup();
        self.complaints
    }
}

/// Of a name that cannot be one, this much is repeated.
const LONGEST_SHOWN: usize = 80;

/// Nobody mends more than this in one go.
const MOST_COMPLAINTS: usize = 200;
