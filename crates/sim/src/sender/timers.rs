//! What happens when nothing arrives: the retransmission timeout (RFC 6298), the tail loss probe (RFC 8985 §7), and the
//! end of the time for being overtaken.

use std::time::Duration;

use units::MonoTime;

use super::Sender;
use super::rtt::RTO_MIN;
use super::scoreboard::News;
use crate::congestion::CaState;
use crate::receiver::Acknowledgement;

impl Sender {
    /// When it has to be called next.
    pub(crate) fn due(&self) -> MonoTime {
        let late = MonoTime::from_nanos(u64::MAX);
        let timers = [self.host.due(), self.wake, self.probe.or(self.timeout), self.reorder];
        timers.into_iter().fold(late, |first, timer| first.min(timer.unwrap_or(late)))
    }

    /// Does what is due by now.
    pub(crate) fn advance(&mut self, now: MonoTime) {
        let fired = |timer: &Option<MonoTime>| timer.is_some_and(|at| at <= now);
        if fired(&self.reorder) {
            self.reorder = None;
            self.reorder_timeout(now);
        }
        if fired(&self.probe) {
            self.probe_tail(now);
        } else if self.probe.is_none() && fired(&self.timeout) {
            self.time_out(now);
        }
        if fired(&self.wake) {
            self.wake = None;
            self.send(now);
        }
    }

    /// Sets the timers anew, as something was sent or has arrived.
    pub(super) fn rearm_timers(&mut self, now: MonoTime) {
        self.probe = None;
        if self.board.out() == 0 {
            self.timeout = None;
            return;
        }
        let timeout = now + self.rtt.timeout();
        self.timeout = Some(timeout);
        // Without selective acknowledgements a probe would tell nothing (`tcp_schedule_loss_probe`).
        if self.sack && self.ca_state == CaState::Open && self.probing.is_none() && self.board.sacked() == 0 {
            // A lone segment may be acknowledged late.
            let extra = if self.board.out() == 1 { RTO_MIN } else { Duration::from_millis(2) };
            // Where the timeout would come first, the probe takes its place (`tcp_schedule_loss_probe`).
            let at = now + self.rtt.smoothed() * 2 + extra;
            self.probe = Some(at.min(timeout));
        }
    }

    fn reorder_timeout(&mut self, now: MonoTime) {
        let mut news = News::default();
        self.detect_loss(now, &mut news);
        self.meter.lost += news.lost;
        if news.lost > 0 && self.ca_state != CaState::Recovery {
            self.enter_recovery(now);
            if !self.is_rate_based {
                // As if one had arrived (`tcp_rack_reo_timeout`).
                self.reduce_cwnd_by_prr(&News { delivered: 1, ..news });
            }
        }
        self.send(now);
    }

    fn probe_tail(&mut self, now: MonoTime) {
        self.probe = None;
        self.counters.probes += 1;
        self.probing = Some(self.board.next());
        if !self.send_one_new(now)
            && let Some(last) = self.board.probe(now)
        {
            self.counters.retransmits += 1;
            self.host.take(self.packets.segments(last, 1), now);
        } else {
            // It was new, so its arrival proves nothing.
            self.probing = None;
        }
        self.timeout = Some(now + self.rtt.timeout());
    }

    /// Whether a probe fixed what it was sent for (RFC 8985 §7.4): then a loss was hidden by it, and the window is reduced at once
    /// (`tcp_process_tlp_ack`). That is known when something sent after it has arrived without a word that it came twice.
    pub(super) fn check_probe(&mut self, ack: &Acknowledgement, now: MonoTime) {
        let Some(point) = self.probing.filter(|point| ack.to >= *point) else { return };
        if ack.twice > 0 {
            self.probing = None;
        } else if ack.to > point {
            self.probing = None;
            self.reduce(CaState::Cwr, now);
            self.end_recovery(now);
        }
    }

    fn time_out(&mut self, now: MonoTime) {
        self.timeout = None;
        if self.board.out() == 0 {
            return;
        }
        self.probing = None;
        self.waits.timed_out(now);
        self.enter_loss(now);
        self.rtt.back_off();
        self.pace_next = now;
        self.send(now);
        self.timeout = Some(now + self.rtt.timeout());
        self.probe = None;
    }
}
