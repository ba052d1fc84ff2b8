//! The most that may be in flight: what was in flight when probing began to lose.

use super::signals::BETA;
use super::{Bbr3, Mode};
use crate::congestion::bbr::{LEAST_WINDOW, part, whole};
use crate::congestion::{Ack, LostFrame, Window};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ceiling {
    /// Segments; none until probing has lost too much.
    pub(super) in_flight: Option<u32>,
    /// Whether what is acknowledged now was sent while it probed.
    pub(super) tries: bool,
    /// Whether the last probing lost too much.
    pub(super) was_too_high: bool,
    /// Segments acknowledged towards the next growth by one, and how many that takes.
    acked: u32,
    every: u32,
    /// Rounds of growth, by which it becomes faster.
    growths: u32,
}

/// A round that loses more than this share is too much (`bbr_loss_thresh`).
const MOST_LOST: f64 = 0.02;
/// What is left free below it for others (`bbr_inflight_headroom`).
const HEADROOM: f64 = 0.15;

impl Ceiling {
    /// It lies no lower than this one.
    pub(super) fn raise(&mut self, other: Option<u32>) {
        self.in_flight = self.in_flight.zip(other).map(|(one, another)| one.max(another));
    }

    /// The same, with room for others.
    pub(super) fn with_headroom(&self) -> Option<u32> {
        self.in_flight.map(|ceiling| (ceiling - part(ceiling, HEADROOM).max(1).min(ceiling)).max(LEAST_WINDOW))
    }

    pub(super) fn begins_to_grow(&mut self) {
        (self.growths, self.acked) = (0, 0);
    }

    /// Grows twice as fast in each round.
    pub(super) fn grow_faster(&mut self, window: &Window) {
        self.every = (window.cwnd >> self.growths.min(31)).max(1);
        self.growths = (self.growths + 1).min(30);
    }
}

/// Whether a round that had so many in flight has lost too many.
pub(super) fn is_too_much(lost: u32, in_flight: u32) -> bool {
    lost > part(in_flight, MOST_LOST)
}

impl Bbr3 {
    /// Raises it where more was in flight without too much loss, and lowers it where that was too much.
    pub(super) fn adapt_ceiling(&mut self, window: &Window, ack: &Ack) {
        let sample = &ack.sample;
        if is_too_much(sample.lost, sample.in_flight_at_send) {
            if self.ceiling.tries {
                let at = (!sample.app_limited).then_some(sample.in_flight_at_send);
                self.lower(window, at, ack.delivered, ack.now);
            }
            return;
        }
        let Some(ceiling) = self.ceiling.in_flight else { return };
        self.ceiling.in_flight = Some(ceiling.max(sample.in_flight_at_send));
        if self.mode == Mode::Up {
            self.grow_ceiling(window, ack);
        }
    }

    fn grow_ceiling(&mut self, window: &Window, ack: &Ack) {
        let Some(ceiling) = self.ceiling.in_flight else { return };
        if !ack.cwnd_full || window.cwnd < ceiling {
            return;
        }
        self.ceiling.acked += ack.acked;
        let steps = self.ceiling.acked / self.ceiling.every.max(1);
        self.ceiling.acked -= steps * self.ceiling.every.max(1);
        self.ceiling.in_flight = Some(ceiling.saturating_add(steps));
        if self.rounds.began {
            self.ceiling.grow_faster(window);
        }
    }

    /// A frame is lost that may have been sent while it probed: what was in flight before it made the loss too much.
    pub(super) fn note_probe_loss(&mut self, window: &Window, lost: &LostFrame) {
        if !self.ceiling.tries || !is_too_much(lost.lost, lost.in_flight) {
            return;
        }
        let (flight, count) = (lost.in_flight.saturating_sub(lost.count), f64::from(lost.count));
        let (allowed, had) = (f64::from(flight) * MOST_LOST, f64::from(lost.lost) - count);
        let before = if had >= allowed { 0 } else { whole((allowed - had) / (1.0 - MOST_LOST)) };
        let at = (!lost.app_limited).then_some(flight + before);
        self.lower(window, at, lost.delivered, lost.now);
    }

    /// Sets it to what was in flight, where the network and not the application said how much that was.
    fn lower(&mut self, window: &Window, in_flight: Option<u32>, delivered: u64, now: units::MonoTime) {
        self.ceiling.was_too_high = true;
        self.ceiling.tries = false;
        if let Some(in_flight) = in_flight {
            let target = self.target(window);
            self.ceiling.in_flight = Some(in_flight.max(part(target, BETA)));
        }
        if self.mode == Mode::Up {
            self.begin_down(now, delivered);
        }
    }
}
