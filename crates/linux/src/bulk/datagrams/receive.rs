//! Batches to receive.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use units::WallTime;

use super::address::{ADDRESS_ROOM_LEN, AddressBuffer};
use super::{BatchShape, Wait};
use crate::bulk::control::{self, ControlBuffer, Kind};
use crate::bulk::{Progress, attempt, last_errno};

/// Room for messages received with one call.
///
/// With a room smaller than the datagrams the kernel copies only their beginnings, while the lengths stay true: that is
/// how to count datagrams and keep their headers at the least cost.
pub struct ReceiveBatch {
    shape: BatchShape,
    received: usize,
    arena: Vec<u8>,
    sources: Vec<AddressBuffer>,
    controls: Vec<ControlBuffer>,
    /// Written anew for each call; between calls its pointers are never followed.
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the only parts that are not `Send` by themselves are the pointers in `vectors` and `headers`. They point into
// this very value's heap memory or are stale, and each call writes those it lets the kernel follow.
unsafe impl Send for ReceiveBatch {}

impl fmt::Debug for ReceiveBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiveBatch")
            .field("shape", &self.shape)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

impl ReceiveBatch {
    /// An empty batch. For a socket with GRO a message should have room for 64 KiB.
    #[must_use]
    pub fn new(shape: BatchShape) -> Self {
        let shape = shape.bounded();
        let vector = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: `mmsghdr` is a struct of integers and pointers, for which zero is a value.
        let header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        Self {
            shape,
            received: 0,
            arena: vec![0; shape.messages * shape.message_bytes],
            sources: vec![AddressBuffer::EMPTY; shape.messages],
            controls: vec![ControlBuffer::EMPTY; shape.messages],
            vectors: vec![vector; shape.messages],
            headers: vec![header; shape.messages],
        }
    }

    /// Receives as many messages as are there and fit, and returns how many. What the batch held before is gone.
    ///
    /// # Errors
    /// What `recvmmsg` gives, except for what [`Progress`] holds; `ECONNREFUSED` where the peer of a connected socket
    /// had none.
    pub fn receive(&mut self, fd: BorrowedFd<'_>, wait: Wait) -> io::Result<Progress> {
        self.received = 0;
        self.point_at_room();
        let headers = &mut self.headers;
        let count = libc::c_uint::try_from(headers.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // Without MSG_WAITFORONE a blocking socket would wait until the whole batch is full. MSG_TRUNC has the kernel
        // report the true length of a datagram that does not fit.
        let flags = wait.flags() | libc::MSG_WAITFORONE | libc::MSG_TRUNC;
        let progress = attempt(|| {
            // SAFETY: the headers have just been pointed at memory of `self` with its lengths; all of it lives through
            // the call and nothing else refers to it.
            let received =
                unsafe { libc::recvmmsg(fd.as_raw_fd(), headers.as_mut_ptr(), count, flags as _, ptr::null_mut()) };
            usize::try_from(received).map_err(|_| last_errno())
        })?;
        if let Progress::Moved(received) = progress {
            self.received = received.min(self.shape.messages);
        }
        Ok(progress)
    }

    /// The messages of the last call, in the order of their arrival.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Datagram<'_>> {
        let payloads = self.arena.chunks_exact(self.shape.message_bytes);
        let parts = self.headers.iter().zip(payloads).zip(self.sources.iter().zip(&self.controls));
        parts.take(self.received).map(|((header, room), (source, control))| {
            let wire_bytes = usize::try_from(header.msg_len).unwrap_or(usize::MAX);
            let message = &header.msg_hdr;
            Datagram {
                payload: &room[..wire_bytes.min(room.len())],
                bytes: wire_bytes,
                source,
                source_len: usize::try_from(message.msg_namelen).unwrap_or(0),
                control: control.0.get(..message.msg_controllen as _).unwrap_or_default(),
            }
        })
    }

