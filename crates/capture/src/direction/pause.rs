//! A pause of the sender, and the burst that ends it.

/// A pause of the sender that a burst ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pause {
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    /// Bytes outstanding when it began, before the acknowledgments that may have ended it, and when it ended.
    pub(super) peak: u64,
    pub(super) before: u64,
    pub(super) after: u64,
    /// The burst followed an acknowledgment at once.
    pub(super) is_released: bool,
}

/// The first packet behind a pause, which an acknowledgment has come before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    /// Bytes outstanding before that acknowledgment.
    pub(super) before: u64,
    /// Bytes outstanding before those of the last half of a millisecond.
    pub(super) train: u64,
    /// Bytes outstanding when the packet left.
    pub(super) after: u64,
    /// Bytes outstanding when the pause began.
    pub(super) peak: u64,
    /// When the packet left, how long behind the one before it, and how long behind the acknowledgment.
    pub(super) at_ns: i64,
    pub(super) data_ns: i64,
    pub(super) ack_ns: i64,
    /// Acknowledgments in the pause, and those of them with the receiver's window open.
    pub(super) acks: u32,
    pub(super) roomy: u32,
}

saved!(Pause { from_ns, to_ns, peak, before, after, is_released });
