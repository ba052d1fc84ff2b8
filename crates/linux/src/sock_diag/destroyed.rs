//! The last word of each TCP socket: what the kernel sends to the destroy groups of `NETLINK_SOCK_DIAG` as it frees a socket
//! (net/core/sock_diag.c, `sock_diag_broadcast_destroy`, since Linux 4.2). No polling and no program in the kernel.

use std::io;
use std::os::fd::BorrowedFd;

use super::{SOCK_DIAG_BY_FAMILY, SocketRecord};
use crate::Unavailable;
use crate::monitor::Heard;
use crate::netlink::listening::Listening;

/// Hears of every TCP socket of one network namespace as it dies, with its final `tcp_info`.
#[derive(Debug)]
pub struct DestroyedSockets(Listening);

impl DestroyedSockets {
    /// For the network namespace of the calling thread, with a queue in the kernel of so many bytes. Takes `CAP_NET_ADMIN`
    /// over the namespace, which the root of a user namespace of its own has.
    ///
    /// # Errors
    /// [`Denied`](crate::Reason::Denied) without the privilege.
    pub fn open(queue_bytes: usize) -> Result<Self, Unavailable> {
        let opened = Listening::open(netlink_sys::protocols::NETLINK_SOCK_DIAG, &TCP_GROUPS, queue_bytes);
        opened.map(Self).map_err(|error| Unavailable::because("last words of sockets", &error))
    }

    /// What to wait for.
    #[must_use]
    pub fn file(&self) -> BorrowedFd<'_> {
        self.0.file()
    }

    /// Hands every connection whose socket has died since the last call to `each`, without waiting. A message that is malformed counts
    /// as one that was not heard.
    ///
    /// # Errors
    /// What reading gives; the loss of messages is no error but [`Heard::NotEverything`].
    pub fn drain(&self, mut each: impl FnMut(SocketRecord)) -> io::Result<Heard> {
        let mut whole = Heard::Everything;
        let heard = self.0.drain(|kind, _, payload| {
            if kind != SOCK_DIAG_BY_FAMILY {
                return;
            }
            match SocketRecord::parse(payload) {
                // Listeners, and sockets that never connected, die as well.
                Ok(record) if record.remote.port() == 0 => {}
                Ok(record) => each(record),
                Err(_) => whole = Heard::NotEverything,
            }
        })?;
        Ok(if heard == Heard::NotEverything { heard } else { whole })
    }
}

/// `SKNLGRP_INET_TCP_DESTROY` and `SKNLGRP_INET6_TCP_DESTROY` (include/uapi/linux/sock_diag.h).
const TCP_GROUPS: [u32; 2] = [1, 3];
