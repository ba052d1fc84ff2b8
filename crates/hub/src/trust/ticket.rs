//! A run that the hub permits: signed, for one agent in one role, for a short time.
//!
//! The hub signs the bytes of the claims with Ed25519 (RFC 8032); the agent has the public key since it joined. What the
//! claims ask for, the agent still holds against limits of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::api::order::{Assignment, LeaseName, Role};

/// What a ticket permits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claims {
    /// The agent, by its name at the hub.
    pub agent: String,
    /// The run and the attempt at it. One agent takes one role in an attempt once.
    pub lease: LeaseName,
    /// What the agent does in it.
    pub role: Role,
    /// From when it counts.
    #[serde(rename = "from_unix_ns")]
    pub from: WallTime,
    /// Until when the run may begin.
    #[serde(rename = "until_unix_ns")]
    pub until: WallTime,
    /// What is to be done.
    pub assignment: Assignment,
}

/// Claims with the hub's signature, as they travel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ticket {
    /// The claims as JSON. They are signed as they stand here, byte by byte.
    pub claims: String,
    /// The signature over them, in base64.
    pub signature: String,
}

/// The hub's key for tickets.
#[derive(Debug)]
pub struct TicketKey(Ed25519KeyPair);

/// The public half, which agents have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TicketSeal(String);

/// Why a ticket permits nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// Somebody else signed it, or it was changed since.
    #[error("the ticket is not signed by this agent's hub")]
    Forged,
    /// It is signed and says nothing that this agent understands.
    #[error("the ticket is not understood: {0}")]
    Foreign(String),
    /// It is for another agent.
    #[error("the ticket is for agent {0}")]
    OtherAgent(String),
    /// It was for earlier.
    #[error("the ticket has expired")]
    Expired,
    /// It is for later: the clocks of hub and agent differ by more than a minute.
    #[error("the ticket is not valid yet: do the clocks of hub and agent agree?")]
    Early,
    /// It permits more than any does.
    #[error("the ticket is longer than {LONGEST} bytes, or counts for longer than an hour")]
    Excessive,
}

impl TicketKey {
    /// A key in the form of RFC 8410 (PKCS #8), as [`new_document`](Self::new_document) makes it.
    ///
    /// # Errors
    /// Where it is none.
    pub fn open(document: &[u8]) -> Result<Self, ring::error::KeyRejected> {
        Ed25519KeyPair::from_pkcs8(document).map(Self)
    }

    /// A new key, to be stored.
    ///
    /// # Errors
    /// Where the kernel gives no random bytes.
    pub fn new_document() -> Result<Vec<u8>, ring::error::Unspecified> {
        Ok(Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new())?.as_ref().to_vec())
    }

    /// The public half.
    #[must_use]
    pub fn seal(&self) -> TicketSeal {
        TicketSeal(BASE64.encode(self.0.public_key()))
    }

    /// Signs claims.
    ///
    /// # Errors
    /// Where they hold what JSON cannot.
    pub fn sign(&self, claims: &Claims) -> Result<Ticket, serde_json::Error> {
        let claims = serde_json::to_string(claims)?;
        let signature = BASE64.encode(self.0.sign(claims.as_bytes()));
        Ok(Ticket { claims, signature })
    }
}

impl TicketSeal {
    /// What a ticket permits this agent now.
    ///
    /// # Errors
    /// See [`TicketError`].
    pub fn check(&self, ticket: &Ticket, agent: &str, now: WallTime) -> Result<Claims, TicketError> {
        if ticket.claims.len() > LONGEST {
            return Err(TicketError::Excessive);
        }
        let key = BASE64.decode(&self.0).map_err(|_| TicketError::Forged)?;
        let signature = BASE64.decode(&ticket.signature).map_err(|_| TicketError::Forged)?;
        UnparsedPublicKey::new(&ED25519, key)
            .verify(ticket.claims.as_bytes(), &signature)
            .map_err(|_| TicketError::Forged)?;
        let claims: Claims =
            serde_json::from_str(&ticket.claims).map_err(|error| TicketError::Foreign(error.to_string()))?;
        let [from, until, now] = [claims.from, claims.until, now].map(WallTime::unix_nanos);
        if claims.agent != agent {
            return Err(TicketError::OtherAgent(claims.agent));
        }
        if until.saturating_sub(from) > LONGEST_VALIDITY_NS {
            return Err(TicketError::Excessive);
        }
        if now > until.saturating_add(CLOCKS_APART_NS) {
            return Err(TicketError::Expired);
        }
        if now.saturating_add(CLOCKS_APART_NS) < from {
            return Err(TicketError::Early);
        }
        Ok(claims)
    }
}

