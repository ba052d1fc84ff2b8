//! Requests to a hub, over one connection that is kept (HTTP/1.1, RFC 9112).
//!
//! Every request may be sent twice: the hub sees to it that nothing happens twice. So a kept connection that has died is
//! replaced without a word.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use measure::stop::Stop;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::url::HubUrl;
use crate::api::Problem;
use crate::api::version;

/// A hub, and the connection to it while there is one.
#[derive(Debug)]
pub struct Connection {
    url: HubUrl,
    tls: Arc<ClientConfig>,
    stream: Option<StreamOwned<ClientConnection, TcpStream>>,
    token: Option<String>,
    stop: Stop,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// Path of the request, with its leading slash.
    pub path: &'a str,
    /// How long the answer may take.
    pub patience: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The hub cannot be reached, or is not the one that it should be.
    #[error("cannot reach the hub {url}")]
    Unreachable {
        /// Hub that was to be reached.
        url: HubUrl,
        /// What connecting, TLS or reading gave.
        source: io::Error,
    },
    /// The hub says no.
    #[error("the hub refuses: {}", .problem.error)]
    Refused {
        /// A code of HTTP.
        status: u16,
        /// What it says.
        problem: Problem,
    },
    /// The hub says something that is not understood.
    #[error("the answer of the hub is not understood: {0}")]
    Foreign(String),
}

impl CallError {
    /// Whether the same request may go through later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 408,
            Self::Foreign(_) => false,
        }
    }
}

impl Connection {
    /// To a hub, by TLS as [`pin`](crate::trust::pin) has it. Nothing is sent yet.
    #[must_use]
    pub fn new(url: HubUrl, tls: Arc<ClientConfig>) -> Self {
        Self { url, tls, stream: None, token: None, stop: Stop::default() }
    }

    /// Waits for no answer once somebody wants to stop. The request may have been heard all the same.
    #[must_use]
    pub fn until(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Shows this token with each request.
    #[must_use]
    pub fn with_token(mut self, token: String) -> Self {
        self.token = Some(token);
        self
    }

    /// Asks, and reads the answer as JSON.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call<T: DeserializeOwned>(&mut self, call: &Call<'_>, body: &impl Serialize) -> Result<T, CallError> {
        let foreign = |error: serde_json::Error| CallError::Foreign(error.to_string());
        let body = if call.method == "GET" { Vec::new() } else { serde_json::to_vec(body).map_err(foreign)? };
        serde_json::from_slice(&self.exchange(call, &body)?).map_err(foreign)
    }

    /// Asks, and gives the body of the answer as it is.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn exchange(&mut self, call: &Call<'_>, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let was_kept = self.stream.is_some();
        let mut answered = self.attempt(call, body);
        if was_kept && answered.is_err() && !self.stop.is_stopped() {
            answered = self.attempt(call, body);
        }
        let (status, content) = answered.map_err(|source| match source.kind() {
            io::ErrorKind::InvalidData if !is_of_tls(&source) => CallError::Foreign(source.to_string()),
            _ => CallError::Unreachable { url: self.url.clone(), source },
        })?;
        if (200..300).contains(&status) {
            return Ok(content);
        }
        let problem = serde_json::from_slice(&content)
            .unwrap_or_else(|_| Problem { error: format!("it answers {status}"), hint: None });
        Err(CallError::Refused { status, problem })
    }

    /// The certificates that the hub has shown, its own first.
    #[must_use]
    pub fn shown(&self) -> Vec<CertificateDer<'static>> {
        let certificates = self.stream.as_ref().and_then(|stream| stream.conn.peer_certificates());
        certificates.unwrap_or_default().to_vec()
    }

    fn attempt(&mut self, call: &Call<'_>, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        let head = self.head(call, body.len());
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        stream.flush()?;
        stream.sock.set_read_timeout(Some(GLANCE))?;
        let until = Instant::now() + call.patience;
        let answer = read(&mut Patient { stream: &mut stream, until, stop: &self.stop })?;
        if answer.keeps == Keeps::Open {
            self.stream = Some(stream);
        }
        Ok((answer.status, answer.body))
    }

    fn connect(&self) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
        for address in (self.url.host(), self.url.port()).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TO_CONNECT) {
                Ok(socket) => return self.secure(socket),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn secure(&self, socket: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(TO_CONNECT))?;
        socket.set_write_timeout(Some(TO_WRITE))?;
        let name = ServerName::try_from(self.url.host().to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.tls), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, socket))
    }

    fn head(&self, call: &Call<'_>, length: usize) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", call.method, call.path, self.url.authority());
        // Writing to a text cannot fail.
        let _ = write!(head, "{}: {}\r\ncontent-length: {length}\r\n", version::HEADER, version::TEXT);
        if length > 0 {
            head.push_str("content-type: application/json\r\n");
        }
        if let Some(token) = &self.token {
            let _ = write!(head, "authorization: Bearer {token}\r\n");
        }
        head + "\r\n"
    }
}

