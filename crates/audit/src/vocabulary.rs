//! The facts there are: `vocabulary.toml`, with what each means and where it is read.

use serde::Deserialize;

use crate::fact::{Fact, Path, Segment};

/// All facts that rules may use.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    entries: Vec<Entry>,
}

/// One fact, or a family of facts.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name, with `*` for any key and `[]` for the elements of a list.
    pub name: String,
    /// What it is, with its unit.
    pub is: String,
    /// Where it is read.
    pub from: String,
    /// What makes it known where it is not.
    pub ask: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    AnyKey,
    Element,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    fact: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    is: String,
    from: String,
    ask: Option<String>,
}

impl Vocabulary {
    /// The vocabulary that is compiled in.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads the file; without it every name would be unknown, which is reported for every rule.
        let document = toml::from_str(include_str!("../vocabulary.toml")).unwrap_or(Document { fact: Vec::new() });
        let entry = |written: Written| Entry {
            steps: steps(&written.name),
            name: written.name,
            is: written.is,
            from: written.from,
            ask: written.ask,
        };
        Self { entries: document.fact.into_iter().map(entry).collect() }
    }

    /// Every entry, in the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether a fact may have this name: one of the file, or what holds some of those.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.entries.iter().any(|entry| entry.covers(path))
    }

    /// The entry of a fact.
    #[must_use]
    pub fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.covers(path))
    }

    /// Every name in a tree of inputs that is not the name of a fact.
    #[must_use]
    pub fn strangers(&self, root: &str, fact: &Fact) -> Vec<String> {
        let mut found = Vec::new();
        self.look_for_strangers(&mut Path { root: root.to_owned(), segments: Vec::new() }, fact, &mut found);
        found
    }

    fn look_for_strangers(&self, path: &mut Path, fact: &Fact, found: &mut Vec<String>) {
        if !self.has(path) {
            found.push(path.to_string());
            return;
        }
        let below: Vec<(Segment, &Fact)> = match fact {
            Fact::Map(map) => map.iter().map(|(key, fact)| (Segment::Key(key.clone()), fact)).collect(),
            Fact::List(list) => list.iter().enumerate().map(|(at, fact)| (Segment::Index(at), fact)).collect(),
            _ => Vec::new(),
        };
        for (segment, fact) in below {
            path.segments.push(segment);
            self.look_for_strangers(path, fact, found);
            path.segments.pop();
        }
    }
}

impl Entry {
    fn covers(&self, path: &Path) -> bool {
        let mut given = std::iter::once(Segment::Key(path.root.clone())).chain(path.segments.iter().cloned());
        for step in &self.steps {
            let fits = match (step, given.next()) {
                (_, None) => return true,
                (Step::Key(name), Some(Segment::Key(key))) => *name == key,
                (Step::AnyKey, Some(Segment::Key(_))) | (Step::Element, Some(Segment::Index(_))) => true,
                _ => false,
            };
            if !fits {
                return false;
            }
        }
        // A value may be a list, as `tcp_rmem` is.
        given.all(|segment| matches!(segment, Segment::Index(_)))
    }

    /// Where this very fact was read.
    #[must_use]
    pub fn source_of(&self, path: &Path) -> String {
        let key = path.segments.iter().find_map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        });
        let key = key.unwrap_or_default();
        self.from.replace("{file}", &key.replace('.', "/")).replace("{key}", key)
    }
}

fn steps(name: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for word in name.split('.') {
        let plain = word.trim_end_matches("[]");
        steps.push(if plain == "*" { Step::AnyKey } else { Step::Key(plain.to_owned()) });
        if plain != word {
            steps.push(Step::Element);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_names_each_fact_once() {
        let read: Document = toml::from_str(include_str!("../vocabulary.toml")).unwrap();
        assert!(read.fact.len() > 100);
        for (index, written) in read.fact.iter().enumerate() {
            assert!(read.fact[..index].iter().all(|other| other.name != written.name), "{} twice", written.name);
        }
    }
}
