//! The client's part of the dialogue: what it may hear, and when.

use super::extension::{Hello, Message, Refusal};
use super::inbox::{Inbox, WireError};
use super::limits::{MAX_EXTENSION_BYTES, MAX_RESULTS_BYTES};
use super::results::Results;
use super::signal::Signal;

/// What a server said to its client.
#[derive(Debug, PartialEq)]
pub enum ServerMessage {
    /// Send the parameters.
    ParamsWanted,
    /// The server is a linerate, and the extension is on.
    Hello(Box<Hello>),
    /// Another test runs; wait.
    Queued {
        /// Tests before this one.
        ahead: u32,
        /// When it should start.
        wait_ms: u64,
    },
    /// The server will not run this test.
    Refused(Refusal),
    /// The server's clock.
    Clock {
        /// Number of the exchange.
        seq: u32,
        /// When the request was read.
        received_ns: u64,
        /// When the answer was written.
        sent_ns: u64,
    },
    /// Open the data connections.
    StreamsWanted,
    /// Prepare.
    Start,
    /// Data may flow.
    Running,
    /// Send the results.
    ResultsWanted,
    /// The server's results.
    Results(Box<Results>),
    /// The end: say that it is done.
    Finished,
    /// Busy, or not wanted.
    Denied,
    /// The server failed.
    ServerFailed {
        /// iperf3's code.
        code: i32,
        /// The system's code.
        errno: i32,
    },
    /// The server gave up.
    Terminated,
}

/// The client's reading of the dialogue. Feed it bytes, take what was heard.
#[derive(Debug, Default)]
pub struct ClientDialogue {
    inbox: Inbox,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Handshake,
    Asked,
    Connecting,
    Starting,
    Running,
    Results,
    Closing,
    /// Everything is said; clocks may still be compared.
    Teardown,
    Over,
    /// The two codes of a failure are on their way.
    Failing,
    /// A message of the extension is on its way; then the phase before goes on.
    Extension(Resume),
}

/// The phases in which a message of the extension may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resume {
    Asked,
    Connecting,
    Running,
    Teardown,
}

