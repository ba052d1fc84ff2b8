//! What a sender does about losses and marks: phases, proportional rate reduction (RFC 6937), and undo.

use units::MonoTime;

use super::Sender;
use super::scoreboard::News;
use crate::congestion::{Phase, Window};

/// A reduction under way.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// It is over when everything before this has arrived.
    point: u32,
    delivered: u32,
    pub(super) sent: u32,
    prior_ssthresh: u32,
    undo: Option<Undo>,
    /// Whether the timeout may still turn out to be needless (RFC 5682).
    doubted: bool,
    /// Timeouts since the oldest unacknowledged segment last moved on.
    pub(super) timeouts: u32,
}

/// What has to turn out for a reduction to have been needless.
#[derive(Debug, Clone, Copy)]
struct Undo {
    /// Segments sent again of which it is not reported that they came twice.
    resent: i64,
    /// Whether any was sent again.
    any: bool,
}

impl Recovery {
    pub(super) fn resent(&mut self, count: u32) {
        self.sent += count;
        if let Some(undo) = &mut self.undo {
            undo.resent += i64::from(count);
            undo.any = true;
        }
    }
}

impl Sender {
    /// Follows the phases through an acknowledgement (`tcp_fastretrans_alert`, net/ipv4/tcp_input.c).
    pub(super) fn follow(&mut self, now: MonoTime, news: &mut News, twice: u32, marked: u32) {
        if twice > 0 {
            self.rack.needless(self.board.una(), self.board.next());
            if let Some(undo) = &mut self.recovery.undo {
                undo.resent -= i64::from(twice);
            }
        }
        let over = self.board.una() >= self.recovery.point;
        match self.phase {
            Phase::Recovery | Phase::Loss => {
                if self.was_needless(news) {
                    self.take_back(now);
                } else if over {
                    self.leave(now);
                }
            }
            Phase::Reduced if over => self.leave(now),
            // The report that it was needless may come after its end (`tcp_try_undo_dsack`).
            Phase::Open | Phase::Disorder if self.was_needless(news) => self.take_back(now),
            Phase::Reduced | Phase::Open | Phase::Disorder => {}
        }
        self.judge(now, news);
        let begins_anew = match self.phase {
            Phase::Recovery => false,
            // What was sent again after the timeout is lost as well: reduced once more, and from what the window is now.
            Phase::Loss => news.lost_again > 0,
            Phase::Open | Phase::Disorder | Phase::Reduced => news.lost > 0,
        };
        if begins_anew {
            self.enter_recovery(now);
        } else if marked > 0 && matches!(self.phase, Phase::Open | Phase::Disorder) {
            self.counters.mark_reductions += 1;
            self.reduce(Phase::Reduced, now);
        } else if matches!(self.phase, Phase::Open | Phase::Disorder) {
            let phase = if self.board.sacked() > 0 { Phase::Disorder } else { Phase::Open };
            self.turn(phase, now);
        }
    }

    pub(super) fn enter_recovery(&mut self, now: MonoTime) {
        self.counters.recoveries += 1;
        self.recovery.undo = Some(self.may_undo());
        if self.phase == Phase::Reduced {
            // The window is shrinking already.
            self.recovery.point = self.board.next();
            self.turn(Phase::Recovery, now);
        } else {
            self.reduce(Phase::Recovery, now);
        }
    }

    pub(super) fn reduce(&mut self, phase: Phase, now: MonoTime) {
        self.begin_reduction(phase, now);
        self.turn(phase, now);
    }

    fn begin_reduction(&mut self, phase: Phase, now: MonoTime) {
        self.recovery.prior_ssthresh = self.window.ssthresh;
        self.window.prior = self.window.cwnd;
        self.window.ssthresh = self.control.reduced(&self.window, now);
        self.window.count = 0;
        self.recovery.point = self.board.next();
        (self.recovery.delivered, self.recovery.sent) = (0, 0);
        if phase == Phase::Reduced {
            self.recovery.undo = None;
        }
    }

    /// Proportional rate reduction, with the reduction bound of slow start where the acknowledgement tells of progress.
    pub(super) fn shrink(&mut self, news: &News) {
        let in_flight = self.board.in_flight();
        let Window { ssthresh, prior, .. } = self.window;
        self.recovery.delivered += news.delivered;
        let (delivered, sent) = (i64::from(self.recovery.delivered), i64::from(self.recovery.sent));
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let count = if room < 0 {
            (i64::from(ssthresh) * delivered + i64::from(prior) - 1) / i64::from(prior.max(1)) - sent
        } else {
            let progress = news.acked > 0 && news.lost == 0;
            (delivered - sent).max(i64::from(news.delivered)).saturating_add(i64::from(progress)).min(room)
        };
        let least = if sent > 0 { 0 } else { 1 };
        let count = u32::try_from(count.max(least)).unwrap_or(0);
        self.window.cwnd = in_flight + count;
    }

    /// Everything that was out when it began has arrived.
    fn leave(&mut self, now: MonoTime) {
        if self.phase != Phase::Loss && !self.models {
            self.window.cwnd = self.window.ssthresh;
        }
        self.rack.recovered();
        self.turn(if self.board.sacked() > 0 { Phase::Disorder } else { Phase::Open }, now);
    }

    /// What was sent again before and is still on its way may be reported to have come twice as well.
    fn may_undo(&self) -> Undo {
        let resent = self.board.resent();
        Undo { resent: i64::from(resent), any: resent > 0 }
    }

    fn was_needless(&self, news: &News) -> bool {
        let reported = self.recovery.undo.is_some_and(|undo| undo.any && undo.resent <= 0);
        let doubted = self.phase == Phase::Loss && self.recovery.doubted && news.original_arrived;
        reported || doubted
    }

    /// The reduction was needless.
    fn take_back(&mut self, now: MonoTime) {
        self.counters.undone += 1;
        self.window.cwnd = self.control.undone(&self.window);
        if self.recovery.prior_ssthresh > self.window.ssthresh && !self.models {
            self.window.ssthresh = self.recovery.prior_ssthresh;
        }
        self.board.find_all();
        self.recovery.undo = None;
        self.rack.recovered();
        self.turn(if self.board.sacked() > 0 { Phase::Disorder } else { Phase::Open }, now);
    }

    /// The retransmission timer fired (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: MonoTime) {
        self.counters.timeouts += 1;
        let repeated = self.recovery.timeouts > 0;
        let reduces = match self.phase {
            Phase::Open | Phase::Disorder => true,
            Phase::Loss if !repeated => true,
            Phase::Loss | Phase::Reduced | Phase::Recovery => self.board.una() >= self.recovery.point,
        };
        if reduces {
            self.begin_reduction(Phase::Loss, now);
            self.recovery.undo = Some(self.may_undo());
        }
        self.recovery.doubted = repeated || !matches!(self.phase, Phase::Recovery | Phase::Loss);
        self.recovery.timeouts += 1;
        self.recovery.point = self.board.next();
        self.lose_overdue(now);
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.count = 0;
        self.turn(Phase::Loss, now);
    }

    fn turn(&mut self, phase: Phase, now: MonoTime) {
        if phase != self.phase {
            self.phase = phase;
            self.control.enters(phase, &mut self.window, now);
        }
    }
}
