//! Sockets that speak ICMP, with what the kernel reports beside it: hop limits, times of arrival, and the error queue.
//!
//! A ping socket needs no privilege where `net.ipv4.ping_group_range` names a group of the process; it also holds for
//! IPv6. A raw socket needs `CAP_NET_RAW`. The two differ in what the program has to write: see [`Access`].

mod receive;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::bulk::control::ControlBuffer;
use crate::bulk::datagrams::address::AddressBuffer;
use crate::sockets::option::{self, SocketOption};
use crate::sockets::{Family, Switch, set_receive_time};
pub use receive::{Incoming, Origin, QueuedError};

/// How the kernel lets a process speak ICMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `SOCK_DGRAM`: the kernel chooses the identifier, makes checksums, and hands over only answers to this socket,
    /// without IP header.
    Ping,
    /// `SOCK_RAW`: the program chooses the identifier, makes the checksum in IPv4 (in IPv6 the kernel does), and hears
    /// every echo reply of the host, in IPv4 with the IP header before it.
    Raw,
}

/// Why no ICMP socket could be had.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may not speak ICMP: net.ipv4.ping_group_range does not name a group of it, and it lacks CAP_NET_RAW"
)]
pub struct NoAccess {
    /// What the kernel said to the ping socket.
    pub ping: io::Error,
    /// What it said to the raw socket.
    #[source]
    pub raw: io::Error,
}

/// A socket that speaks ICMP with one host. It never blocks.
pub struct IcmpSocket {
    socket: Socket,
    family: Family,
    access: Access,
    payload: Vec<u8>,
    source: AddressBuffer,
    control: ControlBuffer,
}

impl IcmpSocket {
    /// Opens a ping socket, or else a raw one.
    ///
    /// # Errors
    /// Where neither is permitted.
    pub fn open(family: Family) -> Result<Self, NoAccess> {
        Self::open_as(family, Access::Ping)
            .or_else(|ping| Self::open_as(family, Access::Raw).map_err(|raw| NoAccess { ping, raw }))
    }

    /// Opens a socket of this kind.
    ///
    /// # Errors
    /// `EACCES` for a ping socket and `EPERM` for a raw one where it is not permitted; what `setsockopt` gives.
    pub fn open_as(family: Family, access: Access) -> io::Result<Self> {
        let (domain, protocol) = match family {
            Family::V4 => (Domain::IPV4, Protocol::ICMPV4),
            Family::V6 => (Domain::IPV6, Protocol::ICMPV6),
        };
        let kind = match access {
            Access::Ping => Type::DGRAM,
            Access::Raw => Type::RAW,
        };
        let socket = Socket::new(domain, kind, Some(protocol))?;
        socket.set_nonblocking(true)?;
        let reporting: [SocketOption; 2] = match family {
            Family::V4 => [SocketOption::ip(libc::IP_RECVERR), SocketOption::ip(libc::IP_RECVTTL)],
            Family::V6 => [SocketOption::ipv6(libc::IPV6_RECVERR), SocketOption::ipv6(libc::IPV6_RECVHOPLIMIT)],
        };
        for each in reporting {
            option::write_int(socket.as_fd(), each, 1)?;
        }
        set_receive_time(&socket, Switch::On)?;
        if access == Access::Raw {
            only_echo_replies(socket.as_fd(), family)?;
        }
        Ok(Self {
            socket,
            family,
            access,
            payload: vec![0; PAYLOAD_ROOM],
            source: AddressBuffer::EMPTY,
            control: ControlBuffer::EMPTY,
        })
    }

    /// Which kind it is.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Which family it speaks.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Sends from this address. The port is of no meaning and should be 0.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL` where the host does not have it.
    pub fn bind(&self, local: SocketAddr) -> io::Result<()> {
        self.socket.bind(&SockAddr::from(local))
    }

    /// Speaks with this host. The port is of no meaning and should be 0.
    ///
    /// # Errors
    /// `ENETUNREACH` where no route leads there.
    pub fn connect(&self, remote: SocketAddr) -> io::Result<()> {
        self.socket.connect(&SockAddr::from(remote))
    }

    /// How many routers may forward what is sent from now on.
    ///
    /// # Errors
    /// What `setsockopt` gives, such as `EINVAL` for 0.
    pub fn set_hop_limit(&self, limit: u8) -> io::Result<()> {
        let option = match self.family {
            Family::V4 => SocketOption::ip(libc::IP_TTL),
            Family::V6 => SocketOption::ipv6(libc::IPV6_UNICAST_HOPS),
        };
        option::write_int(self.socket.as_fd(), option, libc::c_int::from(limit))
    }

    /// Sends one ICMP message.
    ///
    /// # Errors
    /// What `send` gives: `EMSGSIZE` where it is larger than the interface takes; also an error that the kernel has
    /// queued and nobody has taken yet.
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        self.socket.send(message).map(drop)
    }
}

impl AsFd for IcmpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Keeps all but echo replies from a raw socket. Errors reach its error queue all the same.
fn only_echo_replies(fd: BorrowedFd<'_>, family: Family) -> io::Result<()> {
    match family {
        Family::V4 => {
            let blocked: u32 = !(1 << ECHO_REPLY_V4);
            option::write(fd, ICMP_FILTER, &blocked.to_ne_bytes())
        }
        Family::V6 => {
            let mut blocked = [u32::MAX; 8];
            blocked[ECHO_REPLY_V6 / 32] = !(1 << (ECHO_REPLY_V6 % 32));
            option::write(fd, ICMPV6_FILTER, &blocked.map(u32::to_ne_bytes).concat())
        }
    }
}

/// Room for the largest IP packet.
const PAYLOAD_ROOM: usize = 65_536;

const ECHO_REPLY_V4: u32 = 0; // ICMP_ECHOREPLY, include/uapi/linux/icmp.h
const ECHO_REPLY_V6: usize = 129; // ICMPV6_ECHO_REPLY, include/uapi/linux/icmpv6.h

const SOL_RAW: libc::c_int = 255; // include/linux/socket.h
const ICMP_FILTER: SocketOption = SocketOption { level: SOL_RAW, name: 1 }; // include/uapi/linux/icmp.h
const ICMPV6_FILTER: SocketOption = SocketOption { level: libc::IPPROTO_ICMPV6, name: 1 }; // include/uapi/linux/icmpv6.h

#[cfg(test)]
mod tests;
