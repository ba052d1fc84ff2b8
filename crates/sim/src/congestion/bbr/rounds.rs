//! Round trips, counted in packets.

use crate::congestion::Ack;

/// A round is over when something arrives that was sent after it began.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// How many there were.
    pub(super) count: u64,
    /// Segments that have to have arrived when something is sent whose arrival ends the round.
    ends: u64,
    /// Whether one began with this acknowledgement.
    pub(super) began: bool,
}

impl Rounds {
    pub(super) fn acked(&mut self, ack: &Ack) {
        self.began = ack.sample.interval.is_some() && ack.sample.prior_delivered >= self.ends;
        if self.began {
            self.count += 1;
            self.ends = ack.delivered;
        }
    }

    /// One begins now, and the next a round trip later.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.ends = delivered;
    }
}
