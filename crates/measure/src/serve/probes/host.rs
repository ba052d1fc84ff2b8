//! What all control connections of a server share.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use linux::clock;
use owamp::control::Protocol;

use super::admission::Limits;
use crate::one_way::socket::PortRange;
use crate::serve::Event;
use crate::serve::partner::Nuisances;
use crate::serve::policy::Policy;
use crate::serve::sessions::Sessions;
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
    pub(super) heard: &'env Sessions,
    pub(super) log: &'env Log<'env>,
}

/// Where events go.
pub(super) struct Log<'env> {
    pub(super) nuisances: Mutex<Nuisances>,
    pub(super) report: &'env (dyn Fn(Event) + Sync),
}

impl Log<'_> {
    pub(super) fn nuisance(&self, peer: SocketAddr, what: String) {
        let mut nuisances = self.nuisances.lock().unwrap_or_else(PoisonError::into_inner);
        for event in nuisances.note(clock::now(), peer, what) {
            (self.report)(event);
        }
    }
}
