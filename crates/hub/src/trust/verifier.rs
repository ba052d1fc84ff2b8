//! Servers that are trusted otherwise than by a list of authorities.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::digest::Fingerprint;

/// Which certificate of a server is trusted. Its owner has to have the key in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trusted {
    /// Every one.
    Any,
    /// One by the authority with this fingerprint, which the server itself has to show.
    ByAuthority(Fingerprint),
}

/// Verifies servers, over TLS 1.3 alone.
#[derive(Debug)]
pub struct Verifier {
    trusted: Trusted,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    /// One that trusts these.
    #[must_use]
    pub fn new(trusted: Trusted) -> Arc<Self> {
        Arc::new(Self { trusted, provider: Arc::new(ring::default_provider()) })
    }
}

/// The certificate of the authority among those that a hub has shown.
fn authority_among(shown: &[CertificateDer<'_>], authority: Fingerprint) -> Option<CertificateDer<'static>> {
    shown.iter().find(|one| Fingerprint::of(one) == authority).map(|one| one.clone().into_owned())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trusted::ByAuthority(fingerprint) = self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let mut roots = RootCertStore::empty();
        roots.add(authority_among(intermediates, fingerprint).ok_or(unknown)?)?;
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&self.provider))
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        verifier.verify_server_cert(end_entity, &[], server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken here".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
