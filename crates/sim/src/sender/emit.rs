//! What may be sent now.

use std::time::Duration;

use units::MonoTime;

use super::buffer::Queued;
use super::{Limit, Sender};
use crate::congestion::CaState;

/// Why nothing more is sent now, and when to look again where nothing that arrives would say.
type Stop = (Limit, Option<MonoTime>);

/// After so long without a frame none is deferred.
const LATEST_WRITE: Duration = Duration::from_millis(1);

impl Sender {
    /// Sends all that may be sent now.
    pub(super) fn send(&mut self, now: MonoTime) {
        self.wake = None;
        self.restart_after_idle(now);
        let was_idle = self.board.out() == 0;
        let (mut sent, mut full) = (false, false);
        let frame = self.cut_frame();
        self.frame = frame;
        let (limit, wake) = loop {
            if let Err(stop) = self.may_send(frame, now) {
                break stop;
            }
            let room = self.window.cwnd.saturating_sub(self.board.in_flight());
            if self.board.pending_retransmits() > 0 {
                if !self.retransmit_lost(room.min(frame), now) {
                    full = true;
                    break (Limit::Window, None);
                }
                sent = true;
                continue;
            }
            match self.send_new(room, frame, now) {
                Ok(()) => sent = true,
                Err(stop) => {
                    full = stop.0 == Limit::Window;
                    break stop;
                }
            }
        };
        // What was cut off the last `sk_buff` is written anew, though it cannot be sent yet.
        self.buffer.tops_up(self.queued(), now);
        self.wake = wake;
        self.note_limit(limit, now);
        self.waits.out(self.board.out(), now);
        self.validate_cwnd(full, sent);
        if sent && (was_idle || self.timeout.is_none()) {
            self.rearm_timers(now);
        }
    }

