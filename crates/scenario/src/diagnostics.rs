//! What is known while a file is read, and what was found wrong with it.

use crate::error::{Problem, ScenarioError};
use document::{Entry, Key, NewName, Reading, Reference, Source};

/// Names defined so far, and complaints.
#[derive(Debug)]
pub(crate) struct Diagnostics<'a> {
    document: document::Complaints<'a, Problem>,
    pub(crate) hosts: Vec<String>,
    /// Names of links with the hosts at their ends.
    pub(crate) links: Vec<(String, [usize; 2])>,
    pub(crate) overlays: Vec<String>,
}

impl<'a> Diagnostics<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self::over(document::Complaints::new(source))
    }

    /// With what was found while the file was read as its type.
    pub(crate) fn of_reading(reading: Reading<'a>) -> Self {
        Self::over(reading.complaints())
    }

    fn over(document: document::Complaints<'a, Problem>) -> Self {
        Self { document, hosts: Vec::new(), links: Vec::new(), overlays: Vec::new() }
    }

    /// What reads other files as well.
    pub(crate) fn document(&mut self) -> &mut document::Complaints<'a, Problem> {
        &mut self.document
    }

    pub(crate) fn complain(&mut self, key: &Key, problem: impl Into<Problem>) {
        self.document.complain(key, problem);
    }

    /// The number of the host of this name.
    pub(crate) fn host(&mut self, key: &Key, name: &str) -> Option<usize> {
        self.document.defined(key, Reference { what: "host", name }, &self.hosts)
    }

    /// The numbers of the hosts of a list of names.
    pub(crate) fn hosts(&mut self, key: &Key, names: &[String]) -> Vec<usize> {
        names.iter().enumerate().filter_map(|(number, name)| self.host(&key.nth(number), name)).collect()
    }

    /// The number of the link of this name.
    pub(crate) fn link(&mut self, key: &Key, name: &str) -> Option<usize> {
        let known: Vec<String> = self.links.iter().map(|(link, _)| link.clone()).collect();
        self.document.defined(key, Reference { what: "link", name }, &known)
    }

    /// The number of the overlay of this name.
    pub(crate) fn overlay(&mut self, key: &Key, name: &str) -> Option<usize> {
        self.document.defined(key, Reference { what: "overlay", name }, &self.overlays)
    }

    /// Which end of a link a host is at: 0 or 1.
    pub(crate) fn end(&mut self, key: &Key, link: usize, host: usize) -> Option<usize> {
        let (name, ends) = &self.links[link];
        let found = ends.iter().position(|end| *end == host);
        if found.is_none() {
            let problem = Problem::NotAtLink { link: name.clone(), host: self.hosts[host].clone() };
            self.complain(key, problem);
        }
        found
    }

    /// The direction of a link that leads towards a host: 0 from end 0 to end 1, 1 back.
    pub(crate) fn direction_towards(&mut self, key: &Key, link: usize, host: &str) -> Option<usize> {
        let host = self.host(key, host)?;
        self.end(key, link, host).map(|end| 1 - end)
    }

    /// Whether a new name is one that a host, a link or an overlay can have, and not taken.
    pub(crate) fn name_is_good(&mut self, key: &Key, what: &'static str, name: &str, taken: &[String]) -> bool {
        self.document.name_is_good(key, NewName { what, name, fault: fault_of_name(name) }, taken)
    }

    /// Complains about keys of a table that things of its kind do not have.
    pub(crate) fn only_keys(&mut self, table: &Key, of: &str, known: &[&str]) {
        self.document.only_keys(table, of, known);
    }

    /// What a table of this kind needs; a complaint where it is missing.
    pub(crate) fn needed<T>(&mut self, table: &Key, of: &str, entry: Entry<T>) -> Option<T> {
        self.document.needed(table, of, entry)
    }

    /// Whether nothing has been found wrong so far.
    pub(crate) fn is_content(&self) -> bool {
        self.document.is_content()
    }

    /// All complaints.
    pub(crate) fn refuse(self) -> ScenarioError {
        ScenarioError::Refused(self.document.into_all())
    }

    /// What was made, unless there were complaints.
    pub(crate) fn close<T>(self, made: T) -> Result<T, ScenarioError> {
        self.document.close(made).map_err(ScenarioError::Refused)
    }
}

/// What keeps a text from being a host name (RFC 1123 section 2.1), in small letters and without dots: a dot stands
/// between a host and its overlay.
fn fault_of_name(name: &str) -> Option<&'static str> {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > LONGEST_NAME {
        Some("it has more than 63 characters")
    } else if name.contains('.') {
        Some("it has a dot, which stands between a host and its overlay")
    } else if !name.chars().all(allowed) {
        Some("only small letters, digits and hyphens may stand in it")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("it begins or ends with a hyphen")
    } else if name == "localhost" {
        Some("every host calls itself so")
    } else {
        None
    }
}

/// RFC 1123 section 2.1.
const LONGEST_NAME: usize = 63;
