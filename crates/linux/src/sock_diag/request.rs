//! Requests: `struct inet_diag_req_v2`.

use std::net::{IpAddr, SocketAddr};

use super::numbers::{
    AF_INET, AF_INET6, INET_DIAG_CONG, INET_DIAG_INFO, INET_DIAG_SHUTDOWN, INET_DIAG_SKMEMINFO, INET_DIAG_VEGASINFO,
};
use super::state::StateSet;
use crate::sockets::{Family, Transport};

/// Which sockets to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// The family of the socket. One of IPv6 that carries IPv4 counts as IPv6.
    pub family: Family,
    /// TCP or UDP; the kernel lists one of them at a time.
    pub transport: Transport,
    /// The states. A UDP socket is established where it is connected, and else closed.
    pub states: StateSet,
}

/// The two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The end of the socket asked for.
    pub local: SocketAddr,
    /// The other end; port 0 of the unspecified address for a listener.
    pub remote: SocketAddr,
}

/// A socket that was seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownSocket {
    /// Its two ends.
    pub ends: Ends,
    /// What tells it from a later one with the same ends.
    pub cookie: u64,
}

/// What is to be told of a socket beyond its addresses and queues: each attribute more costs time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketDetail {
    /// All that a record has.
    All,
    /// What changes from one look to the next: `TCP_INFO` and the memory.
    Numbers,
}

/// The request for all sockets of a selection.
pub(super) fn dump(selection: Selection) -> [u8; REQUEST_LEN] {
    begin(selection.family, selection.transport, selection.states)
}

/// The request for all TCP sockets in some states, of either family: `struct inet_diag_req`.
pub(super) fn every_tcp(states: StateSet) -> [u8; COMPAT_LEN] {
    let mut request = [0; COMPAT_LEN];
    request[3] = NUMBERS;
    request[52..56].copy_from_slice(&states.bits().to_ne_bytes());
    request
}

/// The request for one socket.
pub(super) fn exact(transport: Transport, ends: Ends, cookie: Option<u64>, detail: SocketDetail) -> [u8; REQUEST_LEN] {
    // For UDP the kernel takes the request for the packet that would reach the socket, so the ends are exchanged
    // (net/ipv4/udp_diag.c, `udp_dump_one`).
    let (source, destination) = match transport {
        Transport::Tcp => (ends.local, ends.remote),
        Transport::Udp => (ends.remote, ends.local),
    };
    let mut request = begin(Family::of(&ends.local), transport, StateSet::ALL);
    if detail == SocketDetail::Numbers {
        request[2] = NUMBERS;
    }
    request[8..10].copy_from_slice(&source.port().to_be_bytes());
    request[10..12].copy_from_slice(&destination.port().to_be_bytes());
    write_ip(&mut request[12..28], source.ip());
    write_ip(&mut request[28..44], destination.ip());
    request[44..48].copy_from_slice(&scope(&ends).to_ne_bytes());
    // All ones stand for any cookie (INET_DIAG_NOCOOKIE); the lower half comes first.
    request[48..56].copy_from_slice(&cookie.unwrap_or(u64::MAX).to_le_bytes());
    request
}

fn begin(family: Family, transport: Transport, states: StateSet) -> [u8; REQUEST_LEN] {
    let mut request = [0; REQUEST_LEN];
    request[0] = match family {
        Family::V4 => AF_INET,
        Family::V6 => AF_INET6,
    };
    request[1] = match transport {
        Transport::Tcp => IPPROTO_TCP,
        Transport::Udp => IPPROTO_UDP,
    };
    request[2] = EXTENSIONS;
    request[4..8].copy_from_slice(&states.bits().to_ne_bytes());
    request
}

fn write_ip(field: &mut [u8], address: IpAddr) {
    match address {
        IpAddr::V4(v4) => field[..4].copy_from_slice(&v4.octets()),
        IpAddr::V6(v6) => field.copy_from_slice(&v6.octets()),
    }
}

/// The interface of a link-local address.
fn scope(ends: &Ends) -> u32 {
    match ends.remote {
        SocketAddr::V6(v6) => v6.scope_id(),
        SocketAddr::V4(_) => 0,
    }
}

const REQUEST_LEN: usize = 56;
const COMPAT_LEN: usize = 60;
const IPPROTO_TCP: u8 = 6; // include/uapi/linux/in.h
const IPPROTO_UDP: u8 = 17;

/// What is to be told beyond addresses and queues: one bit for each attribute, the bit of attribute 1 lowest.
const EXTENSIONS: u8 = 1 << (INET_DIAG_INFO - 1)
    | 1 << (INET_DIAG_VEGASINFO - 1)
    | 1 << (INET_DIAG_CONG - 1)
    | 1 << (INET_DIAG_SKMEMINFO - 1)
    | 1 << (INET_DIAG_SHUTDOWN - 1);

/// What a walk over all sockets asks for, and a look that comes often.
const NUMBERS: u8 = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_SKMEMINFO - 1);
