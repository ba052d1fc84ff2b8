//! A fact: a value with where it was read, or why it is not known. Missing is never a value.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value with its source, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Written<T>", into = "Written<T>", bound(serialize = "T: Clone + Serialize"))]
#[cfg_attr(feature = "schema", schemars(rename = "FactOf{T}"))]
pub struct Fact<T> {
    /// The value, or why it is not known.
    pub reading: Result<T, Missing>,
    /// Where it was read: `file /proc/sys/net/ipv4/tcp_rmem`, `netlink RINGS_GET`, `ioctl GDRVINFO`,
    /// `saved ethtool -g eth0.txt`, `recorded facts.json`.
    pub source: Source,
}

/// Why a value is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The kernel or the driver does not offer it.
    Unsupported,
    /// It takes a privilege that the reader did not have.
    Denied,
    /// The thing it belongs to does not exist.
    Absent,
    /// It could not be read for another reason.
    Failed {
        /// What went wrong.
        reason: String,
    },
}

/// The state of a fact in one word, as it is serialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is known.
    #[default]
    Ok,
    /// The kernel or the driver does not offer it.
    Unsupported,
    /// It takes a privilege that the reader did not have.
    Denied,
    /// The thing it belongs to does not exist.
    Absent,
    /// It could not be read for another reason.
    Failed,
}

/// Where a fact was read: the way, and the place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Source(pub String);

impl<T> Fact<T> {
    /// A fact that is known.
    #[must_use]
    pub fn known(value: T, source: impl Into<Source>) -> Self {
        Self { reading: Ok(value), source: source.into() }
    }

    /// A fact that is not known.
    #[must_use]
    pub fn missing(why: Missing, source: impl Into<Source>) -> Self {
        Self { reading: Err(why), source: source.into() }
    }

    /// The value, where it is known.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        self.reading.as_ref().ok()
    }

    /// The state in one word.
    #[must_use]
    pub fn state(&self) -> State {
        match &self.reading {
            Ok(_) => State::Ok,
            Err(Missing::Unsupported) => State::Unsupported,
            Err(Missing::Denied) => State::Denied,
            Err(Missing::Absent) => State::Absent,
            Err(Missing::Failed { .. }) => State::Failed,
        }
    }

    /// The same fact of something made of the value.
    #[must_use]
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Fact<U> {
        Fact { reading: self.reading.map(make), source: self.source }
    }
}

impl Source {
    /// A file of the kernel or of the system.
    #[must_use]
    pub fn file(path: impl fmt::Display) -> Self {
        Self(format!("file {path}"))
    }

    /// A netlink message.
    #[must_use]
    pub fn netlink(message: &str) -> Self {
        Self(format!("netlink {message}"))
    }

    /// A request of `ioctl`.
    #[must_use]
    pub fn ioctl(request: &str) -> Self {
        Self(format!("ioctl {request}"))
    }

    /// The output of a program, kept in a file.
    #[must_use]
    pub fn saved(command: &str, file: impl fmt::Display) -> Self {
        Self(format!("saved {command} in {file}"))
    }

    /// A file that stands for hardware which a lab does not have.
    #[must_use]
    pub fn recorded(file: impl fmt::Display) -> Self {
        Self(format!("recorded {file}"))
    }

    /// Whether the fact stands for hardware which a lab does not have.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.0.starts_with("recorded ")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "not supported here",
            Self::Denied => "permission denied",
            Self::Absent => "does not exist",
            Self::Failed { reason } => reason,
        })
    }
}

/// A fact as it is written: `state` is left out where it is `ok`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Written<T> {
    /// Whether the value is known, and why not.
    #[serde(default, skip_serializing_if = "State::is_ok")]
    state: State,
    /// The value; only where the state is `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<T>,
    /// What went wrong; only where the state is `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Where it was read.
    source: Source,
}

impl State {
    // The shape that serde asks for.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_ok(&self) -> bool {
        *self == Self::Ok
    }
}

impl<T> From<Fact<T>> for Written<T> {
    fn from(fact: Fact<T>) -> Self {
        let state = fact.state();
        let (value, reason) = match fact.reading {
            Ok(value) => (Some(value), None),
            Err(Missing::Failed { reason }) => (None, Some(reason)),
            Err(_) => (None, None),
        };
        Self { state, value, reason, source: fact.source }
    }
}

impl<T> TryFrom<Written<T>> for Fact<T> {
    type Error = &'static str;

    fn try_from(written: Written<T>) -> Result<Self, Self::Error> {
        let reading = match (written.state, written.value) {
            (State::Ok, Some(value)) => Ok(value),
            (State::Ok, None) => return Err("a fact that is known has a value"),
            (_, Some(_)) => return Err("a fact that is not known has no value"),
            (State::Unsupported, None) => Err(Missing::Unsupported),
            (State::Denied, None) => Err(Missing::Denied),
            (State::Absent, None) => Err(Missing::Absent),
            (State::Failed, None) => Err(Missing::Failed { reason: written.reason.unwrap_or_default() }),
        };
        Ok(Self { reading, source: written.source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_written_shortly_and_read_back() {
        let known = Fact::known(7u32, Source::file("/proc/x"));
        let denied = Fact::<u32>::missing(Missing::Denied, Source::netlink("FEC_GET"));
        let failed = Fact::<u32>::missing(Missing::Failed { reason: "cut short".to_owned() }, Source::ioctl("GSTATS"));
        let forms = [
            (known, r#"{"value":7,"source":"file /proc/x"}"#),
            (denied, r#"{"state":"denied","source":"netlink FEC_GET"}"#),
            (failed, r#"{"state":"failed","reason":"cut short","source":"ioctl GSTATS"}"#),
        ];
        for (fact, written) in forms {
            assert_eq!(serde_json::to_string(&fact).unwrap(), written);
            assert_eq!(serde_json::from_str::<Fact<u32>>(written).unwrap(), fact);
        }
    }

    #[test]
    fn value_and_state_that_contradict_each_other_are_refused() {
        for text in [r#"{"source":"x"}"#, r#"{"state":"denied","value":1,"source":"x"}"#] {
            assert!(serde_json::from_str::<Fact<u32>>(text).is_err(), "{text}");
        }
    }
}
