//! Connections that nobody else reads: TLS 1.3, verified as far as the address asks for.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as RustlsStream;

use crate::trust::roots;
use crate::trust::verifier::{Trusted, Verifier};

/// What is asked of the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verification {
    /// Nothing: whoever reads along learns nothing, who stands in between does. As `libpq` has it unless it is told otherwise.
    None,
    /// A name of the server, by an authority of this file.
    Full(PathBuf),
}

impl Verification {
    /// Takes what the client crate does not know out of an address: `sslmode=verify-full` and `sslrootcert`.
    pub(super) fn taken_from(address: &str) -> Result<(String, Self), String> {
        let Some((base, query)) = address.split_once('?') else { return Ok((address.to_owned(), Self::None)) };
        let (mut rest, mut roots, mut is_full) = (Vec::new(), None, false);
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("sslrootcert", file)) => roots = Some(file.replace("%2F", "/").replace("%2f", "/")),
                Some(("sslmode", "verify-full")) => {
                    is_full = true;
                    rest.push("sslmode=require");
                }
                Some(("sslmode", "verify-ca")) => {
                    return Err("sslmode is disable, prefer, require or verify-full".to_owned());
                }
                _ => rest.push(pair),
            }
        }
        let system = || PathBuf::from(roots::SYSTEM);
        let file = roots.filter(|file| file != "system").map_or_else(system, PathBuf::from);
        Ok((format!("{base}?{}", rest.join("&")), if is_full { Self::Full(file) } else { Self::None }))
    }
}

/// Makes connections of one kind.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    pub(super) fn new(verification: &Verification) -> io::Result<Self> {
        let config = match verification {
            Verification::None => roots::builder()?
                .dangerous()
                .with_custom_certificate_verifier(Verifier::new(Trusted::Any))
                .with_no_client_auth(),
            Verification::Full(file) => roots::client(file)?,
        };
        Ok(Self(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Connecting;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Connecting> {
        let name = ServerName::try_from(host.to_owned()).or_else(|_| ServerName::try_from("localhost"));
        Ok(Connecting { config: Arc::clone(&self.0), name: name.map_err(io::Error::other)? })
    }
}

/// A connection that is about to be made.
pub(super) struct Connecting {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Connecting {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { TlsConnector::from(self.config).connect(self.name, socket).await.map(Encrypted) })
    }
}

/// A connection that is encrypted from here on.
pub(super) struct Encrypted(RustlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
