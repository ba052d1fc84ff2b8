//! Names of roles, protocols, directions and failures in columns of the database.

use serde::Serialize;

/// The name that a value has in JSON, so that a column says the same as the run.
pub(crate) fn name_of(value: impl Serialize) -> String {
    let json = serde_json::to_value(value);
    json.ok().and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default()
}
