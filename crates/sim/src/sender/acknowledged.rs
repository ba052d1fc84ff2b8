//! What an acknowledgement does.

use units::MonoTime;

use super::scoreboard::News;
use super::{Pacing, Sender};
use crate::congestion::{Ack, CaState};
use crate::receiver::Acknowledgement;

/// What was so before an acknowledgement came.
struct Before {
    in_flight: u32,
    ca_state: CaState,
}

impl Sender {
    /// Takes an acknowledgement, and sends what it lets go.
    pub(crate) fn acknowledged(&mut self, ack: &Acknowledgement, now: MonoTime) {
        let before = Before { in_flight: self.board.in_flight(), ca_state: self.ca_state };
        let mut news = News { early: now - self.rtt.least(), ..News::default() };
        self.right_window_edge = self.right_window_edge.max(u64::from(ack.to) * u64::from(self.mss) + ack.window);
        self.max_window = self.max_window.max(ack.window);
        self.board.acknowledge(ack.to, &mut news);
        self.update_sack(ack, &mut news);
        let head_sent = self.board.head_sent();
        self.measure_round_trip(&news, now);
        if news.acked > 0 {
            self.recovery.timeouts = 0;
            self.waits.answered(now);
        }
        self.counters.twice += u64::from(ack.twice);
        self.counters.marked += u64::from(ack.marked);
        self.counters.overtaken += u64::from(news.reordered);
        self.rack.advance(news.latest, news.reordered, self.rtt.least(), now);
        self.check_probe(ack, now);
        self.fast_retrans_alert(now, &mut news, ack.twice, ack.marked);
        self.control(&news, &before, now);
        // What was sent before the oldest was last sent tells nothing of that (`tcp_clean_rtx_queue`).
        let is_older = news.oldest.zip(head_sent).is_some_and(|(oldest, head)| oldest < head);
        if news.acked > 0 || is_older {
            self.rearm_timers(now);
        }
        if self.board.in_flight() < self.window.cwnd {
            self.buffer.expand(self.window.cwnd);
        }
        self.send(now);
    }

    /// Of what was sent once; where there is only what was sent again, the time stamps tell which (RFC 7323 §4).
    fn measure_round_trip(&mut self, news: &News, now: MonoTime) {
        let least = now - self.rtt.least();
        let by_time_stamp =
            news.latest.filter(|latest| news.acked > 0 && latest.sent <= least).map(|latest| latest.sent);
        if let Some(sent) = news.oldest.or(by_time_stamp) {
            self.rtt.measured(now.since(sent));
        }
    }

    fn update_sack(&mut self, ack: &Acknowledgement, news: &mut News) {
        if ack.blocks[0].0 == ack.blocks[0].1 {
            self.known = [(0, 0); 4];
            return;
        }
        for (from, to) in ack.blocks {
            // What an earlier block said need not be looked at again.
            let known = self.known.iter().find(|known| known.0 >= from && known.1 <= to && known.0 < known.1);
            match known {
                Some(&(known_from, known_to)) => {
                    self.board.sack(from, known_from, news);
                    self.board.sack(known_to, to, news);
                }
                None => self.board.sack(from, to, news),
            }
        }
        self.known = ack.blocks;
    }

    fn control(&mut self, news: &News, before: &Before, now: MonoTime) {
        let sample = self.meter.sample(now, news, self.rtt.least());
        let told = Ack {
            now,
            acked: news.delivered,
            advanced: news.acked,
            lost: news.lost,
            rtt: news.newest.map(|sent| now.since(sent)),
            in_flight_before: before.in_flight,
            in_flight: self.board.in_flight(),
            delivered: self.meter.delivered,
            una: self.board.una(),
            next: self.board.next(),
            ca_state: self.ca_state,
            ca_state_before: before.ca_state,
            cwnd_limited: self.is_cwnd_limited(),
            cwnd_full: self.cwnd_was_full,
            sample,
            frame: self.frame,
            paced: self.paces,
        };
        self.control.on_ack(&mut self.window, &told);
        if self.is_rate_based {
            if self.control.app_or_probe_limited() {
                self.meter.set_app_limited(self.board.in_flight());
            }
            return;
        }
        if matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            if news.delivered > 0 {
                self.reduce_cwnd_by_prr(news);
            }
        } else if news.acked > 0 {
            self.control.cong_avoid(&mut self.window, &told);
        }
        self.set_pacing();
    }

    /// Whether the window is what holds the sender (`tcp_is_cwnd_limited`, 6.1): in slow start it may grow to twice what was
    /// out at most, where it was not full.
    fn is_cwnd_limited(&self) -> bool {
        let may_double = self.window.in_slow_start() && self.window.cwnd < self.max_outstanding.saturating_mul(2);
        self.cwnd_was_full || may_double
    }

    /// `tcp_update_pacing_rate`: 200 % of a window each round trip in slow start, 120 % after it.
    pub(super) fn set_pacing(&mut self) {
        if self.is_rate_based {
            return;
        }
        let slow = self.window.cwnd < self.window.ssthresh / 2;
        let gain = if slow { 2.0 } else { 1.2 };
        let window = f64::from(self.window.cwnd.max(self.board.out())) * f64::from(self.mss);
        let rate = gain * window / self.rtt.smoothed().as_secs_f64().max(1e-6);
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let most = if let Pacing::Capped(rate) = self.pacing { rate.bytes_per_second() as f64 } else { f64::MAX };
        self.window.pacing = rate.min(most);
    }
}
