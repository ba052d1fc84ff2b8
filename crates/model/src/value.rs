//! Types from JSON that is parsed already.

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// A type from JSON that is parsed already, by way of its text.
///
/// [`serde_json::from_value`] is a second reader of every type that is in it.
///
/// # Errors
/// What was expected.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    serde_json::from_slice(&serde_json::to_vec(value)?)
}
