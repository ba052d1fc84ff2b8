//! The text of a file, and where in it something stands.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of one file and its name.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file's name, or what stands for one.
    pub file: String,
    /// What is in it.
    pub text: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePosition {
    /// The file, or what stands for one.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The key: `links[0].both[1].port.rate`. Empty at the top.
    pub key: String,
}

/// The way from the top of a file to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key(Vec<Step>);

/// A table's key, or the number of an entry in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Name(String),
    Number(usize),
}

impl Key {
    /// A key at the top.
    #[must_use]
    pub fn top(name: &str) -> Self {
        Self::default().at(name)
    }

    /// A key of this table.
    #[must_use]
    pub fn at(&self, name: &str) -> Self {
        self.with(Step::Name(name.to_owned()))
    }

    /// An entry of this list, from 0.
    #[must_use]
    pub fn nth(&self, number: usize) -> Self {
        self.with(Step::Number(number))
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The table or list that it is in, and its place there.
    pub(crate) fn split_last(&self) -> Option<(Self, Step)> {
        let (last, before) = self.0.split_last()?;
        Some((Self(before.to_vec()), last.clone()))
    }

    /// Whether it is `other`, within it, or around it.
    pub(crate) fn is_on_the_way_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other)
    }

    /// Whether it is a part of `other`.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && self.is_on_the_way_of(other)
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Number(entry) => write!(f, "[{entry}]")?,
                Step::Name(name) if number == 0 => f.write_str(name)?,
                Step::Name(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)?;
        if self.key.is_empty() { Ok(()) } else { write!(f, ": {}", self.key) }
    }
}

impl Source {
    /// Where a key stands, or as much of it as the file has.
    #[must_use]
    pub fn place(&self, key: &Key) -> FilePosition {
        self.parsed().place(key)
    }

    /// The text taken apart, for who asks for more than one place.
    #[must_use]
    pub fn parsed(&self) -> Parsed<'_> {
        let top = DeTable::parse(&self.text).map_or_else(|_| DeTable::new(), Spanned::into_inner);
        Parsed { source: self, top: DeValue::Table(top) }
    }

    /// The place of a byte of the text.
    #[must_use]
    pub fn place_of_byte(&self, offset: usize) -> FilePosition {
        let key = DeTable::parse(&self.text).map_or_else(
            |_| Key::default(),
            |top| {
                let whole = 0..self.text.len();
                key_around(&Spanned::new(whole, DeValue::Table(top.into_inner())), offset, &Key::default())
            },
        );
        self.place_at(offset, key.to_string())
    }

    fn place_at(&self, offset: usize, key: String) -> FilePosition {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        FilePosition {
            file: self.file.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key,
        }
    }
}

/// A text taken apart; one that is no TOML has no keys.
#[derive(Debug)]
pub struct Parsed<'a> {
    pub(crate) source: &'a Source,
    pub(crate) top: DeValue<'a>,
}

impl<'a> Parsed<'a> {
    /// Name and text of the file, to which positions refer.
    #[must_use]
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// Where a key stands, or as much of it as the file has.
    #[must_use]
    pub fn place(&self, key: &Key) -> FilePosition {
        self.source.place_at(deepest(&self.top, key), key.to_string())
    }

    /// The keys of a table, in the order of the file.
    #[must_use]
    pub fn keys_of(&self, table: &Key) -> Vec<String> {
        let Some(DeValue::Table(found)) = find(&self.top, &table.0) else { return Vec::new() };
        let mut keys: Vec<_> = found.keys().map(|key| (key.span().start, key.get_ref().to_string())).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key).collect()
    }
}

fn find<'v, 'i>(value: &'v DeValue<'i>, way: &[Step]) -> Option<&'v DeValue<'i>> {
    let Some((first, rest)) = way.split_first() else { return Some(value) };
    match (value, first) {
        (DeValue::Table(table), Step::Name(name)) => {
            find(table.iter().find(|(key, _)| key.get_ref() == name)?.1.get_ref(), rest)
        }
        (DeValue::Array(list), Step::Number(number)) => find(list.get(*number)?.get_ref(), rest),
        _ => None,
    }
}

/// The first byte of the key, or of the deepest table around it that is there.
fn deepest(top: &DeValue<'_>, key: &Key) -> usize {
    let mut value = top;
    let mut offset = 0;
    for step in &key.0 {
        match (value, step) {
            (DeValue::Table(table), Step::Name(name)) => {
                let Some((found, inner)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
                (offset, value) = (found.span().start, inner.get_ref());
            }
            (DeValue::Array(list), Step::Number(number)) => {
                let Some(inner) = list.get(*number) else { break };
                (offset, value) = (inner.span().start, inner.get_ref());
            }
            _ => break,
        }
    }
    offset
}

/// The key of the innermost value that a byte belongs to.
fn key_around(value: &Spanned<DeValue<'_>>, offset: usize, key: &Key) -> Key {
    match value.get_ref() {
        DeValue::Table(table) => {
            for (name, inner) in table {
                let inside = key.at(name.get_ref());
                if name.span().contains(&offset) {
                    return inside;
                }
                let found = key_around(inner, offset, &inside);
                if found != inside || inner.span().contains(&offset) {
                    return found;
                }
            }
            key.clone()
        }
        DeValue::Array(list) => {
            // A table under a header is longer than the header, which is all that its span has: what lies behind the
            // last header before the byte is in there.
            let entry = list.iter().enumerate().rev().find(|(_, inner)| inner.span().start <= offset);
            match entry {
                Some((number, inner)) => {
                    let inside = key.nth(number);
                    let found = key_around(inner, offset, &inside);
                    if found != inside || inner.span().contains(&offset) { found } else { key.clone() }
                }
                None => key.clone(),
            }
        }
        _ => key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title = 'x'\n\n[hosts.a]\nmtu = 9000\n\n[[links]]\nname = 'l'\nboth = [{ delay = { time = '1ms' } }]\n[[links]]\nname = 'ö'  \n";

    fn source() -> Source {
        Source { file: "f.toml".to_owned(), text: TEXT.to_owned() }
    }

    #[test]
    fn a_key_has_a_line_and_a_missing_one_that_of_its_table() {
        let shown = |key: &Key| source().place(key).to_string();
        assert_eq!(shown(&Key::top("hosts").at("a").at("mtu")), "f.toml:4:1: hosts.a.mtu");
        assert_eq!(
            shown(&Key::top("links").nth(0).at("both").nth(0).at("delay").at("time")),
            "f.toml:8:21: links[0].both[0].delay.time"
        );
        assert_eq!(shown(&Key::top("links").nth(1).at("cost")), "f.toml:9:1: links[1].cost");
        assert_eq!(shown(&Key::top("nothing")), "f.toml:1:1: nothing");
    }

    #[test]
    fn a_byte_has_a_key() {
        let shown = |what: &str| source().place_of_byte(TEXT.find(what).unwrap()).to_string();
        assert_eq!(shown("9000"), "f.toml:4:7: hosts.a.mtu");
        assert_eq!(shown("time"), "f.toml:8:21: links[0].both[0].delay.time");
        assert_eq!(shown("'ö'"), "f.toml:10:8: links[1].name");
    }

    #[test]
    fn keys_come_in_the_order_of_the_file() {
        let source = source();
        let parsed = source.parsed();
        assert_eq!(parsed.keys_of(&Key::default()), ["title", "hosts", "links"]);
        assert_eq!(parsed.keys_of(&Key::top("links").nth(0)), ["name", "both"]);
        assert!(parsed.keys_of(&Key::top("links").nth(7)).is_empty());
    }
}
