//! The server's part of the dialogue: what it may hear, and when.

use super::cookie::Cookie;
use super::extension::Message;
use super::inbox::{Inbox, WireError};
use super::limits::{MAX_EXTENSION_BYTES, MAX_PARAMS_BYTES, MAX_RESULTS_BYTES};
use super::params::Params;
use super::results::Results;
use super::signal::Signal;

/// What a client said to its server.
#[derive(Debug, PartialEq)]
pub enum ClientMessage {
    /// The name of its test. The server asks for parameters where it is a new one.
    Cookie(Cookie),
    /// What it wants.
    Params(Box<Params>),
    /// It wants to know the server's clock.
    ClockRequest {
        /// Number of the exchange.
        seq: u32,
    },
    /// Its senders have stopped.
    Sent {
        /// Datagrams by stream.
        datagrams: Vec<u64>,
    },
    /// It has had enough.
    End,
    /// What the client counted, stream by stream.
    Results(Box<Results>),
    /// It is done.
    Done,
    /// It gave up.
    Terminated,
}

/// The server's reading of the dialogue. Feed it bytes, take what was heard.
#[derive(Debug, Default)]
pub struct ServerDialogue {
    inbox: Inbox,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Cookie,
    Params,
    /// From the parameters to the end of data: the client speaks by signals.
    Testing,
    Results,
    /// The client has everything; clocks may still be compared.
    Closing,
    Over,
    /// A message of the extension is on its way; then the phase before goes on.
    Extension(Resume),
}

/// The phases in which a message of the extension may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resume {
    Testing,
    Closing,
}

impl ServerDialogue {
    /// Adds bytes from the client.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.inbox.feed(bytes);
    }

    /// Whether part of a message waits for its rest.
    #[must_use]
    pub fn mid_message(&self) -> bool {
        self.inbox.waiting() > 0 || matches!(self.phase, Phase::Extension(_))
    }

    /// The next thing the client said; `None` until more bytes come.
    ///
    /// # Errors
    /// If the client broke the protocol; the dialogue is over then.
    pub fn next_message(&mut self) -> Result<Option<ClientMessage>, WireError> {
        loop {
            let heard = match self.phase {
                Phase::Over => return Ok(None),
                Phase::Cookie => {
                    let Some(cookie) = self.inbox.cookie() else { return Ok(None) };
                    self.phase = Phase::Params;
                    ClientMessage::Cookie(cookie)
                }
                Phase::Params => {
                    let Some(params) = self.inbox.blob("parameters", MAX_PARAMS_BYTES)? else { return Ok(None) };
                    self.phase = Phase::Testing;
                    ClientMessage::Params(params)
                }
                Phase::Results => {
                    let Some(results) = self.inbox.blob("results", MAX_RESULTS_BYTES)? else { return Ok(None) };
                    self.phase = Phase::Closing;
                    ClientMessage::Results(results)
                }
                Phase::Extension(resume) => {
                    let Some(message) = self.inbox.blob("extension", MAX_EXTENSION_BYTES)? else { return Ok(None) };
                    self.phase = match resume {
                        Resume::Testing => Phase::Testing,
                        Resume::Closing => Phase::Closing,
                    };
                    match message {
                        Message::ClockRequest { seq } => ClientMessage::ClockRequest { seq },
                        Message::Sent { datagrams } => ClientMessage::Sent { datagrams },
                        // A server's own messages sent back mean nothing, and a newer version's may be skipped.
                        Message::Hello(_)
                        | Message::Queued { .. }
                        | Message::Refused(_)
                        | Message::ClockReply { .. }
                        | Message::Unknown => continue,
                    }
                }
                Phase::Testing | Phase::Closing => {
                    let Some(signal) = self.inbox.signal()? else { return Ok(None) };
                    match self.on_signal(signal)? {
                        Some(heard) => heard,
                        None => continue,
                    }
                }
            };
            return Ok(Some(heard));
        }
    }

    fn on_signal(&mut self, signal: Signal) -> Result<Option<ClientMessage>, WireError> {
        let (next, heard) = match (self.phase, signal) {
            (_, Signal::ClientTerminate) => (Phase::Over, Some(ClientMessage::Terminated)),
            (Phase::Testing, Signal::TestEnd) => (Phase::Results, Some(ClientMessage::End)),
            (Phase::Testing, Signal::Extension) => (Phase::Extension(Resume::Testing), None),
            (Phase::Closing, Signal::Extension) => (Phase::Extension(Resume::Closing), None),
            (Phase::Closing, Signal::Done) => (Phase::Over, Some(ClientMessage::Done)),
            (Phase::Closing, signal) => return Err(WireError::OutOfTurn { signal, expected: "the client's goodbye" }),
            (_, signal) => return Err(WireError::OutOfTurn { signal, expected: "the end of the test" }),
        };
        self.phase = next;
        Ok(heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cookie::COOKIE_LEN;
    use crate::inbox::write_blob;

    #[test]
    fn a_whole_dialogue_is_heard_in_order() {
        let cookie = Cookie::from_random([7; COOKIE_LEN - 1]);
        let mut bytes = cookie.as_bytes().to_vec();
        write_blob(&Params::default(), &mut bytes).unwrap();
        bytes.push(Signal::TestEnd.byte());
        write_blob(&Results::default(), &mut bytes).unwrap();
        bytes.push(Signal::Done.byte());
        let mut dialogue = ServerDialogue::default();
        let mut heard = Vec::new();
        for byte in bytes {
            dialogue.feed(&[byte]);
            while let Some(next) = dialogue.next_message().unwrap() {
                heard.push(next);
            }
        }
        assert_eq!(heard.len(), 5);
        assert_eq!(heard[0], ClientMessage::Cookie(cookie));
        assert_eq!(heard[4], ClientMessage::Done);
        assert!(!dialogue.mid_message());
    }

    #[test]
    fn an_end_before_the_parameters_is_no_message() {
        let mut dialogue = ServerDialogue::default();
        dialogue.feed(&[b'x'; COOKIE_LEN]);
        dialogue.feed(&[4, 4, 4, 4]);
        assert!(matches!(dialogue.next_message(), Ok(Some(ClientMessage::Cookie(_)))));
        assert!(matches!(dialogue.next_message(), Err(WireError::TooLong { .. })));
    }
}
