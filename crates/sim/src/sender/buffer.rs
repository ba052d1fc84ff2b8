//! The send buffer: what the application has written and the receiver has not acknowledged.

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

/// How an application writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// It waits until the socket is writable before each write, as iperf3 does. A socket is writable while no more than
    /// two thirds of its buffer are in use (`sk_stream_is_writeable`, include/net/sock.h), so it never holds more than
    /// those and one write.
    Polls,
    /// It blocks in `write`, which fills the whole buffer.
    ///
    /// Model: it goes on as soon as there is room. Linux wakes it when a third of the buffer is free, and lets its last frame go
    /// beyond the limit; of 512 KiB to 8 MiB kernels were seen with 0.82 to 1.05 in flight, the more the larger.
    Blocks,
}

/// Settings of a send buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferSettings {
    pub(crate) most: ByteCount,
    pub(crate) mss: u32,
    pub(crate) factor: u32,
    pub(crate) writer: Writer,
    /// Segments of the whole transfer; none where time ends it.
    pub(crate) total: Option<u32>,
    pub(crate) app_rate: Option<DataRate>,
}

/// See [`BufferSettings`].
#[derive(Debug)]
pub(crate) struct SendBuffer {
    set: BufferSettings,
    /// Bytes the kernel lets the socket hold now.
    limit: u64,
    /// Number of the first segment not yet written.
    written: u32,
    blocked: bool,
    began: MonoTime,
    /// Bytes of memory for a segment that is held.
    held: u64,
    /// Bytes reckoned for a segment when the limit is set.
    reckoned: u64,
}

/// What an application writes at once: 128 KiB, as iperf3 does.
const WRITE: u64 = 128 << 10;
/// `MAX_TCP_HEADER` and `skb_shared_info`, aligned.
const HEADERS: u64 = 320 + 320;
/// `sizeof(struct sk_buff)`, aligned.
const SK_BUFF: u64 = 256;
/// `TCP_INIT_CWND`.
const LEAST_SEGMENTS: u32 = 10;

impl SendBuffer {
    pub(crate) fn new(set: BufferSettings) -> Self {
        let mss = u64::from(set.mss);
        Self {
            set,
            limit: 0,
            written: 0,
            blocked: false,
            began: MonoTime::default(),
            // Model: the heads of buffers are not counted. With 7 segments in each they would be 2 %; a kernel was seen to
            // hold 0.664 to 0.675 of 64 MiB in flight, and two thirds are 0.667.
            held: mss,
            reckoned: (mss + HEADERS).next_power_of_two() + SK_BUFF,
        }
    }

    /// The application begins now.
    pub(crate) fn begins(&mut self, now: MonoTime) {
        self.began = now;
    }

    pub(crate) fn written(&self) -> u32 {
        self.written
    }

    pub(crate) fn limit(&self) -> ByteCount {
        ByteCount::new(self.limit)
    }

    /// Lets the buffer grow with the window (`tcp_sndbuf_expand`, net/ipv4/tcp_input.c).
    pub(crate) fn expand(&mut self, cwnd: u32) {
        if self.limit == self.set.most.get() {
            return;
        }
        let segments = u64::from(cwnd.max(LEAST_SEGMENTS));
        let wanted = u64::from(self.set.factor).saturating_mul(segments).saturating_mul(self.reckoned);
        self.limit = self.limit.max(wanted.min(self.set.most.get()));
    }

    /// Has the application write what it may. Returns whether anything new was written.
    pub(crate) fn fill(&mut self, una: u32, now: MonoTime) -> bool {
        let room = self.room(una);
        if room < self.held {
            return false;
        }
        let by_room = self.written.saturating_add(u32::try_from(room / self.held).unwrap_or(u32::MAX));
        let by_app = self.set.app_rate.map_or(u32::MAX, |rate| {
            let bytes = (rate * now.since(self.began)).get();
            u32::try_from(bytes / u64::from(self.set.mss)).unwrap_or(u32::MAX)
        });
        let before = self.written;
        self.written = by_room.min(by_app).min(self.set.total.unwrap_or(MOST)).max(before);
        self.blocked = self.written == by_room;
        self.written > before
    }

    /// Whether the room in the buffer is what holds the application.
    pub(crate) fn is_full(&self, una: u32) -> bool {
        self.blocked || self.room(una) < self.held
    }

    /// Bytes that the application may write now.
    fn room(&self, una: u32) -> u64 {
        let held = u64::from(self.written - una) * self.held;
        match self.set.writer {
            // As many whole writes as begin before two thirds are in use.
            Writer::Polls => (self.limit * 2 / 3).checked_sub(held).map_or(0, |room| (room / WRITE + 1) * WRITE),
            Writer::Blocks => self.limit.saturating_sub(held),
        }
    }

    /// When the application has the next `segments` ready, where its own rate is what limits it.
    pub(crate) fn next_write(&self, segments: u32) -> Option<MonoTime> {
        let rate = self.set.app_rate?;
        let segments = u64::from(self.written.saturating_add(segments).min(self.set.total.unwrap_or(MOST)));
        let time = rate.time_for(ByteCount::new(segments * u64::from(self.set.mss))).unwrap_or(Duration::MAX);
        (self.set.total != Some(self.written)).then_some(self.began + time)
    }

    /// The application writes no more.
    pub(crate) fn close(&mut self) {
        self.set.total = Some(self.written);
    }

    /// Whether everything is written.
    pub(crate) fn is_done(&self) -> bool {
        self.set.total == Some(self.written)
    }
}

/// Segments of the longest transfer: half of what frames can be named by.
pub(crate) const MOST: u32 = 1 << 30;
