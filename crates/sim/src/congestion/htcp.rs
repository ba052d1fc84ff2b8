//! H-TCP (Leith and Shorten, PFLDnet 2004) as Linux has it (net/ipv4/tcp_htcp.c, 5.10): growth by the time since the last
//! reduction, and a reduction by what the queue holds.

use std::time::Duration;

use units::MonoTime;

use super::{Ack, CaState, Congestion, HZ, Window, jiffies};

/// Times are counted in jiffies, fractions in parts of 128, as in Linux.
#[derive(Debug)]
pub(crate) struct Htcp {
    alpha: u64,
    beta: u64,
    /// Whether the next reduction may follow the round trips.
    by_round_trips: bool,
    last_reduction: u64,
    /// That before it, while it may be undone.
    before_reduction: Option<u64>,
    min_rtt: u64,
    most_rtt: u64,
    /// Segments acknowledged since `counted_since`.
    packets: u64,
    counted_since: u64,
    rate: u64,
    best_rate: u64,
    old_best_rate: u64,
    in_order: bool,
    acked: u32,
}

/// One half and four fifths.
const BETA: (u64, u64) = (64, 102);
const ONE: u64 = 128;
/// Up to this RTT a reduction is always by a half: 10 ms, rounded up (`msecs_to_jiffies`).
const LEAST_RTT: u64 = (10 * HZ).div_ceil(1_000);

/// An RTT in jiffies, rounded up (`usecs_to_jiffies`). Hosts add microseconds to the delay of a path that are not modelled, so that
/// even a whole number of jiffies becomes one more.
fn jiffies_of(rtt: Duration) -> u64 {
    units::duration::nanos(rtt) / (1_000_000_000 / HZ) + 1
}

impl Default for Htcp {
    fn default() -> Self {
        Self {
            alpha: ONE,
            beta: BETA.0,
            by_round_trips: false,
            last_reduction: 0,
            before_reduction: None,
            min_rtt: 0,
            most_rtt: 0,
            packets: 0,
            counted_since: 0,
            rate: 0,
            best_rate: 0,
            old_best_rate: 0,
            in_order: true,
            acked: 0,
        }
    }
}

impl Htcp {
    fn note_round_trip(&mut self, rtt: u64) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if self.in_order {
            self.most_rtt = self.most_rtt.max(self.min_rtt);
            // A jump of more than 20 ms is not believed.
            if rtt > self.most_rtt && rtt <= self.most_rtt + HZ / 50 {
                self.most_rtt = rtt;
            }
        }
    }

    fn note_rate(&mut self, window: &Window, now: u64, acked: u32) {
        self.packets += u64::from(acked);
        let step = (self.alpha / ONE).max(1);
        let elapsed = now - self.counted_since;
        let due = self.packets >= u64::from(window.cwnd).saturating_sub(step) && elapsed >= self.min_rtt;
        if !due || self.min_rtt == 0 || elapsed == 0 {
            return;
        }
        let rate = self.packets * HZ / elapsed;
        if (now - self.last_reduction) / self.min_rtt <= 3 {
            (self.rate, self.best_rate) = (rate, rate);
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.best_rate = self.best_rate.max(self.rate);
        }
        (self.packets, self.counted_since) = (0, now);
    }

    fn update_beta(&mut self) {
        let (best, old) = (self.best_rate, self.old_best_rate);
        self.old_best_rate = best;
        if !(4 * old..=6 * old).contains(&(5 * best)) {
            self.beta = BETA.0;
            self.by_round_trips = false;
        } else if self.by_round_trips && self.min_rtt > LEAST_RTT && self.most_rtt > 0 {
            self.beta = (self.min_rtt * ONE / self.most_rtt).clamp(BETA.0, BETA.1);
        } else {
            self.beta = BETA.0;
            self.by_round_trips = true;
        }
    }

    fn update_alpha(&mut self, now: u64) {
        let mut factor = 1;
        let mut since = now - self.last_reduction;
        if since > HZ {
            since -= HZ;
            factor = 1 + (10 * since + (since / 2) * (since / 2) / HZ) / HZ;
        }
        if self.min_rtt > 0 {
            // Of a round trip of 100 ms, between a half and ten.
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(4, 80);
            factor = (factor * 8 / scale).max(1);
        }
        self.alpha = (2 * factor * (ONE - self.beta)).max(ONE);
    }
}

impl Congestion for Htcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let now = jiffies(ack.now);
        self.in_order = ack.ca_state_before == CaState::Open;
        if self.in_order {
            self.acked = ack.advanced;
        }
        if let Some(rtt) = ack.rtt {
            self.note_round_trip(jiffies_of(rtt));
        }
        if matches!(ack.ca_state_before, CaState::Open | CaState::Disorder) {
            self.note_rate(window, now, ack.advanced);
        } else {
            (self.packets, self.counted_since) = (0, now);
        }
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        if u64::from(window.count) * self.alpha / ONE >= u64::from(window.cwnd) {
            window.cwnd += 1;
            window.count = 0;
            self.update_alpha(jiffies(ack.now));
        } else {
            window.count += self.acked;
        }
        self.acked = 1;
    }

    fn ssthresh(&mut self, window: &Window, now: MonoTime) -> u32 {
        self.update_beta();
        self.update_alpha(jiffies(now));
        // What was the longest fades.
        self.most_rtt = self.min_rtt + self.most_rtt.saturating_sub(self.min_rtt) * 95 / 100;
        u32::try_from(u64::from(window.cwnd) * self.beta / ONE).unwrap_or(u32::MAX).max(2)
    }

    fn set_state(&mut self, ca_state: CaState, _window: &mut Window, now: MonoTime) {
        match ca_state {
            // The time counts from the end of a reduction.
            CaState::Open => {
                if self.before_reduction.take().is_some() {
                    self.last_reduction = jiffies(now);
                }
            }
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.before_reduction = Some(self.last_reduction);
                self.last_reduction = jiffies(now);
            }
            CaState::Disorder => {}
        }
    }

    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        if let Some(before) = self.before_reduction.take() {
            self.last_reduction = before;
        }
        window.cwnd.max(window.prior)
    }
}
