//! Tests on connections that another server of this program has accepted: a site whose pages run NDT7 over the site's own TLS.
//!
//! The site knows who asks and what it stores; the request is judged here, and the test conducted as any other of NDT7.

use std::cell::Cell;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustls::ServerConnection;
use tungstenite::handshake::server::{Callback as _, create_response};
use tungstenite::http::{Request, Response, StatusCode};
use tungstenite::protocol::Role;
use tungstenite::{Bytes, WebSocket};

use super::super::ServedTest;
use super::super::queue::Queue;
use super::admission::{Admitted, Judge};
use super::visit::{Terms, conduct};
use crate::ndt7::exchange::payload;
use crate::ndt7::socket::{CountedStream, limits};
use crate::ndt7::{DOWNLOAD, LONGEST, UPLOAD, tls};
use crate::stop::Stop;

/// The tests of a site: one at a time.
#[derive(Debug)]
pub struct Ndt7Upgrades {
    queue: Queue,
    /// What a sender draws its messages from.
    payload: Bytes,
    stop: Stop,
}

/// A request that was let in: it is its turn until this is dropped, or the test is over.
#[derive(Debug)]
pub struct Upgrade(Admitted);

/// A request that was let in, and the answer that makes its connection a WebSocket.
#[derive(Debug)]
pub struct Welcome {
    /// The test to conduct.
    pub upgrade: Upgrade,
    /// What is answered: 101 with its headers.
    pub answer: Response<()>,
}

/// A connection after the answer.
#[derive(Debug)]
pub struct UpgradedConnection {
    /// The connection itself.
    pub stream: TcpStream,
    /// TLS on it, after its handshake.
    pub tls: ServerConnection,
    /// What the client has sent behind its request, decrypted.
    pub read: Vec<u8>,
}

/// Whether a path is one of NDT7.
#[must_use]
pub fn is_test(path: &str) -> bool {
    path == DOWNLOAD || path == UPLOAD
}

impl Ndt7Upgrades {
    /// # Errors
    /// Where the kernel gives no random bytes to send.
    pub fn new() -> io::Result<Self> {
        Ok(Self { queue: Queue::new(0), payload: payload()?, stop: Stop::default() })
    }

    /// Whether a test runs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.queue.is_taken()
    }

    /// Ends the test that runs, in good order.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Judges a request. Waits half a second at most for a test that is just ending.
    ///
    /// # Errors
    /// What is answered instead: the request is none of NDT7, or another test runs.
    pub fn admit(&self, request: &Request<()>) -> Result<Welcome, Box<Response<Option<String>>>> {
        let answer = create_response(request).map_err(|error| refusal(&format!("this is no WebSocket: {error}")))?;
        let admitted = Cell::new(None);
        let judge = Judge { queue: &self.queue, longest: LONGEST, admitted: &admitted };
        let answer = judge.on_request(request, answer).map_err(Box::new)?;
        match admitted.into_inner() {
            Some(admitted) => Ok(Welcome { upgrade: Upgrade(admitted), answer }),
            None => Err(refusal("this is no test of NDT7")),
        }
    }

    /// Conducts the test: ten seconds and the time that a connection takes to close. `uuid` is what the client learns of how it is called.
    ///
    /// # Errors
    /// Where the kernel does not know the ends of the connection any more.
    pub fn conduct(&self, upgrade: Upgrade, connection: UpgradedConnection, uuid: String) -> io::Result<ServedTest> {
        let UpgradedConnection { stream, tls, read } = connection;
        let stream = CountedStream::secure(stream, |stream| Ok(tls::accepted(tls, stream)))?;
        let ends = stream.ends()?;
        let socket = WebSocket::from_partially_read(stream, read, Role::Server, Some(limits()));
        let terms = Terms { longest: MOST_TIME, payload: &self.payload, stop: &self.stop, uuid: Some(uuid) };
        Ok(conduct(socket, upgrade.0, ends, &terms))
    }
}

fn refusal(why: &str) -> Box<Response<Option<String>>> {
    let mut answer = Response::new(Some(format!("{why}\n")));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    Box::new(answer)
}

/// Longer than any test of NDT7.
const MOST_TIME: Duration = Duration::from_secs(60);
