//! RACK (RFC 8985): a segment is lost when one that was sent later has arrived and the time for being overtaken is over.

use std::time::Duration;

use units::MonoTime;

use super::Sender;
use super::rate::Stamp;
use super::scoreboard::{Latest, News};
use crate::congestion::{CaState, LostFrame};

/// What RACK knows.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// The last sent of all segments that arrived, with its end.
    sent: MonoTime,
    end: u32,
    rtt: Duration,
    reordering_seen: bool,
    /// Quarters of the least round trip that segments may be late (RFC 8985 §6.2 step 4).
    steps: u32,
    /// Segments known to have arrived in the round in which the steps last grew.
    grown_at: Option<u32>,
    /// Recoveries for which the steps still hold.
    hold: u32,
}

/// Segments out of order after which losses are believed at once (RFC 8985 §6.2, `DupThresh`).
const DUP_THRESH: u32 = 3;
/// `TCP_TIMEOUT_MIN`: two jiffies more than what a timer is set for.
const TIMER_LEAST: Duration = Duration::from_millis(8);
/// `TCP_RACK_RECOVERY_THRESH`.
const HOLD: u32 = 16;

impl Rack {
    pub(crate) fn advance(&mut self, latest: Option<Latest>, reordered: bool, least: Duration, now: MonoTime) {
        self.reordering_seen |= reordered;
        let Some(latest) = latest else { return };
        let rtt = now.since(latest.sent);
        // The acknowledgement may be that of the first time it was sent.
        if latest.was_resent && rtt < least {
            return;
        }
        self.rtt = rtt;
        if (latest.sent, latest.end) > (self.sent, self.end) {
            (self.sent, self.end) = (latest.sent, latest.end);
        }
    }

    /// A needless retransmission was reported (RFC 2883): segments overtake each other by more than was held possible.
    pub(crate) fn on_dsack(&mut self, una: u32, next: u32) {
        self.reordering_seen = true;
        if self.grown_at.is_none_or(|end| una > end) {
            self.steps = (self.steps + 1).min(255);
            self.grown_at = Some(next);
            self.hold = HOLD;
        }
    }

    /// A recovery is over.
    pub(crate) fn recovery_ended(&mut self) {
        self.hold = self.hold.saturating_sub(1);
        if self.hold == 0 {
            self.steps = 0;
        }
    }
}

/// The state of the connection when losses are found.
#[derive(Debug, Clone, Copy)]
struct Known {
    now: MonoTime,
    delivered: u64,
    /// Segments lost before.
    lost: u32,
}

impl Known {
    /// The `count` of a frame, with which `newly` are lost now.
    fn frame(&self, stamp: &Stamp, count: u32, newly: u32) -> LostFrame {
        LostFrame {
            now: self.now,
            delivered: self.delivered,
            count,
            lost: self.lost + newly - stamp.lost,
            in_flight: stamp.in_flight,
            app_limited: stamp.app_limited,
        }
    }
}

impl Sender {
    /// Holds to be lost what is late by now.
    pub(super) fn detect_loss(&mut self, now: MonoTime, news: &mut News) {
        if !self.sack {
            return self.detect_loss_of_head(now, news);
        }
        let latest = (self.rack.sent, self.rack.end);
        if !self.board.is_in_question(latest) {
            self.reorder = None;
            return;
        }
        let allowance = self.allowance();
        let rtt = self.rack.rtt;
        let overdue = |sent: MonoTime| {
            let at = sent + rtt + allowance;
            if at <= now { Ok(()) } else { Err(at) }
        };
        let known = self.known(now, news);
        let (control, window) = (&mut self.control, &self.window);
        let told = |stamp: &Stamp, count, newly| control.on_loss(window, &known.frame(stamp, count, newly));
        // The timer waits for the last of those that are not late yet (`tcp_rack_detect_loss`). What was sent once more may have gone later
        // than the last that has arrived.
        let waits = self.board.judge(latest, overdue, news, told);
        self.reorder = waits.map(|first| first.max(latest.0 + rtt + allowance) + TIMER_LEAST);
    }

    /// Without selective acknowledgements only the oldest segment can be held to be lost: after three acknowledgements that repeat
    /// themselves, and in a recovery each time that it moves on (RFC 6582; `tcp_newreno_mark_lost`).
    ///
    /// Model: what is held to have arrived is what has; the kernel counts the acknowledgements that repeat themselves, and is as right
    /// while none of these is lost.
    fn detect_loss_of_head(&mut self, now: MonoTime, news: &mut News) {
        let is_lost = match self.ca_state {
            CaState::Open | CaState::Disorder | CaState::Cwr => self.board.sacked() >= DUP_THRESH,
            CaState::Recovery => news.acked > 0,
            CaState::Loss => false,
        };
        if is_lost {
            let known = self.known(now, news);
            let (control, window) = (&mut self.control, &self.window);
            self.board.mark_head_lost(news, |stamp, count, newly| {
                control.on_loss(window, &known.frame(stamp, count, newly));
            });
        }
    }

    fn known(&self, now: MonoTime, news: &News) -> Known {
        Known { now, delivered: self.meter.delivered + u64::from(news.delivered), lost: self.meter.lost }
    }

    /// Holds to be lost what should have arrived by now, as the retransmission timer fired; all of it where nothing says what has arrived.
    pub(super) fn mark_lost_on_timeout(&mut self, now: MonoTime) {
        let (rtt, sack) = (self.rack.rtt, self.sack);
        let overdue = |sent: MonoTime| if !sack || sent + rtt <= now { Ok(()) } else { Err(sent + rtt) };
        let known = self.known(now, &News::default());
        let (control, window) = (&mut self.control, &self.window);
        let told = |stamp: &Stamp, count, newly| control.on_loss(window, &known.frame(stamp, count, newly));
        self.meter.lost += self.board.mark_lost_on_timeout(overdue, told);
    }

    fn allowance(&self) -> Duration {
        let recovering = matches!(self.ca_state, CaState::Recovery | CaState::Loss);
        if !self.rack.reordering_seen && (recovering || self.board.sacked() >= DUP_THRESH) {
            return Duration::ZERO;
        }
        (self.rtt.least() / 4 * (self.rack.steps + 1)).min(self.rtt.smoothed())
    }
}
