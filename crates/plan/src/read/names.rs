//! What a plan defines, and what is wrong with it.

use document::{Complaints, DocumentError, Key, NewName, Reference};

use super::text::PlanText;

/// Names in the order of the file, and complaints.
pub(super) struct Names<'a> {
    pub(super) desk: Complaints<'a, DocumentError>,
    pub(super) hosts: Vec<String>,
    pub(super) networks: Vec<String>,
    pub(super) segments: Vec<String>,
    pub(super) groups: Vec<String>,
}

impl<'a> Names<'a> {
    /// Enters all names, and complains about those that cannot be.
    pub(super) fn new(mut desk: Complaints<'a, DocumentError>, text: &PlanText) -> Self {
        let hosts = tables(&mut desk, ("hosts", "a host"), MOST_HOSTS);
        let networks = tables(&mut desk, ("networks", "a network"), MOST_HOSTS);
        let groups = tables(&mut desk, ("groups", "a group"), MOST_GROUPS);
        let mut segments: Vec<String> = Vec::new();
        let list = Key::top("segments");
        for (number, segment) in text.segments.iter().enumerate() {
            let named = NewName { what: "a segment", name: &segment.name, fault: fault_of_name(&segment.name) };
            desk.name_is_good(&list.nth(number).at("name"), named, &segments);
            segments.push(segment.name.clone());
        }
        let lists = [
            ("segments", text.segments.len(), MOST_SEGMENTS),
            ("tests", text.tests.len(), MOST_TESTS),
            ("expectations", text.expectations.len(), MOST_SEGMENTS),
            ("ways", text.ways.len(), MOST_SEGMENTS),
            ("maintenance", text.maintenance.len(), MOST_GROUPS),
            ("budgets", text.budgets.len(), MOST_SEGMENTS),
        ];
        for (what, count, limit) in lists.into_iter().filter(|(_, count, limit)| count > limit) {
            desk.complain(&Key::top(what), DocumentError::TooMany { what, count, limit });
        }
        Self { desk, hosts, networks, segments, groups }
    }

    pub(super) fn host(&mut self, key: &Key, name: &str) -> Option<usize> {
        self.desk.defined(key, Reference { what: "host", name }, &self.hosts)
    }

    /// The hosts of a list of names, each once.
    pub(super) fn hosts(&mut self, key: &Key, names: &[String]) -> Vec<usize> {
        let mut found = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let key = key.nth(number);
            match self.host(&key, name) {
                Some(host) if found.contains(&host) => {
                    self.desk.complain(&key, DocumentError::Keys("this host is in the list already"));
                }
                host => found.extend(host),
            }
        }
        found
    }

    /// The two hosts of a pair.
    pub(super) fn pair(&mut self, key: &Key, [from, to]: &[String; 2]) -> Option<(usize, usize)> {
        let (one, other) = (self.host(&key.nth(0), from), self.host(&key.nth(1), to));
        let pair = one.zip(other)?;
        if pair.0 == pair.1 {
            self.desk.complain(key, DocumentError::Keys("a pair has two hosts"));
        }
        Some(pair)
    }

    /// A network that may be left out; [`None`] where it is named and not there.
    #[expect(clippy::option_option, reason = "outer: whether it is right; inner: whether it is given")]
    pub(super) fn network(&mut self, key: &Key, name: Option<&str>) -> Option<Option<usize>> {
        let Some(name) = name else { return Some(None) };
        self.desk.defined(key, Reference { what: "network", name }, &self.networks).map(Some)
    }

    pub(super) fn segment(&mut self, key: &Key, name: &str) -> Option<usize> {
        self.desk.defined(key, Reference { what: "segment", name }, &self.segments)
    }
}

/// The names of the tables below `list`, in the order of the file.
fn tables(
    desk: &mut Complaints<'_, DocumentError>,
    (list, what): (&'static str, &'static str),
    limit: usize,
) -> Vec<String> {
    let key = Key::top(list);
    let names = desk.keys_of(&key);
    for name in &names {
        desk.name_is_good(&key.at(name), NewName { what, name, fault: fault_of_name(name) }, &[]);
    }
    if names.len() > limit {
        desk.complain(&key, DocumentError::TooMany { what: list, count: names.len(), limit });
    }
    names
}

/// What keeps a text from being a name: those of psConfig templates and those of DNS are names.
pub(crate) fn fault_of_name(name: &str) -> Option<&'static str> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | '.' | '_' | '-');
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > LONGEST_NAME {
        Some("it has more than 253 characters")
    } else if !name.chars().all(allowed) {
        Some("only letters, digits and `:._-` may stand in it")
    } else {
        None
    }
}

/// RFC 1035 section 2.3.4, less the length octets.
const LONGEST_NAME: usize = 253;
/// The largest mesh that we know of has 437 hosts with 633 addresses.
pub(crate) const MOST_HOSTS: usize = 1_000;
const MOST_GROUPS: usize = 500;
const MOST_SEGMENTS: usize = 2_000;
pub(crate) const MOST_TESTS: usize = 500;
