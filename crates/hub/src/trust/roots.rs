//! Authorities that sign certificates of servers which are not the hub's own.

use std::io;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

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

/// Those of the system, as Debian and its like keep them.
pub const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";
