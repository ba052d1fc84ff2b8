//! What is held to be lost, and sent again.

use units::MonoTime;

use super::frame::ones;
use super::{News, Scoreboard};
use crate::sender::rate::Stamp;

impl Scoreboard {
    /// Whether something may be lost of what was sent before `latest`, so that it has to be judged.
    pub(crate) fn is_in_question(&self, latest: (MonoTime, u32)) -> bool {
        let first = self.frames.get(offset(self.unjudged, self.gone));
        !self.resent_order.is_empty() || first.is_some_and(|frame| (frame.sent, frame.end()) < latest)
    }

    /// Holds to be lost what was last sent at or before `latest` allows, and `overdue` says is late, and tells of each
    /// frame how many, and how many that makes in all. Returns when the next that is not late yet will be.
    pub(crate) fn judge(
        &mut self,
        latest: (MonoTime, u32),
        overdue: impl Fn(MonoTime) -> Result<(), MonoTime>,
        news: &mut News,
        mut told: impl FnMut(&Stamp, u32, u32),
    ) -> Option<MonoTime> {
        let mut again = None;
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
                news.lost += live.count_ones();
                told(&frame.stamp, live.count_ones(), news.lost);
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
            let again_lost = frame.resent.count_ones();
            news.lost += again_lost;
            news.lost_again += again_lost;
            told(&frame.stamp, again_lost, news.lost);
            self.resent -= again_lost;
            frame.resent = 0;
            self.wanting = self.wanting.min(number);
            self.resent_order.pop_front();
        }
        again
    }

    /// Holds the oldest segment to be lost, if it is not yet, and tells of it as [`judge`](Self::judge) does.
    pub(crate) fn mark_head_lost(&mut self, news: &mut News, mut told: impl FnMut(&Stamp, u32, u32)) {
        // Nothing tells when what was sent again is lost again.
        self.resent_order.clear();
        let Some(frame) = self.frames.front_mut() else { return };
        let head = frame.bits(self.una, self.una + 1) & !frame.lost;
        if head == 0 {
            return;
        }
        frame.lost |= head;
        self.lost += 1;
        self.wanting = self.gone;
        news.lost += 1;
        told(&frame.stamp, 1, news.lost);
    }

    /// Holds to be lost what is not known to have arrived and `overdue` says is late, and the first segments anyway
    /// (`tcp_timeout_mark_lost`, net/ipv4/tcp_input.c); tells of each frame how many, and how many that makes in all.
    pub(crate) fn mark_lost_on_timeout(
        &mut self,
        overdue: impl Fn(MonoTime) -> Result<(), MonoTime>,
        mut told: impl FnMut(&Stamp, u32, u32),
    ) -> u32 {
        let mut lost = 0;
        for (index, frame) in self.frames.iter_mut().enumerate() {
            let live = frame.bits(self.una, u32::MAX) & !frame.sacked;
            let (fresh, resent) = (live & !frame.lost, live & frame.resent);
            if fresh | resent == 0 || (index > 0 && overdue(frame.last_sent(fresh | resent)).is_err()) {
                continue;
            }
            self.lost += fresh.count_ones();
            self.resent -= resent.count_ones();
            frame.lost |= fresh;
            frame.resent &= !resent;
            lost += (fresh | resent).count_ones();
            told(&frame.stamp, (fresh | resent).count_ones(), lost);
        }
        self.wanting = self.gone;
        self.skip_judged();
        lost
    }

    fn skip_judged(&mut self) {
        while let Some(frame) = self.frames.get(offset(self.unjudged, self.gone)) {
            if frame.bits(self.una, u32::MAX) & !frame.sacked & !frame.lost != 0 {
                break;
            }
            self.unjudged += 1;
        }
    }

    /// Holds nothing to be lost any more (the retransmission was not needed).
    pub(crate) fn unmark_lost(&mut self) {
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
    pub(crate) fn retransmit(&mut self, most: u32, now: MonoTime, stamp: Stamp) -> Option<(u32, u32)> {
        if self.pending_retransmits() == 0 || most == 0 {
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
            if frame.resent == 0 {
                frame.resent_since = now;
            }
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

fn offset(number: u64, gone: u64) -> usize {
    usize::try_from(number.saturating_sub(gone)).unwrap_or(usize::MAX)
}
