//! `HyStart` as Linux has it (Ha and Rhee 2011; net/ipv4/tcp_cubic.c, 6.1): slow start ends before the first loss.

use std::time::Duration;

use units::MonoTime;

use super::{Ack, SlowStart, Window};

/// What is known of the round trip under way.
#[derive(Debug)]
pub(crate) struct HyStart {
    slow_start: SlowStart,
    began: MonoTime,
    last: MonoTime,
    /// The round is over when this segment is acknowledged.
    ends: Option<u32>,
    least: Option<Duration>,
    samples: u32,
    /// The least round trip since the last loss.
    floor: Option<Duration>,
    found: bool,
}

/// `hystart_low_window`.
const LOW_WINDOW: u32 = 16;
/// `hystart_ack_delta_us`.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// `HYSTART_MIN_SAMPLES`.
const MIN_SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`.
const DELAY: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// `GSO_MAX_SIZE`.
const GSO_MAX: f64 = 65_536.0;

impl HyStart {
    /// One that has measured nothing yet; it only measures where slow start goes on until a loss.
    pub(crate) fn new(slow_start: SlowStart) -> Self {
        let began = MonoTime::default();
        Self { slow_start, began, last: began, ends: None, least: None, samples: 0, floor: None, found: false }
    }

    /// Forgets what was found (after a timeout).
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.slow_start);
    }

    pub(crate) fn floor(&self) -> Duration {
        self.floor.unwrap_or_default()
    }

    /// Takes in an acknowledgement; ends slow start where it is time.
    pub(crate) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(delay) = ack.rtt else { return };
        self.floor = Some(self.floor.map_or(delay, |floor| floor.min(delay)));
        let looks = self.slow_start == SlowStart::HyStart && !self.found;
        if !looks || !window.in_slow_start() {
            return;
        }
        if self.ends.is_none_or(|end| ack.una > end) {
            (self.began, self.last) = (ack.now, ack.now);
            (self.ends, self.least, self.samples) = (Some(ack.next), None, 0);
        }
        // Rounds are followed from the first on, so that they begin with the first acknowledgement of a flight (5.16).
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if self.train_is_long(window, ack) || self.delay_has_grown(delay) {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// Acknowledgements that follow each other closely for as long as a way takes.
    fn train_is_long(&mut self, window: &Window, ack: &Ack) -> bool {
        if ack.now.since(self.last) > TRAIN_GAP {
            return false;
        }
        self.last = ack.now;
        let burst = Duration::from_secs_f64((GSO_MAX * 4.0 / window.pacing.max(1.0)).min(0.001));
        let threshold = self.floor() + burst;
        let threshold = if ack.paced { threshold } else { threshold / 2 };
        ack.now.since(self.began) > threshold
    }

    fn delay_has_grown(&mut self, delay: Duration) -> bool {
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let slack = (self.floor() / 8).clamp(DELAY.0, DELAY.1);
        self.least.is_some_and(|least| least > self.floor() + slack)
    }
}