/// Whether TLS has failed: somebody else answers, or this agent is not known any more.
fn is_of_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

struct Response {
    status: u16,
    body: Vec<u8>,
    keeps: Keeps,
}

/// Whether the connection may be used again.
#[derive(PartialEq, Eq)]
enum Keeps {
    Open,
    Closed,
}

/// Reads as long as an answer may take, or until somebody wants to stop.
struct Patient<'a, S> {
    /// It gives up a read after [`GLANCE`], and can be read on.
    stream: &'a mut S,
    until: Instant,
    stop: &'a Stop,
}

impl<S: Read> Read for Patient<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                other => return other,
            }
            if self.stop.is_stopped() {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the agent stops"));
            }
            if Instant::now() >= self.until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer"));
            }
        }
    }
}

/// Reads one response. The hub gives each a length.
fn read(stream: &mut impl Read) -> io::Result<Response> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..count]);
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(&bytes).map_err(|_| wrong("its head is no HTTP"))?;
        let httparse::Status::Complete(head) = parsed else {
            if bytes.len() > LARGEST_HEAD {
                return Err(wrong("its head is too long"));
            }
            continue;
        };
        let field = |name: &str| {
            let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.and_then(|header| std::str::from_utf8(header.value).ok())
        };
        let length: usize = field("content-length")
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| wrong("its answer has no length"))?;
        let status = response.code.ok_or_else(|| wrong("its answer has no status"))?;
        let is_closed = field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let keeps = if is_closed { Keeps::Closed } else { Keeps::Open };
        if length > LARGEST_BODY {
            return Err(wrong("its answer is too long"));
        }
        let mut body = bytes.split_off(head);
        let rest = length.saturating_sub(body.len());
        stream.take(rest as u64).read_to_end(&mut body)?;
        if body.len() != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        return Ok(Response { status, body, keeps });
    }
}

/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(250);
const TO_CONNECT: Duration = Duration::from_secs(15);
const TO_WRITE: Duration = Duration::from_secs(60);
const LARGEST_HEAD: usize = 16 << 10;
/// Lists of a year are longer than anything that agents are sent.
const LARGEST_BODY: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> io::Result<(u16, Vec<u8>)> {
        read(&mut text.as_bytes()).map(|response| (response.status, response.body))
    }

    /// A socket on which nothing comes.
    struct Silent;

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    #[test]
    fn answer_is_waited_for_until_its_time_is_over_or_somebody_wants_to_stop() {
        let stop = Stop::default();
        let ends = |until: Instant| {
            let mut silent = Silent;
            read(&mut Patient { stream: &mut silent, until, stop: &stop }).map(|_| ()).unwrap_err().kind()
        };
        assert_eq!(ends(Instant::now()), io::ErrorKind::TimedOut);
        stop.stop();
        assert_eq!(ends(Instant::now() + Duration::from_secs(3600)), io::ErrorKind::ConnectionAborted);
    }

    #[test]
    fn answer_has_to_be_whole_and_within_its_limits() {
        let whole = answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        assert_eq!(whole, (200, b"ok".to_vec()));
        for broken in [
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok",
            "HTTP/1.1 200 OK\r\n\r\nok",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nok",
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 200 OK\r\n",
        ] {
            assert!(answer(broken).is_err(), "{broken}");
        }
    }
}
