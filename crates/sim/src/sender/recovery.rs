//! What a sender does about losses and marks: phases, proportional rate reduction (RFC 6937), and undo.

use units::MonoTime;

use super::Sender;
use super::scoreboard::News;
use crate::congestion::{CaState, Window};

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
    pub(super) fn fast_retrans_alert(&mut self, now: MonoTime, news: &mut News, twice: u32, marked: u32) {
        if twice > 0 {
            self.rack.on_dsack(self.board.una(), self.board.next());
            if let Some(undo) = &mut self.recovery.undo {
                undo.resent -= i64::from(twice);
            }
        }
        let (una, point) = (self.board.una(), self.recovery.point);
        match self.ca_state {
            CaState::Recovery | CaState::Loss => {
                if self.reduction_was_spurious(news) {
                    self.undo_reduction(now);
                } else if una >= point {
                    self.end_recovery(now);
                }
            }
            // It holds until something beyond the point has arrived, and with it the bit that answers the mark.
            CaState::Cwr if una > point => self.end_recovery(now),
            // The report that it was needless may come after its end (`tcp_try_undo_dsack`).
            CaState::Open | CaState::Disorder if self.reduction_was_spurious(news) => self.undo_reduction(now),
            CaState::Cwr | CaState::Open | CaState::Disorder => {}
        }
        self.detect_loss(now, news);
        let begins_anew = match self.ca_state {
            CaState::Recovery => false,
            // What was sent again after the timeout is lost as well: reduced once more, and from what the window is now.
            CaState::Loss => news.lost_again > 0,
            // What was first sent in a recovery and lost then is still missing when it ends: a window of its own was lost in, and the
            // next recovery follows at once, with its own reduction (`tcp_time_to_recover`).
            CaState::Open | CaState::Disorder | CaState::Cwr => self.board.lost() > 0,
        };
        if begins_anew {
            self.enter_recovery(now);
        } else if marked > 0 && matches!(self.ca_state, CaState::Open | CaState::Disorder) {
            self.counters.mark_reductions += 1;
            self.reduce(CaState::Cwr, now);
        } else if matches!(self.ca_state, CaState::Open | CaState::Disorder) {
            let ca_state = if self.board.sacked() > 0 { CaState::Disorder } else { CaState::Open };
            self.set_ca_state(ca_state, now);
        }
    }

    pub(super) fn enter_recovery(&mut self, now: MonoTime) {
        self.counters.recoveries += 1;
        self.recovery.undo = Some(self.undo_marker());
        if self.ca_state == CaState::Cwr {
            // The window is shrinking already, and ends to where it was to end (`tcp_enter_recovery`).
            self.set_ca_state(CaState::Recovery, now);
        } else {
            self.reduce(CaState::Recovery, now);
        }
    }

    pub(super) fn reduce(&mut self, ca_state: CaState, now: MonoTime) {
        self.begin_reduction(ca_state, now);
        self.set_ca_state(ca_state, now);
    }

    fn begin_reduction(&mut self, ca_state: CaState, now: MonoTime) {
        self.recovery.prior_ssthresh = self.window.ssthresh;
        self.window.prior = self.window.cwnd;
        self.window.ssthresh = self.control.ssthresh(&self.window, now);
        self.window.count = 0;
        self.recovery.point = self.board.next();
        (self.recovery.delivered, self.recovery.sent) = (0, 0);
        if ca_state == CaState::Cwr {
            self.recovery.undo = None;
        }
    }

    /// Proportional rate reduction (`tcp_cwnd_reduction`). Below ssthresh kernels since 5.14 send what they were allowed before and did
    /// not, and one segment more where the acknowledgement tells of progress (`net: tcp improve PRR loss recovery`). Those before do so
    /// only where a retransmission has been acknowledged and none was lost, and else send what has arrived.
    pub(super) fn reduce_cwnd_by_prr(&mut self, news: &News) {
        let in_flight = self.board.in_flight();
        let Window { ssthresh, prior, .. } = self.window;
        self.recovery.delivered += news.delivered;
        let (delivered, sent) = (i64::from(self.recovery.delivered), i64::from(self.recovery.sent));
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let count = if room < 0 {
            (i64::from(ssthresh) * delivered + i64::from(prior) - 1) / i64::from(prior.max(1)) - sent
        } else {
            let banked = (delivered - sent).max(i64::from(news.delivered));
            let allowed = if self.kernel.banks_in_recovery() {
                banked.saturating_add(i64::from(news.acked > 0 && news.lost == 0))
            } else if news.resent_acked && news.lost_again == 0 {
                banked.saturating_add(1)
            } else {
                i64::from(news.delivered)
            };
            allowed.min(room)
        };
        let least = if sent > 0 { 0 } else { 1 };
        let count = u32::try_from(count.max(least)).unwrap_or(0);
        self.window.cwnd = in_flight + count;
    }

    /// Everything that was out when it began has arrived.
    pub(super) fn end_recovery(&mut self, now: MonoTime) {
        if self.ca_state != CaState::Loss && !self.is_rate_based {
            self.window.cwnd = self.window.ssthresh;
        }
        self.rack.recovery_ended();
        // Whatever is still missing: `fast_retrans_alert` looks at that next.
        self.set_ca_state(CaState::Open, now);
    }

    /// What was sent again before and is still on its way may be reported to have come twice as well.
    fn undo_marker(&self) -> Undo {
        let resent = self.board.resent();
        Undo { resent: i64::from(resent), any: resent > 0 }
    }

    fn reduction_was_spurious(&self, news: &News) -> bool {
        let reported = self.recovery.undo.is_some_and(|undo| undo.any && undo.resent <= 0);
        let doubted = self.ca_state == CaState::Loss && self.recovery.doubted && news.original_arrived;
        reported || doubted
    }

    /// The reduction was needless.
    fn undo_reduction(&mut self, now: MonoTime) {
        self.counters.undone += 1;
        self.window.cwnd = self.control.undo_cwnd(&self.window);
        if self.recovery.prior_ssthresh > self.window.ssthresh && !self.is_rate_based {
            self.window.ssthresh = self.recovery.prior_ssthresh;
        }
        self.board.unmark_lost();
        self.recovery.undo = None;
        self.rack.recovery_ended();
        self.set_ca_state(if self.board.sacked() > 0 { CaState::Disorder } else { CaState::Open }, now);
    }

    /// The retransmission timer fired (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: MonoTime) {
        self.counters.timeouts += 1;
        let repeated = self.recovery.timeouts > 0;
        let reduces = match self.ca_state {
            CaState::Open | CaState::Disorder => true,
            CaState::Loss if !repeated => true,
            CaState::Loss | CaState::Cwr | CaState::Recovery => self.board.una() >= self.recovery.point,
        };
        if reduces {
            self.begin_reduction(CaState::Loss, now);
            self.recovery.undo = Some(self.undo_marker());
        }
        self.recovery.doubted = repeated || !matches!(self.ca_state, CaState::Recovery | CaState::Loss);
        self.recovery.timeouts += 1;
        self.recovery.point = self.board.next();
        self.mark_lost_on_timeout(now);
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.count = 0;
        self.set_ca_state(CaState::Loss, now);
    }

    fn set_ca_state(&mut self, ca_state: CaState, now: MonoTime) {
        if ca_state != self.ca_state {
            self.ca_state = ca_state;
            self.control.set_state(ca_state, &mut self.window, now);
        }
    }
}
