//! TLS on both sides: 1.3 only, one authority, agents by certificate.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, Error, RootCertStore, ServerConfig};

use super::digest::Fingerprint;
use super::verifier::{Trusted, Verifier};

/// A certificate with its key.
#[derive(Debug)]
pub struct Identity {
    /// Certificate that is shown (DER).
    pub certificate: CertificateDer<'static>,
    /// Its key (PKCS #8).
    pub key: Vec<u8>,
}

/// How a hub speaks TLS: with its certificate and the authority's, which a joining agent compares with its token. Who has no
/// certificate may still ask what tokens open.
///
/// # Errors
/// Where the certificate and the key do not fit.
pub fn hub(identity: Identity, authority: CertificateDer<'static>) -> Result<Arc<ServerConfig>, Error> {
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(&authority)?), provider())
        .allow_unauthenticated()
        .build()
        .map_err(|error| Error::General(error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![identity.certificate, authority], key(identity.key))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.max_early_data_size = 0;
    Ok(Arc::new(config))
}

/// How an agent that has joined speaks TLS.
///
/// # Errors
/// Where the certificate and the key do not fit.
pub fn agent(identity: Identity, authority: &CertificateDer<'static>) -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots(authority)?)
        .with_client_auth_cert(vec![identity.certificate], key(identity.key))?;
    Ok(Arc::new(config))
}

/// How whoever has a token speaks TLS: the hub must show the authority that the token names.
///
/// # Errors
/// Where the cryptography does not speak TLS 1.3.
pub fn bearer(authority: Fingerprint) -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Verifier::new(Trusted::ByAuthority(authority)))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn roots(authority: &CertificateDer<'static>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone())?;
    Ok(roots)
}

fn key(document: Vec<u8>) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(document).into()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
