//! What people may do at a hub.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What an account may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// Reads.
    Viewer,
    /// Starts runs, sets the plan, steps incidents, edits post-mortems.
    Operator,
    /// Adds and removes accounts, and reads who did what.
    Admin,
}

/// A word that is no role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a role is `viewer`, `operator` or `admin`")]
pub struct RoleError;

impl AccountRole {
    const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for AccountRole {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(RoleError)
    }
}
