//! Acknowledgements that come in clumps: what the window has to hold beyond the path's product, so that sending goes on
//! between them.

use units::MonoTime;

use super::whole;
use crate::congestion::{Ack, Window};

/// The most that came beyond what the rate explains, in the last rounds.
#[derive(Debug)]
pub(super) struct Clumps {
    since: MonoTime,
    acked: u32,
    most: [u32; 2],
    rounds: u32,
}

/// The longest time for which clumps are believed in, in seconds.
const MOST: f64 = 0.1;
/// More than this are no clump.
const RESET: u32 = 1 << 20;

impl Clumps {
    pub(super) fn new() -> Self {
        Self { since: MonoTime::default(), acked: 0, most: [0; 2], rounds: 0 }
    }

    /// Takes in an acknowledgement, at a rate in segments a second. What is `rounds` old begins to be forgotten.
    pub(super) fn acked(&mut self, window: &Window, ack: &Ack, rate: f64, round_began: bool, rounds: u32) {
        if ack.acked == 0 || ack.sample.interval.is_none() {
            return;
        }
        if round_began {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.most = [0, self.most[0]];
            }
        }
        let mut expected = whole(rate * ack.now.since(self.since).as_secs_f64());
        if self.acked <= expected || self.acked.saturating_add(ack.acked) >= RESET {
            (self.acked, self.since, expected) = (0, ack.now, 0);
        }
        self.acked += ack.acked;
        let extra = self.acked.saturating_sub(expected).min(window.cwnd);
        self.most[0] = self.most[0].max(extra);
    }

    /// What the window has to hold for them.
    pub(super) fn window(&self, rate: f64) -> u32 {
        self.most[0].max(self.most[1]).min(whole(rate * MOST))
    }
}
