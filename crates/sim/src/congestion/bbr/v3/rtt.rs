//! The least round trip, and probing for it: half of the product in flight for 200 ms, every 5 s.

use std::time::Duration;

use units::MonoTime;

use super::{Bbr3, Mode};
use crate::congestion::bbr::{LEAST_WINDOW, RTT_AGE, RTT_PROBE, whole};
use crate::congestion::{Ack, Window};

/// The least of the last 5 s, and of the last 10, each with when it was seen.
#[derive(Debug, Default)]
pub(super) struct LeastRoundTrip {
    recent: Option<(Duration, MonoTime)>,
    believed: Option<(Duration, MonoTime)>,
}

/// `bbr_probe_rtt_win_ms`.
const RECENT: Duration = Duration::from_secs(5);
/// `bbr_probe_rtt_cwnd_gain`.
const PROBE_GAIN: f64 = 0.5;

impl LeastRoundTrip {
    pub(super) fn get(&self) -> Option<Duration> {
        self.believed.map(|(rtt, _)| rtt)
    }

    /// Takes in a round trip. Returns whether it is time to look for a shorter one.
    fn acked(&mut self, ack: &Ack) -> bool {
        let older = |least: Option<(Duration, MonoTime)>, age| least.is_some_and(|(_, at)| ack.now.since(at) > age);
        let expired = older(self.recent, RECENT);
        if let Some(rtt) = ack.rtt
            && (expired || self.recent.is_none_or(|(least, _)| rtt < least))
        {
            self.recent = Some((rtt, ack.now));
        }
        let shorter = self.recent.zip(self.believed).is_none_or(|((recent, _), (believed, _))| recent <= believed);
        if shorter || older(self.believed, RTT_AGE) {
            self.believed = self.recent;
        }
        expired
    }
}

impl Bbr3 {
    pub(super) fn update_round_trip(&mut self, window: &mut Window, ack: &Ack) {
        let expired = self.least.acked(ack);
        if expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save(window);
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
            self.stop_probing(ack.delivered);
        }
        let Mode::ProbeRtt { until, round_done } = self.mode else { return };
        match until {
            None if ack.in_flight <= self.probe_window() => {
                self.mode = Mode::ProbeRtt { until: Some(ack.now + RTT_PROBE), round_done: false };
                self.rounds.restart(ack.delivered);
            }
            Some(at) => {
                let round_done = round_done || self.rounds.began;
                self.mode = Mode::ProbeRtt { until, round_done };
                if round_done && ack.now > at {
                    self.least.recent = self.least.recent.map(|(rtt, _)| (rtt, ack.now));
                    window.cwnd = window.cwnd.max(self.saved);
                    self.leave_probe(ack);
                }
            }
            None => {}
        }
    }

    fn leave_probe(&mut self, ack: &Ack) {
        self.floors = super::Floors::default();
        if self.pipe.was {
            self.begin_down(ack.now, ack.delivered);
            self.begin_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// The window while it looks for a shorter round trip.
    pub(super) fn probe_window(&self) -> u32 {
        let rtt = self.least.get().unwrap_or_default().as_secs_f64();
        whole((self.believed_rate() * rtt * PROBE_GAIN).ceil()).max(LEAST_WINDOW)
    }
}
