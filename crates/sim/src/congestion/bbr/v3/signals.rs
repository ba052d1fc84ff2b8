//! What the last round delivered and lost, and how far rate and flight may fall for it.

use super::ceiling::is_too_much;
use super::{Bbr3, Mode};
use crate::congestion::bbr::part;
use crate::congestion::{Ack, CaState, Window};

/// A round that ends when what was sent after its losses has arrived.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The largest rate, in segments a second, and the most segments that arrived within a sample.
    rate: f64,
    in_flight: u32,
    ends: u64,
    /// Whether it ended with this acknowledgement.
    ended: bool,
    /// Whether anything was lost in it.
    pub(super) lost: bool,
    /// Acknowledgements that told of losses.
    events: u32,
}

/// Below this it does not fall until it probes again, though the largest rate would allow more. None is no bound.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Floors {
    /// Segments a second.
    pub(super) rate: Option<f64>,
    /// Segments.
    pub(super) in_flight: Option<u32>,
}

/// What a round with losses leaves of the floors (`bbr_beta`: a cut of 30 %).
pub(super) const BETA: f64 = 0.7;
/// Acknowledgements with losses in a round after which the path is held to be full (`bbr_full_loss_cnt`).
const FULL_LOSSES: u32 = 6;

impl Latest {
    fn acked(&mut self, rate: f64, ack: &Ack) {
        self.ended = false;
        if !says_something(ack) {
            return;
        }
        self.rate = self.rate.max(rate);
        self.in_flight = self.in_flight.max(ack.sample.delivered);
        if ack.sample.prior_delivered >= self.ends {
            self.ends = ack.delivered;
            self.ended = true;
        }
    }

    /// The next round begins with what this acknowledgement said.
    pub(super) fn advance(&mut self, rate: f64, ack: &Ack) {
        if self.ended {
            (self.rate, self.in_flight) = (rate, ack.sample.delivered);
        }
    }

    /// Something was lost: the round is to have a whole round trip of it.
    pub(super) fn note_loss(&mut self, delivered: u64) {
        if !self.lost {
            self.ends = delivered;
        }
        self.lost = true;
    }

    pub(super) fn forget(&mut self) {
        (self.rate, self.in_flight, self.lost) = (0.0, 0, false);
    }
}

impl Floors {
    /// None lies lower than these.
    pub(super) fn raise(&mut self, other: Self) {
        self.rate = self.rate.zip(other.rate).map(|(one, another)| one.max(another));
        self.in_flight = self.in_flight.zip(other.in_flight).map(|(one, another)| one.max(another));
    }
}

impl Bbr3 {
    /// Takes in what an acknowledgement says of rate and losses.
    pub(super) fn take_signals(&mut self, window: &Window, ack: &Ack) {
        self.latest.acked(self.rate, ack);
        if !says_something(ack) {
            return;
        }
        if !ack.sample.app_limited || self.rate >= self.largest_rate() {
            self.rates[1] = self.rates[1].max(self.rate);
        }
        self.latest.lost |= ack.lost > 0;
        if !self.latest.ended {
            return;
        }
        if self.latest.lost && !self.is_probing() {
            let rate = self.floors.rate.unwrap_or(self.largest_rate());
            let in_flight = self.floors.in_flight.unwrap_or(window.cwnd);
            self.floors.rate = Some(self.latest.rate.max(rate * BETA));
            self.floors.in_flight = Some(self.latest.in_flight.max(part(in_flight, BETA)));
        }
        self.latest.lost = false;
    }

    /// A path that loses much while the rate is being found is full, whatever the rate does.
    pub(super) fn check_startup_losses(&mut self, ack: &Ack) {
        if self.pipe.was || self.mode != Mode::Startup {
            return;
        }
        self.latest.events += u32::from(ack.lost > 0);
        if !self.latest.ended {
            return;
        }
        let many = self.latest.events >= FULL_LOSSES && ack.ca_state == CaState::Recovery;
        if many && is_too_much(ack.sample.lost, ack.sample.in_flight_at_send) {
            self.pipe.was = true;
            let product = self.in_flight_at(self.largest_rate(), 1.0, ack);
            self.ceiling.in_flight = Some(product.max(self.latest.in_flight));
        }
        self.latest.events = 0;
    }
}

fn says_something(ack: &Ack) -> bool {
    ack.sample.interval.is_some() && ack.acked > 0
}
