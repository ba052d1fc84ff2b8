//! Whether a policer holds the flow (`bbr_lt_bw_sampling`, net/ipv4/tcp_bbr.c, 5.10).

use std::time::Duration;

use units::MonoTime;

use crate::congestion::Ack;

/// A guess from intervals of much loss: two in a row with nearly the same rate.
#[derive(Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    since: MonoTime,
    delivered: u64,
    lost: u64,
    /// The rate of the last interval, in segments a second.
    pub(super) rate: f64,
    /// Whether that rate is held to be the policer's.
    pub(super) believed: bool,
    all_lost: u64,
}

/// Rounds for which a policer is believed in.
const BELIEVED: u32 = 48;
/// The shortest and the longest interval, in rounds.
const INTERVAL: (u32, u32) = (4, 16);

impl Policer {
    /// Takes in an acknowledgement. Returns whether it is time to look for more again.
    pub(super) fn sample(&mut self, ack: &Ack, round_began: bool, probing: bool) -> bool {
        self.all_lost += u64::from(ack.lost);
        if self.believed {
            self.rounds += u32::from(probing && round_began);
            let over = self.rounds >= BELIEVED;
            if over {
                self.forget();
            }
            return over;
        }
        if !self.sampling {
            if ack.lost == 0 {
                return false;
            }
            self.begin(ack);
            self.sampling = true;
        }
        if ack.sample.app_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(round_began);
        if self.rounds > INTERVAL.1 {
            self.forget();
        } else if self.rounds >= INTERVAL.0 && ack.lost > 0 {
            self.end_interval(ack);
        }
        false
    }

    fn end_interval(&mut self, ack: &Ack) {
        let (lost, delivered) = (self.all_lost - self.lost, ack.delivered - self.delivered);
        let time = ack.now.since(self.since);
        // 50 of 256: a fifth.
        if delivered == 0 || lost * 256 < 50 * delivered || time < Duration::from_millis(1) {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "segments of an interval")]
        let rate = delivered as f64 / time.as_secs_f64();
        if self.rate > 0.0 && (rate - self.rate).abs() <= self.rate / 8.0 {
            self.rate = f64::midpoint(rate, self.rate);
            self.believed = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(ack);
        }
    }

    fn begin(&mut self, ack: &Ack) {
        self.since = ack.now;
        self.delivered = ack.delivered;
        self.lost = self.all_lost;
        self.rounds = 0;
    }

    pub(super) fn forget(&mut self) {
        *self = Self { all_lost: self.all_lost, ..Self::default() };
    }
}
