//! Taking messages and errors from an ICMP socket.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use units::WallTime;

use super::IcmpSocket;
use crate::bulk::control::{self, Kind};
use crate::bulk::datagrams::address::{ADDRESS_ROOM_LEN, AddressBuffer};
use crate::bulk::datagrams::wall_time;

/// A message that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// Its bytes; on a raw IPv4 socket with the IP header before them.
    pub bytes: &'a [u8],
    /// Who sent it.
    pub source: Option<IpAddr>,
    /// The hop limit that it had left.
    pub hop_limit: Option<u8>,
    /// When the kernel received it.
    pub received_at: Option<WallTime>,
}

/// An error that the kernel has queued for the socket (`struct sock_extended_err`, include/uapi/linux/errqueue.h).
#[derive(Debug, Clone, Copy)]
pub struct QueuedError<'a> {
    /// Who noticed (`ee_origin`).
    pub origin: Origin,
    /// The ICMP type (`ee_type`).
    pub icmp_type: u8,
    /// The ICMP code (`ee_code`).
    pub code: u8,
    /// What the error has to say, such as an MTU (`ee_info`).
    pub info: u32,
    /// Who sent the ICMP error.
    pub reporter: Option<IpAddr>,
    /// The ICMP message that was sent and caused it, from its header on, as far as the error quotes it.
    pub original: &'a [u8],
    /// When the kernel received it.
    pub received_at: Option<WallTime>,
}

/// Who noticed an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This host's kernel.
    Local,
    /// A host on the path, by ICMP of either family.
    Icmp,
    /// Another.
    Other(u8),
}

impl IcmpSocket {
    /// The next message, [`None`] where there is none now.
    ///
    /// # Errors
    /// What `recvmsg` gives; also an error that the kernel has queued and nobody has taken yet.
    pub fn receive(&mut self) -> io::Result<Option<Incoming<'_>>> {
        let Some(taken) = self.take(0)? else { return Ok(None) };
        let mut incoming = Incoming {
            bytes: &self.payload[..taken.bytes],
            source: self.source.read(taken.source).map(|address| address.ip().to_canonical()),
            hop_limit: None,
            received_at: None,
        };
        for (kind, data) in control::messages(&self.control.0[..taken.control]) {
            match kind {
                TTL | HOP_LIMIT => incoming.hop_limit = control::word(data, 0).and_then(|word| word.try_into().ok()),
                SCM_TIMESTAMPNS => incoming.received_at = wall_time(data),
                _ => {}
            }
        }
        Ok(Some(incoming))
    }

    /// The next error of the error queue, [`None`] where there is none now. One that is not understood has the origin
    /// that it says and is otherwise empty.
    ///
    /// # Errors
    /// What `recvmsg` gives.
    pub fn receive_error(&mut self) -> io::Result<Option<QueuedError<'_>>> {
        let Some(taken) = self.take(libc::MSG_ERRQUEUE)? else { return Ok(None) };
        let mut error = QueuedError {
            origin: Origin::Other(0),
            icmp_type: 0,
            code: 0,
            info: 0,
            reporter: None,
            original: &self.payload[..taken.bytes],
            received_at: None,
        };
        for (kind, data) in control::messages(&self.control.0[..taken.control]) {
            match kind {
                RECVERR | RECVERR6 => note(&mut error, data),
                SCM_TIMESTAMPNS => error.received_at = wall_time(data),
                _ => {}
            }
        }
        Ok(Some(error))
    }

    fn take(&mut self, flags: libc::c_int) -> io::Result<Option<Taken>> {
        let mut vector = libc::iovec { iov_base: self.payload.as_mut_ptr().cast(), iov_len: self.payload.len() };
        // SAFETY: `msghdr` is a struct of integers and pointers, for which zero is a value.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_name = self.source.0.as_mut_ptr().cast();
        message.msg_namelen = ADDRESS_ROOM_LEN;
        message.msg_control = self.control.0.as_mut_ptr().cast();
        // musl has 32 bits here where glibc has the kernel's 64.
        message.msg_controllen = self.control.0.len() as _;
        loop {
            // SAFETY: the header points at memory of `self` and at `vector` with their lengths; all of it lives through
            // the call and nothing else refers to it.
            let bytes = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, flags | libc::MSG_DONTWAIT) };
            let Ok(bytes) = usize::try_from(bytes) else {
                let error = io::Error::last_os_error();
                match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    io::ErrorKind::WouldBlock => return Ok(None),
                    _ => return Err(error),
                }
            };
            let control: usize = message.msg_controllen as _;
            return Ok(Some(Taken {
                bytes: bytes.min(self.payload.len()),
                source: usize::try_from(message.msg_namelen).unwrap_or(0),
                control: control.min(self.control.0.len()),
            }));
        }
    }
}

/// How much of each room `recvmsg` has filled.
struct Taken {
    bytes: usize,
    source: usize,
    control: usize,
}

/// Reads `struct sock_extended_err` and the address after it (`SO_EE_OFFENDER`).
fn note(error: &mut QueuedError<'_>, data: &[u8]) {
    let &[_, _, _, _, origin, icmp_type, code, _, ref rest @ ..] = data else { return };
    error.origin = match origin {
        1 => Origin::Local,    // SO_EE_ORIGIN_LOCAL
        2 | 3 => Origin::Icmp, // SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6
        other => Origin::Other(other),
    };
    (error.icmp_type, error.code) = (icmp_type, code);
    error.info = control::word(rest, 0).unwrap_or(0);
    error.reporter = rest.get(EXTENDED_ERR - 8..).and_then(address).map(|address| address.ip().to_canonical());
}

fn address(bytes: &[u8]) -> Option<SocketAddr> {
    let mut buffer = AddressBuffer::EMPTY;
    let length = bytes.len().min(buffer.0.len());
    buffer.0[..length].copy_from_slice(&bytes[..length]);
    buffer.read(length)
}

/// `size_of::<sock_extended_err>()`.
const EXTENDED_ERR: usize = 16;

const TTL: Kind = Kind { level: libc::IPPROTO_IP, name: libc::IP_TTL };
const HOP_LIMIT: Kind = Kind { level: libc::IPPROTO_IPV6, name: libc::IPV6_HOPLIMIT };
const RECVERR: Kind = Kind { level: libc::IPPROTO_IP, name: libc::IP_RECVERR };
const RECVERR6: Kind = Kind { level: libc::IPPROTO_IPV6, name: libc::IPV6_RECVERR };
const SCM_TIMESTAMPNS: Kind = Kind { level: libc::SOL_SOCKET, name: libc::SCM_TIMESTAMPNS };
