//! The receiving end: what has come, what is offered, and when to say so.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the settings, and what a segment does |
//! | `gaps` | what came before what is missing |
//! | `offer` | the window, and how it grows |

mod gaps;
mod offer;

use std::time::Duration;

use units::{ByteCount, MonoTime};

use gaps::Gaps;
use offer::{Offer, UNSCALED};

/// A receiving host and its settings.
#[derive(Debug, Clone)]
pub struct ReceiverSpec {
    /// What the receive buffer begins with (`tcp_rmem[1]`).
    pub buffer_default: ByteCount,
    /// The most it grows to (`tcp_rmem[2]`).
    pub buffer: ByteCount,
    /// Segments that are offered at first (`initrwnd` of the route).
    pub initial_window: Option<u32>,
    /// What it acknowledges at once.
    pub acknowledging: Acknowledging,
}

/// When a receiver acknowledges what comes in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Acknowledging {
    /// With the second segment, or 40 ms after the first (RFC 9293 §3.8.6.3), as Linux does.
    Delayed,
    /// Whatever comes, at once. The frame that was sent is the unit: without segmentation offload, each segment.
    Each,
}

/// What a receiver says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// Everything before this segment has come.
    pub(crate) to: u32,
    /// Bytes from there on that are allowed.
    pub(crate) window: u64,
    /// What came beyond that, the latest first (RFC 2018). Empty ones are none.
    pub(crate) blocks: [(u32, u32); 4],
    /// Segments that came twice (RFC 2883).
    pub(crate) twice: u32,
    /// Segments that were marked by a queue.
    pub(crate) marked: u32,
}

/// Segments that came together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) marked: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Receiver {
    gaps: Gaps,
    offer: Offer,
    /// Segments in order that are not acknowledged yet.
    unsaid: u32,
    twice: u32,
    marked: u32,
    late: Option<MonoTime>,
    /// Segments that are acknowledged at once (`tcp_enter_quickack_mode`).
    quick: u32,
    acknowledging: Acknowledging,
}

/// `TCP_DELACK_MIN`.
const LATE: Duration = Duration::from_millis(40);
/// `TCP_MAX_QUICKACKS`.
const QUICK: u32 = 16;

impl Receiver {
    pub(crate) fn new(spec: &ReceiverSpec, mss: u32) -> Self {
        Self {
            gaps: Gaps::new(),
            offer: Offer::new(spec, mss),
            unsaid: 0,
            twice: 0,
            marked: 0,
            late: None,
            quick: QUICK,
            acknowledging: spec.acknowledging,
        }
    }

    /// The connection begins; a middlebox may have taken out the option for large windows (RFC 7323 §2.2).
    pub(crate) fn begins(&mut self, now: MonoTime, scaling: bool) -> u64 {
        self.offer.begins(now, scaling);
        // The window of a first segment is never scaled (RFC 7323 §2.2), however much is allowed with the next.
        self.offer.window(0, 0).min(UNSCALED)
    }

    /// Takes segments. Returns what has to be said at once.
    ///
    /// Model: the adapter and the kernel merge what comes of one frame at one instant (GRO), and nothing else; the
    /// application reads at once.
    pub(crate) fn arrived(&mut self, arrival: Arrival, rtt: Duration, now: MonoTime) -> Option<Acknowledgement> {
        let Arrival { first, count, marked } = arrival;
        let before = self.gaps.next();
        let had_gap = self.gaps.beyond() > 0;
        let new = self.gaps.take(first, first + count);
        self.twice += count - new;
        self.marked += if marked { count } else { 0 };
        let read = self.gaps.next() - before;
        if read > 0 {
            self.offer.read(read, count, rtt, now);
        }
        self.unsaid += read;
        let at_once = had_gap || self.gaps.beyond() > 0 || new < count || marked || self.unsaid >= 2;
        let quick = self.quick > 0 || self.acknowledging == Acknowledging::Each;
        self.quick = self.quick.saturating_sub(count);
        if at_once || quick {
            return Some(self.say());
        }
        self.late = self.late.or(Some(now + LATE));
        None
    }

    pub(crate) fn due(&self) -> Option<MonoTime> {
        self.late
    }

    /// What has to be said now, though nothing came.
    pub(crate) fn advance(&mut self, now: MonoTime) -> Option<Acknowledgement> {
        self.late.filter(|late| *late <= now)?;
        Some(self.say())
    }

    /// Segments that came in order.
    pub(crate) fn next(&self) -> u32 {
        self.gaps.next()
    }

    fn say(&mut self) -> Acknowledgement {
        let said = Acknowledgement {
            to: self.gaps.next(),
            window: self.offer.window(self.gaps.next(), self.gaps.beyond()),
            blocks: self.gaps.blocks(),
            twice: self.twice,
            marked: self.marked,
        };
        (self.unsaid, self.twice, self.marked, self.late) = (0, 0, 0, None);
        said
    }
}
