//! Batches to send.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use super::address::AddressBuffer;
use super::{BatchShape, MAX_MESSAGE_BYTES, Wait};
use crate::bulk::control::{ControlBuffer, Kind};
use crate::bulk::{Progress, attempt, last_errno};

/// Messages to send with one call, each of them cut into datagrams by the kernel if so wished.
pub struct SendBatch {
    shape: BatchShape,
    arena: Vec<u8>,
    lengths: Vec<usize>,
    segment: ControlBuffer,
    segment_len: usize,
    destination: AddressBuffer,
    destination_len: libc::socklen_t,
    /// Written anew for each call; between calls its pointers are never followed.
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the only parts that are not `Send` by themselves are the pointers in `vectors` and `headers`. They point into
// this very value's heap memory or are stale, and each call writes those it lets the kernel follow.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// A batch of full-length messages of zeros for a connected socket, not segmented.
    #[must_use]
    pub fn new(shape: BatchShape) -> Self {
        let shape = shape.bounded();
        let vector = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: `mmsghdr` is a struct of integers and pointers, for which zero is a value.
        let header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        Self {
            shape,
            arena: vec![0; shape.messages * shape.message_bytes],
            lengths: vec![shape.message_bytes; shape.messages],
            segment: ControlBuffer::EMPTY,
            segment_len: 0,
            destination: AddressBuffer::EMPTY,
            destination_len: 0,
            vectors: vec![vector; shape.messages],
            headers: vec![header; shape.messages],
        }
    }

    /// The shape it has, after bounding.
    #[must_use]
    pub fn shape(&self) -> BatchShape {
        self.shape
    }

    /// The room for the payload of message `index`.
    ///
    /// # Panics
    /// Where there is no such message.
    pub fn payload_mut(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.shape.message_bytes;
        &mut self.arena[start..start + self.shape.message_bytes]
    }

    /// Sends only the first `length` bytes of message `index`, at most the room it has.
    ///
    /// # Panics
    /// Where there is no such message.
    pub fn set_length(&mut self, index: usize, length: usize) {
        self.lengths[index] = length.min(self.shape.message_bytes);
    }

    /// Has the kernel cut each message into datagrams of `bytes` (the last may be shorter), or not (`UDP_SEGMENT`,
    /// since Linux 4.18).
    ///
    /// # Errors
    /// [`SegmentError`] where the size cannot be.
    pub fn set_segment_bytes(&mut self, bytes: Option<usize>) -> Result<(), SegmentError> {
        let Some(bytes) = bytes else {
            self.segment_len = 0;
            return Ok(());
        };
        match u16::try_from(bytes) {
            Ok(size) if size > 0 && bytes <= MAX_MESSAGE_BYTES => {
                self.segment_len = self.segment.write(UDP_SEGMENT, size.to_ne_bytes());
                Ok(())
            }
            _ => Err(SegmentError { bytes }),
        }
    }

    /// Sends to `destination`, or to where the socket is connected.
    pub fn set_destination(&mut self, destination: Option<SocketAddr>) {
        self.destination_len = destination.map_or(0, |address| self.destination.write(&address));
    }

    /// Sends the messages of `range` in order and returns how many went. Where it is fewer, the next call goes on behind
    /// them and tells what stopped this one.
    ///
    /// # Errors
    /// `InvalidInput` where there are no such messages, else what `sendmmsg` gives for the first of them, except for
    /// what [`Progress`] holds: `EMSGSIZE` for a message or segment too large for the path, `EINVAL` for too many
    /// segments, `EIO` where the device cannot segment, `ECONNREFUSED` where the peer had no socket.
    pub fn send(&mut self, fd: BorrowedFd<'_>, range: Range<usize>, wait: Wait) -> io::Result<Progress> {
        if range.start >= range.end || range.end > self.shape.messages {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.point_at(range.clone());
        let headers = &mut self.headers[range];
        let count = libc::c_uint::try_from(headers.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        attempt(|| {
            let flags = wait.flags() | libc::MSG_NOSIGNAL;
            // SAFETY: the headers of the range have just been pointed at memory of `self` with its lengths; all of it
            // lives through the call, and the kernel writes only `msg_len` of each header.
            let sent = unsafe { libc::sendmmsg(fd.as_raw_fd(), headers.as_mut_ptr(), count, flags as _) };
            usize::try_from(sent).map_err(|_| last_errno())
        })
    }

    /// Payload bytes in the messages of `range`, for counting what [`send`](Self::send) has sent.
    #[must_use]
    pub fn bytes_in(&self, range: Range<usize>) -> u64 {
        self.lengths.get(range).unwrap_or_default().iter().map(|&length| length as u64).sum()
    }

    fn point_at(&mut self, range: Range<usize>) {
        let (destination, control) = (self.destination.0.as_mut_ptr(), self.segment.0.as_mut_ptr());
        let payloads = self.arena.chunks_exact_mut(self.shape.message_bytes);
        let parts = self.headers.iter_mut().zip(&mut self.vectors).zip(payloads.zip(&self.lengths));
        for ((header, vector), (payload, &length)) in parts.take(range.end).skip(range.start) {
            *vector = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: length };
            let message = &mut header.msg_hdr;
            message.msg_iov = vector;
            message.msg_iovlen = 1;
            message.msg_name = if self.destination_len > 0 { destination.cast() } else { ptr::null_mut() };
            message.msg_namelen = self.destination_len;
            message.msg_control = if self.segment_len > 0 { control.cast() } else { ptr::null_mut() };
            // musl has 32 bits here where glibc has the kernel's 64.
            message.msg_controllen = self.segment_len as _;
        }
    }
}

/// A size no datagram can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a datagram cannot carry {bytes} bytes: 1 to {MAX_MESSAGE_BYTES} are possible")]
pub struct SegmentError {
    /// The size asked for, in bytes.
    pub bytes: usize,
}

const UDP_SEGMENT: Kind = Kind { level: libc::SOL_UDP, name: libc::UDP_SEGMENT };
