//! CUBIC (RFC 9438) with the choices of Linux (net/ipv4/tcp_cubic.c, 6.1).

use std::time::Duration;

use units::MonoTime;

use super::hystart::HyStart;
use super::{Ack, CaState, Congestion, HZ, SlowStart, Window, jiffies};

#[derive(Debug)]
pub(crate) struct Cubic {
    epoch: Option<Epoch>,
    /// The window before the last reduction, less with fast convergence.
    last_max: u32,
    /// Segments acknowledged for each step of the window.
    every: u32,
    /// The window for which that was reckoned last, and the jiffy.
    reckoned: (u32, u64),
    hystart: HyStart,
}

/// Growth since a reduction. Whole numbers as the kernel has them: where windows are small, what is cut off decides when the next
/// step comes.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// The jiffy in which it began.
    began: u64,
    /// Until the window is at `origin`, in 1024ths of a second (RFC 9438 §4.2, K).
    until_origin: u64,
    origin: u32,
    /// The window that Reno would have.
    reno: u32,
    acked: u32,
}

/// Parts of a second that the cubic is reckoned in.
const PARTS: u64 = 1_024;
/// RFC 9438 §4.1, C, in 1024ths of a segment per second cubed: 0.4.
const C: u64 = 410;
/// RFC 9438 §4.6, in 1024ths: 0.7.
const BETA: u64 = 717;
/// 8 (1 + beta) / (3 (1 - beta)) in whole numbers: eighths of a window of acknowledged segments for each step of Reno.
const RENO: u32 = 15;
/// The cubic is reckoned anew no more often than each 31 ms while the window stays.
const PATIENCE: u64 = HZ / 32;

impl Cubic {
    pub(crate) fn new(slow_start: SlowStart) -> Self {
        Self { epoch: None, last_max: 0, every: 0, reckoned: (0, 0), hystart: HyStart::new(slow_start) }
    }

    /// `acked` are those of the acknowledgement that slow start has not used.
    fn update(&mut self, window: &Window, acked: u32, now: u64) {
        let cwnd = window.cwnd;
        if let Some(epoch) = &mut self.epoch {
            epoch.acked = epoch.acked.saturating_add(acked);
        }
        if self.reckoned.0 == cwnd && now - self.reckoned.1 <= PATIENCE {
            return;
        }
        // Within a jiffy only what Reno would have changes.
        if self.epoch.is_none() || self.reckoned.1 != now {
            self.reckoned = (cwnd, now);
            let last_max = self.last_max;
            let epoch = self.epoch.get_or_insert_with(|| Epoch::new(cwnd, last_max, acked, now));
            self.every = epoch.cubic_every(cwnd, now, self.hystart.floor());
            // Nothing to aim at yet: at least 5 % a round trip.
            if last_max == 0 {
                self.every = self.every.min(20);
            }
        }
        if let Some(epoch) = &mut self.epoch {
            self.every = self.every.min(epoch.reno_every(cwnd)).max(2);
        }
    }
}

impl Epoch {
    fn new(cwnd: u32, last_max: u32, acked: u32, now: u64) -> Self {
        let below = last_max.saturating_sub(cwnd);
        // K^3 = (last_max - cwnd) / C, in 1024ths of a second.
        let until_origin = cube_root(PARTS.pow(4) / C * u64::from(below));
        Self { began: now, until_origin, origin: last_max.max(cwnd), reno: cwnd, acked }
    }

    fn cubic_every(&self, cwnd: u32, now: u64, floor: Duration) -> u32 {
        let floor = units::duration::micros(floor).div_ceil(1_000_000 / HZ);
        let time = (now - self.began + floor) * PARTS / HZ;
        let away = u128::from(time.abs_diff(self.until_origin));
        let steps = (u128::from(C) * away * away * away) >> 40;
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let target = if time < self.until_origin {
            self.origin.saturating_sub(steps)
        } else {
            self.origin.saturating_add(steps)
        };
        if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) }
    }

    /// How many segments for each step where Reno would be faster (RFC 9438 §4.3), else no bound.
    fn reno_every(&mut self, cwnd: u32) -> u32 {
        let needed = (cwnd * RENO) >> 3;
        while self.acked > needed {
            self.acked -= needed;
            self.reno += 1;
        }
        if self.reno > cwnd { cwnd / (self.reno - cwnd) } else { u32::MAX }
    }
}

/// The largest whole number whose cube is no more.
fn cube_root(value: u64) -> u64 {
    let Some(bits) = value.checked_ilog2() else { return 0 };
    // Newton's method from above: it falls until it is there.
    let mut root = 1 << (bits / 3 + 1);
    loop {
        let next = (2 * root + value / (root * root)) / 3;
        if next >= root {
            return root;
        }
        root = next;
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // What is measured in the first second of an epoch may be the last of what the reduction was for.
        let is_new = self.epoch.is_some_and(|epoch| jiffies(ack.now) - epoch.began < HZ);
        if !is_new {
            self.hystart.on_ack(window, ack);
        }
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
        self.update(window, left, jiffies(ack.now));
        window.grow_by_one_in(self.every, left);
    }

    fn ssthresh(&mut self, window: &Window, _now: MonoTime) -> u32 {
        let share = |of: u32, parts: u64| u32::try_from(u64::from(of) * parts / PARTS).unwrap_or(u32::MAX);
        self.epoch = None;
        // Fast convergence (RFC 9438 §4.7).
        let converges = window.cwnd < self.last_max;
        self.last_max = if converges { share(window.cwnd, (PARTS + BETA) / 2) } else { window.cwnd };
        share(window.cwnd, BETA).max(2)
    }

    fn set_state(&mut self, ca_state: CaState, _window: &mut Window, _now: MonoTime) {
        if ca_state == CaState::Loss {
            (self.epoch, self.last_max, self.reckoned) = (None, 0, (0, 0));
            self.hystart.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_the_largest_whole_one() {
        for value in [0, 1, 7, 8, 26, 27, 1_000_000, 2_681_735_677, 2_681_735_677 * 100_000, u64::MAX] {
            let root = u128::from(cube_root(value));
            assert!(root.pow(3) <= value.into() && (root + 1).pow(3) > value.into(), "{value}: {root}");
        }
    }

    /// K is the cube root of 0.3 * 100 / 0.4 seconds; what is cut off the distance puts the target one segment higher.
    #[test]
    fn steps_come_as_whole_segments_are_due() {
        let epoch = Epoch::new(70, 100, 0, 0);
        assert_eq!(epoch.until_origin * 1_000 / PARTS, 4_214);
        let every = |tenths: u64| epoch.cubic_every(70, HZ / 10 * tenths, Duration::ZERO);
        // 100 - 0.4 * 4.2^3 = 70.02, 72.1 after 0.1 s and 74.1 after 0.2 s: rounded up 71, 73 and 75.
        assert_eq!([every(0), every(1), every(2)], [70, 23, 14]);
    }
}
