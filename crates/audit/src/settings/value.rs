//! The value of a setting, and how values are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Value {
    /// As people write it: `on`, `9000`, `4096 131072 6291456`.
    pub text: String,
    /// Whether nobody can set it on this host: a feature that the hardware has not or always has.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
}

impl Value {
    /// A value that can be set.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), fixed: false }
    }

    /// Whether both say the same. That nobody can set a value is no difference: `off [fixed]` is as off as `off`.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.text.is_empty() { "(empty)" } else { &self.text })?;
        f.write_str(if self.fixed { " [fixed]" } else { "" })
    }
}

pub(super) fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

pub(super) fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// Several values that are mostly the same: `performance`, or `powersave (3), performance (29)`, the fewest first.
pub(super) fn counted<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| *count);
    match counts.as_slice() {
        [(only, _)] => (*only).to_owned(),
        several => several.iter().map(|(value, count)| format!("{value} ({count})")).collect::<Vec<_>>().join(", "),
    }
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}
