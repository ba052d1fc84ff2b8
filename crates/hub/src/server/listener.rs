//! Connections, each within its limits of number, time and bytes.
//!
//! A connection that shows no certificate may ask for what tokens open and no more. Whoever is slow is cut off: in the
//! handshake, in the head, in the body. Whoever comes when all places are taken is closed at once and counted.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderName, IF_NONE_MATCH, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use measure::serve::ndt7::upgrade::is_test;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::answer::answer;
use super::counters::Event;
use super::directory::ConnectionLimits;
use super::openid::ATTEMPT_COOKIE;
use super::request::{Answer, BrowserHeaders, Media, Request, RequestError, ShownToken};
use super::state::Hub;
use super::{upgrade, waiting};
use crate::api::accounts::SESSION_COOKIE;
use crate::api::routes::{self, LARGE, Right};
use crate::api::version;
use crate::trust::digest::Fingerprint;

/// A hub that listens.
#[derive(Debug)]
pub struct Listener {
    hub: Arc<Hub>,
    socket: TcpListener,
    tls: Arc<ServerConfig>,
    limits: ConnectionLimits,
    places: Places,
}

/// The connections at this moment, by where they come from.
#[derive(Debug, Clone, Default)]
struct Places(Arc<Mutex<BTreeMap<IpAddr, usize>>>);

/// A place among them, free again when this is dropped.
struct Taken {
    places: Places,
    address: IpAddr,
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// Where the address is taken or none of this host's.
    pub async fn bind(
        hub: Arc<Hub>,
        address: SocketAddr,
        tls: Arc<ServerConfig>,
        limits: ConnectionLimits,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(Self { hub, socket, tls, limits, places: Places::default() })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What asking a socket gives.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `stop` is true; requests under way are cut off, which agents repeat.
    pub async fn serve(self, mut stop: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => return,
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, peer)) => self.admit(stream, peer),
                    // Out of file descriptors: those of others come free meanwhile.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
            }
        }
    }

    fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(place) = self.places.take(peer.ip().to_canonical(), &self.limits) else {
            self.hub.counters.count(Event::ConnectionRefused);
            self.hub.log.say(self.hub.now(), format_args!("{}: closed at once, too many connections", peer.ip()));
            return;
        };
        self.hub.counters.count(Event::Connection);
        let (hub, acceptor, limits) = (Arc::clone(&self.hub), TlsAcceptor::from(Arc::clone(&self.tls)), self.limits);
        tokio::spawn(async move {
            converse(&hub, acceptor, limits, Caller { stream, from: peer.ip() }).await;
            drop(place);
        });
    }
}

impl Places {
    fn take(&self, address: IpAddr, limits: &ConnectionLimits) -> Option<Taken> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let from_there = taken.entry(address).or_default();
        if all >= limits.connections || *from_there >= limits.per_address {
            return None;
        }
        *from_there += 1;
        Some(Taken { places: self.clone(), address })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(from_there) = taken.get_mut(&self.address) {
            *from_there -= 1;
            if *from_there == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// A connection that was accepted.
struct Caller {
    stream: TcpStream,
    from: IpAddr,
}

/// A connection from its handshake to its end.
async fn converse(hub: &Arc<Hub>, acceptor: TlsAcceptor, limits: ConnectionLimits, caller: Caller) {
    let Caller { stream, from } = caller;
    // Answers are small and complete.
    let _ = stream.set_nodelay(true);
    let handshake = timeout(Duration::from_secs(limits.handshake_s), acceptor.accept(stream)).await;
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        failed => {
            hub.counters.count(Event::HandshakeFailed);
            let why = failed.map_or_else(
                |_| "too slow".to_owned(),
                |failed| failed.map_or_else(|error| error.to_string(), |_| String::new()),
            );
            hub.log.say(hub.now(), format_args!("{from}: no TLS handshake: {why}"));
            return;
        }
    };
    let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let certificate = shown.map(|certificate| Fingerprint::of(certificate));
    let service = service_fn(|request| {
        let visitor = Visitor { from, certificate };
        async move { Ok::<_, Infallible>(respond(hub, limits, visitor, request).await) }
    });
    let mut connection = http1::Builder::new();
    connection
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits.head_s))
        .max_headers(MOST_HEADERS)
        .max_buf_size(LARGEST_HEAD);
    // How a connection ends is its own matter: what was asked was answered or is asked again.
    let _ = connection.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy)]
struct Visitor {
    from: IpAddr,
    certificate: Option<Fingerprint>,
}

