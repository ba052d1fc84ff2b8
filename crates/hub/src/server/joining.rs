//! An agent joins.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::join::{JoinReply, JoinRequest, statement};
use crate::api::work::AgentHealth;
use crate::store::StoreError;
use crate::store::rows::{AgentRow, Redeemed};
use crate::trust::authority::{AgentKey, AgentRequest, AuthorityError};
use crate::trust::digest::Fingerprint;
use crate::trust::secret;

/// Gives a certificate for a token, once; to the same key again, should the answer have been lost.
pub(super) fn join(hub: &Hub, request: &Request, token: Fingerprint) -> Result<JoinReply, RequestError> {
    let asked: JoinRequest = request.content()?;
    let bytes = |text: &str| {
        BASE64.decode(text).map_err(|_| RequestError::NotUnderstood("the key or its proof is no base64".to_owned()))
    };
    let (key, proof) = (bytes(&asked.public_key)?, bytes(&asked.proof)?);
    let certificate = hub
        .authority
        .certify_agent(&AgentRequest {
            name: &asked.name,
            key: AgentKey(&key),
            statement: &statement(token, &asked.name),
            proof: &proof,
            serial: secret::random().map_err(StoreError::from)?,
        })
        .map_err(|error| match error {
            AuthorityError::NoPossession => RequestError::Forbidden(error.to_string()),
            AuthorityError::Name(_) | AuthorityError::Certificate(_) => RequestError::NotUnderstood(error.to_string()),
        })?;
    let now = hub.now();
    let refused = |why: &str| {
        Err(RequestError::Forbidden(format!("the token {why}: `linerate hub token DIR` makes one on the hub's host")))
    };
    match hub.store.redeem(token, Fingerprint::of(&key), now)? {
        Redeemed::Accepted => {}
        Redeemed::Unknown => return refused("is not known here"),
        Redeemed::Expired => return refused("has expired"),
        Redeemed::Used => return refused("was used by another agent"),
    }
    let row = AgentRow {
        name: asked.name.clone(),
        key: Fingerprint::of(&key),
        certificate: Fingerprint::of(&certificate),
        address: asked.address,
        joined: now,
        heard: None,
        version: None,
        health: AgentHealth::default(),
    };
    if !hub.store.add_agent(row)? {
        return Err(RequestError::Conflict(format!(
            "an agent {} has joined with another key: `linerate hub remove DIR {}` on the hub's host forgets it",
            asked.name, asked.name
        )));
    }
    Ok(JoinReply {
        certificate: BASE64.encode(&certificate),
        authority: BASE64.encode(hub.authority.certificate()),
        ticket_seal: hub.ticket_key.seal(),
    })
}
