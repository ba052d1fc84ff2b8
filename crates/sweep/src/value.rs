//! A value of a parameter or of a result, with its kind.

use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;

use units::{ByteCount, DataRate};

/// What kind of quantity a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityKind {
    /// A span of time: `209ms`.
    Time,
    /// An amount of data: `20MB`.
    Bytes,
    /// A rate: `100Gbit/s`.
    Rate,
    /// A whole number.
    Count,
    /// A part of a whole, 0 to 1.
    Share,
    /// Yes or no.
    Flag,
    /// One of the parameter's words: `cubic`.
    Word,
}

/// Value of a parameter or of a result, in base units.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not set: the parameter has no effect.
    None,
    /// A span of time.
    Time(Duration),
    /// An amount of data.
    Bytes(ByteCount),
    /// Data per second: `100Gbit/s`.
    Rate(DataRate),
    /// A whole number.
    Count(u64),
    /// A part of a whole.
    Share(f64),
    /// Yes or no.
    Flag(bool),
    /// One of the parameter's words: `cubic`.
    Word(String),
}

impl QuantityKind {
    /// Reads a value as it is written in files: quantities as texts with their unit, numbers and flags as they are.
    ///
    /// # Errors
    /// What is wrong with it, and how it is written instead.
    pub fn read(self, written: &toml::Value) -> Result<Value, String> {
        match (self, written) {
            (_, toml::Value::String(text)) => self.read_text(text),
            (Self::Count, toml::Value::Integer(number)) => {
                u64::try_from(*number).map(Value::Count).map_err(|_| format!("`{number}` is below zero"))
            }
            (Self::Share, toml::Value::Float(number)) => share(*number),
            (Self::Share, toml::Value::Integer(number @ 0..=1)) => {
                Ok(Value::Share(if *number == 1 { 1.0 } else { 0.0 }))
            }
            (Self::Flag, toml::Value::Boolean(flag)) => Ok(Value::Flag(*flag)),
            (_, other) => Err(format!("`{other}` is {}; write {}", other.type_str(), self.example())),
        }
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_text(self, text: &str) -> Result<Value, String> {
        let number = |_| format!("`{text}` is no number");
        if text == NONE {
            return Ok(Value::None);
        }
        match self {
            Self::Time => units::duration::parse(text).map(Value::Time).map_err(|error| error.to_string()),
            Self::Bytes => text.parse().map(Value::Bytes).map_err(|error: units::ParseError| error.to_string()),
            Self::Rate => text.parse().map(Value::Rate).map_err(|error: units::ParseError| error.to_string()),
            Self::Count => text.parse().map(Value::Count).map_err(|error: std::num::ParseIntError| error.to_string()),
            Self::Share => share(text.parse().map_err(|error: std::num::ParseFloatError| number(error.to_string()))?),
            Self::Flag => text.parse().map(Value::Flag).map_err(|_| format!("`{text}` is neither true nor false")),
            Self::Word => Ok(Value::Word(text.to_owned())),
        }
    }

    /// How a value of it is written.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "a text such as \"209ms\"",
            Self::Bytes => "a text such as \"20MB\"",
            Self::Rate => "a text such as \"100Gbit/s\"",
            Self::Count => "a whole number",
            Self::Share => "a number from 0 to 1 such as 0.001",
            Self::Flag => "true or false",
            Self::Word => "a text",
        }
    }

    /// What a column of it ends with, so that its name has the unit.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Time => "_us",
            Self::Bytes => "_bytes",
            Self::Rate => "_bps",
            Self::Count | Self::Share | Self::Flag | Self::Word => "",
        }
    }

    /// A value from a number of its base unit: microseconds, bytes, bits per second.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "results are below 2^53 and not negative"
    )]
    pub fn of_number(self, number: f64) -> Value {
        let whole = number.max(0.0).round() as u64;
        match self {
            Self::Time => Value::Time(Duration::from_micros(whole)),
            Self::Bytes => Value::Bytes(ByteCount::new(whole)),
            Self::Rate => Value::Rate(DataRate::from_bps(whole)),
            Self::Count | Self::Word => Value::Count(whole),
            Self::Share | Self::Flag => Value::Share(number),
        }
    }
}

fn share(number: f64) -> Result<Value, String> {
    if (0.0..=1.0).contains(&number) {
        Ok(Value::Share(number))
    } else {
        Err(format!("{number} does not lie between 0 and 1 (1 % is 0.01)"))
    }
}

/// How a parameter is written that has no effect.
const NONE: &str = "none";

impl Value {
    /// Whether it is set.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The value in its base unit: microseconds, bytes, bits per second, one; [`None`] of a name, and where it is not set.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for order and display: the whole value is in the variant")]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Time(time) => Some(time.as_secs_f64() * 1e6),
            Self::Bytes(bytes) => Some(bytes.get() as f64),
            Self::Rate(rate) => Some(rate.bps() as f64),
            Self::Count(count) => Some(*count as f64),
            Self::Share(share) => Some(*share),
            Self::Flag(flag) => Some(f64::from(u8::from(*flag))),
            Self::None | Self::Word(_) => None,
        }
    }

    /// The same for every way to write one value, and another for every other value.
    #[must_use]
    pub fn exact(&self) -> String {
        match self {
            Self::None => NONE.to_owned(),
            Self::Time(time) => format!("{}ns", time.as_nanos()),
            Self::Bytes(bytes) => format!("{}B", bytes.get()),
            Self::Rate(rate) => format!("{}bit/s", rate.bps()),
            Self::Count(count) => count.to_string(),
            Self::Share(share) => format!("{share:?}"),
            Self::Flag(flag) => flag.to_string(),
            Self::Word(word) => word.clone(),
        }
    }

    /// By size; names by their letters, and what is not set before all.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        match (self.number(), other.number()) {
            (Some(one), Some(two)) => one.total_cmp(&two),
            _ if self.is_none() || other.is_none() => other.is_none().cmp(&self.is_none()),
            _ => self.exact().cmp(&other.exact()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(NONE),
            Self::Time(time) => f.write_str(&units::duration::show(*time)),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Word(word) => f.write_str(word),
        }
    }
}
