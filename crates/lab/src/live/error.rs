//! Why a scenario does not come up, or not as it is written.

use std::io;
use std::time::Duration;

use crate::network::RaiseError;
use crate::relay::RelayError;

/// Why a scenario does not come up, or not as it is written.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The network could not be made.
    #[error(transparent)]
    Raise(#[from] RaiseError),
    /// Its links could not be driven.
    #[error("the links cannot be driven")]
    Relay(#[from] RelayError),
    /// A service did not come up.
    #[error("{service} on host {host} does not come up")]
    Service {
        /// Which program.
        service: &'static str,
        /// On which host.
        host: String,
        /// What happened.
        source: io::Error,
    },
    /// The hardware that a host shows does not say what a fault hangs on.
    #[error("the hardware of host {host} cannot be read: {reason}")]
    Hardware {
        /// Name of the host.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What the scenario changes in a host could not be changed.
    #[error("at {} a host could not be changed as the scenario says", units::duration::show(*at))]
    Alteration {
        /// When, by the clock of the network.
        at: Duration,
        /// Why.
        source: Box<RaiseError>,
    },
}

impl LiveError {
    /// What a host refused.
    #[must_use]
    pub fn refused(&self) -> Option<&RaiseError> {
        match self {
            Self::Raise(error) => Some(error),
            Self::Alteration { source, .. } => Some(source),
            Self::Relay(_) | Self::Service { .. } | Self::Hardware { .. } => None,
        }
    }
}
