//! The sockets of a network namespace, as the kernel lists them (`NETLINK_SOCK_DIAG`).
//!
//! A dump walks the kernel's whole table of TCP connections (262,144 buckets are 0.3 ms of CPU), so it is for
//! finding sockets; a known one is asked for by its addresses and cookie. Needs no privilege, even for those of others.
//!
//! Constants and layouts: `include/uapi/linux/inet_diag.h`, `sock_diag.h` of Linux 6.18.

mod destroyed;
mod numbers;
mod record;
mod request;
mod state;

use crate::netlink::{Netlink, NetlinkError};
use crate::sockets::Transport;
pub use destroyed::DestroyedSockets;
pub use record::{BbrInfo, SocketRecord};
pub use request::{Ends, KnownSocket, Selection, SocketDetail};
pub use state::{StateSet, TcpState};

/// Asks for sockets of the network namespace in which it was opened.
pub struct SockDiag {
    netlink: Netlink,
}

impl SockDiag {
    /// For the network namespace of the calling thread.
    ///
    /// # Errors
    /// What opening a netlink socket gives.
    pub fn open() -> Result<Self, NetlinkError> {
        Netlink::open(netlink_sys::protocols::NETLINK_SOCK_DIAG).map(|netlink| Self { netlink })
    }

    /// Lists the sockets of a selection.
    ///
    /// # Errors
    /// Why there is no complete list; [`NetlinkError::Refused`] with `ENOENT` where the kernel has no `inet_diag` for
    /// the protocol (modules `tcp_diag`, `udp_diag`).
    pub fn discover(&mut self, selection: Selection) -> Result<Vec<SocketRecord>, NetlinkError> {
        let request = request::dump(selection);
        self.netlink.dump(SOCK_DIAG_BY_FAMILY, &request, SocketRecord::parse)
    }

    /// Hands every TCP socket in one of `states` to `each`, those of IPv4 and of IPv6 in one walk of the kernel's table, and
    /// keeps none of them. A walk that the kernel could not finish begins anew, so that `each` may see a socket twice.
    ///
    /// # Errors
    /// Why the walk is not complete; [`NetlinkError::Refused`] with `ENOENT` without the kernel's module `tcp_diag`.
    pub fn each_tcp(&mut self, states: StateSet, mut each: impl FnMut(SocketRecord)) -> Result<(), NetlinkError> {
        let request = request::every_tcp(states);
        self.netlink.dump(TCPDIAG_GETSOCK, &request, |message| SocketRecord::parse(message).map(&mut each)).map(drop)
    }

    /// Asks for one socket. With a `cookie` a later socket with the same addresses is not mistaken for it.
    ///
    /// `None` where there is no such socket (any more), and where the kernel has no `inet_diag` for the protocol, which
    /// gives the same answer.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn lookup(
        &mut self,
        transport: Transport,
        ends: Ends,
        cookie: Option<u64>,
    ) -> Result<Option<SocketRecord>, NetlinkError> {
        let request = request::exact(transport, ends, cookie, SocketDetail::All);
        self.netlink.get(SOCK_DIAG_BY_FAMILY, &request, SocketRecord::parse)
    }

    /// Asks for TCP sockets that are looked at again and again, each by its ends and cookie, and hands those that are still there
    /// to `each`: one call for [`TOGETHER`](Self::TOGETHER) of them.
    ///
    /// # Errors
    /// Why there are not all answers.
    pub fn look(
        &mut self,
        sockets: &[KnownSocket],
        detail: SocketDetail,
        mut each: impl FnMut(SocketRecord),
    ) -> Result<(), NetlinkError> {
        for some in sockets.chunks(Self::TOGETHER) {
            let requests = some.iter().map(|of| request::exact(Transport::Tcp, of.ends, Some(of.cookie), detail));
            self.netlink
                .get_each(SOCK_DIAG_BY_FAMILY, requests, |message| SocketRecord::parse(message).map(&mut each))?;
        }
        Ok(())
    }

    /// Their answers fit into the queue of a netlink socket, of which each takes some 2 KiB.
    pub const TOGETHER: usize = 32;
}

/// Lists the sockets of a selection in the network namespace of the calling thread; see [`SockDiag::discover`].
///
/// # Errors
/// Why there is no complete list.
pub fn discover(selection: Selection) -> Result<Vec<SocketRecord>, NetlinkError> {
    SockDiag::open()?.discover(selection)
}

const SOCK_DIAG_BY_FAMILY: u16 = 20; // include/uapi/linux/sock_diag.h
/// The request of before Linux 3.3, which knows no family and so lists all (net/ipv4/inet_diag.c, `inet_diag_dump_compat`).
const TCPDIAG_GETSOCK: u16 = 18; // include/uapi/linux/inet_diag.h

#[cfg(test)]
mod tests;
