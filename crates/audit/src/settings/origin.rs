//! Where a value comes from that is set at the next start.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The definition that sets a value at the next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The value it sets.
    pub value: String,
    /// Absolute path of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The package that owns the file, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} sets {}", self.file, self.line, self.value)?;
        self.package.as_ref().map_or(Ok(()), |package| write!(f, " (package {package})"))
    }
}
