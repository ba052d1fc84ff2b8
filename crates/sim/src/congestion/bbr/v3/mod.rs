//! BBR version 3 (draft-ietf-ccwg-bbr; constants and order of steps as in Google's Linux, branch v3, tcp_bbr.c): version 1
//! that heeds losses. What was lost while it probed is a ceiling for what is in flight, what is lost otherwise a floor to
//! which rate and flight may fall until it probes again.
//!
//! Model: it does not heed marks, as Linux has it unless a route says that they are set early (`RTAX_FEATURE_ECN_LOW`).
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the state, and the steps of an acknowledgement |
//! | `signals` | what the last round delivered and lost, and the floors from that |
//! | `ceiling` | the most that may be in flight |
//! | `cycle` | when it probes for more rate, and when it stops |
//! | `round_trip` | the least round trip, and probing for it |
//! | `window` | pacing and window from all that |

mod ceiling;
mod cycle;
mod rtt;
mod signals;
mod window;

use std::time::Duration;

use path::Seed;
use path::random::SeededRng;
use units::MonoTime;

use super::clumps::Clumps;
use super::first_pacing;
use super::pipe::FullPipe;
use super::rounds::Rounds;
use crate::congestion::{Ack, CaState, Congestion, LostFrame, Window};
use ceiling::Ceiling;
use cycle::Cycle;
use rtt::LeastRoundTrip;
use signals::{Floors, Latest};

/// What it is at. `Down` to `Up` are the phases in which it knows the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Finding the rate.
    Startup,
    /// Draining what that queued.
    Drain,
    /// Leaving room, until what probing queued is gone.
    Down,
    /// At the rate, below the ceiling.
    Cruise,
    /// Filling the path before it probes, with the floors forgotten.
    Refill,
    /// Probing for more.
    Up,
    /// Probing for the least round trip.
    ProbeRtt { until: Option<MonoTime>, round_done: bool },
}

#[derive(Debug)]
pub(crate) struct Bbr3 {
    mode: Mode,
    rng: SeededRng,
    mss: f64,
    first_window: u32,
    rounds: Rounds,
    pipe: FullPipe,
    /// The largest rate of the last cycle and of this one, in segments a second.
    rates: [f64; 2],
    /// The rate of this acknowledgement.
    rate: f64,
    least: LeastRoundTrip,
    latest: Latest,
    floors: Floors,
    ceiling: Ceiling,
    cycle: Cycle,
    clumps: Clumps,
    saved: u32,
    /// The bounds before a loss that may turn out to be none.
    before: (Floors, Option<u32>),
    ca_state: CaState,
}

/// `bbr_startup_pacing_gain`: 4 ln 2, with which the rate doubles each round.
const STARTUP_GAIN: f64 = 2.77;
/// Rounds after which clumps begin to be forgotten, once the path is full.
const CLUMP_ROUNDS: u32 = 5;

impl Bbr3 {
    pub(crate) fn new(seed: Seed, mss: u32) -> Self {
        Self {
            mode: Mode::Startup,
            rng: SeededRng::new(seed),
            mss: f64::from(mss),
            first_window: 10,
            rounds: Rounds::default(),
            pipe: FullPipe::default(),
            rates: [0.0; 2],
            rate: 0.0,
            least: LeastRoundTrip::default(),
            latest: Latest::default(),
            floors: Floors::default(),
            ceiling: Ceiling::default(),
            cycle: Cycle::default(),
            clumps: Clumps::new(),
            saved: 0,
            before: (Floors::default(), None),
            ca_state: CaState::Open,
        }
    }

    /// The largest rate of the last two cycles, in segments a second.
    fn largest_rate(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// The same, with what losses have said.
    fn believed_rate(&self) -> f64 {
        self.floors.rate.map_or(self.largest_rate(), |floor| floor.min(self.largest_rate()))
    }

    /// Whether it tries out more than it knows the path to carry.
    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    fn is_cycling(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    fn is_recovering(&self) -> bool {
        matches!(self.ca_state, CaState::Recovery | CaState::Loss)
    }

    fn check_full(&mut self, ack: &Ack) {
        if !self.pipe.is_now && !ack.sample.app_limited {
            self.pipe.look(self.rate, self.rounds.began);
        }
    }

    fn check_drain(&mut self, window: &mut Window, ack: &Ack) {
        if self.mode == Mode::Startup && self.pipe.was {
            self.mode = Mode::Drain;
            window.ssthresh = self.in_flight_at(self.largest_rate(), 1.0, ack);
            self.latest.forget();
        }
        if self.mode == Mode::Drain && ack.in_flight <= self.in_flight_at(self.largest_rate(), 1.0, ack) {
            self.begin_down(ack.now, ack.delivered);
        }
    }

    fn save(&mut self, window: &Window) {
        let calm = !self.is_recovering() && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.saved = if calm { window.cwnd } else { self.saved.max(window.cwnd) };
    }
}

impl Congestion for Bbr3 {
    fn init(&mut self, window: &mut Window, rtt: Duration) {
        self.first_window = window.cwnd;
        window.pacing = first_pacing(STARTUP_GAIN, window, rtt, self.mss);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.rounds.acked(ack);
        self.rate = ack.sample.segments_per_second().unwrap_or(0.0);
        self.cycle.count_round(self.rounds.began);
        self.take_signals(window, ack);
        let rounds = if self.pipe.was { CLUMP_ROUNDS } else { 1 };
        self.clumps.acked(window, ack, self.believed_rate(), self.rounds.began, rounds);
        self.check_startup_losses(ack);
        self.check_full(ack);
        self.check_drain(window, ack);
        self.update_cycle(window, ack);
        self.update_round_trip(window, ack);
        self.set_pacing(window);
        self.set_window(window, ack);
        self.latest.advance(self.rate, ack);
        self.ca_state = ack.ca_state;
    }

    fn on_loss(&mut self, window: &Window, lost: &LostFrame) {
        self.latest.note_loss(lost.delivered);
        self.note_probe_loss(window, lost);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn ssthresh(&mut self, window: &Window, _now: MonoTime) -> u32 {
        self.save(window);
        self.before = (self.floors, self.ceiling.in_flight);
        window.ssthresh
    }

    fn set_state(&mut self, ca_state: CaState, window: &mut Window, _now: MonoTime) {
        if ca_state == CaState::Loss {
            self.pipe.ask_anew(0.0);
            if !self.is_probing() {
                self.floors.in_flight.get_or_insert(window.prior);
            }
        } else if self.ca_state == CaState::Loss {
            window.cwnd = window.cwnd.max(self.saved);
        }
        self.ca_state = ca_state;
    }

    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        self.pipe.ask_anew(0.0);
        self.latest.lost = false;
        let (floors, ceiling) = self.before;
        self.floors.raise(floors);
        self.ceiling.raise(ceiling);
        window.cwnd.max(self.saved)
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