/// Claims are a few kilobytes.
const LONGEST: usize = 64 << 10;
/// A stolen ticket is worth little for little time.
const LONGEST_VALIDITY_NS: u64 = 3_600_000_000_000;
/// By how much clocks may differ that a person has set.
const CLOCKS_APART_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::order::{PartnerKind, RunSide, TaskOrder};
    use std::time::Duration;

    const NOW: u64 = 1_800_000_000_000_000_000;
    const SECOND: u64 = 1_000_000_000;

    fn claims() -> Claims {
        let at = WallTime::from_unix_nanos;
        Claims {
            agent: "a".to_owned(),
            lease: LeaseName { run: "t@all/a/b/1".to_owned(), attempt: 1 },
            role: Role::Client,
            from: at(NOW),
            until: at(NOW + 30 * SECOND),
            assignment: Assignment {
                side: RunSide::From,
                peer: "b".to_owned(),
                address: "192.0.2.7".to_owned(),
                port: 5201,
                partner: PartnerKind::Agent,
                family: None,
                task: TaskOrder::Mtu,
                limit: Duration::from_secs(30),
                bytes: None,
            },
        }
    }

    fn key() -> TicketKey {
        TicketKey::open(&TicketKey::new_document().unwrap()).unwrap()
    }

    fn checked(ticket: &Ticket, seal: &TicketSeal, at: u64) -> Result<Claims, TicketError> {
        seal.check(ticket, "a", WallTime::from_unix_nanos(at))
    }

    #[test]
    fn a_ticket_counts_within_its_time_and_a_minute_around_it() {
        let key = key();
        let ticket = key.sign(&claims()).unwrap();
        for (at, outcome) in [
            (NOW - 61 * SECOND, Err(TicketError::Early)),
            (NOW - 59 * SECOND, Ok(claims())),
            (NOW + 89 * SECOND, Ok(claims())),
            (NOW + 91 * SECOND, Err(TicketError::Expired)),
        ] {
            assert_eq!(checked(&ticket, &key.seal(), at), outcome, "{at}");
        }
    }

    #[test]
    fn what_the_hub_has_not_signed_is_forged() {
        let key = key();
        let good = key.sign(&claims()).unwrap();
        let longer = Ticket { claims: good.claims.replace("5201", "5202"), ..good.clone() };
        let by_another = TicketKey::open(&TicketKey::new_document().unwrap()).unwrap().sign(&claims()).unwrap();
        let no_base64 = Ticket { signature: "?".to_owned(), ..good.clone() };
        let unsigned = Ticket { signature: String::new(), ..good };
        for ticket in [longer, by_another, no_base64, unsigned] {
            assert_eq!(checked(&ticket, &key.seal(), NOW), Err(TicketError::Forged), "{ticket:?}");
        }
    }

    #[test]
    fn a_ticket_for_hours_or_of_many_bytes_is_refused_though_it_is_signed() {
        let key = key();
        let hours = Claims { until: WallTime::from_unix_nanos(NOW + 3_601 * SECOND), ..claims() };
        let mut long = claims();
        long.assignment.peer = "b".repeat(LONGEST);
        for excessive in [hours, long] {
            let ticket = key.sign(&excessive).unwrap();
            assert_eq!(checked(&ticket, &key.seal(), NOW), Err(TicketError::Excessive));
        }
    }
}
