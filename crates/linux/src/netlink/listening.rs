//! Netlink sockets that are told of what happens: multicast groups.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use netlink_packet_core::NetlinkBuffer;
use netlink_sys::Socket;

use crate::monitor::Heard;

/// A socket that has joined multicast groups, in the network namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Listening {
    socket: Socket,
    buffer: Mutex<Vec<u8>>,
}

impl Listening {
    /// Joins multicast groups of a protocol, with a queue in the kernel of so many bytes.
    pub(crate) fn open(protocol: isize, groups: &[u32], queue_bytes: usize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.set_non_blocking(true)?;
        socket.set_rx_buf_sz(i32::try_from(queue_bytes).unwrap_or(i32::MAX))?;
        for group in groups {
            socket.add_membership(*group)?;
        }
        Ok(Self { socket, buffer: Mutex::new(Vec::with_capacity(BUFFER_LEN)) })
    }

    /// What to wait for.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Hands each message that has come to `each`, without waiting: its kind, who asked for it, and what follows the
    /// header.
    pub(crate) fn drain(&self, mut each: impl FnMut(u16, Option<u32>, &[u8])) -> io::Result<Heard> {
        let mut heard = Heard::Everything;
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            buffer.clear();
            match self.socket.recv_from(&mut *buffer, libc::MSG_TRUNC) {
                // Anybody may send to the port of a socket; only the kernel has the port 0.
                Ok((_, sender)) if sender.port_number() != 0 => {}
                // A message that is cut short is one that was not heard.
                Ok((length, _)) if length > buffer.len() => heard = Heard::NotEverything,
                Ok(_) => walk(&buffer, &mut each),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(heard),
                    Some(libc::ENOBUFS) => heard = Heard::NotEverything,
                    Some(libc::EINTR) => {}
                    _ => return Err(error),
                },
            }
        }
    }
}

/// Hands each message of a datagram on: its kind, who asked for it, and what follows the header.
fn walk(datagram: &[u8], each: &mut impl FnMut(u16, Option<u32>, &[u8])) {
    let mut rest = datagram;
    while let Ok(message) = NetlinkBuffer::new_checked(rest) {
        let port = Some(message.port_number()).filter(|&port| port != 0);
        each(message.message_type(), port, message.payload());
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

/// Of the largest messages, a device with hundreds of virtual functions, a few KiB more than this are told of as lost.
const BUFFER_LEN: usize = 64 << 10;
