//! What has been sent and not yet acknowledged, and what is known of each segment.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | frames in flight, and what arrives of them |
//! | `frame` | segments that were sent together |
//! | `losses` | what is held to be lost, and sent again |

mod frame;
mod losses;

use std::collections::VecDeque;

use units::MonoTime;

use super::rate::Stamp;
use frame::{Frame, note_arrival};
pub(crate) use frame::{Latest, News};

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

    /// Frames that are not wholly acknowledged.
    pub(crate) fn frames(&self) -> u64 {
        self.frames.len() as u64
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

    /// Segments held to be lost, whether sent again or not.
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }

    /// Segments sent again and held to be on their way.
    pub(crate) fn resent(&self) -> u32 {
        self.resent
    }

    /// When the oldest unacknowledged segment was last sent.
    pub(crate) fn head_sent(&self) -> Option<MonoTime> {
        self.frames.front().map(|frame| frame.last_sent(frame.bits(self.una, self.una + 1)))
    }

    /// Segments held to be on their way (RFC 6675, `pipe`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.out() + self.resent).saturating_sub(self.sacked + self.lost)
    }

    /// Segments that wait to be sent again.
    pub(crate) fn pending_retransmits(&self) -> u32 {
        self.lost - self.resent
    }

    /// Notes that `count` segments were sent for the first time.
    pub(crate) fn send(&mut self, count: u32, now: MonoTime, stamp: Stamp) -> u32 {
        let first = self.next;
        self.next += count;
        let frame = Frame {
            first,
            count,
            sacked: 0,
            lost: 0,
            resent: 0,
            ever_resent: 0,
            sent: now,
            resent_at: now,
            resent_since: now,
            stamp,
        };
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
            news.resent_acked |= frame.ever_resent & bits != 0;
            // Most were sent once, and came in order.
            if frame.sacked | frame.lost != 0 {
                self.sacked -= (frame.sacked & bits).count_ones();
                self.lost -= (frame.lost & bits).count_ones();
                self.resent -= (frame.resent & bits).count_ones();
                frame.sacked &= !bits;
                frame.lost &= !bits;
                frame.resent &= !bits;
            }
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
}

const FIRST_ROOM: usize = 1_024;
