//! One event of a tracepoint.

use units::MonoTime;

/// An event, as long as it lies in the ring of its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracepointEvent<'a> {
    /// When it happened, by the monotonic clock.
    pub at: MonoTime,
    /// Its fields, where [`Format`](super::format::Format) says.
    pub bytes: &'a [u8],
}
