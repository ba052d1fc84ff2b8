//! How an agent gets its certificate.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

use super::connection::{Call, CallError, Connection};
use super::directory::{Credentials, Directory, DirectoryError, Limits, Settings};
use super::url::HubUrl;
use crate::api::join::{JoinReply, JoinRequest, statement};
use crate::trust::digest::Fingerprint;
use crate::trust::pin;
use crate::trust::token::Token;

/// What an agent joins with.
#[derive(Debug, Clone)]
pub struct Joining {
    /// Hub to join.
    pub hub: HubUrl,
    /// The token that a person has carried here.
    pub token: Token,
    /// What the agent will be called.
    pub name: String,
    /// By what other hosts reach it.
    pub address: Option<String>,
    /// What it will permit.
    pub limits: Limits,
}

/// Why an agent could not join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// It has joined before.
    #[error("this agent has joined a hub already")]
    Joined,
    /// Its key cannot be made or used.
    #[error("this agent's key cannot be used")]
    Key,
    /// Its files cannot be written.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The hub cannot be reached, or says no.
    #[error(transparent)]
    Call(#[from] CallError),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The hub has shown one authority and sent another.
    #[error("the hub has sent another authority than the token names")]
    OtherAuthority,
}

/// Joins a hub. Where it was interrupted, the same token may be used again from here.
///
/// # Errors
/// See [`JoinError`].
pub fn join(directory: &Directory, joining: &Joining) -> Result<(), JoinError> {
    if directory.has_joined() {
        return Err(JoinError::Joined);
    }
    let rng = SystemRandom::new();
    let document = directory.key()?;
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &document, &rng).map_err(|_| JoinError::Key)?;
    let proof = key.sign(&rng, &statement(joining.token.secret.hash(), &joining.name)).map_err(|_| JoinError::Key)?;
    let request = JoinRequest {
        name: joining.name.clone(),
        public_key: BASE64.encode(key.public_key()),
        proof: BASE64.encode(proof),
        address: joining.address.clone(),
    };
    let tls = pin::bearer(joining.token.authority)?;
    let mut connection = Connection::new(joining.hub.clone(), tls).with_token(joining.token.reveal());
    let call = Call { method: "POST", path: "/api/v1/join", patience: Duration::from_secs(30) };
    let reply: JoinReply = connection.call(&call, &request)?;
    let bytes = |text: &str| BASE64.decode(text).map_err(|error| CallError::Foreign(error.to_string()));
    let credentials = Credentials {
        certificate: bytes(&reply.certificate)?,
        authority: bytes(&reply.authority)?,
        seal: reply.ticket_seal,
    };
    if Fingerprint::of(&credentials.authority) != joining.token.authority {
        return Err(JoinError::OtherAuthority);
    }
    let settings = Settings { hub: joining.hub.clone(), name: joining.name.clone(), limits: joining.limits.clone() };
    directory.joined(&settings, &credentials)?;
    Ok(())
}
