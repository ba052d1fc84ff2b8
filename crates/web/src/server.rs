//! The site on a socket of this machine.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, HOST, HeaderName, IF_NONE_MATCH};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;

use crate::exchange::{Problem, Request, Response};
use crate::site::Site;

/// Serves a site until `stop` is true. `ready` learns where it listens.
///
/// # Errors
/// Where the address is taken or none of this host's.
pub fn serve(
    site: &Arc<Site>,
    address: SocketAddr,
    stop: watch::Receiver<bool>,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(listen(site, address, stop, ready));
    // An answer that is being worked out is nobody's any more.
    runtime.shutdown_background();
    served
}

async fn listen(
    site: &Arc<Site>,
    address: SocketAddr,
    mut stop: watch::Receiver<bool>,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let socket = TcpListener::bind(address).await?;
    ready(socket.local_addr()?);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => return Ok(()),
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) => {
                    let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                    let site = Arc::clone(site);
                    tokio::spawn(async move {
                        converse(&site, stream).await;
                        drop(place);
                    });
                }
                // Out of file descriptors: those of others come free meanwhile.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

async fn converse(site: &Arc<Site>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let site = Arc::clone(site);
        async move { Ok::<_, Infallible>(respond(site, request).await) }
    });
    let mut connection = http1::Builder::new();
    connection
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LARGEST_HEAD);
    // How a connection ends is its own matter.
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(site: Arc<Site>, request: hyper::Request<Incoming>) -> hyper::Response<Full<Bytes>> {
    let header =
        |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let asked = Request {
        method: request.method().as_str().to_owned(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        host: header(HOST),
        fetch_site: header(HeaderName::from_static("sec-fetch-site")),
        fetch_mode: header(HeaderName::from_static("sec-fetch-mode")),
        known: header(IF_NONE_MATCH),
        encodings: header(ACCEPT_ENCODING),
    };
    let is_head = asked.method == "HEAD";
    let answered = spawn_blocking(move || site.answer(&asked)).await;
    let response = answered.unwrap_or_else(|_| {
        Response::refusal(500, &Problem { error: "this page could not be worked out".to_owned(), hint: None })
    });
    let mut built = hyper::Response::builder().status(response.status);
    for (name, value) in response.headers() {
        built = built.header(name, value);
    }
    let body = if is_head { Bytes::new() } else { Bytes::from(response.body.into_owned()) };
    built.body(Full::new(body)).unwrap_or_else(|_| hyper::Response::new(Full::default()))
}

/// A browser opens six.
const MOST_CONNECTIONS: usize = 64;
const HEAD_TIME: Duration = Duration::from_secs(10);
const MOST_HEADERS: usize = 64;
const LARGEST_HEAD: usize = 16_384;
