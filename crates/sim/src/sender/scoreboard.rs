//! What has been sent and not yet acknowledged, and what is known of each segment.

use std::collections::VecDeque;

use units::MonoTime;

use super::rate::Stamp;

/// Segments that were first sent together, as segmentation offload cuts them. Bits count from the first of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Number of the first segment.
    pub(crate) first: u32,
    /// How many there are, at most [`MOST_SEGMENTS`].
    pub(crate) count: u32,
    /// Those that a selective acknowledgement has named.
    sacked: u64,
    /// Those held to be lost.
    lost: u64,
    /// Those sent again since they were held to be lost.
    resent: u64,
    /// Those that were ever sent again.
    ever_resent: u64,
    sent: MonoTime,
    /// Model: one instant for the segments of a frame, the last at which any of them was sent again.
    resent_at: MonoTime,
    stamp: Stamp,
}

/// What one acknowledgement told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct News {
    /// Segments by which the oldest unacknowledged one moved on.
    pub(crate) acked: u32,
    /// Segments of which it is new that they arrived.
    pub(crate) delivered: u32,
    /// Segments held to be lost since.
    pub(crate) lost: u32,
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

/// Frames in flight, oldest first.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    frames: VecDeque<Frame>,
    /// How many frames have left at the front: the number of the first that is there.
    gone: u64,
    /// The oldest segment not acknowledged.
    una: u32,
    /// The next segment never sent.
    next: u32,
    /// One above the highest segment that is known to have arrived.
    highest: u32,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// Number of the first frame whose time has not been judged.
    unjudged: u64,
    /// No frame before this number waits to be sent again.
    wanting: u64,
    /// First segments of frames sent again, in the order of that.
    resent_order: VecDeque<(u32, MonoTime)>,
}

/// Most segments in a frame: the bits of a word. Model: Linux has up to 65,535 bytes, and more with BIG TCP.
pub(crate) const MOST_SEGMENTS: u32 = 64;

impl Frame {
    fn bits(&self, from: u32, to: u32) -> u64 {
        let from = from.max(self.first) - self.first;
        let to = to.min(self.first + self.count).max(self.first) - self.first;
        ones(to) & !ones(from)
    }

    fn end(&self) -> u32 {
        self.first + self.count
    }

    fn last_sent(&self, bits: u64) -> MonoTime {
        if bits & self.ever_resent != 0 { self.resent_at } else { self.sent }
    }
}

