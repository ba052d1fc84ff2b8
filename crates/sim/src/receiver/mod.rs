//! The receiving end: what has come, what is offered, and when to say so.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the settings, and what a segment does |
//! | `gaps` | what came before what is missing |
//! | `offer` | the window, and how it grows |
//! | `reader` | a program that does not read at once |
//! | `host` | the NIC's ring and the CPU before it |

mod gaps;
mod host;
mod offer;
mod reader;

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime, Percent};

use gaps::Gaps;
pub use host::HostSpec;
pub(crate) use host::{Inbox, Order};
use offer::{Offer, UNSCALED};
use reader::Reader;

#[cfg(doc)]
use crate::kernel::Kernel;
use crate::turns::Turns;

/// A receiving host and its settings.
#[derive(Debug, Clone)]
pub struct ReceiverSpec {
    /// What the receive buffer begins with (`tcp_rmem[1]`).
    pub buffer_default: ByteCount,
    /// The most it grows to (`tcp_rmem[2]`).
    pub buffer: ByteCount,
    /// How much of the buffer is offered as window; the rest is held to be overhead ([`Kernel::window_percent`]).
    pub window_percent: Percent,
    /// Segments that are offered at first (`initrwnd` of the route).
    pub initial_window: Option<u32>,
    /// What it acknowledges at once.
    pub acknowledging: Acknowledging,
    /// How fast the application reads; at once without.
    pub reading_rate: Option<DataRate>,
    /// When the application runs; always without.
    pub turns: Option<Turns>,
    /// What limits the host below TCP; nothing without.
    pub host: Option<HostSpec>,
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
    /// When it was said, in milliseconds: the time stamp of RFC 7323.
    pub(crate) said_ms: u32,
    /// Bytes from there on that are allowed.
    pub(crate) window: u64,
    /// What came beyond that, the latest first (RFC 2018). Empty ones are none.
    pub(crate) blocks: [(u32, u32); 4],
    /// Segments that came twice (RFC 2883).
    pub(crate) twice: u32,
    /// The last of them, from the first to before the last: what the option names. An empty range is none.
    pub(crate) duplicate: (u32, u32),
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
    /// None where the application reads at once.
    reader: Option<Reader>,
    /// The sender's last round trip.
    rtt: Duration,
    /// When a window that was nearly shut is said to be open once more, unless something comes before.
    reopened: Option<MonoTime>,
    /// Segments in order that are not acknowledged yet.
    unsaid: u32,
    twice: u32,
    duplicate: (u32, u32),
    marked: u32,
    late: Option<MonoTime>,
    /// Segments that are acknowledged at once (`tcp_enter_quickack_mode`).
    quick: u32,
    acknowledging: Acknowledging,
}

/// `TCP_DELACK_MIN`.
const LATE: Duration = Duration::from_millis(40);
/// The first time between two probes of a window that is shut (`tcp_probe0_base`).
const PERSIST: Duration = Duration::from_millis(200);
/// `TCP_MAX_QUICKACKS`, less one.
///
/// Model: before the transfer the sender has said a few bytes that were acknowledged: a request, or the cookie of iperf3.
const QUICK: u32 = 16 - 1;

