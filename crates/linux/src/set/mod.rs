//! Settings of network devices and routes that are read in a form from which exactly they are made again, and written.
//!
//! Everything is of the network namespace in which the calling thread is. Reading takes no privilege, writing takes
//! `CAP_NET_ADMIN` over the namespace.
//!
//! * [`numbers`]: what is one message of numbers: rings, channels, coalescing, pause, EEE, mode; and sizes of the link
//! * [`features`]: features of devices, and what a link says that it can do
//! * [`spread`]: over which queues received packets are spread
//! * [`tree`]: queueing disciplines and classes, whole; [`discipline`]: single ones with typed options
//! * [`route`]: whole routes

pub mod discipline;
pub mod features;
pub mod numbers;
pub mod route;
pub mod spread;
#[cfg(test)]
mod tests;
pub mod tree;

use std::io;

use crate::netlink::NetlinkError;
use crate::{Reason, Unavailable};

/// Why a setting cannot be read in whole, or not written.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// It cannot be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The kernel refused it over netlink.
    #[error("{what}")]
    Netlink {
        /// What was to be done.
        what: String,
        /// What the kernel said.
        source: NetlinkError,
    },
    /// The kernel refused it.
    #[error("{what}")]
    System {
        /// What was to be done.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// It could not be put back as it is.
    #[error("{what} could not be put back: {because}")]
    Irreversible {
        /// What.
        what: String,
        /// Why not.
        because: String,
    },
}

impl SetError {
    fn netlink(what: impl Into<String>) -> impl FnOnce(NetlinkError) -> Self {
        let what = what.into();
        move |source| Self::Netlink { what, source }
    }

    fn irreversible(what: impl Into<String>, because: impl Into<String>) -> Self {
        Self::Irreversible { what: what.into(), because: because.into() }
    }

    /// The reason in one word.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Unavailable(unavailable) => unavailable.reason.clone(),
            Self::Netlink { source, what } => source.unavailable(what).reason,
            Self::System { source, what } => Unavailable::because(what.as_str(), source).reason,
            Self::Irreversible { .. } => Reason::Unsupported,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    rest.is_empty().then_some(())?;
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
