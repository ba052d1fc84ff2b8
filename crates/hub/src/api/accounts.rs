//! How people sign in, which accounts there are, and who did what.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::demonstration::DemonstrationInfo;
use crate::store::people::{AccountRow, ActionRow};
use crate::trust::role::AccountRole;

/// Somebody signs in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignIn {
    /// The name of the account.
    pub name: String,
    /// Password in clear: never logged, never kept.
    pub password: String,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Who asks, as far as a page needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionInfo {
    /// Whether people sign in here: not where pages are shown to one machine alone.
    pub has_accounts: bool,
    /// What the provider is called by which people sign in at `/sign-in/openid`; absent where there is none, or somebody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openid: Option<String>,
    /// Account that has signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AccountRole>,
    /// What this hub demonstrates, or could; absent where nobody has signed in, or there is nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demonstration: Option<DemonstrationInfo>,
}

impl SessionInfo {
    /// Nobody has signed in.
    #[must_use]
    pub const fn of_nobody() -> Self {
        Self { has_accounts: true, openid: None, name: None, role: None, demonstration: None }
    }
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountInfo {
    /// By what it signs in.
    pub name: String,
    /// What it may do.
    pub role: AccountRole,
    /// When role or password were set last.
    #[serde(rename = "changed_unix_ns")]
    pub changed: WallTime,
}

/// All accounts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountList {
    /// By name.
    pub accounts: Vec<AccountInfo>,
}

/// An account that is to be as it is written here.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountWish {
    /// By what it signs in: 1 to 100 letters, digits and `.-_@`.
    pub name: String,
    /// What it may do; absent, the account is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AccountRole>,
    /// Its new password; absent, one that is there keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl fmt::Debug for AccountWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountWish").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

impl AccountList {
    /// What a person may see of stored accounts.
    #[must_use]
    pub fn of(rows: Vec<AccountRow>) -> Self {
        let info = |AccountRow { name, role, changed, .. }| AccountInfo { name, role, changed };
        Self { accounts: rows.into_iter().map(info).collect() }
    }
}

/// Something that somebody did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionInfo {
    /// When.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// Who: an account, a token by the first letters of its hash, or a user of the hub's host.
    pub who: String,
    /// From which address.
    pub origin: String,
    /// What, in some words.
    pub what: String,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionList {
    /// Newest first, at most 1,000.
    pub actions: Vec<ActionInfo>,
}

impl ActionList {
    /// Of what is stored, in its order.
    #[must_use]
    pub fn of(rows: Vec<ActionRow>) -> Self {
        let info = |ActionRow { at, who, origin, what }| ActionInfo { at, who, origin, what };
        Self { actions: rows.into_iter().map(info).collect() }
    }
}

/// The cookie of a session. Browsers take one of this name over TLS alone, and from this host alone (RFC 6265bis, 4.1.3.2).
pub const SESSION_COOKIE: &str = "__Host-linerate";
