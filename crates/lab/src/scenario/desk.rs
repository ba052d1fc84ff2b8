//! What is known while a file is read, and what was found wrong with it.

use super::error::{Complaint, Problem, ScenarioError};
use super::source::{Key, Source};

/// Names defined so far, and complaints. Reading goes on after a complaint, so that a person sees all of them at once.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub(super) source: &'a Source,
    pub(super) hosts: Vec<String>,
    /// Names of links with the hosts at their ends.
    pub(super) links: Vec<(String, [usize; 2])>,
    pub(super) overlays: Vec<String>,
    complaints: Vec<Complaint>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, hosts: Vec::new(), links: Vec::new(), overlays: Vec::new(), complaints: Vec::new() }
    }

    pub(super) fn complain(&mut self, key: &Key, problem: Problem) {
        self.complaints.push(Complaint { place: self.source.place(key), problem });
    }

    /// The number of the host of this name.
    pub(super) fn host(&mut self, key: &Key, name: &str) -> Option<usize> {
        let found = self.hosts.iter().position(|host| host == name);
        if found.is_none() {
            let problem = Problem::Undefined { what: "host", name: name.to_owned(), known: self.hosts.clone() };
            self.complain(key, problem);
        }
        found
    }

    /// The numbers of the hosts of a list of names.
    pub(super) fn hosts(&mut self, key: &Key, names: &[String]) -> Vec<usize> {
        names.iter().enumerate().filter_map(|(number, name)| self.host(&key.nth(number), name)).collect()
    }

    /// The number of the link of this name.
    pub(super) fn link(&mut self, key: &Key, name: &str) -> Option<usize> {
        let found = self.links.iter().position(|(link, _)| link == name);
        if found.is_none() {
            let known = self.links.iter().map(|(link, _)| link.clone()).collect();
            self.complain(key, Problem::Undefined { what: "link", name: name.to_owned(), known });
        }
        found
    }

    /// The number of the overlay of this name.
    pub(super) fn overlay(&mut self, key: &Key, name: &str) -> Option<usize> {
        let found = self.overlays.iter().position(|overlay| overlay == name);
        if found.is_none() {
            let problem = Problem::Undefined { what: "overlay", name: name.to_owned(), known: self.overlays.clone() };
            self.complain(key, problem);
        }
        found
    }

    /// Which end of a link a host is at: 0 or 1.
    pub(super) fn end(&mut self, key: &Key, link: usize, host: usize) -> Option<usize> {
        let (name, ends) = &self.links[link];
        let found = ends.iter().position(|end| *end == host);
        if found.is_none() {
            let problem = Problem::NotAtLink { link: name.clone(), host: self.hosts[host].clone() };
            self.complain(key, problem);
        }
        found
    }

    /// The direction of a link that leads towards a host: 0 from end 0 to end 1, 1 back.
    pub(super) fn direction_towards(&mut self, key: &Key, link: usize, host: &str) -> Option<usize> {
        let host = self.host(key, host)?;
        self.end(key, link, host).map(|end| 1 - end)
    }

    /// Whether a new name is one that a host, a link or an overlay can have, and not taken.
    pub(super) fn name_is_good(&mut self, key: &Key, what: &'static str, name: &str, taken: &[String]) -> bool {
        if let Some(why) = fault_of_name(name) {
            self.complain(key, Problem::Name { what, name: name.chars().take(80).collect(), why });
            return false;
        }
        let twice = taken.iter().any(|other| other == name);
        if twice {
            self.complain(key, Problem::Twice { what, name: name.to_owned() });
        }
        !twice
    }

    /// Complains about keys of a table that things of its kind do not have.
    pub(super) fn only_keys(&mut self, table: &Key, of: &str, known: &[&str]) {
        for key in self.source.keys_of(table) {
            if !known.contains(&key.as_str()) {
                let known = known.iter().map(|&word| word.to_owned()).collect();
                self.complain(&table.at(&key), Problem::NotOfKind { of: of.to_owned(), key: key.clone(), known });
            }
        }
    }

    /// What a table of this kind needs; a complaint where it is missing.
    pub(super) fn needed<T>(&mut self, table: &Key, of: &str, (key, value): (&'static str, Option<T>)) -> Option<T> {
        if value.is_none() {
            self.complain(table, Problem::Needs { of: of.to_owned(), key });
        }
        value
    }

    /// Whether nothing has been found wrong so far.
    pub(super) fn is_content(&self) -> bool {
        self.complaints.is_empty()
    }

    /// What was made, unless there were complaints.
    pub(super) fn close<T>(mut self, made: T) -> Result<T, ScenarioError> {
        if self.complaints.is_empty() {
            return Ok(made);
        }
        self.complaints.sort_by_key(|complaint| (complaint.place.line, complaint.place.column));
        self.complaints.dedup();
        Err(ScenarioError::Refused(self.complaints))
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
