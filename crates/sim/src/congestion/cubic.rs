//! CUBIC (RFC 9438) with the choices of Linux (net/ipv4/tcp_cubic.c, 6.1).

use std::time::Duration;

use units::MonoTime;

use super::hystart::HyStart;
use super::{Ack, CaState, Congestion, SlowStart, Window};

#[derive(Debug)]
pub(crate) struct Cubic {
    epoch: Option<Epoch>,
    /// The window before the last reduction, less with fast convergence.
    last_max: f64,
    /// Segments acknowledged for each step of the window.
    every: u32,
    hystart: HyStart,
}

/// Growth since a reduction.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    began: MonoTime,
    /// Seconds until the window is at `origin` (RFC 9438 §4.2, K).
    until_origin: f64,
    origin: f64,
    /// The window that Reno would have.
    reno: f64,
    acked: f64,
    updated: MonoTime,
    cwnd: u32,
}

/// RFC 9438 §4.1, C, in segments per second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6, with the 717/1024 of Linux.
const BETA: f64 = 717.0 / 1024.0;
/// `HZ / 32`: the cubic is reckoned anew no more often while the window stays.
const PATIENCE: Duration = Duration::from_millis(31);

impl Cubic {
    pub(crate) fn new(slow_start: SlowStart) -> Self {
        Self { epoch: None, last_max: 0.0, every: 0, hystart: HyStart::new(slow_start) }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and casts saturate")]
    fn update(&mut self, window: &Window, ack: &Ack) {
        let cwnd = f64::from(window.cwnd);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(cwnd, last_max, ack.now));
        epoch.acked += f64::from(ack.acked);
        if epoch.cwnd == window.cwnd && ack.now.since(epoch.updated) <= PATIENCE && self.every > 0 {
            return;
        }
        (epoch.cwnd, epoch.updated) = (window.cwnd, ack.now);
        let time = ack.now.since(epoch.began).as_secs_f64() + self.hystart.floor().as_secs_f64();
        let away = time - epoch.until_origin;
        let target = epoch.origin + C * away * away * away;
        let mut every = if target > cwnd { cwnd / (target - cwnd) } else { 100.0 * cwnd };
        // Nothing to aim at yet: at least 5 % a round trip.
        if self.last_max == 0.0 {
            every = every.min(20.0);
        }
        every = every.min(epoch.reno_every(cwnd));
        self.every = every.max(2.0) as u32;
    }
}

impl Epoch {
    fn new(cwnd: f64, last_max: f64, now: MonoTime) -> Self {
        let (until_origin, origin) =
            if last_max <= cwnd { (0.0, cwnd) } else { (cube_root((last_max - cwnd) / C), last_max) };
        Self { began: now, until_origin, origin, reno: cwnd, acked: 0.0, updated: now, cwnd: 0 }
    }

    /// How many segments for each step where Reno would be faster (RFC 9438 §4.3), else no bound.
    fn reno_every(&mut self, cwnd: f64) -> f64 {
        // alpha = 3 (1 - beta) / (1 + beta) of a segment each window of acknowledged segments.
        let needed = cwnd * (1.0 + BETA) / (3.0 * (1.0 - BETA));
        while self.acked > needed {
            self.acked -= needed;
            self.reno += 1.0;
        }
        if self.reno > cwnd { cwnd / (self.reno - cwnd) } else { f64::MAX }
    }
}

/// By Newton's method, in operations that give the same everywhere.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = value.max(1.0);
    for _ in 0..200 {
        let next = (2.0 * root + value / (root * root)) / 3.0;
        if (next - root).abs() <= root * 1e-14 {
            return next;
        }
        root = next;
    }
    root
}

impl Congestion for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.hystart.on_ack(window, ack);
    }

    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        let mut left = ack.acked;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        self.update(window, ack);
        window.grow_by_one_in(self.every, left);
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and casts saturate")]
    fn ssthresh(&mut self, window: &Window, _now: MonoTime) -> u32 {
        let cwnd = f64::from(window.cwnd);
        self.epoch = None;
        // Fast convergence (RFC 9438 §4.7).
        self.last_max = if cwnd < self.last_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        ((cwnd * BETA) as u32).max(2)
    }

    fn set_state(&mut self, ca_state: CaState, _window: &mut Window, _now: MonoTime) {
        if ca_state == CaState::Loss {
            self.epoch = None;
            self.last_max = 0.0;
            self.hystart.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_one() {
        for value in [1e-6, 0.5, 1.0, 8.0, 27.0, 1e6, 3.7e11] {
            let root = cube_root(value);
            assert!((root * root * root / value - 1.0).abs() < 1e-12, "{value}");
        }
    }
}