    fn point_at_room(&mut self) {
        let payloads = self.arena.chunks_exact_mut(self.shape.message_bytes);
        let beside = self.sources.iter_mut().zip(&mut self.controls);
        for ((header, vector), (payload, (source, control))) in
            self.headers.iter_mut().zip(&mut self.vectors).zip(payloads.zip(beside))
        {
            *vector = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
            let message = &mut header.msg_hdr;
            message.msg_iov = vector;
            message.msg_iovlen = 1;
            message.msg_name = source.0.as_mut_ptr().cast();
            message.msg_namelen = ADDRESS_ROOM_LEN;
            message.msg_control = control.0.as_mut_ptr().cast();
            // musl has 32 bits here where glibc has the kernel's 64.
            message.msg_controllen = control.0.len() as _;
        }
    }
}

/// One received message: a datagram, or several of one size that the kernel has joined.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// The payload, as far as there was room for it.
    pub payload: &'a [u8],
    /// The length of the whole payload in bytes, whether there was room for it or not.
    pub bytes: usize,
    source: &'a AddressBuffer,
    source_len: usize,
    control: &'a [u8],
}

/// What the kernel reported with a message. Each is absent unless the socket was told to report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Size of the datagrams that were joined, the last of which may be shorter (`UDP_GRO`). Absent for a single one.
    pub segment_bytes: Option<usize>,
    /// Datagrams the socket has dropped up to this one, for lack of room, modulo 2^32 (`SO_RXQ_OVFL`). Absent while
    /// there is none.
    pub drops: Option<u32>,
    /// When the kernel received it (`SO_TIMESTAMPNS`).
    pub received_at: Option<WallTime>,
    /// TTL or hop limit with which it arrived (`IP_RECVTTL`, `IPV6_RECVHOPLIMIT`).
    pub hop_limit: Option<u8>,
}

impl<'a> Datagram<'a> {
    /// Who sent it.
    #[must_use]
    pub fn source(&self) -> Option<SocketAddr> {
        self.source.read(self.source_len)
    }

    /// The address as the kernel wrote it, of whatever family.
    pub(crate) fn raw_source(&self) -> &'a [u8] {
        self.source.0.get(..self.source_len).unwrap_or_default()
    }

    /// The control messages that came with it.
    pub(crate) fn control(&self) -> &'a [u8] {
        self.control
    }

    /// What the kernel reported with it, read in one go.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        for (kind, data) in control::messages(self.control) {
            match kind {
                UDP_GRO => {
                    let size = control::word(data, 0).and_then(|size| usize::try_from(size).ok());
                    report.segment_bytes = size.filter(|&size| size > 0);
                }
                SO_RXQ_OVFL => report.drops = control::word(data, 0),
                SCM_TIMESTAMPNS => report.received_at = wall_time(data),
                TTL | HOP_LIMIT => report.hop_limit = control::word(data, 0).and_then(|word| word.try_into().ok()),
                _ => {}
            }
        }
        report
    }

    /// How many datagrams on the wire it stands for.
    #[must_use]
    pub fn datagrams(&self) -> usize {
        self.report().segment_bytes.map_or(1, |size| self.bytes.div_ceil(size))
    }

    /// The payloads of the single datagrams, as far as there was room for them.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        let size = self.report().segment_bytes.unwrap_or(usize::MAX);
        self.payload.chunks(size)
    }
}

/// Reads `struct timespec`.
pub(crate) fn wall_time(data: &[u8]) -> Option<WallTime> {
    let seconds = i64::from_ne_bytes(data.get(..8)?.try_into().ok()?);
    let nanos = i64::from_ne_bytes(data.get(8..16)?.try_into().ok()?);
    let nanos = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(nanos).ok()?)?;
    Some(WallTime::from_unix_nanos(nanos))
}

const UDP_GRO: Kind = Kind { level: libc::SOL_UDP, name: libc::UDP_GRO };
const SO_RXQ_OVFL: Kind = Kind { level: libc::SOL_SOCKET, name: libc::SO_RXQ_OVFL };
const SCM_TIMESTAMPNS: Kind = Kind { level: libc::SOL_SOCKET, name: libc::SCM_TIMESTAMPNS };
const TTL: Kind = Kind { level: libc::IPPROTO_IP, name: libc::IP_TTL };
const HOP_LIMIT: Kind = Kind { level: libc::IPPROTO_IPV6, name: libc::IPV6_HOPLIMIT };
