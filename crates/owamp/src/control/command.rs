//! Whatever a client sends after the greeting.

use super::fetch::FetchSession;
use super::request::{HEAD, OWAMP, SessionRequest, TWAMP};
use super::stop::StopSessions;
use super::{Accept, ControlError, FETCH, Protocol, Reading, STOP};
use crate::fields::Fields;

/// A command of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// It asks for a session.
    Request(Box<SessionRequest>),
    /// All sessions it has asked for are to begin.
    Start,
    /// All sessions are over.
    Stop(StopSessions),
    /// It asks what a session has received.
    Fetch(FetchSession),
}

impl Command {
    /// Reads the command at the beginning of `octets`, as far as it has come.
    ///
    /// # Errors
    /// If it is none that this protocol has, or more than is accepted.
    pub fn parse(octets: &[u8], protocol: Protocol) -> Result<Reading<Self>, ControlError> {
        let Some(&number) = octets.first() else { return Ok(Reading::Needs(1)) };
        match (number, protocol) {
            (OWAMP, Protocol::Owamp) | (TWAMP, Protocol::Twamp) => Self::parse_request(octets),
            (START, _) => Ok(whole::<{ START_LEN }>(octets, |_| Self::Start)),
            (STOP, _) => Ok(match StopSessions::parse(octets, protocol)? {
                Reading::Needs(octets) => Reading::Needs(octets),
                Reading::Whole { message, length } => Reading::Whole { message: Self::Stop(message), length },
            }),
            (FETCH, Protocol::Owamp) => {
                Ok(whole::<{ FetchSession::LEN }>(octets, |octets| Self::Fetch(FetchSession::parse(octets))))
            }
            (other, _) => Err(ControlError::UnknownCommand(other)),
        }
    }

    fn parse_request(octets: &[u8]) -> Result<Reading<Self>, ControlError> {
        let Some(head) = octets.first_chunk::<HEAD>() else { return Ok(Reading::Needs(HEAD)) };
        let length = SessionRequest::length(head)?;
        let Some(octets) = octets.get(..length) else { return Ok(Reading::Needs(length)) };
        let message = Self::Request(Box::new(SessionRequest::parse(octets)?));
        Ok(Reading::Whole { message, length })
    }

    /// Writes the command.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => request.emit(),
            Self::Start => Fields::<START_LEN>::ZERO.with(0, &[START]).0.to_vec(),
            Self::Stop(stop) => stop.emit(),
            Self::Fetch(fetch) => fetch.emit().to_vec(),
        }
    }
}

fn whole<const N: usize>(octets: &[u8], read: impl FnOnce(&[u8; N]) -> Command) -> Reading<Command> {
    octets.first_chunk().map_or(Reading::Needs(N), |octets| Reading::Whole { message: read(octets), length: N })
}

/// The server's answer to a start: sessions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartAck {
    /// Whether they do.
    pub accept: Accept,
}

impl StartAck {
    /// Octets.
    pub const LEN: usize = 32;

    /// Reads the message.
    #[must_use]
    pub const fn parse(octets: &[u8; Self::LEN]) -> Self {
        Self { accept: Accept::from_octet(octets[0]) }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO.with(0, &[self.accept.octet()]).0
    }
}

const START: u8 = 2;
const START_LEN: usize = 32;
