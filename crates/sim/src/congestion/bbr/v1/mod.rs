//! BBR version 1 as Linux has it (net/ipv4/tcp_bbr.c, 5.10): it sends at the rate at which data has arrived, and keeps
//! twice the product of that and the least round trip in flight.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the state, pacing and window |
//! | `phases` | finding the rate, draining, probing |
//! | `policer` | whether a policer holds the flow |

mod phases;
mod policer;

use std::time::Duration;

use path::Seed;
use path::random::SeededRng;
use units::MonoTime;

use super::clumps::Clumps;
use super::pipe::FullPipe;
use super::rounds::Rounds;
use super::{LEAST_WINDOW, MARGIN, first_pacing, whole};
use crate::congestion::filter::LargestOf;
use crate::congestion::{Ack, CaState, Congestion, Window};
use phases::HIGH_GAIN;
use policer::Policer;

/// What it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize },
    ProbeRtt { until: Option<MonoTime>, round_done: bool },
}

#[derive(Debug)]
pub(crate) struct Bbr {
    mode: Mode,
    rng: SeededRng,
    mss: f64,
    /// Segments a second.
    rate: LargestOf,
    rounds: Rounds,
    pipe: FullPipe,
    cycle_began: MonoTime,
    min_rtt: Option<(Duration, MonoTime)>,
    saved: u32,
    ca_state: CaState,
    conserving: bool,
    clumps: Clumps,
    policer: Policer,
}

/// Rounds of which the largest rate is kept.
const RATE_ROUNDS: u64 = 10;
/// Rounds after which clumps begin to be forgotten.
const CLUMP_ROUNDS: u32 = 5;

impl Bbr {
    pub(crate) fn new(seed: Seed, mss: u32) -> Self {
        Self {
            mode: Mode::Startup,
            rng: SeededRng::new(seed),
            mss: f64::from(mss),
            rate: LargestOf::new(RATE_ROUNDS),
            rounds: Rounds::default(),
            pipe: FullPipe::default(),
            cycle_began: MonoTime::default(),
            min_rtt: None,
            saved: 0,
            ca_state: CaState::Open,
            conserving: false,
            clumps: Clumps::new(),
            policer: Policer::default(),
        }
    }

    /// Segments a second that the path is held to carry.
    fn believed_rate(&self) -> f64 {
        if self.policer.believed { self.policer.rate } else { self.rate.get() }
    }

    /// Segments in flight at a rate, times a gain, with room for what offload holds.
    fn in_flight_at(&self, rate: f64, gain: f64, ack: &Ack) -> u32 {
        let Some((rtt, _)) = self.min_rtt else { return 10 };
        let target = whole(rate * rtt.as_secs_f64() * gain) + 3 * ack.frame;
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0 });
        target.next_multiple_of(2) + if probing { 2 } else { 0 }
    }

    fn update_rate(&mut self, ack: &Ack) {
        self.rounds.acked(ack);
        let Some(rate) = ack.sample.segments_per_second() else { return };
        if self.rounds.began {
            self.conserving = false;
        }
        let probing = matches!(self.mode, Mode::ProbeBw { .. });
        if self.policer.sample(ack, self.rounds.began, probing) {
            self.begin_cycle(ack.now);
        }
        if !ack.sample.app_limited || rate >= self.rate.get() {
            self.rate.add(self.rounds.count, rate);
        }
    }

    fn set_pacing(&self, window: &mut Window) {
        let rate = self.believed_rate() * self.gains().0 * MARGIN * self.mss;
        if self.pipe.was || rate > window.pacing {
            window.pacing = rate;
        }
    }

    fn set_window(&mut self, window: &mut Window, ack: &Ack) {
        if ack.acked > 0 && !self.conserves(window, ack) {
            let rate = self.believed_rate();
            let clumps = if self.pipe.was { self.clumps.window(rate) } else { 0 };
            let target = self.in_flight_at(rate, self.gains().1, ack) + clumps;
            if self.pipe.was {
                window.cwnd = (window.cwnd + ack.acked).min(target);
            } else if window.cwnd < target || ack.delivered < 10 {
                window.cwnd += ack.acked;
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd = window.cwnd.min(LEAST_WINDOW);
        }
    }

    /// For a round after the first loss no more is sent than arrives. Whether that is so now.
    fn conserves(&mut self, window: &mut Window, ack: &Ack) -> bool {
        if ack.lost > 0 {
            window.cwnd = window.cwnd.saturating_sub(ack.lost).max(1);
        }
        let recovers = |phase| matches!(phase, CaState::Recovery | CaState::Loss);
        if ack.ca_state == CaState::Recovery && self.ca_state != CaState::Recovery {
            self.conserving = true;
            self.rounds.restart(ack.delivered);
            window.cwnd = ack.in_flight + ack.acked;
        } else if recovers(self.ca_state) && !recovers(ack.ca_state) {
            window.cwnd = window.cwnd.max(self.saved);
            self.conserving = false;
        }
        self.ca_state = ack.ca_state;
        if self.conserving {
            window.cwnd = window.cwnd.max(ack.in_flight + ack.acked);
        }
        self.conserving
    }

    fn save(&mut self, window: &Window) {
        let calm =
            !matches!(self.ca_state, CaState::Recovery | CaState::Loss) && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.saved = if calm { window.cwnd } else { self.saved.max(window.cwnd) };
    }
}

impl Congestion for Bbr {
    fn init(&mut self, window: &mut Window, rtt: Duration) {
        window.pacing = first_pacing(HIGH_GAIN, window, rtt, self.mss);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.update_rate(ack);
        self.clumps.acked(window, ack, self.believed_rate(), self.rounds.began, CLUMP_ROUNDS);
        self.update_cycle(ack);
        self.check_full(ack);
        self.check_drain(window, ack);
        self.update_round_trip(window, ack);
        self.set_pacing(window);
        self.set_window(window, ack);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn ssthresh(&mut self, window: &Window, _now: MonoTime) -> u32 {
        self.save(window);
        window.ssthresh
    }

    fn set_state(&mut self, ca_state: CaState, _window: &mut Window, _now: MonoTime) {
        if ca_state == CaState::Loss {
            self.ca_state = CaState::Loss;
            self.pipe.forget_rate();
        }
    }

    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        self.pipe.ask_anew(0.0);
        self.policer.forget();
        window.cwnd
    }

    fn is_rate_based(&self) -> bool {
        true
    }

    fn app_or_probe_limited(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}
