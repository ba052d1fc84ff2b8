//! The hub's certificate authority, which vouches for the hub and its agents.
//!
//! Keys are ECDSA on P-256, which every TLS speaks. An agent is known by the fingerprint of its certificate, which the
//! database has beside its name: a certificate that the authority signed and the database does not know opens nothing.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm, date_time_ymd,
};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls::pki_types::CertificateDer;

use super::digest::Fingerprint;

/// A certificate authority with its key.
#[derive(Debug)]
pub struct Authority {
    key: KeyPair,
    certificate: CertificateDer<'static>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A key or a certificate cannot be made, or a key cannot be read.
    #[error("a key or certificate cannot be made or read")]
    Certificate(#[from] rcgen::Error),
    /// Whoever asks does not have the key that the certificate would be for.
    #[error("the request is not signed by the key that it asks a certificate for")]
    NoPossession,
    /// A name that is no name of an agent.
    #[error("`{0}` is no name of an agent: letters, digits, dots and dashes, 63 at most")]
    Name(String),
}

/// A public key of P-256 as an uncompressed point (SEC 1, 2.3.3), 65 bytes.
#[derive(Debug, Clone, Copy)]
pub struct AgentKey<'a>(pub &'a [u8]);

impl PublicKeyData for AgentKey<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

/// A new key.
///
/// # Errors
/// Where the kernel gives no random bytes.
pub fn new_key() -> Result<KeyPair, AuthorityError> {
    Ok(KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?)
}

/// A key as [`KeyPair::serialize_der`] wrote it.
///
/// # Errors
/// Where it is none.
pub fn key_of(der: &[u8]) -> Result<KeyPair, AuthorityError> {
    Ok(KeyPair::try_from(der)?)
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// Where no key can be made.
    pub fn create() -> Result<Self, AuthorityError> {
        let key = new_key()?;
        let certificate = params().self_signed(&key)?;
        Ok(Self { key, certificate: certificate.into() })
    }

    /// The authority that was stored: its key and its certificate.
    ///
    /// # Errors
    /// Where the key is none.
    pub fn open(key: &[u8], certificate: Vec<u8>) -> Result<Self, AuthorityError> {
        Ok(Self { key: key_of(key)?, certificate: certificate.into() })
    }

    /// Its key, to be stored.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        self.key.serialize_der()
    }

    /// Its certificate (DER), which agents and tokens pin.
    #[must_use]
    pub const fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// What tokens pin.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// A certificate of a hub that is reached by these names and addresses.
    ///
    /// # Errors
    /// Where a name is none.
    pub fn certify_hub(&self, key: &KeyPair, names: Vec<String>) -> Result<CertificateDer<'static>, AuthorityError> {
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "linerate hub");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params, key)
    }

    /// A certificate of an agent, for whoever has its key: `proof` is a signature over `statement` by it.
    ///
    /// # Errors
    /// Where the name is none, or `proof` is not by that key.
    pub fn certify_agent(&self, request: &AgentRequest<'_>) -> Result<CertificateDer<'static>, AuthorityError> {
        if !is_name(request.name) {
            return Err(AuthorityError::Name(request.name.to_owned()));
        }
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, request.key.0)
            .verify(request.statement, request.proof)
            .map_err(|_| AuthorityError::NoPossession)?;
        let mut params = CertificateParams::new(vec![request.name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, request.name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.serial_number = Some(SerialNumber::from_slice(&request.serial));
        self.sign(params, &request.key)
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        key: &impl PublicKeyData,
    ) -> Result<CertificateDer<'static>, AuthorityError> {
        params.not_before = date_time_ymd(FROM_YEAR, 1, 1);
        params.not_after = date_time_ymd(UNTIL_YEAR, 1, 1);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let issuer = Issuer::new(self::params(), &self.key);
        let certificate: Certificate = params.signed_by(key, &issuer)?;
        Ok(certificate.into())
    }
}

/// What an agent asks a certificate by.
#[derive(Debug, Clone, Copy)]
pub struct AgentRequest<'a> {
    /// Its name, unique at a hub.
    pub name: &'a str,
    /// Its public key.
    pub key: AgentKey<'a>,
    /// What it signed.
    pub statement: &'a [u8],
    /// Its signature over that (ASN.1).
    pub proof: &'a [u8],
    /// The serial number of the certificate, random: two certificates of one key have two fingerprints.
    pub serial: [u8; 16],
}

fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "linerate hub authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.not_before = date_time_ymd(FROM_YEAR, 1, 1);
    params.not_after = date_time_ymd(UNTIL_YEAR, 1, 1);
    params
}

/// Whether a text may be an agent's name: it stands in certificates, file names and labels of metrics.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (1..=63).contains(&text.len())
        && text.bytes().all(is_inner)
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

// A measurement host's clock may be years off before its first contact with a server of time, and a monitor must not stop
// on an anniversary: whether a certificate counts is the database's to say, which forgets an agent at once.
const FROM_YEAR: i32 = 2000;
const UNTIL_YEAR: i32 = 2100;

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn certificate_is_only_for_who_has_the_key() {
        let authority = Authority::create().unwrap();
        let document = new_key().unwrap().serialize_der();
        let rng = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &document, &rng).unwrap();
        let proof = key.sign(&rng, b"statement").unwrap();
        let request = AgentRequest {
            name: "dtn-1",
            key: AgentKey(key.public_key().as_ref()),
            statement: b"statement",
            proof: proof.as_ref(),
            serial: [1; 16],
        };
        let first = authority.certify_agent(&request).unwrap();
        let second = authority.certify_agent(&AgentRequest { serial: [2; 16], ..request }).unwrap();
        assert_ne!(Fingerprint::of(&first), Fingerprint::of(&second));
        let other = AgentRequest { statement: b"another", ..request };
        assert!(matches!(authority.certify_agent(&other), Err(AuthorityError::NoPossession)));
        let name = AgentRequest { name: "../dtn", ..request };
        assert!(matches!(authority.certify_agent(&name), Err(AuthorityError::Name(_))));
    }

    #[test]
    fn stored_authority_is_the_same_authority() {
        let authority = Authority::create().unwrap();
        let opened = Authority::open(&authority.key(), authority.certificate().to_vec()).unwrap();
        assert_eq!(opened.fingerprint(), authority.fingerprint());
    }
}
