//! The name of a fact: `nic.rings.rx`, `sysctl["net.ipv4.tcp_rmem"][2]`.

use std::fmt;

use super::{Fact, Missing, Reason};

/// A name from the root of the facts that a rule sees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// The first word.
    pub root: String,
    /// What follows it.
    pub segments: Vec<Segment>,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// Into a fact with names.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl Path {
    /// Walks down from the fact that the root names.
    ///
    /// # Errors
    /// Why the fact is not known: the reason of the place where the way ended.
    pub fn walk<'f>(&self, mut fact: &'f Fact) -> Result<&'f Fact, Missing> {
        for segment in &self.segments {
            let below = match (segment, fact) {
                (_, Fact::Missing(missing)) => return Err(missing.clone()),
                (Segment::Key(key), Fact::Map(map)) => map.get(key),
                (Segment::Index(index), Fact::List(list)) => list.get(*index),
                _ => None,
            };
            fact = below.ok_or_else(|| Missing::new(Reason::Absent, ""))?;
        }
        if let Fact::Missing(missing) = fact { Err(missing.clone()) } else { Ok(fact) }
    }

    /// The last key, for a short label.
    #[must_use]
    pub fn short(&self) -> String {
        let key = self.segments.iter().rposition(|segment| matches!(segment, Segment::Key(_)));
        let Some(at) = key else { return self.to_string() };
        let Segment::Key(name) = &self.segments[at] else { return self.to_string() };
        let mut short = if name.contains('.') { name.clone() } else { self.to_string() };
        if name.contains('.') {
            for segment in &self.segments[at + 1..] {
                if let Segment::Index(index) = segment {
                    short.push_str(&format!("[{index}]"));
                }
            }
        }
        short
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for segment in &self.segments {
            match segment {
                Segment::Key(key) if is_word(key) => write!(f, ".{key}")?,
                Segment::Key(key) => write!(f, "[\"{key}\"]")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn is_word(key: &str) -> bool {
    key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !key.starts_with(|c: char| c.is_ascii_digit())
}
