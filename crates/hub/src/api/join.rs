//! How an agent gets its certificate: with a token that counts once, for a key that never leaves the agent.

use serde::{Deserialize, Serialize};

use crate::trust::digest::Fingerprint;
use crate::trust::ticket::TicketSeal;

/// An agent asks for its certificate.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinRequest {
    /// What it wants to be called: letters, digits, dots and dashes.
    pub name: String,
    /// Its public key of P-256 as an uncompressed point, in base64.
    pub public_key: String,
    /// Its signature over [`statement`], in base64.
    pub proof: String,
    /// By what other hosts reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// What the hub answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinReply {
    /// The agent's certificate, in base64.
    pub certificate: String,
    /// The authority's certificate, in base64.
    pub authority: String,
    /// The key that tickets are signed by.
    pub ticket_seal: TicketSeal,
}

/// What an agent signs to prove that it has its key: one statement for one token and name.
#[must_use]
pub fn statement(token: Fingerprint, name: &str) -> Vec<u8> {
    format!("linerate joins a hub\n{token}\n{name}\n").into_bytes()
}

impl std::fmt::Debug for JoinRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinRequest").field("name", &self.name).finish_non_exhaustive()
    }
}
