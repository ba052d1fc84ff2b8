//! Pacing and window, from the rate, the least round trip and the bounds.

use super::{Bbr3, Mode, STARTUP_GAIN};
use crate::congestion::bbr::{LEAST_WINDOW, MARGIN, whole};
use crate::congestion::{Ack, Window};

impl Bbr3 {
    /// Of the pacing, and of the window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, 2.0),
            // `bbr_drain_gain`: 1000 / 2885.
            Mode::Drain => (0.347, 2.0),
            Mode::Down => (0.91, 2.0),
            Mode::Cruise | Mode::Refill => (1.0, 2.0),
            Mode::Up => (1.25, 2.25),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// Segments in flight at a rate, times a gain; without a round trip, the first window.
    fn product(&self, rate: f64, gain: f64) -> u32 {
        self.least.get().map_or(self.first_window, |rtt| whole((rate * rtt.as_secs_f64() * gain).ceil()))
    }

    /// At least what offload holds, and some more while it probes.
    fn with_offload(&self, segments: u32, frame: u32) -> u32 {
        segments.max(3 * frame).max(LEAST_WINDOW) + if self.mode == Mode::Up { 2 } else { 0 }
    }

    pub(super) fn in_flight_at(&self, rate: f64, gain: f64, ack: &Ack) -> u32 {
        self.with_offload(self.product(rate, gain), ack.frame)
    }

    /// What it means to have in flight.
    pub(super) fn target(&self, window: &Window) -> u32 {
        self.with_offload(self.product(self.believed_rate(), 1.0), 0).min(window.cwnd)
    }

    pub(super) fn set_pacing(&self, window: &mut Window) {
        let rate = self.believed_rate() * self.gains().0 * MARGIN * self.mss;
        if self.pipe.was || rate > window.pacing {
            window.pacing = rate;
        }
    }

    pub(super) fn set_window(&self, window: &mut Window, ack: &Ack) {
        if ack.acked > 0 {
            let rate = self.believed_rate();
            let target = self.product(rate, self.gains().1) + self.clumps.window(rate);
            let target = self.with_offload(target, ack.frame);
            if self.pipe.was {
                window.cwnd = (window.cwnd + ack.acked).min(target);
            } else if window.cwnd < target || window.cwnd < 2 * self.first_window {
                window.cwnd += ack.acked;
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd = window.cwnd.min(self.probe_window());
        }
        self.bound(window);
    }

    /// No more than the ceiling, or what is left below it for others, and than the floor that losses have set.
    fn bound(&self, window: &mut Window) {
        let ceiling = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.ceiling.in_flight,
            Mode::Cruise | Mode::ProbeRtt { .. } => self.ceiling.with_headroom(),
            Mode::Startup | Mode::Drain => None,
        };
        let most = ceiling.unwrap_or(u32::MAX).min(self.floors.in_flight.unwrap_or(u32::MAX)).max(LEAST_WINDOW);
        window.cwnd = window.cwnd.min(most);
    }
}