impl ClientDialogue {
    /// Adds bytes from the server.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.inbox.feed(bytes);
    }

    /// Whether part of a message waits for its rest.
    #[must_use]
    pub fn mid_message(&self) -> bool {
        self.inbox.waiting() > 0 || matches!(self.phase, Phase::Failing | Phase::Extension(_))
    }

    /// The next thing the server said; `None` until more bytes come.
    ///
    /// # Errors
    /// If the server broke the protocol; the dialogue is over then.
    pub fn next_message(&mut self) -> Result<Option<ServerMessage>, WireError> {
        loop {
            let heard = match self.phase {
                Phase::Over => return Ok(None),
                Phase::Failing => {
                    let Some((code, errno)) = self.inbox.error_codes() else { return Ok(None) };
                    self.phase = Phase::Over;
                    ServerMessage::ServerFailed { code, errno }
                }
                Phase::Results => {
                    let Some(results) = self.inbox.blob("results", MAX_RESULTS_BYTES)? else { return Ok(None) };
                    self.phase = Phase::Closing;
                    ServerMessage::Results(results)
                }
                Phase::Extension(resume) => {
                    let Some(message) = self.inbox.blob("extension", MAX_EXTENSION_BYTES)? else { return Ok(None) };
                    self.phase = resume.phase();
                    match heard_message(message) {
                        Some(heard) => heard,
                        None => continue,
                    }
                }
                _ => {
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

    fn on_signal(&mut self, signal: Signal) -> Result<Option<ServerMessage>, WireError> {
        let (next, heard) = match (self.phase, signal) {
            (_, Signal::AccessDenied) => (Phase::Over, Some(ServerMessage::Denied)),
            (_, Signal::ServerTerminate) => (Phase::Over, Some(ServerMessage::Terminated)),
            (_, Signal::ServerError) => (Phase::Failing, None),
            (Phase::Handshake, Signal::ParamExchange) => (Phase::Asked, Some(ServerMessage::ParamsWanted)),
            (Phase::Asked, Signal::CreateStreams) => (Phase::Connecting, Some(ServerMessage::StreamsWanted)),
            (Phase::Connecting, Signal::TestStart) => (Phase::Starting, Some(ServerMessage::Start)),
            (Phase::Starting, Signal::TestRunning) => (Phase::Running, Some(ServerMessage::Running)),
            (Phase::Running, Signal::ExchangeResults) => (Phase::Results, Some(ServerMessage::ResultsWanted)),
            (Phase::Closing, Signal::DisplayResults) => (Phase::Teardown, Some(ServerMessage::Finished)),
            (phase, Signal::Extension) if let Some(resume) = Resume::of(phase) => (Phase::Extension(resume), None),
            (phase, signal) => return Err(WireError::OutOfTurn { signal, expected: phase.expectation() }),
        };
        self.phase = next;
        Ok(heard)
    }
}

impl Phase {
    fn expectation(self) -> &'static str {
        match self {
            Self::Handshake => "the request for parameters",
            Self::Asked => "the request for streams",
            Self::Connecting => "the start of the test",
            Self::Starting => "the running of the test",
            Self::Running => "the exchange of results",
            Self::Closing => "the display of results",
            Self::Results | Self::Failing | Self::Extension(_) | Self::Teardown | Self::Over => "no signal",
        }
    }
}

impl Resume {
    fn of(phase: Phase) -> Option<Self> {
        match phase {
            Phase::Asked => Some(Self::Asked),
            Phase::Connecting => Some(Self::Connecting),
            Phase::Running => Some(Self::Running),
            Phase::Teardown => Some(Self::Teardown),
            _ => None,
        }
    }

    fn phase(self) -> Phase {
        match self {
            Self::Asked => Phase::Asked,
            Self::Connecting => Phase::Connecting,
            Self::Running => Phase::Running,
            Self::Teardown => Phase::Teardown,
        }
    }
}

fn heard_message(message: Message) -> Option<ServerMessage> {
    Some(match message {
        Message::Hello(hello) => ServerMessage::Hello(hello),
        Message::Queued { ahead, wait_ms } => ServerMessage::Queued { ahead, wait_ms },
        Message::Refused(refusal) => ServerMessage::Refused(refusal),
        Message::ClockReply { seq, received_ns, sent_ns } => ServerMessage::Clock { seq, received_ns, sent_ns },
        // A client's own messages sent back mean nothing, and a newer version's may be skipped.
        Message::ClockRequest { .. } | Message::Sent { .. } | Message::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear_all(bytes: &[u8]) -> Result<Vec<ServerMessage>, WireError> {
        let mut dialogue = ClientDialogue::default();
        dialogue.feed(bytes);
        let mut heard = Vec::new();
        while let Some(next) = dialogue.next_message()? {
            heard.push(next);
        }
        Ok(heard)
    }

    #[test]
    fn signals_may_coalesce() {
        assert_eq!(
            hear_all(&[9, 10, 1, 2]).unwrap(),
            [ServerMessage::ParamsWanted, ServerMessage::StreamsWanted, ServerMessage::Start, ServerMessage::Running]
        );
    }

    #[test]
    fn busy_may_come_at_any_time() {
        assert_eq!(hear_all(&[0xff]).unwrap(), [ServerMessage::Denied]);
        assert_eq!(hear_all(&[9, 0xff]).unwrap(), [ServerMessage::ParamsWanted, ServerMessage::Denied]);
    }

    #[test]
    fn a_failure_brings_its_codes() {
        let heard = hear_all(&[9, 0xfe, 0, 0, 0, 27, 0, 0, 0, 5]).unwrap();
        assert_eq!(heard[1], ServerMessage::ServerFailed { code: 27, errno: 5 });
    }

    #[test]
    fn a_signal_out_of_turn_ends_the_dialogue() {
        let error = hear_all(&[9, 2]).unwrap_err().to_string();
        assert_eq!(error, "TestRunning came where the request for streams was due");
        assert!(hear_all(&[64]).is_err(), "no extension before the parameters offered it");
    }

    #[test]
    fn a_newer_message_is_skipped() {
        let mut bytes = vec![9, 64];
        crate::inbox::write_blob(&serde_json::json!({"type": "astrology"}), &mut bytes).unwrap();
        bytes.push(10);
        assert_eq!(hear_all(&bytes).unwrap(), [ServerMessage::ParamsWanted, ServerMessage::StreamsWanted]);
    }
}
