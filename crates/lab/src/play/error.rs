//! Why a scenario cannot be played.

use std::io;

use crate::network::RaiseError;
use crate::relay::RelayError;

/// Why a scenario cannot be played, or not to its end. A test that fails is no such reason: it is a result.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The network could not be made.
    #[error("the network cannot be made")]
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
    /// A program that measures could not be run or understood.
    #[error("the test `{label}` could not be run")]
    Test {
        /// Which test.
        label: String,
        /// What happened.
        source: io::Error,
    },
    /// What the scenario changes in a host could not be changed.
    #[error("at {at:?} a host could not be changed as the scenario says")]
    Alteration {
        /// When, by the clock of the network.
        at: std::time::Duration,
        /// Why.
        source: Box<RaiseError>,
    },
}
