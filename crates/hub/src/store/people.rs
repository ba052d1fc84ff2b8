//! People: their accounts, sessions, what they did, and what they have written.

use mesh::incident::IncidentId;
use units::WallTime;

use super::error::StoreError;
use crate::trust::digest::Fingerprint;
use crate::trust::password::PasswordHash;
use crate::trust::role::AccountRole;

/// An account of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    /// By what it signs in, unique at the hub.
    pub name: String,
    /// What it may do.
    pub role: AccountRole,
    /// What is kept of its password.
    pub password: PasswordHash,
    /// When role or password were set last.
    pub changed: WallTime,
}

/// A session of a browser, by the hash of its cookie: the cookie itself is nowhere at the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The SHA-256 of its cookie.
    pub hash: Fingerprint,
    /// The account that has signed in.
    pub account: String,
    /// Until when it counts.
    pub expires: WallTime,
}

/// Something that somebody did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// When.
    pub at: WallTime,
    /// Who: an account, a token by the first letters of its hash, or a user of the hub's host.
    pub who: String,
    /// From which address.
    pub origin: String,
    /// What, in some words.
    pub what: String,
}

/// What somebody has made of the post-mortem of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    /// Incident that it is about.
    pub incident: IncidentId,
    /// Markdown, with the sections that a person has edited.
    pub text: String,
}

/// What a hub keeps of people.
pub trait People {
    /// All accounts, by name.
    ///
    /// # Errors
    /// Where the database refuses, as for every call of this trait.
    fn accounts(&self) -> Result<Vec<AccountRow>, StoreError>;

    /// Adds an account, or sets role and password of one; its sessions end.
    ///
    /// # Errors
    /// Where the database refuses.
    fn set_account(&self, account: AccountRow) -> Result<(), StoreError>;

    /// Removes an account and its sessions. Whether there was one.
    ///
    /// # Errors
    /// Where the database refuses.
    fn remove_account(&self, name: &str) -> Result<bool, StoreError>;

    /// Adds a session, and forgets those that have expired.
    ///
    /// # Errors
    /// Where the database refuses.
    fn add_session(&self, session: SessionRow, now: WallTime) -> Result<(), StoreError>;

    /// The account of a session that counts now.
    ///
    /// # Errors
    /// Where the database refuses.
    fn session(&self, hash: Fingerprint, now: WallTime) -> Result<Option<AccountRow>, StoreError>;

    /// Ends a session.
    ///
    /// # Errors
    /// Where the database refuses.
    fn end_session(&self, hash: Fingerprint) -> Result<(), StoreError>;

    /// Writes down what somebody did; of what is older than the newest 100,000 the oldest is forgotten.
    ///
    /// # Errors
    /// Where the database refuses.
    fn log_action(&self, action: ActionRow) -> Result<(), StoreError>;

    /// What was done last, newest first.
    ///
    /// # Errors
    /// Where the database refuses.
    fn actions(&self, most: usize) -> Result<Vec<ActionRow>, StoreError>;

    /// Keeps what somebody has made of a post-mortem.
    ///
    /// # Errors
    /// Where the database refuses.
    fn set_report(&self, report: ReportRow) -> Result<(), StoreError>;

    /// What somebody has made of the post-mortem of an incident.
    ///
    /// # Errors
    /// Where the database refuses.
    fn report(&self, incident: &IncidentId) -> Result<Option<String>, StoreError>;
}