fn ones(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            frames: VecDeque::with_capacity(FIRST_ROOM),
            gone: 0,
            una: 0,
            next: 0,
            highest: 0,
            sacked: 0,
            lost: 0,
            resent: 0,
            unjudged: 0,
            wanting: 0,
            resent_order: VecDeque::with_capacity(FIRST_ROOM),
        }
    }

    pub(crate) fn una(&self) -> u32 {
        self.una
    }

    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Segments sent and not acknowledged.
    pub(crate) fn out(&self) -> u32 {
        self.next - self.una
    }

    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments held to be on their way (RFC 6675, `pipe`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.out() + self.resent).saturating_sub(self.sacked + self.lost)
    }

    /// Segments that wait to be sent again.
    pub(crate) fn wanted(&self) -> u32 {
        self.lost - self.resent
    }

    /// Notes that `count` segments were sent for the first time.
    pub(crate) fn send(&mut self, count: u32, now: MonoTime, stamp: Stamp) -> u32 {
        let first = self.next;
        self.next += count;
        let frame =
            Frame { first, count, sacked: 0, lost: 0, resent: 0, ever_resent: 0, sent: now, resent_at: now, stamp };
        self.frames.push_back(frame);
        first
    }

    /// Takes in that everything before `to` has arrived.
    pub(crate) fn acknowledge(&mut self, to: u32, news: &mut News) {
        let to = to.min(self.next);
        if to <= self.una {
            return;
        }
        news.acked += to - self.una;
        while let Some(frame) = self.frames.front_mut() {
            let bits = frame.bits(self.una, to);
            let new = bits & !frame.sacked;
            note_arrival(frame, new, self.highest, news);
            self.sacked -= (frame.sacked & bits).count_ones();
            self.lost -= (frame.lost & bits).count_ones();
            self.resent -= (frame.resent & bits).count_ones();
            frame.sacked &= !bits;
            frame.lost &= !bits;
            frame.resent &= !bits;
            if frame.end() > to {
                break;
            }
            self.frames.pop_front();
            self.gone += 1;
        }
        self.una = to;
        self.highest = self.highest.max(to);
        self.unjudged = self.unjudged.max(self.gone);
        self.wanting = self.wanting.max(self.gone);
    }

    /// Takes in that the segments from `from` to before `to` have arrived, whatever is missing before them.
    pub(crate) fn sack(&mut self, from: u32, to: u32, news: &mut News) {
        let (from, to) = (from.max(self.una), to.min(self.next));
        if from >= to {
            return;
        }
        let mut index = self.index_of(from);
        while let Some(frame) = self.frames.get_mut(index).filter(|frame| frame.first < to) {
            let new = frame.bits(from, to) & !frame.sacked;
            if new != 0 {
                note_arrival(frame, new, self.highest, news);
                frame.sacked |= new;
                self.sacked += new.count_ones();
                self.lost -= (frame.lost & new).count_ones();
                self.resent -= (frame.resent & new).count_ones();
                frame.lost &= !new;
                frame.resent &= !new;
            }
            index += 1;
        }
        self.highest = self.highest.max(to);
    }

    fn index_of(&self, segment: u32) -> usize {
        self.frames.partition_point(|frame| frame.end() <= segment)
    }

    /// Holds to be lost what was last sent at or before `latest` allows, and `overdue` says is late. Returns how many,
    /// and when the next that is not late yet will be.
    pub(crate) fn judge(
        &mut self,
        latest: (MonoTime, u32),
        overdue: impl Fn(MonoTime) -> Result<(), MonoTime>,
    ) -> (u32, Option<MonoTime>) {
        let mut marked = 0;
        let mut again = None;
        let before = self.lost;
        while let Some(frame) = self.frames.get_mut(offset(self.unjudged, self.gone)) {
            if (frame.sent, frame.end()) >= latest {
                break;
            }
            let live = frame.bits(self.una, u32::MAX) & !frame.sacked & !frame.lost;
            if live != 0 {
                if let Err(at) = overdue(frame.last_sent(live)) {
                    again = Some(at);
                    break;
                }
                frame.lost |= live;
                self.lost += live.count_ones();
                self.wanting = self.wanting.min(self.unjudged);
            }
            self.unjudged += 1;
        }
        while let Some((first, sent)) = self.resent_order.front().copied() {
            let index = self.index_of(first);
            let number = self.gone + index as u64;
            let frame = self.frames.get_mut(index).filter(|frame| frame.first == first);
            let frame = frame.filter(|frame| frame.resent != 0 && frame.resent_at == sent);
            let Some(frame) = frame else {
                self.resent_order.pop_front();
                continue;
            };
            if (sent, frame.end()) >= latest {
                break;
            }
            if let Err(at) = overdue(sent) {
                again = Some(again.map_or(at, |earlier: MonoTime| earlier.min(at)));
                break;
            }
            marked += frame.resent.count_ones();
            self.resent -= frame.resent.count_ones();
            frame.resent = 0;
            self.wanting = self.wanting.min(number);
            self.resent_order.pop_front();
        }
        (marked + self.lost - before, again)
    }

    /// Holds everything to be lost that is not known to have arrived (retransmission timeout).
    pub(crate) fn lose_all(&mut self) -> u32 {
        let before = self.in_flight();
        for frame in &mut self.frames {
            let live = frame.bits(self.una, u32::MAX) & !frame.sacked;
            self.resent -= frame.resent.count_ones();
            self.lost += (live & !frame.lost).count_ones();
            frame.resent = 0;
            frame.lost |= live;
        }
        self.wanting = self.gone;
        self.unjudged = self.gone + self.frames.len() as u64;
        self.resent_order.clear();
        before - self.in_flight()
    }

    /// Holds nothing to be lost any more (the retransmission was not needed).
    pub(crate) fn find_all(&mut self) {
        for frame in &mut self.frames {
            self.lost -= frame.lost.count_ones();
            self.resent -= frame.resent.count_ones();
            frame.lost = 0;
            frame.resent = 0;
        }
        self.unjudged = self.gone;
        self.resent_order.clear();
    }

    /// The next segments to send again, at most `most`, now noted as sent: the number of the first, and how many.
    pub(crate) fn resend(&mut self, most: u32, now: MonoTime, stamp: Stamp) -> Option<(u32, u32)> {
        if self.wanted() == 0 || most == 0 {
            return None;
        }
        loop {
            let frame = self.frames.get_mut(offset(self.wanting, self.gone))?;
            let wanted = frame.lost & !frame.resent;
            if wanted == 0 {
                self.wanting += 1;
                continue;
            }
            let from = wanted.trailing_zeros();
            let count = (wanted >> from).trailing_ones().min(most);
            let bits = ones(from + count) & !ones(from);
            frame.resent |= bits;
            frame.ever_resent |= bits;
            frame.resent_at = now;
            frame.stamp = stamp;
            self.resent += count;
            self.resent_order.push_back((frame.first, now));
            return Some((frame.first + from, count));
        }
    }

    /// The last segment sent, now noted as sent again without being held lost (tail loss probe).
    pub(crate) fn probe(&mut self, now: MonoTime) -> Option<u32> {
        let frame = self.frames.back_mut()?;
        frame.ever_resent |= 1_u64 << (frame.count - 1);
        frame.resent_at = now;
        Some(frame.end() - 1)
    }
}

#[inline]
fn note_arrival(frame: &Frame, new: u64, highest: u32, news: &mut News) {
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
    news.original_arrived |= new & frame.resent != 0 && frame.resent_at > news.early;
    let sent = frame.last_sent(new);
    if news.latest.is_none_or(|latest| (sent, end) > (latest.sent, latest.end)) {
        news.latest = Some(Latest { sent, end, was_resent: once != new, stamp: frame.stamp });
    }
}

fn offset(number: u64, gone: u64) -> usize {
    usize::try_from(number.saturating_sub(gone)).unwrap_or(usize::MAX)
}

const FIRST_ROOM: usize = 1_024;
