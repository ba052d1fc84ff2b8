//! What it is at: finding the rate, draining what that queued, probing for more rate, and for a shorter round trip.

use std::time::Duration;

use units::MonoTime;

use super::{Bbr, Mode};
use crate::congestion::bbr::{LEAST_WINDOW, RTT_AGE, RTT_PROBE};
use crate::congestion::{Ack, Window};

/// 2 / ln 2, with which the rate doubles each round.
pub(super) const HIGH_GAIN: f64 = 2.885;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

impl Bbr {
    /// Of the pacing, and of the window.
    pub(super) fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw { .. } if self.policer.believed => (1.0, 2.0),
            Mode::ProbeBw { phase } => (CYCLE[phase], 2.0),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        let Mode::ProbeBw { phase } = self.mode else { return };
        let rtt = self.min_rtt.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let is_long = ack.now.since(self.cycle_began) > rtt;
        let gain = self.gains().0;
        let over = if gain > 1.0 {
            is_long && (ack.lost > 0 || ack.in_flight_before >= self.in_flight_at(self.rate.get(), gain, ack))
        } else if gain < 1.0 {
            is_long || ack.in_flight_before <= self.in_flight_at(self.rate.get(), 1.0, ack)
        } else {
            is_long
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len() };
            self.cycle_began = ack.now;
        }
    }

    /// Any phase but that of 0.75.
    pub(super) fn begin_cycle(&mut self, now: MonoTime) {
        let back = usize::try_from(self.rng.below(7)).unwrap_or(0);
        self.mode = Mode::ProbeBw { phase: (CYCLE.len() - back) % CYCLE.len() };
        self.cycle_began = now;
    }

    pub(super) fn check_full(&mut self, ack: &Ack) {
        if !self.pipe.was && self.rounds.began && !ack.sample.app_limited {
            self.pipe.look(self.rate.get(), true);
        }
    }

    pub(super) fn check_drain(&mut self, window: &mut Window, ack: &Ack) {
        let product = self.in_flight_at(self.rate.get(), 1.0, ack);
        if self.mode == Mode::Startup && self.pipe.was {
            self.mode = Mode::Drain;
            window.ssthresh = product;
        }
        if self.mode == Mode::Drain && ack.in_flight <= product {
            self.begin_cycle(ack.now);
        }
    }

    pub(super) fn update_round_trip(&mut self, window: &mut Window, ack: &Ack) {
        let expired = self.min_rtt.is_some_and(|(_, at)| ack.now.since(at) > RTT_AGE);
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|(least, _)| rtt < least))
        {
            self.min_rtt = Some((rtt, ack.now));
        }
        if expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save(window);
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
        }
        let Mode::ProbeRtt { until, round_done } = self.mode else { return };
        match until {
            None if ack.in_flight <= LEAST_WINDOW => {
                self.mode = Mode::ProbeRtt { until: Some(ack.now + RTT_PROBE), round_done: false };
                self.rounds.restart(ack.delivered);
            }
            Some(at) => {
                let round_done = round_done || self.rounds.began;
                self.mode = Mode::ProbeRtt { until, round_done };
                if round_done && ack.now > at {
                    self.min_rtt = self.min_rtt.map(|(rtt, _)| (rtt, ack.now));
                    window.cwnd = window.cwnd.max(self.saved);
                    self.leave_probe(ack.now);
                }
            }
            None => {}
        }
    }

    fn leave_probe(&mut self, now: MonoTime) {
        if self.pipe.was {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
