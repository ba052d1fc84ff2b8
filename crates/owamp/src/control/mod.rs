//! Messages of the control connection (RFC 4656 §3, RFC 5357 §3), in open mode: no key, so HMACs and initialisation
//! vectors are zero, as owampd and twampd 5.2 write them.
//!
//! * [`greeting`]: the first three messages
//! * [`request`]: asking for a session, and whether it is had
//! * [`stop`]: the end of sessions, with what was sent
//! * [`fetch`]: what a receiver noted, on request
//! * [`command`]: whatever a client sends after the greeting

pub mod command;
pub mod fetch;
pub mod greeting;
pub mod request;
pub mod stop;

/// Which of the two protocols a control connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// One-way (RFC 4656).
    Owamp,
    /// Two-way (RFC 5357).
    Twamp,
}

/// What a server thinks of a request (RFC 4656 §3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// It does it.
    Ok,
    /// It does not, and does not say why.
    Refused,
    /// It failed itself.
    InternalError,
    /// It does not know how.
    NotSupported,
    /// It cannot, for lack of something that it will never have more of.
    PermanentLimit,
    /// It cannot now.
    TemporaryLimit,
    /// A number that no RFC gives a meaning.
    Other(u8),
}

impl Accept {
    /// The value of this octet.
    #[must_use]
    pub const fn from_octet(octet: u8) -> Self {
        match octet {
            0 => Self::Ok,
            1 => Self::Refused,
            2 => Self::InternalError,
            3 => Self::NotSupported,
            4 => Self::PermanentLimit,
            5 => Self::TemporaryLimit,
            other => Self::Other(other),
        }
    }

    /// The octet of this value.
    #[must_use]
    pub const fn octet(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Refused => 1,
            Self::InternalError => 2,
            Self::NotSupported => 3,
            Self::PermanentLimit => 4,
            Self::TemporaryLimit => 5,
            Self::Other(other) => other,
        }
    }
}

impl std::fmt::Display for Accept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ok => f.write_str("accepted"),
            Self::Refused => f.write_str("refused without a reason (its limits or its list of networks)"),
            Self::InternalError => f.write_str("an error of its own"),
            Self::NotSupported => f.write_str("something that it does not support"),
            Self::PermanentLimit => f.write_str("more than its limits ever allow"),
            Self::TemporaryLimit => f.write_str("more than its limits allow at the moment"),
            Self::Other(code) => write!(f, "code {code}, which no RFC defines"),
        }
    }
}

/// Why octets are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The first octet of a command.
    #[error("no command has number {0}")]
    UnknownCommand(u8),
    /// A number that would cost memory.
    #[error("{what}: {count}, of which at most {most} are accepted")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u32,
        /// How many are read at most.
        most: u32,
    },
    /// A slot of a schedule.
    #[error("no slot has type {0}")]
    UnknownSlot(u8),
    /// The version of IP.
    #[error("IP version {0} is neither 4 nor 6")]
    IpVersion(u8),
    /// Who sends and who receives.
    #[error("a session needs exactly one of sender and receiver at the server")]
    Roles,
    /// A length that its parts do not fill.
    #[error("the {0} has another length than its head says")]
    Length(&'static str),
}

/// A message that may not have come whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<T> {
    /// It has.
    Whole {
        /// What was read.
        message: T,
        /// Octets that it took of the input.
        length: usize,
    },
    /// It needs so many octets, at least.
    Needs(usize),
}

/// Octets of an HMAC and of a block, to whose length messages are filled up.
pub(crate) const BLOCK: usize = 16;
/// Number of Stop-Sessions.
pub(crate) const STOP: u8 = 3;
/// Number of Fetch-Session.
pub(crate) const FETCH: u8 = 4;
