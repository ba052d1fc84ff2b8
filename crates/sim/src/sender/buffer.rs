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
    /// buffer is free (`sk_stream_write_space`); what it writes then goes beyond the limit for as long as the NIC takes it at once,
    /// which depends on how fast both are. Of 512 KiB to 8 MiB kernels were seen with 0.82 to 1.05 in flight, the more the larger.
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
    /// Memory that a frame takes besides its payload.
    pub(crate) frame_overhead: ByteCount,
}

/// What of the buffer has been sent and not acknowledged, and how it is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued {
    pub(crate) una: u32,
    /// The first segment never sent.
    pub(crate) next: u32,
    pub(crate) frames: u64,
    /// Bytes that one frame may have by the windows that the receiver offered: half of the largest (`tcp_bound_to_half_wnd`).
    pub(crate) size_goal: u64,
}

/// See [`BufferSettings`].
#[derive(Debug)]
pub(crate) struct SendBuffer {
    set: BufferSettings,
    /// Bytes the kernel lets the socket hold now.
    limit: u64,
    /// The most that the window asked for, whatever the settings allow.
    most_asked: u64,
    /// Number of the first segment not yet written.
    written: u32,
    /// Where the last `sk_buff` that was written begins. Until all of that is sent it is filled up, whatever the limit says.
    tail: u32,
    /// Bytes that the application still writes before it looks whether it may.
    writes: u64,
    /// Whether what is written may be sent at once.
    sends: bool,
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
/// What one `sk_buff` is filled with before the limit is looked at again, in whole segments (`tcp_xmit_size_goal`, 6.1:
/// `GSO_LEGACY_MAX_SIZE` less 1 and `MAX_TCP_HEADER`).
const SIZE_GOAL: u64 = 65_536 - 1 - 320;
/// Room for which a writer that blocks goes on.
const FRAME: u64 = 64 << 10;
/// `TCP_INIT_CWND`.
const LEAST_SEGMENTS: u32 = 10;

impl SendBuffer {
    pub(crate) fn new(set: BufferSettings) -> Self {
        let mss = u64::from(set.mss);
        Self {
            set,
            limit: 0,
            most_asked: 0,
            written: 0,
            tail: 0,
            writes: 0,
            sends: true,
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

    /// The most that the window asked for: a limit of as much or more never mattered.
    pub(crate) fn most_asked(&self) -> ByteCount {
        ByteCount::new(self.most_asked)
    }

    /// Lets the buffer grow with the window (`tcp_sndbuf_expand`, net/ipv4/tcp_input.c).
    pub(crate) fn expand(&mut self, cwnd: u32) {
        let segments = u64::from(cwnd.max(LEAST_SEGMENTS));
        let wanted = u64::from(self.set.factor).saturating_mul(segments).saturating_mul(self.reckoned);
        self.most_asked = self.most_asked.max(wanted);
        self.limit = self.limit.max(wanted.min(self.set.most.get()));
    }

    /// Has the application write what it may. Returns whether anything new was written.
    ///
    /// It writes until the limit is reached. As long as the last `sk_buff` is the next to be sent, frames are cut off it, and what
    /// is written fills it up again without a look at the limit (`tcp_sendmsg_locked`, net/ipv4/tcp.c): so the socket holds
    /// more than its limit by as much as the host sends in one go. [`tops_up`](Self::tops_up) ends that.
    pub(crate) fn fill(&mut self, queued: Queued, now: MonoTime) -> bool {
        let used = self.used(queued);
        let writes = if self.writes > 0 { self.writes } else { self.may_begin(used) };
        if writes == 0 {
            return false;
        }
        if self.set.turns.is_some_and(|turns| !turns.runs(now)) {
            self.blocked = false;
            return false;
        }
        let mss = u64::from(self.set.mss);
        let goal = queued.size_goal.min(SIZE_GOAL) / mss;
        let goal = u32::try_from(goal.max(1)).unwrap_or(u32::MAX);
        let unsent = self.written.saturating_sub(queued.next);
        let top_up = if unsent > 0 { goal.saturating_sub(unsent.min(self.written - self.tail)) } else { 0 };
        let used = used + u64::from(top_up) * mss;
        // The limit is looked at before each `sk_buff`, so that the last one goes beyond it. One is sent before the next is begun.
        let new = self.limit.saturating_sub(used).div_ceil(u64::from(goal) * mss);
        let most = if self.sends { u64::from(unsent == 0) } else { u64::MAX };
        let new = u32::try_from(new.min(most)).unwrap_or(u32::MAX).saturating_mul(goal);
        let by_room = self.written.saturating_add(top_up).saturating_add(new);
        let by_writes = self.written.saturating_add(u32::try_from(writes.div_ceil(mss)).unwrap_or(u32::MAX));
        let by_app = self.set.app_rate.map_or(u32::MAX, |rate| {
            let bytes = (rate * now.since(self.began)).get();
            u32::try_from(bytes / mss).unwrap_or(u32::MAX)
        });
        let before = self.written;
        let may = by_room.min(by_writes);
        self.written = may.min(by_app).min(self.set.total.unwrap_or(MOST)).max(before);
        self.blocked = self.written == may;
        let wrote = self.written - before;
        self.writes = writes.saturating_sub(u64::from(wrote) * mss);
        if wrote > top_up {
            self.tail = self.written - 1 - (wrote - top_up - 1) % goal;
        }
        wrote > 0
    }

    /// Nothing more is sent now: an application that still writes does so until the limit is reached, and waits.
    pub(crate) fn tops_up(&mut self, queued: Queued, now: MonoTime) {
        if self.writes > 0 {
            self.sends = false;
            self.fill(queued, now);
            self.sends = true;
        }
        self.writes = 0;
    }

    /// Whether the room in the buffer is what limits the application.
    pub(crate) fn is_full(&self, queued: Queued) -> bool {
        self.blocked || self.may_begin(self.used(queued)) == 0
    }

    /// Bytes of memory that the socket uses (`sk_wmem_queued`). Model: what is not sent yet is in frames so large that
    /// their heads do not count.
    fn used(&self, queued: Queued) -> u64 {
        u64::from(self.written - queued.una) * u64::from(self.set.mss) + queued.frames * self.set.frame_overhead.get()
    }

    /// Bytes that an application which waited writes before it looks again whether it may.
    fn may_begin(&self, used: u64) -> u64 {
        match self.set.writer {
            // As many times of writing as begin before two thirds are in use.
            Writer::Polls => (self.limit * 2 / 3).checked_sub(used).map_or(0, |room| (room / WRITES + 1) * WRITES),
            Writer::Blocks => {
                let room = self.limit.saturating_sub(used);
                if room < FRAME.min(self.limit / 3) { 0 } else { u64::MAX }
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