    /// Pacing, the processor and the host's own queue.
    fn may_send(&self, frame: u32, now: MonoTime) -> Result<(), Stop> {
        if self.paces && self.pace_next > now {
            return Err((Limit::Pacing, Some(self.pace_next)));
        }
        if let Some(at) = self.host.busy_until(now) {
            return Err((Limit::Host, Some(at)));
        }
        if self.host.is_idle(now) {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
        let by_rate = (self.window.pacing / 1024.0) as u64;
        // Two frames, or what the pace sends in a millisecond (`tcp_small_queue_check`).
        let frames = 2 * u64::from(frame) * u64::from(self.packets.size());
        // Twice as much where something is sent again.
        let again = u64::from(self.board.pending_retransmits() > 0);
        let allowed = by_rate.min(self.small_queue).max(frames) << again;
        match self.host.queued_until(allowed, now) {
            Some(at) => Err((Limit::Host, Some(at))),
            None => Ok(()),
        }
    }

    fn retransmit_lost(&mut self, most: u32, now: MonoTime) -> bool {
        let stamp = self.meter.stamp(now, self.board.in_flight(), 1);
        let Some((first, count)) = self.board.retransmit(most, now, stamp) else { return false };
        self.recovery.resent(count);
        self.counters.retransmits += u64::from(count);
        self.emit(first, count, now);
        if first == self.board.una() {
            self.timeout = Some(now + self.rtt.timeout());
        }
        true
    }

    fn send_new(&mut self, room: u32, frame: u32, now: MonoTime) -> Result<(), Stop> {
        let next = self.board.next();
        if self.buffer.written() == next {
            if room > 0 {
                self.meter.set_app_limited(self.board.in_flight());
            }
            if !self.buffer.fill(self.queued(), now) {
                return Err(self.nothing_to_send(now));
            }
        } else {
            self.buffer.fill(self.queued(), now);
        }
        let written = self.buffer.written() - next;
        let allowed = self.allowed_by_receiver(next);
        let count = frame.min(written).min(allowed).min(room);
        if room == 0 {
            return Err((Limit::Window, None));
        }
        if count == 0 {
            return Err((Limit::ReceiveWindow, None));
        }
        if count < frame.min(written) && self.rather_waits(count, now) {
            return Err((if room < allowed { Limit::Window } else { Limit::ReceiveWindow }, None));
        }
        self.first_time(count, now);
        Ok(())
    }

    /// Whether a full frame with the next acknowledgement is better than a part of one now (`tcp_tso_should_defer`): not where the
    /// part is a third of either window, where the last frame is a millisecond old, or where what would be acknowledged next was
    /// sent less than half an RTT ago.
    fn rather_waits(&self, count: u32, now: MonoTime) -> bool {
        let third = (self.window.cwnd.min(self.allowed_by_receiver(self.board.una())) / 3).max(1);
        let Some(head_sent) = self.board.head_sent().filter(|_| self.board.in_flight() > 0) else { return false };
        count < third && now.since(self.last_sent) <= LATEST_WRITE && now.since(head_sent) >= self.rtt.smoothed() / 2
    }

    /// One new segment, whatever the window says (tail loss probe).
    pub(super) fn send_one_new(&mut self, now: MonoTime) -> bool {
        let next = self.board.next();
        self.buffer.fill(self.queued(), now);
        let can = self.buffer.written() > next && self.allowed_by_receiver(next) > 0;
        if can {
            self.first_time(1, now);
        }
        can
    }

    fn first_time(&mut self, count: u32, now: MonoTime) {
        let stamp = self.meter.stamp(now, self.board.in_flight(), count);
        let first = self.board.send(count, now, stamp);
        if matches!(self.ca_state, CaState::Recovery | CaState::Cwr) {
            self.recovery.sent += count;
        }
        self.counters.sent += u64::from(count);
        self.counters.max_outstanding = self.counters.max_outstanding.max(self.board.out());
        self.emit(first, count, now);
    }

    fn emit(&mut self, first: u32, count: u32, now: MonoTime) {
        self.host.take(self.packets.segments(first, count), now);
        self.last_sent = now;
        self.paced_out = self.paced_out.saturating_add(count);
        if !self.paces || self.window.pacing <= 0.0 {
            return;
        }
        // The first ten segments go at once, and what goes later than it might have makes the next wait less, by half at most
        // (`tcp_update_skb_after_send`).
        let late = now.since(self.pace_next);
        self.pace_next = self.pace_next.max(now);
        if self.paced_out >= 10 {
            let bytes = f64::from(count) * f64::from(self.mss);
            let wait = Duration::from_secs_f64(bytes / self.window.pacing);
            self.pace_next = self.pace_next + wait - late.min(wait / 2);
        }
    }

    fn nothing_to_send(&self, now: MonoTime) -> Stop {
        if self.buffer.is_done() {
            return (Limit::Window, None);
        }
        if self.buffer.is_full(self.queued()) {
            return (Limit::SendBuffer, None);
        }
        (Limit::Application, self.buffer.next_write(self.frame, now))
    }

    /// What the send buffer holds of what was sent.
    fn queued(&self) -> Queued {
        Queued {
            una: self.board.una(),
            next: self.board.next(),
            frames: self.board.frames(),
            size_goal: self.max_window / 2,
        }
    }

    fn allowed_by_receiver(&self, next: u32) -> u32 {
        let bytes = self.right_window_edge.saturating_sub(u64::from(next) * u64::from(self.mss));
        u32::try_from(bytes / u64::from(self.mss)).unwrap_or(u32::MAX)
    }

    /// Segments in a frame (`tcp_tso_autosize`): what the pace sends in about a millisecond, at least two.
    fn cut_frame(&self) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
        let by_rate = (self.window.pacing / 1024.0 / f64::from(self.mss)) as u32;
        by_rate.max(2).min(self.most_frame)
    }

    /// Keeps whether the window was full at any time of the last round (`tcp_cwnd_validate`, 6.1: before, it was forgotten
    /// as soon as more was out without filling it).
    fn validate_cwnd(&mut self, full: bool, sent: bool) {
        if !sent && !full {
            return;
        }
        let full = full || self.board.in_flight() >= self.window.cwnd;
        let out = self.board.out();
        let more = !self.cwnd_was_full && out > self.max_outstanding;
        if self.board.una() >= self.most_out_until || more || full {
            self.max_outstanding = out;
            self.most_out_until = self.board.next();
            self.cwnd_was_full = full;
        }
    }

    /// RFC 2861 as Linux has it: the window is halved for each timeout without sending, down to the first one.
    fn restart_after_idle(&mut self, now: MonoTime) {
        if self.board.out() > 0 || !self.restarts_after_idle || self.is_rate_based {
            return;
        }
        let timeout = self.rtt.timeout();
        let mut idle = now.since(self.last_sent);
        if idle <= timeout {
            return;
        }
        let least = self.initial_window.min(self.window.cwnd);
        while idle > timeout && self.window.cwnd > least {
            self.window.cwnd /= 2;
            idle -= timeout;
        }
        self.window.cwnd = self.window.cwnd.max(least);
        self.last_sent = now;
    }
}
