//! Many UDP datagrams in one system call.
//!
//! Two mechanisms multiply: `sendmmsg` and `recvmmsg` take a batch of messages, and the kernel cuts one message into
//! many datagrams (`UDP_SEGMENT`, GSO) or joins many of a flow into one (`UDP_GRO`). Payload lives in one arena owned by
//! the batch, so that nothing is allocated after the start.

pub(crate) mod address;
mod receive;
mod send;

pub(crate) use receive::wall_time;
pub use receive::{Datagram, ReceiveBatch, Report};
pub use send::{SegmentError, SendBatch};

use crate::host::KernelVersion;

/// The shape of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchShape {
    /// How many messages it holds. The kernel takes up to 1024 in one call (`UIO_MAXIOV`), so more is cut to that.
    pub messages: usize,
    /// Room for the payload of each message, in bytes.
    pub message_bytes: usize,
}

impl BatchShape {
    fn bounded(self) -> Self {
        Self { messages: self.messages.clamp(1, MAX_MESSAGES), message_bytes: self.message_bytes.max(1) }
    }
}

/// Whether a call waits for the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until the first message can be moved, as far as the socket blocks.
    ForFirst,
    /// Not at all.
    Never,
}

impl Wait {
    fn flags(self) -> libc::c_int {
        match self {
            Self::ForFirst => 0,
            Self::Never => libc::MSG_DONTWAIT,
        }
    }
}

/// Datagrams into which `kernel` cuts one message at most (`UDP_MAX_SEGMENTS`, include/linux/udp.h: 64 up to Linux 6.8,
/// then 128). More are refused with `EINVAL`.
#[must_use]
pub fn max_segments(kernel: KernelVersion) -> usize {
    if kernel >= (KernelVersion { major: 6, minor: 9 }) { 128 } else { 64 }
}

/// Payload bytes of the largest message, segmented or not: 65535 less the headers of IPv4 and UDP.
pub const MAX_MESSAGE_BYTES: usize = 65_507;

/// Messages in one call at most (`UIO_MAXIOV`, include/uapi/linux/uio.h).
pub const MAX_MESSAGES: usize = 1024;

#[cfg(test)]
mod tests;
