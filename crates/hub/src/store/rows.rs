//! What is stored, by its nouns.

use units::WallTime;

use crate::api::record::{Record, Unpacked};
use crate::api::work::AgentHealth;
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;

/// A token, by its hash: the secret itself is nowhere at the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// The SHA-256 of its secret.
    pub hash: Fingerprint,
    /// What it is for.
    pub purpose: Purpose,
    /// Until when it counts.
    pub expires: WallTime,
}

/// What has become of a token of one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redeemed {
    /// It is used now, or was used by the same key.
    Accepted,
    /// There is none of this hash, or it is for something else.
    Unknown,
    /// It came too late.
    Expired,
    /// Another key has used it.
    Used,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Name of the agent, unique at the hub.
    pub name: String,
    /// The SHA-256 of its public key.
    pub key: Fingerprint,
    /// The SHA-256 of its certificate.
    pub certificate: Fingerprint,
    /// By what others reach it, where it said so.
    pub address: Option<String>,
    /// When it joined.
    pub joined: WallTime,
    /// When it was heard last.
    pub heard: Option<WallTime>,
    /// Its version then.
    pub version: Option<String>,
    /// How it was then.
    pub health: AgentHealth,
}

/// A record that has come, read.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// As it came.
    pub record: Record,
    /// What is in it.
    pub unpacked: Unpacked,
}
