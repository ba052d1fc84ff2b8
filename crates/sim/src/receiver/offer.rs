//! The window that a receiver offers, and how it grows (net/ipv4/tcp_input.c and `tcp_output.c`, Linux 5.10).

use std::time::Duration;

use units::{ByteCount, MonoTime, Percent};

use super::ReceiverSpec;

/// See the module. Numbers are bytes.
#[derive(Debug)]
pub(crate) struct Offer {
    mss: u64,
    /// How much of the buffer is offered; the rest is held to be overhead.
    share: Percent,
    /// What the buffer may use, and the most it may ever.
    buffer: u64,
    most: u64,
    /// The most that the buffer was to grow to, whatever it may ever.
    most_asked: u64,
    /// What growth with each segment has come to (`rcv_ssthresh`).
    grown: u64,
    /// The most that the header can say, after scaling.
    sayable: u64,
    /// First byte that was never allowed.
    edge: u64,
    round: Round,
    initial: Option<u32>,
}

/// What the application reads in a round trip (`rcvq_space`).
#[derive(Debug, Default)]
struct Round {
    began: MonoTime,
    /// Bytes read when it began, and now.
    from: u64,
    read: u64,
    /// Bytes read in the best round.
    most: u64,
}

/// What the header says without scaling.
pub(super) const UNSCALED: u64 = 65_535;
/// RFC 7323 §2.3.
const MOST_SCALE: u32 = 14;
/// `SKB_TRUESIZE(MAX_TCP_HEADER)`.
const SKB_OVERHEAD: u64 = 320 + 256 + 320;
/// `TCP_INIT_CWND`.
const FIRST_ROUND: u64 = 10;

impl Offer {
    pub(crate) fn new(spec: &ReceiverSpec, mss: u32) -> Self {
        let most = spec.buffer.get().max(spec.buffer_default.get());
        Self {
            mss: u64::from(mss),
            share: spec.window_percent,
            buffer: spec.buffer_default.get(),
            most,
            most_asked: 0,
            grown: 0,
            sayable: UNSCALED << scale_for(most),
            edge: 0,
            round: Round::default(),
            initial: spec.initial_window,
        }
    }

    /// The window scale of a SYN.
    pub(crate) fn scale(&self) -> u8 {
        u8::try_from(scale_for(self.most)).unwrap_or(0)
    }

    /// The most that the buffer was to grow to: one that may grow as far or farther is as good. Beyond what a header can say the
    /// largest scale is what limits, and then none is.
    pub(crate) fn most_asked(&self) -> ByteCount {
        ByteCount::new(if self.most_asked > UNSCALED << MOST_SCALE { u64::MAX } else { self.most_asked })
    }

    pub(crate) fn begins(&mut self, now: MonoTime, scaling: bool) {
        if !scaling {
            self.sayable = UNSCALED;
        }
        let first = match self.initial {
            Some(segments) => u64::from(segments) * self.mss,
            None => UNSCALED,
        };
        let first = first.min(self.share.part_of(self.buffer)).min(self.sayable);
        // `tcp_select_initial_window` rounds down to whole segments.
        self.grown = if first > self.mss { first - first % self.mss } else { first };
        self.round = Round { began: now, from: 0, read: 0, most: self.grown.min(FIRST_ROUND * self.mss) };
    }

    /// The application has read `segments`, of which `together` came at once. Returns whether the window grew by them.
    pub(crate) fn read(&mut self, segments: u32, together: u32, rtt: Duration, now: MonoTime) -> bool {
        let bytes = u64::from(segments) * self.mss;
        // `tcp_grow_window`: twice the bytes of each good segment.
        let clamp = self.share.part_of(self.buffer);
        let room = clamp.saturating_sub(self.grown);
        self.grown += (2 * u64::from(together) * self.mss).min(room);
        self.round.read += bytes;
        // Model: the receiver's round trip is the sender's; Linux takes it from timestamps.
        if now.since(self.round.began) >= rtt {
            self.end_round(now);
        }
        room > 0
    }

    /// `tcp_rcv_space_adjust`.
    fn end_round(&mut self, now: MonoTime) {
        let mut copied = self.round.read - self.round.from;
        // Model: segments are whole here, and are sent by twos; Linux fills what is left of a window with shorter ones.
        let window = self.share.part_of(self.buffer).min(self.grown);
        if copied < window && copied + 2 * self.mss > window {
            copied = window;
        }
        let before = self.round.most;
        if copied > before {
            let mut window = 2 * copied + 16 * self.mss;
            let growth = u128::from(window) * u128::from(copied - before) / u128::from(before.max(1));
            window = window.saturating_add(u64::try_from(2 * growth).unwrap_or(u64::MAX));
            let memory = self.memory_for(window);
            self.most_asked = self.most_asked.max(memory);
            self.buffer = self.buffer.max(memory.min(self.most));
            self.round.most = copied;
        }
        self.round.began = now;
        self.round.from = self.round.read;
    }

    /// The buffer for a window: where half of it is offered, so many whole segments with what each takes at most, in steps of 128 bytes
    /// up to twice its payload (`rcvmem`).
    fn memory_for(&self, window: u64) -> u64 {
        if self.share != Percent::of::<50>() {
            return self.share.whole_of(window);
        }
        let least = self.mss + SKB_OVERHEAD;
        let each = least + (2 * self.mss).saturating_sub(least).next_multiple_of(128);
        window / self.mss * each
    }

    /// Bytes allowed from segment `next` on, with `beyond` segments held that came too early, and `unread` that nobody
    /// has read.
    pub(crate) fn window(&mut self, next: u32, beyond: u32, unread: u32) -> u64 {
        let from = u64::from(next) * self.mss;
        // What was allowed stays allowed.
        self.edge = self.edge.max(from + self.room(next, beyond, unread));
        (self.edge - from).min(self.sayable)
    }

    /// Bytes that there is room for from segment `next` on, whatever was said before.
    pub(crate) fn room(&self, next: u32, beyond: u32, unread: u32) -> u64 {
        let bytes = |segments: u32| u64::from(segments) * self.mss;
        let free = self.share.part_of(self.buffer.saturating_sub(bytes(beyond))).saturating_sub(bytes(unread));
        let window = free.min(self.grown).min(self.sayable);
        // Less than a segment is not offered (RFC 9293 section 3.8.6.2.2).
        if window < self.mss && next > 0 { 0 } else { window }
    }

    /// Bytes that the sender was allowed and that have not come.
    pub(crate) fn allowed(&self, next: u32) -> u64 {
        self.edge.saturating_sub(u64::from(next) * self.mss)
    }
}

fn scale_for(most: u64) -> u32 {
    (0..MOST_SCALE).find(|scale| most >> scale <= UNSCALED).unwrap_or(MOST_SCALE)
}
