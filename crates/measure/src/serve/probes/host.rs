//! What all control connections of a server share.

use std::net::IpAddr;

use owamp::control::Protocol;

use super::admission::Limits;
use crate::one_way::socket::PortRange;
use crate::serve::log::Log;
use crate::serve::policy::Policy;
use crate::stop::Stop;

/// What a server of test sessions is told at its start.
#[derive(Debug, Clone)]
pub struct ProbeConfig {
    /// Which protocol it speaks.
    pub protocol: Protocol,
    /// Local address; all where absent.
    pub bind: Option<IpAddr>,
    /// Port of control connections.
    pub port: u16,
    /// Ports of test packets.
    pub udp_ports: PortRange,
    /// Who may test, how long, and at which rate of UDP.
    pub policy: Policy,
}

/// What all control connections share.
#[derive(Clone, Copy)]
pub(super) struct Host<'env> {
    pub(super) config: &'env ProbeConfig,
    pub(super) limits: Limits,
    pub(super) started: owamp::time::NtpTime,
    pub(super) stop: &'env Stop,
    pub(super) log: &'env Log<'env>,
}
