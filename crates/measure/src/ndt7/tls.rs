//! TLS beneath a test: `wss`. The test is the same, and every byte is encrypted once by either end.
//!
//! TLS 1.3 alone (RFC 8446), by the library that hub and agents use. Rates are those of the messages, as without TLS; what the kernel counts has
//! records and their tags besides, 22 bytes of each 16 KiB.

use std::fmt::{self, Debug};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

/// What a server shows, and the key of it.
#[derive(Clone)]
pub struct Ndt7Identity(Arc<ServerConfig>);

/// Whose certificates a client takes.
#[derive(Clone)]
pub struct Ndt7Trust(Arc<ClientConfig>);

impl Ndt7Identity {
    /// Reads a certificate, with those that it was signed by behind it, and its key: two files in PEM.
    ///
    /// # Errors
    /// Where a file cannot be read, holds something else, or the key is another's; the message names the file.
    pub fn read(certificates: &Path, key: &Path) -> io::Result<Self> {
        let chain = CertificateDer::pem_file_iter(certificates).map_err(|error| named(certificates, &error))?;
        let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|error| named(certificates, &error))?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| named(key, &error))?;
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_protocol_versions(&[&TLS13]).map_err(io::Error::other)?;
        let config = builder.with_no_client_auth().with_single_cert(chain, secret);
        Ok(Self(Arc::new(config.map_err(|error| named(key, &error))?)))
    }

    pub(crate) fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn SecureStream>> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

impl Ndt7Trust {
    /// The authorities of a file in PEM.
    ///
    /// # Errors
    /// Where it cannot be read or holds none; the message names the file.
    pub fn read(authorities: &Path) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(authorities).map_err(|error| named(authorities, &error))? {
            let certificate = certificate.map_err(|error| named(authorities, &error))?;
            roots.add(certificate).map_err(|error| named(authorities, &error))?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_protocol_versions(&[&TLS13]).map_err(io::Error::other)?;
        Ok(Self(Arc::new(builder.with_root_certificates(roots).with_no_client_auth())))
    }

    pub(crate) fn connect(&self, stream: TcpStream, host: &str) -> io::Result<Box<dyn SecureStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.0), name).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

/// A connection of a server that has its handshake behind it.
pub(crate) fn accepted(connection: ServerConnection, stream: TcpStream) -> Box<dyn SecureStream> {
    Box::new(StreamOwned::new(connection, stream))
}

/// A connection beneath TLS, of either side.
pub(crate) trait SecureStream: Read + Write + Debug + Send {
    fn socket(&self) -> &TcpStream;

    /// Whether something was decrypted that nobody has read: the kernel has nothing of it to wait for.
    fn has_decrypted(&self) -> bool;

    /// Says that nothing follows, as far as the kernel takes it now.
    fn end(&mut self);
}

impl<C, S> SecureStream for StreamOwned<C, TcpStream>
where
    C: Deref<Target = ConnectionCommon<S>> + DerefMut + Debug + Send,
    S: rustls::SideData,
{
    fn socket(&self) -> &TcpStream {
        &self.sock
    }

    fn has_decrypted(&self) -> bool {
        !self.conn.is_handshaking() && !self.conn.wants_read()
    }

    fn end(&mut self) {
        self.conn.send_close_notify();
        // The peer may have gone, which ends it as well.
        let _ = self.conn.write_tls(&mut self.sock);
    }
}

impl Debug for Ndt7Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ndt7Identity(..)")
    }
}

impl Debug for Ndt7Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ndt7Trust(..)")
    }
}

fn named(file: &Path, error: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", file.display()))
}

/// Authorities that the system trusts, as Debian and its like keep them.
pub const SYSTEM_AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