async fn respond(
    hub: &Arc<Hub>,
    limits: ConnectionLimits,
    visitor: Visitor,
    request: hyper::Request<Incoming>,
) -> hyper::Response<Full<Bytes>> {
    if is_test(request.uri().path()) {
        let asked = head(visitor, &request);
        return upgrade::answer(hub, asked, request).await.unwrap_or_else(response);
    }
    let read = read(limits, visitor, request).await;
    let answer = match read {
        Ok(request) => answered(hub, request).await,
        Err(error) => {
            hub.counters.count(Event::RequestRefused);
            hub.log.say(hub.now(), format_args!("{}: {error}", visitor.from));
            Answer::refusal(&error)
        }
    };
    response(answer)
}

/// Answers on a thread that may wait for the database.
async fn answered(hub: &Arc<Hub>, request: Request) -> Answer {
    let waited = waiting::wait(hub, &request).await;
    let request = Request { waited, ..request };
    let blocking = Arc::clone(hub);
    spawn_blocking(move || answer(&blocking, &request)).await.unwrap_or_else(|_| {
        hub.counters.count(Event::RequestFailed);
        Answer::refusal(&RequestError::Store(crate::store::StoreError::Closed))
    })
}

async fn read(
    limits: ConnectionLimits,
    visitor: Visitor,
    request: hyper::Request<Incoming>,
) -> Result<Request, RequestError> {
    let asked = head(visitor, &request);
    // Who shows nothing is not read for long: a name and a password.
    let shows_something = visitor.certificate.is_some() || asked.token.is_some() || asked.session.is_some();
    let most = match routes::find(asked.target()) {
        Some(route) if shows_something || route.right == Right::Anyone => route.largest_body,
        _ => 0,
    };
    let body = Limited::new(request.into_body(), most.min(LARGE)).collect();
    let body = timeout(Duration::from_secs(limits.body_s), body).await;
    let body = body.map_err(|_| RequestError::TooSlow(limits.body_s))?.map_err(|error| {
        if error.is::<LengthLimitError>() {
            RequestError::TooLarge(most)
        } else {
            RequestError::NotUnderstood("the request broke off".to_owned())
        }
    })?;
    Ok(Request { body: body.to_bytes().to_vec(), ..asked })
}

/// A request without its body.
fn head(visitor: Visitor, request: &hyper::Request<Incoming>) -> Request {
    let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let token = header(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let token = token.map(|text| ShownToken(text.to_owned()));
    let version = header(HeaderName::from_static(version::HEADER)).map(str::to_owned);
    let (method, path) = (request.method().as_str().to_owned(), request.uri().path().to_owned());
    let query = request.uri().query().unwrap_or_default().to_owned();
    let cookies = request.headers().get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = cookies.flat_map(|all| all.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let cookies: Vec<(&str, &str)> = cookies.collect();
    let cookie = |wanted: &str| {
        let found = cookies.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| ShownToken((*value).to_owned()))
    };
    let (session, attempt) = (cookie(SESSION_COOKIE), cookie(ATTEMPT_COOKIE));
    let owned = |name: HeaderName| header(name).map(str::to_owned);
    let browser = BrowserHeaders {
        host: owned(HOST),
        origin: owned(ORIGIN),
        fetch_site: owned(HeaderName::from_static("sec-fetch-site")),
        fetch_mode: owned(HeaderName::from_static("sec-fetch-mode")),
        known: owned(IF_NONE_MATCH),
        encodings: owned(ACCEPT_ENCODING),
    };
    Request {
        from: Some(visitor.from),
        method,
        path,
        query,
        certificate: visitor.certificate,
        token,
        session,
        attempt,
        browser,
        version,
        body: Vec::new(),
        waited: Duration::ZERO,
    }
}

fn response(answer: Answer) -> hyper::Response<Full<Bytes>> {
    let media = match answer.media {
        Media::Json => "application/json",
        Media::Metrics => "text/plain; version=0.0.4",
        Media::Other(media) => media,
    };
    let mut built = hyper::Response::builder().status(answer.status).header(CONTENT_TYPE, media);
    for (name, value) in answer.headers {
        built = built.header(name, value);
    }
    let body = Full::new(Bytes::from(answer.body));
    built.body(body).unwrap_or_else(|_| hyper::Response::new(Full::default()))
}

/// A request of an agent has six, one of a browser twenty.
const MOST_HEADERS: usize = 32;
/// The least that hyper allows; a head of ours is a tenth of it.
const LARGEST_HEAD: usize = 8192;
