//! Segments that were sent together, and what an acknowledgement tells of them.

use units::MonoTime;

use crate::sender::rate::Stamp;

/// Segments that were first sent together, as segmentation offload cuts them. Bits count from the first of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Number of the first segment.
    pub(crate) first: u32,
    /// How many there are, at most [`MOST_SEGMENTS`](super::MOST_SEGMENTS).
    pub(crate) count: u32,
    /// Those that a selective acknowledgement has named.
    pub(super) sacked: u64,
    /// Those held to be lost.
    pub(super) lost: u64,
    /// Those sent again since they were held to be lost.
    pub(super) resent: u64,
    /// Those that were ever sent again.
    pub(super) ever_resent: u64,
    pub(super) sent: MonoTime,
    /// Model: one instant for the segments of a frame, the last at which any of them was sent again.
    pub(super) resent_at: MonoTime,
    /// The first instant at which any of those was sent again that are on their way.
    pub(super) resent_since: MonoTime,
    pub(super) stamp: Stamp,
}

/// What one acknowledgement told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct News {
    /// Segments by which the oldest unacknowledged one moved on.
    pub(crate) acked: u32,
    /// Whether one of them had been sent again (`FLAG_RETRANS_DATA_ACKED`).
    pub(crate) resent_acked: bool,
    /// Segments of which it is new that they arrived.
    pub(crate) delivered: u32,
    /// Segments held to be lost since.
    pub(crate) lost: u32,
    /// Those of them that had been sent again.
    pub(crate) lost_again: u32,
    /// When the first and the last sent of the new ones were sent, of those sent once.
    pub(crate) oldest: Option<MonoTime>,
    pub(crate) newest: Option<MonoTime>,
    /// The last sent of all new ones.
    pub(crate) latest: Option<Latest>,
    /// How far before the highest segment that had arrived a segment did that was sent once.
    pub(crate) reordered: bool,
    /// What was sent again after this arrived too early for that: it is the first one that did.
    pub(crate) early: MonoTime,
    /// Whether something that was held to be lost arrived after all.
    pub(crate) original_arrived: bool,
}

/// A segment that arrived, with the state of the connection when it was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latest {
    pub(crate) sent: MonoTime,
    pub(crate) end: u32,
    pub(crate) was_resent: bool,
    pub(crate) stamp: Stamp,
}

impl Frame {
    pub(super) fn bits(&self, from: u32, to: u32) -> u64 {
        let from = from.max(self.first) - self.first;
        let to = to.min(self.first + self.count).max(self.first) - self.first;
        ones(to) & !ones(from)
    }

    pub(super) fn end(&self) -> u32 {
        self.first + self.count
    }

    pub(super) fn last_sent(&self, bits: u64) -> MonoTime {
        if bits & self.ever_resent != 0 { self.resent_at } else { self.sent }
    }
}

/// The lowest bits.
pub(super) fn ones(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// Notes that the segments `new` of a frame have arrived.
#[inline]
pub(super) fn note_arrival(frame: &Frame, new: u64, highest: u32, news: &mut News) {
    if new == 0 {
        return;
    }
    news.delivered += new.count_ones();
    let once = new & !frame.ever_resent;
    let end = frame.first + (64 - new.leading_zeros());
    if once != 0 {
        news.oldest = news.oldest.or(Some(frame.sent));
        news.newest = Some(frame.sent);
        news.reordered |= frame.first + (64 - once.leading_zeros()) < highest && once & frame.lost == 0;
        news.original_arrived |= once & frame.lost != 0;
    }
    news.original_arrived |= new & frame.resent != 0 && frame.resent_since > news.early;
    let sent = frame.last_sent(new);
    if news.latest.is_none_or(|latest| (sent, end) > (latest.sent, latest.end)) {
        news.latest = Some(Latest { sent, end, was_resent: once != new, stamp: frame.stamp });
    }
}
