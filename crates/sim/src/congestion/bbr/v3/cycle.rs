//! When it probes for more rate, and when it stops.

use std::time::Duration;

use units::MonoTime;

use super::{Bbr3, Mode};
use crate::congestion::{Ack, Window};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Cycle {
    began: MonoTime,
    /// How long after that it probes again, by the clock.
    wait: Duration,
    /// Rounds since it last probed.
    rounds: u32,
    feedback: Feedback,
    /// Whether probing was ended before it could lose, because the last had lost.
    was_careful: bool,
}

/// Of which phase the acknowledgements tell that come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Feedback {
    #[default]
    Other,
    /// It stopped probing; they still tell of that for a round.
    Stopping,
}

/// It probes after 2 to 3 s (`bbr_bw_probe_base_us`, `bbr_bw_probe_rand_us`).
const WAIT: Duration = Duration::from_secs(2);
const WAIT_MORE: u64 = 1_000_000;
/// And after so many rounds, or as many as there are segments in flight: as often as Reno (`bbr_bw_probe_max_rounds`).
const MOST_ROUNDS: u32 = 63;

impl Cycle {
    pub(super) fn count_round(&mut self, began: bool) {
        self.rounds = (self.rounds + u32::from(began)).min(255);
    }
}

impl Bbr3 {
    pub(super) fn update_cycle(&mut self, window: &Window, ack: &Ack) {
        if !self.pipe.was {
            return;
        }
        if self.hear_of_the_end(ack) {
            return;
        }
        self.adapt_ceiling(window, ack);
        match self.mode {
            Mode::Cruise if self.is_time(window, ack.now) => self.begin_refill(ack),
            Mode::Down if self.is_time(window, ack.now) => self.begin_refill(ack),
            Mode::Down if self.has_drained(ack) => self.begin_cruise(),
            Mode::Refill if self.rounds.began => self.begin_up(window, ack),
            Mode::Up => self.check_up(window, ack),
            _ => {}
        }
    }

    /// A round after probing has stopped, all is known that it found. Whether it goes on at once.
    fn hear_of_the_end(&mut self, ack: &Ack) -> bool {
        if self.cycle.feedback != Feedback::Stopping || !self.rounds.began {
            return false;
        }
        self.ceiling.tries = false;
        self.cycle.feedback = Feedback::Other;
        if !self.is_cycling() {
            return false;
        }
        if !ack.sample.app_limited && self.rates[1] > 0.0 {
            self.rates = [self.rates[1], 0.0];
        }
        let goes_on = self.cycle.was_careful && !self.ceiling.was_too_high;
        if goes_on {
            self.begin_refill(ack);
        }
        goes_on
    }

    fn is_time(&self, window: &Window, now: MonoTime) -> bool {
        now.since(self.cycle.began) > self.cycle.wait || self.cycle.rounds >= self.target(window).min(MOST_ROUNDS)
    }

    fn has_drained(&self, ack: &Ack) -> bool {
        let is_below = self.ceiling.with_headroom().is_none_or(|most| ack.in_flight_before <= most);
        is_below && ack.in_flight_before <= self.in_flight_at(self.largest_rate(), 1.0, ack)
    }

    fn check_up(&mut self, window: &Window, ack: &Ack) {
        let ceiling = self.ceiling.in_flight.unwrap_or(u32::MAX);
        let careful = self.ceiling.was_too_high && ack.in_flight_before >= ceiling;
        if careful {
            self.cycle.was_careful = true;
        } else if ack.cwnd_full && window.cwnd >= ceiling {
            // The ceiling is what holds the rate: nothing can be said of the path.
            self.pipe.ask_anew(self.rate);
            return;
        }
        if careful || self.pipe.is_now {
            self.ceiling.was_too_high = false;
            self.begin_down(ack.now, ack.delivered);
        }
    }

    pub(super) fn begin_down(&mut self, now: MonoTime, delivered: u64) {
        self.latest.forget();
        self.cycle.rounds = u32::try_from(self.rng.below(2)).unwrap_or(0);
        self.cycle.wait = WAIT + Duration::from_micros(self.rng.below(WAIT_MORE));
        self.cycle.began = now;
        self.cycle.feedback = Feedback::Stopping;
        self.rounds.restart(delivered);
        self.mode = Mode::Down;
    }

    pub(super) fn begin_cruise(&mut self) {
        if let (Some(floor), Some(ceiling)) = (self.floors.in_flight, self.ceiling.in_flight) {
            self.floors.in_flight = Some(floor.min(ceiling));
        }
        self.mode = Mode::Cruise;
    }

    fn begin_refill(&mut self, ack: &Ack) {
        self.floors = super::Floors::default();
        self.ceiling.begins_to_grow();
        self.cycle.was_careful = false;
        self.cycle.feedback = Feedback::Other;
        self.rounds.restart(ack.delivered);
        self.mode = Mode::Refill;
    }

    fn begin_up(&mut self, window: &Window, ack: &Ack) {
        self.ceiling.tries = true;
        self.cycle.began = ack.now;
        self.cycle.feedback = Feedback::Other;
        self.rounds.restart(ack.delivered);
        self.pipe.ask_anew(self.rate);
        self.mode = Mode::Up;
        self.ceiling.grow_faster(window);
    }

    /// What is heard now is of the end of probing, whatever for.
    pub(super) fn stop_probing(&mut self, delivered: u64) {
        self.cycle.feedback = Feedback::Stopping;
        self.rounds.restart(delivered);
    }
}
