//! The send buffer: what the application has written and the receiver has not acknowledged.

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

use crate::turns::Turns;

/// How an application writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// It waits until the socket is writable, and then writes ten times 128 KiB or until the buffer is full, as iperf3 does.
    /// A socket is writable while no more than two thirds of its buffer are in use (`sk_stream_is_writeable`,
    /// include/net/sock.h), so a large buffer is two thirds full, and a small one between that and full.
    Polls,
    /// It blocks in `write`, which fills the whole buffer.
    ///
    /// Model: it goes on as soon as there is room for a frame of 64 KiB. By its sources Linux wakes it when a third of the
    /// buffer is free; acknowledgements that come in bursts free more before it runs. Of 512 KiB to 8 MiB kernels were seen
    /// with 0.82 to 1.05 in flight, the more the larger. Room for less would be written in frames of two segments, whose
    /// heads take a third of a small buffer.
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
    pub(crate) turns: Option<Turns>,
}

/// What of the buffer has been sent and not acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued {
    pub(crate) una: u32,
    pub(crate) frames: u64,
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
    /// Memory of a segment by the rule that sets the limit.
    reckoned: u64,
}

/// What an application writes before it looks again whether it may: iperf3 ten times 128 KiB (`multisend`).
const WRITES: u64 = 10 * (128 << 10);
/// `MAX_TCP_HEADER` and `skb_shared_info`, aligned.
const HEADERS: u64 = 320 + 320;
/// `sizeof(struct sk_buff)`, aligned.
const SK_BUFF: u64 = 256;
/// `truesize` of an empty `sk_buff` of TCP (`tcp_stream_alloc_skb`, 6.1): a head of 1,024 bytes, and the structure itself. Measured on
/// 6.1: a writer was woken with 187 segments of 1,448 bytes in frames of three, which are two thirds of 512 KiB with this.
const FRAME_OVERHEAD: u64 = 1_024 + SK_BUFF;
/// What one `sk_buff` is filled with before the limit is looked at again (`size_goal`).
const FRAME: u64 = 64 << 10;
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
    pub(crate) fn fill(&mut self, queued: Queued, now: MonoTime) -> bool {
        let room = self.room(self.used(queued));
        if room == 0 {
            return false;
        }
        if self.set.turns.is_some_and(|turns| !turns.runs(now)) {
            self.blocked = false;
            return false;
        }
        let mss = u64::from(self.set.mss);
        let by_room = self.written.saturating_add(u32::try_from(room.div_ceil(mss)).unwrap_or(u32::MAX));
        let by_app = self.set.app_rate.map_or(u32::MAX, |rate| {
            let bytes = (rate * now.since(self.began)).get();
            u32::try_from(bytes / mss).unwrap_or(u32::MAX)
        });
        let before = self.written;
        self.written = by_room.min(by_app).min(self.set.total.unwrap_or(MOST)).max(before);
        self.blocked = self.written == by_room;
        self.written > before
    }

    /// Whether the room in the buffer is what limits the application.
    pub(crate) fn is_full(&self, queued: Queued) -> bool {
        self.blocked || self.room(self.used(queued)) == 0
    }

    /// Bytes of memory that the socket uses (`sk_wmem_queued`). Model: what is not sent yet is in frames so large that
    /// their heads do not count.
    fn used(&self, queued: Queued) -> u64 {
        u64::from(self.written - queued.una) * u64::from(self.set.mss) + queued.frames * FRAME_OVERHEAD
    }

    /// Bytes that the application may write now.
    fn room(&self, used: u64) -> u64 {
        // The limit is looked at before each frame, so that the last one goes beyond it.
        let free = self.limit.saturating_sub(used).div_ceil(FRAME) * FRAME;
        match self.set.writer {
            // As many times of writing as begin before two thirds are in use, and no frame once the buffer is full.
            Writer::Polls => {
                (self.limit * 2 / 3).checked_sub(used).map_or(0, |room| ((room / WRITES + 1) * WRITES).min(free))
            }
            Writer::Blocks => {
                let room = self.limit.saturating_sub(used);
                if room < FRAME.min(self.limit / 3) { 0 } else { room }
            }
        }
    }

    /// When the application has the next `segments` ready, where its own rate is what limits it.
    pub(crate) fn next_write(&self, segments: u32, now: MonoTime) -> Option<MonoTime> {
        if let Some(turns) = self.set.turns.filter(|turns| !turns.runs(now)) {
            return (self.set.total != Some(self.written)).then(|| turns.next(now));
        }
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
