//! Requests to the provider: one at a time, each within its time and its size.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::settings::is_protected;
use crate::trust::roots;

/// Who asks the provider.
#[derive(Clone)]
pub(super) struct Client(Arc<ClientConfig>);

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'a> {
    /// Nothing: a document is asked for.
    Nothing,
    /// The same, with an access token (RFC 6750, 2.1).
    Bearer(&'a str),
    /// A form, with what shows who the client is.
    Form { fields: &'a str, authorization: Option<&'a str> },
}

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Client {
    /// One that trusts these authorities, or those of the system.
    pub(super) fn new(authorities: Option<&Path>) -> io::Result<Self> {
        Ok(Self(Arc::new(roots::client(authorities.unwrap_or(Path::new(roots::SYSTEM)))?)))
    }

    /// Asks, and waits for the answer. Redirects are not followed: what they lead to is not what the provider has named.
    pub(super) fn ask(&self, url: &str, sent: Sent<'_>) -> io::Result<Reply> {
        if !is_protected(url) {
            return Err(io::Error::other(format!("{url} is asked by https alone")));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let answered = runtime.block_on(tokio::time::timeout(PATIENCE, self.exchange(url, sent)));
        runtime.shutdown_background();
        answered.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, format!("{url} does not answer within 10 s")))?
    }

    async fn exchange(&self, url: &str, sent: Sent<'_>) -> io::Result<Reply> {
        let uri: Uri = url.parse().map_err(io::Error::other)?;
        let host = uri.host().ok_or_else(|| io::Error::other(format!("{url} names no host")))?;
        let is_tls = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let bare = host.trim_matches(['[', ']']);
        let stream = TcpStream::connect((bare, port)).await?;
        let request = request(&uri, sent)?;
        if is_tls {
            let name = ServerName::try_from(bare.to_owned()).map_err(io::Error::other)?;
            converse(TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await?, request).await
        } else {
            converse(stream, request).await
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client(..)")
    }
}

fn request(uri: &Uri, sent: Sent<'_>) -> io::Result<Request<Full<Bytes>>> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let builder = Request::builder().uri(path).header(HOST, authority).header(ACCEPT, "application/json");
    let built = match sent {
        Sent::Nothing => builder.body(Full::default()),
        Sent::Bearer(token) => builder.header(AUTHORIZATION, format!("Bearer {token}")).body(Full::default()),
        Sent::Form { fields, authorization } => {
            let builder = builder.method("POST").header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            let builder = match authorization {
                Some(value) => builder.header(AUTHORIZATION, value),
                None => builder,
            };
            builder.body(Full::new(Bytes::copy_from_slice(fields.as_bytes())))
        }
    };
    built.map_err(io::Error::other)
}

async fn converse<S>(stream: S, request: Request<Full<Bytes>>) -> io::Result<Reply>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends when both are dropped.
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), LARGEST).collect().await.map_err(io::Error::other)?;
    Ok(Reply { status, body: body.to_bytes().to_vec() })
}

const PATIENCE: Duration = Duration::from_secs(10);
/// Keys of the largest providers are a tenth of it.
const LARGEST: usize = 256 << 10;