impl Receiver {
    pub(crate) fn new(spec: &ReceiverSpec, mss: u32) -> Self {
        Self {
            gaps: Gaps::new(),
            offer: Offer::new(spec, mss),
            reader: (spec.reading_rate.is_some() || spec.turns.is_some())
                .then(|| Reader::new(spec.reading_rate, spec.turns, mss)),
            rtt: Duration::ZERO,
            reopened: None,
            unsaid: 0,
            twice: 0,
            duplicate: (0, 0),
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
        self.offer.window(0, 0, 0).min(UNSCALED)
    }

    /// Takes segments. Returns what has to be said at once.
    ///
    /// Model: the adapter and the kernel merge what comes of one frame at one instant (GRO), and nothing else.
    pub(crate) fn arrived(&mut self, arrival: Arrival, rtt: Duration, now: MonoTime) -> Option<Acknowledgement> {
        let Arrival { first, count, marked } = arrival;
        let before = self.gaps.next();
        let had_gap = self.gaps.beyond() > 0;
        let new = self.gaps.take(first, first + count);
        if new < count {
            self.twice += count - new;
            self.duplicate = (first, first + count - new);
        }
        self.marked += if marked { count } else { 0 };
        let read = self.gaps.next() - before;
        (self.rtt, self.reopened) = (rtt, None);
        let taken = match &mut self.reader {
            Some(reader) => {
                reader.came(read, now);
                reader.take(now)
            }
            None => read,
        };
        if taken > 0 && self.offer.read(taken, count, rtt, now) {
            // The sender hears of a larger window at once (`tcp_grow_window`: `icsk_ack.quick |= 1`).
            self.quick |= 1;
        }
        self.unsaid += read;
        let at_once = had_gap || self.gaps.beyond() > 0 || new < count || marked || self.unsaid >= 2;
        let quick = self.quick > 0 || self.acknowledging == Acknowledging::Each;
        if at_once || quick {
            // Each acknowledgement sent uses one (`tcp_dec_quickack_mode`).
            self.quick = self.quick.saturating_sub(1);
            return Some(self.say());
        }
        self.late = self.late.or(Some(now + LATE));
        None
    }

    pub(crate) fn due(&self) -> Option<MonoTime> {
        let Some(reader) = &self.reader else { return self.late };
        [self.late, reader.due(), self.reopened].into_iter().flatten().min()
    }

    /// The window scale of its SYN.
    pub(crate) fn window_scale(&self) -> u8 {
        self.offer.scale()
    }

    /// The most that its buffer was to grow to.
    pub(crate) fn most_buffer_asked(&self) -> ByteCount {
        self.offer.most_asked()
    }

    /// Segments that have come in order and that the application has not read.
    pub(crate) fn unread(&self) -> u32 {
        self.reader.as_ref().map_or(0, Reader::unread)
    }

    /// Bytes that the sender may still send.
    pub(crate) fn allowed(&self) -> u64 {
        self.offer.allowed(self.gaps.next())
    }

    /// What has to be said now, though nothing came.
    pub(crate) fn advance(&mut self, now: MonoTime) -> Option<Acknowledgement> {
        let is_late = self.late.is_some_and(|late| late <= now);
        let reopens = self.reads_on(now);
        (is_late || reopens).then(|| self.say())
    }

    /// The application goes on reading. Whether the sender has to hear of the room that this makes: where the window that
    /// it knows is half of the new one at most (`tcp_cleanup_rbuf`).
    fn reads_on(&mut self, now: MonoTime) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        let taken = if reader.due().is_some_and(|due| due <= now) { reader.take(now) } else { 0 };
        if taken > 0 {
            let _ = self.offer.read(taken, taken, self.rtt, now);
        }
        let known = self.allowed();
        let room = self.offer.room(self.gaps.next(), self.gaps.beyond(), self.unread());
        let opens = taken > 0 && room > 0 && room >= 2 * known;
        // What said so may be lost, and a sender without room asks again until it hears.
        let again = self.reopened.is_some_and(|at| at <= now);
        if opens || again {
            self.reopened = Some(now + PERSIST);
        }
        opens || again
    }

    /// Whether others are missing before this segment, or are still beyond it.
    pub(crate) fn order_of(&self, segment: u32) -> Order {
        if self.gaps.beyond() > 0 || segment > self.gaps.next() { Order::OutOfOrder } else { Order::InOrder }
    }

    /// Segments that came in order.
    pub(crate) fn next(&self) -> u32 {
        self.gaps.next()
    }

    fn say(&mut self) -> Acknowledgement {
        let said = Acknowledgement {
            to: self.gaps.next(),
            said_ms: 0,
            window: self.offer.window(self.gaps.next(), self.gaps.beyond(), self.unread()),
            blocks: self.gaps.blocks(),
            twice: self.twice,
            duplicate: self.duplicate,
            marked: self.marked,
        };
        (self.unsaid, self.twice, self.duplicate, self.marked, self.late) = (0, 0, (0, 0), 0, None);
        said
    }
}
