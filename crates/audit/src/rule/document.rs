//! A rule as it is written.

use serde::Deserialize;
use toml::Spanned;

use super::{Severity, Unit};
use crate::fix::{Disruption, Operation};
use crate::profile::Role;
use crate::scope::Per;

/// One `[[rule]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) category: String,
    pub(super) severity: Severity,
    pub(super) per: Per,
    #[serde(default)]
    pub(super) roles: Vec<Role>,
    pub(super) when: Option<Spanned<String>>,
    pub(super) condition: Spanned<String>,
    pub(super) want: Option<Spanned<String>>,
    pub(super) want_text: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) unit: Unit,
    pub(super) why: String,
    #[serde(default)]
    pub(super) fix: Vec<Operation<Spanned<String>>>,
    #[serde(default)]
    pub(super) lowers: bool,
    pub(super) disruption: Disruption,
    #[serde(default)]
    pub(super) explains: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) caveat: Option<String>,
    pub(super) corrected: Option<String>,
}

/// A file, or one rule of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) rule: Vec<Written>,
}
