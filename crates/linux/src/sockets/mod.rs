//! Creating TCP and UDP sockets and setting what decides their rate.
//!
//! Every function takes anything that has a file descriptor, so that it works on sockets of `std`, of `socket2` and on
//! borrowed descriptors alike. A setter whose wish the kernel may change returns what the kernel made of it.
//!
//! | File | What it sets |
//! |---|---|
//! | `tcp` | congestion control, MSS, Nagle, unsent low-water mark, user timeout, keepalive |
//! | `buffers` | send and receive buffers, and the memory a socket holds |
//! | `pacing` | the rate limit of the kernel's pacing |
//! | `dscp` | the class of service in the IP header |
//! | `path_mtu` | path MTU discovery and its result |
//! | `address` | sharing of addresses, binding to a device, CPU and cookie of a socket |
//! | `peer` | who is at the other end of a Unix socket |
//! | `waiting` | how long a blocking call waits, and for how much |
//! | `ancillary` | what the kernel reports with received data and finished sends |
//! | `option` | `getsockopt` and `setsockopt` themselves |

mod address;
mod ancillary;
mod buffers;
mod dscp;
pub(crate) mod option;
mod pacing;
mod path_mtu;
mod peer;
mod tcp;
mod waiting;

use std::io;
use std::net::SocketAddr;

pub use address::{
    bind_to_device, bound_device, cookie, family, incoming_cpu, set_incoming_cpu, set_only_v6, set_reuse_address,
    set_reuse_port,
};
pub use ancillary::{
    receives_gro, set_receive_drops, set_receive_gro, set_receive_hop_limit, set_receive_time, set_zerocopy,
};
pub use buffers::{
    BufferLocks, Direction, SocketMemory, buffer_locks, buffer_size, locks_of_another, memory, set_buffer_size,
    set_buffer_size_beyond_limit,
};
pub use dscp::{Dscp, DscpError, dscp, set_dscp};
pub use pacing::{PacingLimit, pacing_limit, set_pacing_limit};
pub use path_mtu::{PathMtuDiscovery, path_mtu, path_mtu_discovery, set_path_mtu_discovery};
pub use peer::{Peer, peer};
pub use socket2::{SockRef, Socket};
pub use tcp::{
    CongestionError, Keepalive, available_congestion_controls, congestion_control, max_segment, no_delay,
    notsent_low_water, set_congestion_control, set_keepalive, set_max_segment, set_no_delay, set_notsent_low_water,
    set_user_timeout, user_timeout,
};
pub use waiting::{
    receive_low_water, receive_timeout, send_timeout, set_receive_low_water, set_receive_timeout, set_send_timeout,
};

/// Opens an unbound socket, closed on `exec`. It converts into the sockets of `std` with `into`.
///
/// # Errors
/// What `socket` gives, such as `EAFNOSUPPORT` where IPv6 is switched off.
pub fn open(family: Family, transport: Transport) -> io::Result<Socket> {
    let (kind, protocol) = match transport {
        Transport::Tcp => (socket2::Type::STREAM, socket2::Protocol::TCP),
        Transport::Udp => (socket2::Type::DGRAM, socket2::Protocol::UDP),
    };
    Socket::new(family.domain(), kind, Some(protocol))
}

/// The version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// IPv4, `AF_INET`.
    V4,
    /// IPv6, `AF_INET6`. Such a socket carries IPv4 too unless [`set_only_v6`] forbids it.
    V6,
}

impl Family {
    /// The family of an address.
    #[must_use]
    pub fn of(address: &SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    fn domain(self) -> socket2::Domain {
        match self {
            Self::V4 => socket2::Domain::IPV4,
            Self::V6 => socket2::Domain::IPV6,
        }
    }
}

/// The transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    /// `IPPROTO_TCP`.
    Tcp,
    /// `IPPROTO_UDP`.
    Udp,
}

/// Whether an option is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// The option is set.
    On,
    /// The option is not set.
    Off,
}

impl Switch {
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}

impl From<bool> for Switch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

#[cfg(test)]
mod tests;
