//! Facts as a tree, the form in which rules see a host.
//!
//! A snapshot is a structure with many types; a rule is a sentence over names. The tree stands between the two: names that
//! rules may use are listed in the [vocabulary](crate::vocabulary), and a fact that could not be read is in the tree as
//! well, with the reason.

mod path;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use path::{Path, Segment};

/// Facts by name.
pub type FactMap = BTreeMap<String, Fact>;

/// One fact, or many.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text, as the kernel or a file has it.
    Text(String),
    /// Several, in order.
    List(Vec<Fact>),
    /// Several, by name.
    Map(FactMap),
    /// Not known, with the reason.
    Missing(Missing),
}

/// Why a fact is not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The kind of reason.
    pub reason: Reason,
    /// More about it: the privilege it takes, what the kernel said, the option that gives it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Kinds of reasons for which a fact is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The host has no such thing, or the snapshot does not hold it.
    Absent,
    /// Reading it takes a privilege that was not there.
    Denied,
    /// The kernel or the driver does not offer it.
    Unsupported,
    /// It is an input of the audit, and nobody gave it.
    NotGiven,
}

impl Reason {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Denied => "denied",
            Self::Unsupported => "unsupported",
            Self::NotGiven => "not given",
        }
    }
}

impl Missing {
    /// A reason with more about it.
    #[must_use]
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason.word())?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl Fact {
    /// The facts below this one, where there are any.
    #[must_use]
    pub fn as_map(&self) -> Option<&FactMap> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }

    /// The elements, where it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Fact]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The number, where it is one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for ratios and rates, where 53 bits are plenty")]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// What kind of value it is, for people.
    #[must_use]
    pub(crate) fn type_word(&self) -> &'static str {
        match self {
            Self::Bool(_) => "yes or no",
            Self::Int(_) => "whole number",
            Self::Float(_) => "number",
            Self::Text(_) => "text",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Missing(_) => "missing fact",
        }
    }

    /// Reads the tree from JSON, in which `{"missing": REASON, "detail": TEXT}` is a fact that is not known.
    #[must_use]
    pub fn from_json(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Missing(Missing::new(Reason::Absent, "")),
            serde_json::Value::Bool(yes) => Self::Bool(yes),
            serde_json::Value::Number(number) => number
                .as_i64()
                .map_or_else(|| number.as_f64().map_or_else(|| Self::Text(number.to_string()), Self::Float), Self::Int),
            serde_json::Value::String(text) => Self::Text(text),
            serde_json::Value::Array(list) => Self::List(list.into_iter().map(Self::from_json).collect()),
            serde_json::Value::Object(map) => missing(&map).map_or_else(
                || Self::Map(map.into_iter().map(|(name, fact)| (name, Self::from_json(fact))).collect()),
                Self::Missing,
            ),
        }
    }

    /// The tree as JSON; the opposite of [`from_json`](Self::from_json).
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(yes) => (*yes).into(),
            Self::Int(number) => (*number).into(),
            Self::Float(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(list) => list.iter().map(Self::to_json).collect(),
            Self::Map(map) => map.iter().map(|(name, fact)| (name.clone(), fact.to_json())).collect(),
            Self::Missing(missing) => {
                serde_json::json!({"missing": missing.reason, "detail": missing.detail})
            }
        }
    }
}

fn missing(map: &serde_json::Map<String, serde_json::Value>) -> Option<Missing> {
    let reason = serde_json::from_value(map.get("missing")?.clone()).ok()?;
    let detail = map.get("detail").and_then(serde_json::Value::as_str).unwrap_or_default();
    Some(Missing::new(reason, detail))
}

/// What people read.
impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) if number.abs() < 10.0 => write!(f, "{number:.3}"),
            Self::Float(number) => write!(f, "{number:.0}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => write_joined(f, list.iter().map(|fact| (None, fact)), ["[", "]"]),
            Self::Map(map) => write_joined(f, map.iter().map(|(name, fact)| (Some(name), fact)), ["{", "}"]),
            Self::Missing(missing) => write!(f, "({missing})"),
        }
    }
}

fn write_joined<'a>(
    f: &mut std::fmt::Formatter<'_>,
    parts: impl Iterator<Item = (Option<&'a String>, &'a Fact)>,
    [open, close]: [&str; 2],
) -> std::fmt::Result {
    f.write_str(open)?;
    for (index, (name, fact)) in parts.enumerate() {
        if index > 0 {
            f.write_str(" ")?;
        }
        if let Some(name) = name {
            write!(f, "{name}: ")?;
        }
        write!(f, "{fact}")?;
    }
    f.write_str(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_survives_json_with_its_missing_facts() {
        let json = serde_json::json!({"a": [1, 2.5, "x", true], "b": {"missing": "denied", "detail": "CAP_NET_ADMIN"}});
        let fact = Fact::from_json(json.clone());
        assert_eq!(fact.to_json(), json);
        assert_eq!(fact.to_string(), "{a: [1 2.500 x true] b: (denied: CAP_NET_ADMIN)}");
    }
}
