//! One connection: a request is read, an answer is written.

use std::fmt::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use linux::clock;
use measure::http::head::{HeadError, RequestHead, read_request};
use measure::http::line::{HttpConnection, LineError};
use measure::stop::Stop;
use units::ByteCount;

use super::listener::{Exchange, Limits, Passage, ServiceListener};

/// What a service does with a request that could be read.
pub(super) type Respond<'a> = dyn Fn(&RequestHead, &mut Visit<'_>) -> Result<(), LineError> + Sync + 'a;

/// Who hears of each exchange.
pub(super) type Hear<'a> = dyn Fn(Exchange) + Sync + 'a;

/// Answers requests until it is told to stop.
pub(super) fn receive(door: &ServiceListener, stop: &Stop, respond: &Respond<'_>, hear: &Hear<'_>) {
    let limits = door.limits();
    let visited = |stream: TcpStream, peer: SocketAddr, answer: &Respond<'_>| {
        if let Some(exchange) = visit(stream, peer, (limits, stop), answer) {
            hear(exchange);
        }
    };
    let busy: &Respond<'_> = &|_, visit| visit.refuse(503, "as many connections are served as may be");
    door.receive(stop, &|stream, peer| visited(stream, peer, respond), &|stream, peer| {
        turn_away(stream, peer, (limits, stop), busy, hear);
    });
}

/// Tells a visitor without a place so, without waiting for the request.
fn turn_away(stream: TcpStream, peer: SocketAddr, around: (Limits, &Stop), busy: &Respond<'_>, hear: &Hear<'_>) {
    let Some(mut visit) = Visit::begin(stream, around) else { return };
    let outcome = busy(&nothing(), &mut visit);
    hear(visit.end(peer, None, outcome));
}

fn nothing() -> RequestHead {
    RequestHead { method: String::new(), target: String::new(), fields: measure::http::head::Fields::default() }
}

fn visit(stream: TcpStream, peer: SocketAddr, around: (Limits, &Stop), respond: &Respond<'_>) -> Option<Exchange> {
    let mut visit = Visit::begin(stream, around)?;
    let mut buffer = Vec::new();
    let request = match visit.line.read_head(&mut buffer, read_request) {
        Ok((request, _)) => request,
        Err(error) => {
            let (status, why) = match &error {
                LineError::Head(HeadError::TooLong) => (431, "the head of the request is too long"),
                LineError::Head(HeadError::Malformed { .. }) => (400, "this is no request of HTTP/1.1"),
                LineError::Late | LineError::Silent { .. } => (408, "the request took too long"),
                // Nobody is there any more to be told.
                _ => return Some(visit.end(peer, None, Err(error))),
            };
            visit.line.set_deadline(clock::now() + PARTING);
            let told = visit.refuse(status, why);
            visit.part();
            return Some(visit.end(peer, None, told.and(Err(error))));
        }
    };
    let (limits, _) = around;
    visit.line.set_deadline(clock::now() + limits.connection_time);
    let outcome = if matches!(&*request.method, "GET" | "HEAD") && request.target.starts_with('/') {
        respond(&request, &mut visit)
    } else {
        visit.refuse(405, "only GET and HEAD of paths are answered")
    };
    visit.part();
    Some(visit.end(peer, Some(request.target), outcome))
}

/// A connection and what was answered so far.
pub(super) struct Visit<'a> {
    pub(super) line: HttpConnection<'a>,
    pub(super) limits: Limits,
    pub(super) stop: &'a Stop,
    pub(super) through: Option<Passage>,
    status: Option<u16>,
    body: u64,
}

impl<'a> Visit<'a> {
    fn begin(stream: TcpStream, (limits, stop): (Limits, &'a Stop)) -> Option<Self> {
        let line = HttpConnection::new(stream, limits.patience, clock::now() + limits.head_time, stop).ok()?;
        Some(Self { line, limits, stop, through: None, status: None, body: 0 })
    }

    /// Whether a head was answered.
    pub(super) fn has_answered(&self) -> bool {
        self.status.is_some()
    }

    /// Writes the head of the answer.
    pub(super) fn head<'f>(
        &mut self,
        status: u16,
        fields: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> Result<(), LineError> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        for (name, value) in fields {
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("Connection: close\r\n\r\n");
        self.status = Some(status);
        self.line.write_all(head.as_bytes())
    }

    /// Writes some of the body.
    pub(super) fn body(&mut self, bytes: &[u8]) -> Result<(), LineError> {
        self.line.write_all(bytes)?;
        self.body += bytes.len() as u64;
        Ok(())
    }

    /// Answers that there is nothing, and why.
    pub(super) fn refuse(&mut self, status: u16, why: &str) -> Result<(), LineError> {
        let text = format!("{why}\n");
        let length = text.len().to_string();
        self.head(status, [("Content-Type", "text/plain"), ("Content-Length", &*length)])?;
        self.body(text.as_bytes())
    }

    /// Lets the answer arrive: closing with unread bytes would reset the connection, and the answer with it.
    fn part(&mut self) {
        let _ = self.line.stream().shutdown(Shutdown::Write);
        self.line.set_deadline(clock::now() + PARTING);
        let mut rest = [0; 4096];
        for _ in 0..PARTING_READS {
            if !self.line.read(&mut rest).is_ok_and(|length| length > 0) {
                return;
            }
        }
    }

    fn end(self, peer: SocketAddr, target: Option<String>, outcome: Result<(), LineError>) -> Exchange {
        Exchange {
            peer,
            target,
            status: self.status,
            body_bytes: ByteCount::new(self.body),
            through: self.through,
            broken: outcome.err().map(|error| with_cause(&error)),
        }
    }
}

/// An error and its cause in one line.
pub(super) fn with_cause(error: &LineError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Status codes that are answered here, in words (RFC 9110 §15, RFC 6585 §5).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        508 => "Loop Detected",
        _ => "Passed On",
    }
}

/// How long a client may take to close after the answer.
const PARTING: Duration = Duration::from_secs(1);
/// Most pieces that are read and thrown away meanwhile.
const PARTING_READS: usize = 64;
