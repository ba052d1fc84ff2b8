//! The text forms of quantities in files: a field of such a type is read with
//! `#[serde(deserialize_with = "units::text::read")]`, so that a bare number is refused there too.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// Reads a quantity.
///
/// # Errors
/// Where it is no text, or the text is not that of a quantity.
pub fn read<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(input: D) -> Result<T, D::Error> {
    <std::borrow::Cow<'de, str>>::deserialize(input)?.parse().map_err(de::Error::custom)
}

/// Reads a quantity that may be absent; the field has `#[serde(default)]` as well.
///
/// # Errors
/// See [`read`].
pub fn read_some<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(input: D) -> Result<Option<T>, D::Error> {
    read(input).map(Some)
}
