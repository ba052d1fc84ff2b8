//! A network while its clock runs.

use std::time::Duration;

use units::MonoTime;

use super::error::LiveError;
use super::hardware::Hardware;
use crate::network::Network;
use crate::relay::Relay;

/// A network whose clock runs.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// Hosts and devices in namespaces.
    pub network: &'a Network,
    /// When its clock began.
    pub start: MonoTime,
    /// What carries its packets, and the clock of its paths.
    pub relay: &'a Relay,
    pub(super) hardware: &'a Hardware<'a>,
}

impl Live<'_> {
    /// How long the network has lived, by the clock of its paths.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.relay.clock().now().since(self.start)
    }

    /// Has faults come and go that hang on what the hardware of hosts is set to now. The network does so by itself
    /// shortly after it was set; who has just set it need not wait for that.
    ///
    /// # Errors
    /// [`LiveError::Hardware`]; what could be read is obeyed.
    pub fn obey(&self) -> Result<(), LiveError> {
        self.hardware.obey()
    }

    /// Ends a fault of a link, as if those who run the network had fixed it. Returns whether there is one of this name.
    #[must_use]
    pub fn end_fault(&self, fault: &str) -> bool {
        self.hardware.end_fault(fault)
    }
}
