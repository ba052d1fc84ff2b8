//! HTTP/1.1 to an object store, by the `hyper` and `rustls` that the hub has already: a connection for each request.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::http::Uri;
use hyper::http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::trust::roots;

/// Makes clients that trust the authorities of this system, or those of `AWS_CA_BUNDLE`.
#[derive(Debug)]
pub(super) struct Connector;

impl Connector {
    pub(super) const fn new() -> Self {
        Self
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Client))
    }
}

#[derive(Debug)]
struct Client;

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Client {
    fn call<'life, 'answer>(&'life self, request: HttpRequest) -> Answer<'answer>
    where
        'life: 'answer,
        Self: 'answer,
    {
        Box::pin(async move {
            let late = |_| HttpError::new(HttpErrorKind::Timeout, io::Error::from(io::ErrorKind::TimedOut));
            timeout(PATIENCE, answer(request)).await.map_err(late)?
        })
    }
}

async fn answer(mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let uri = request.uri().clone();
    let unreachable = |error| HttpError::new(HttpErrorKind::Connect, error);
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let late = |_| unreachable(io::Error::from(io::ErrorKind::TimedOut));
    let tcp =
        timeout(TO_CONNECT, TcpStream::connect((host.as_str(), port))).await.map_err(late)?.map_err(unreachable)?;
    if !request.headers().contains_key(HOST) {
        let name = uri.authority().map_or("", |authority| authority.as_str());
        let name = HeaderValue::from_str(name).map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
        request.headers_mut().insert(HOST, name);
    }
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    if !is_tls {
        return send(tcp, request).await;
    }
    let tls = TlsConnector::from(Arc::new(tls().map_err(unreachable)?));
    let name = ServerName::try_from(host).map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?;
    send(tls.connect(name, tcp).await.map_err(unreachable)?, request).await
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    let broken = |error: hyper::Error| HttpError::new(HttpErrorKind::Interrupted, error);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // How it ends is seen by the answer.
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
    Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body.map_err(broken))))
}

fn tls() -> io::Result<ClientConfig> {
    let named = std::env::var_os("AWS_CA_BUNDLE");
    roots::client(named.as_deref().map_or(Path::new(roots::SYSTEM), Path::new))
}

const TO_CONNECT: Duration = Duration::from_secs(10);
/// A segment of some megabytes over a slow line.
const PATIENCE: Duration = Duration::from_secs(120);
