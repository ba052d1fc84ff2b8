//! What all clients of a server share.

use std::net::IpAddr;

use tungstenite::Bytes;

use super::super::log::Log;
use super::super::policy::Policy;
use super::super::queue::Queue;
use crate::ndt7::tls::Ndt7Identity;
use crate::stop::Stop;

/// What a server of NDT7 is given at its start.
#[derive(Debug, Clone)]
pub struct Ndt7Config {
    /// Local address; all where absent.
    pub bind: Option<IpAddr>,
    /// TCP port.
    pub port: u16,
    /// What it shows of itself where it speaks `wss`; it speaks `ws` where it is absent.
    pub identity: Option<Ndt7Identity>,
    /// Who may test, and how long.
    pub policy: Policy,
    /// Whose turn it is at this host.
    pub queue: Queue,
}

/// What all clients share.
#[derive(Clone, Copy)]
pub(super) struct Host<'env> {
    pub(super) config: &'env Ndt7Config,
    /// What a sender draws its messages from.
    pub(super) payload: &'env Bytes,
    pub(super) stop: &'env Stop,
    pub(super) log: &'env Log<'env>,
}
