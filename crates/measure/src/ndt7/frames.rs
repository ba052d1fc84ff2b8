//! What a peer sends, read from memory as a connection reads it: handshake and frames, within the same limits.

use std::io::{self, Read, Write};

use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

use super::report::Ndt7Report;
use super::size::LARGEST_RECEIVED;
use super::socket::limits;

/// Which side reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It reads a request, then frames that are masked.
    Server,
    /// It reads frames of a server, which are not.
    Client,
}

/// What there was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FramesRead {
    /// Payload of binary messages.
    pub payload: u64,
    /// The longest message.
    pub longest: u64,
    /// Reports among the text messages.
    pub reports: Vec<Ndt7Report>,
    /// What this side has answered, in bytes.
    pub answered: u64,
}

/// Reads until the bytes are over, or break the protocol.
#[must_use]
pub fn read(bytes: &[u8], side: Side) -> FramesRead {
    let head = match side {
        Side::Client => 0,
        Side::Server => bytes.windows(END.len()).position(|window| window == END).map_or(0, |at| at + END.len()),
    };
    let memory = Memory { bytes, head, answered: 0 };
    match side {
        Side::Client => messages(WebSocket::from_raw_socket(memory, Role::Client, Some(limits()))),
        Side::Server => match tungstenite::accept_hdr_with_config(memory, Anybody, Some(limits())) {
            Ok(socket) => messages(socket),
            Err(_) => FramesRead::default(),
        },
    }
}

/// The largest message that is taken.
pub const LARGEST_MESSAGE: u64 = LARGEST_RECEIVED as u64;

fn messages(mut socket: WebSocket<Memory<'_>>) -> FramesRead {
    let mut found = FramesRead::default();
    // Any error ends it, as it ends a test: of the kernel's, only that there is no more for now.
    while let Ok(message) = socket.read() {
        found.longest = found.longest.max(message.len() as u64);
        match message {
            Message::Binary(payload) => found.payload += payload.len() as u64,
            Message::Text(text) => found.reports.extend(Ndt7Report::read(text.as_str())),
            Message::Close(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
    found.answered = socket.get_ref().answered;
    found
}

/// Of a request.
const END: &[u8] = b"\r\n\r\n";

/// Lets every request in.
struct Anybody;

impl Callback for Anybody {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        crate::serve::ndt7::judge(request).map(|_| response).map_err(|refused| *refused)
    }
}

/// Bytes that have come; what is answered is counted.
struct Memory<'a> {
    bytes: &'a [u8],
    /// What is left of the request: frames come after the answer to it.
    head: usize,
    answered: u64,
}

impl Read for Memory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = if self.head > 0 { self.head.min(buffer.len()) } else { buffer.len() };
        let read = self.bytes.read(&mut buffer[..most])?;
        self.head = self.head.saturating_sub(read);
        Ok(read)
    }
}

impl Write for Memory<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answered += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = "GET /ndt/v7/upload HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n";

    /// Two fragments of a binary message with a ping between them, then a report.
    fn frames(mask: &[u8]) -> Vec<u8> {
        let bit = if mask.is_empty() { 0 } else { 0x80 };
        let report = br#"{"AppInfo":{"ElapsedTime":5,"NumBytes":7}}"#;
        let frame =
            |first: u8, payload: &[u8]| [&[first, bit | u8::try_from(payload.len()).unwrap()], mask, payload].concat();
        [frame(0x02, b"abc"), frame(0x89, b"p"), frame(0x80, b"defg"), frame(0x81, report)].concat()
    }

    #[test]
    fn fragments_are_one_message_and_a_ping_is_answered() {
        let server = read(&[REQUEST.as_bytes(), &frames(&[0; 4])].concat(), Side::Server);
        assert_eq!((server.payload, server.reports.len()), (7, 1));
        let client = read(&frames(&[]), Side::Client);
        assert_eq!((client.payload, client.reports.len(), client.answered), (7, 1, 7));
    }

    #[test]
    fn frames_that_are_masked_wrongly_and_requests_for_something_else_bring_nothing() {
        assert_eq!(read(&frames(&[0; 4]), Side::Client).payload, 0);
        assert_eq!(read(&[REQUEST.as_bytes(), &frames(&[])].concat(), Side::Server).payload, 0);
        let other = REQUEST.replace("/ndt/v7/upload", "/");
        assert_eq!(read(&[other.as_bytes(), &frames(&[0; 4])].concat(), Side::Server).payload, 0);
    }
}
