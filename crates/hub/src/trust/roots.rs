//! Authorities that sign certificates of servers which are not the hub's own.

use std::io;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::TLS13;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

/// Reads the authorities of a file in PEM.
///
/// # Errors
/// Where it cannot be read or holds something else; the message names the file.
pub fn read(file: &Path) -> io::Result<RootCertStore> {
    let named = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| named(&error))? {
        roots.add(certificate.map_err(|error| named(&error))?).map_err(|error| named(&error))?;
    }
    Ok(roots)
}

/// A client of servers of others, as the hub speaks TLS to everybody: 1.3.
///
/// # Errors
/// Where the cryptography does not speak it.
pub fn builder() -> io::Result<ConfigBuilder<ClientConfig, WantsVerifier>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder.with_protocol_versions(&[&TLS13]).map_err(io::Error::other)
}

/// The same, which trusts the authorities of a file and shows no certificate of its own.
///
/// # Errors
/// Where the file cannot be read or holds something else.
pub fn client(file: &Path) -> io::Result<ClientConfig> {
    Ok(builder()?.with_root_certificates(read(file)?).with_no_client_auth())
}

/// A certificate, or a key, as `curl --cacert` and others read it (RFC 7468): `CERTIFICATE`, `PRIVATE KEY`.
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<String> =
        text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Those of the system, as Debian and its like keep them.
pub const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";
