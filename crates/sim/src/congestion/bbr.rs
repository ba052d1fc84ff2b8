//! BBR version 1 (Cardwell et al., ACM Queue 14(5), 2016) as Linux has it (net/ipv4/tcp_bbr.c, 5.10): it sends at the rate
//! at which data has arrived, and keeps twice the product of that and the least round trip in flight.

use std::time::Duration;

use path::Seed;
use path::random::Dice;
use units::MonoTime;

use super::filter::LargestOf;
use super::{Ack, Congestion, Phase, Window};

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
    dice: Dice,
    mss: f64,
    /// Segments a second.
    rate: LargestOf,
    round: u64,
    round_ends: u64,
    round_began: bool,
    full_rate: f64,
    full_rounds: u32,
    full: bool,
    cycle_began: MonoTime,
    least_rtt: Option<(Duration, MonoTime)>,
    saved: u32,
    phase: Phase,
    conserving: bool,
    has_paced: bool,
    extra: Extra,
    policer: Policer,
}

/// Acknowledgements that come in clumps.
#[derive(Debug)]
struct Extra {
    since: MonoTime,
    acked: u32,
    most: [u32; 2],
    rounds: u32,
}

/// Whether a policer holds the flow, guessed from intervals of much loss.
#[derive(Debug, Default)]
struct Policer {
    sampling: bool,
    rounds: u32,
    since: MonoTime,
    delivered: u64,
    lost: u64,
    rate: f64,
    believed: bool,
    all_lost: u64,
}

/// 2 / ln 2, with which the rate doubles each round.
const HIGH_GAIN: f64 = 2.885;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// It paces 1 % below what it has seen.
const MARGIN: f64 = 0.99;
const LEAST_WINDOW: u32 = 4;
const RTT_AGE: Duration = Duration::from_secs(10);
const RTT_PROBE: Duration = Duration::from_millis(200);
/// The longest time for which clumps are believed in.
const MOST_EXTRA: f64 = 0.1;

impl Bbr {
    pub(crate) fn new(seed: Seed, mss: u32) -> Self {
        Self {
            mode: Mode::Startup,
            dice: Dice::new(seed),
            mss: f64::from(mss),
            rate: LargestOf::new(10),
            round: 0,
            round_ends: 0,
            round_began: false,
            full_rate: 0.0,
            full_rounds: 0,
            full: false,
            cycle_began: MonoTime::default(),
            least_rtt: None,
            saved: 0,
            phase: Phase::Open,
            conserving: false,
            has_paced: false,
            extra: Extra { since: MonoTime::default(), acked: 0, most: [0; 2], rounds: 0 },
            policer: Policer::default(),
        }
    }

    /// Segments a second that the path is held to carry.
    fn believed_rate(&self) -> f64 {
        if self.policer.believed { self.policer.rate } else { self.rate.get() }
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw { .. } if self.policer.believed => (1.0, 2.0),
            Mode::ProbeBw { phase } => (CYCLE[phase], 2.0),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// Segments in flight at a rate, times a gain, with room for what offload holds.
    fn in_flight_at(&self, rate: f64, gain: f64, ack: &Ack) -> u32 {
        let Some((rtt, _)) = self.least_rtt else { return 10 };
        let target = whole(rate * rtt.as_secs_f64() * gain) + 3 * ack.frame;
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0 });
        target.next_multiple_of(2) + if probing { 2 } else { 0 }
    }

    fn update_rate(&mut self, ack: &Ack) {
        self.round_began = false;
        let Some(rate) = ack.sample.segments_per_second() else { return };
        if ack.sample.prior_delivered >= self.round_ends {
            self.round_ends = ack.delivered;
            self.round += 1;
            self.round_began = true;
            self.conserving = false;
        }
        let probing = matches!(self.mode, Mode::ProbeBw { .. });
        if self.policer.sample(ack, self.round_began, probing) {
            self.begin_cycle(ack.now);
        }
        if !ack.sample.app_limited || rate >= self.rate.get() {
            self.rate.add(self.round, rate);
        }
    }

    fn update_cycle(&mut self, ack: &Ack) {
        let Mode::ProbeBw { phase } = self.mode else { return };
        let rtt = self.least_rtt.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let is_long = ack.now.since(self.cycle_began) > rtt;
        let gain = self.gains().0;
        let over = if gain > 1.0 {
            is_long && (ack.lost > 0 || ack.in_flight_before >= self.in_flight_at(self.rate.get(), gain, ack))
        } else if gain < 1.0 {
            is_long || ack.in_flight_before <= self.in_flight_at(self.rate.get(), 1.0, ack)
        } else {
            is_long
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len() };
            self.cycle_began = ack.now;
        }
    }

    /// Any phase but that of 0.75.
    fn begin_cycle(&mut self, now: MonoTime) {
        let back = usize::try_from(self.dice.below(7)).unwrap_or(0);
        self.mode = Mode::ProbeBw { phase: (CYCLE.len() - back) % CYCLE.len() };
        self.cycle_began = now;
    }

    fn check_full(&mut self, ack: &Ack) {
        if self.full || !self.round_began || ack.sample.app_limited {
            return;
        }
        if self.rate.get() >= self.full_rate * 1.25 {
            (self.full_rate, self.full_rounds) = (self.rate.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= 3;
    }

    fn check_drain(&mut self, window: &mut Window, ack: &Ack) {
        let product = self.in_flight_at(self.rate.get(), 1.0, ack);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = product;
        }
        if self.mode == Mode::Drain && ack.in_flight <= product {
            self.begin_cycle(ack.now);
        }
    }

    fn update_round_trip(&mut self, window: &mut Window, ack: &Ack) {
        let expired = self.least_rtt.is_some_and(|(_, at)| ack.now.since(at) > RTT_AGE);
        if let Some(rtt) = ack.rtt
            && (expired || self.least_rtt.is_none_or(|(least, _)| rtt <= least))
        {
            self.least_rtt = Some((rtt, ack.now));
        }
        if expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save(window);
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
        }
        let Mode::ProbeRtt { until, round_done } = self.mode else { return };
        match until {
            None if ack.in_flight <= LEAST_WINDOW => {
                self.mode = Mode::ProbeRtt { until: Some(ack.now + RTT_PROBE), round_done: false };
                self.round_ends = ack.delivered;
            }
            Some(at) => {
                let round_done = round_done || self.round_began;
                self.mode = Mode::ProbeRtt { until, round_done };
                if round_done && ack.now > at {
                    self.least_rtt = self.least_rtt.map(|(rtt, _)| (rtt, ack.now));
                    window.cwnd = window.cwnd.max(self.saved);
                    self.leave_probe(ack.now);
                }
            }
            None => {}
        }
    }

    fn leave_probe(&mut self, now: MonoTime) {
        if self.full {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn set_pacing(&mut self, window: &mut Window, ack: &Ack) {
        let gain = self.gains().0;
        if !self.has_paced && ack.rtt.is_some() {
            self.has_paced = true;
            window.pacing = first_pacing(window, ack.smoothed_rtt, self.mss);
        }
        let rate = self.believed_rate() * gain * MARGIN * self.mss;
        if self.full || rate > window.pacing {
            window.pacing = rate;
        }
    }

    fn set_window(&mut self, window: &mut Window, ack: &Ack) {
        if ack.acked > 0 && !self.conserves(window, ack) {
            let target = self.in_flight_at(self.believed_rate(), self.gains().1, ack) + self.extra_window();
            if self.full {
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
        let recovers = |phase| matches!(phase, Phase::Recovery | Phase::Loss);
        if ack.phase == Phase::Recovery && self.phase != Phase::Recovery {
            self.conserving = true;
            self.round_ends = ack.delivered;
            window.cwnd = ack.in_flight + ack.acked;
        } else if recovers(self.phase) && !recovers(ack.phase) {
            window.cwnd = window.cwnd.max(self.saved);
            self.conserving = false;
        }
        self.phase = ack.phase;
        if self.conserving {
            window.cwnd = window.cwnd.max(ack.in_flight + ack.acked);
        }
        self.conserving
    }

    fn save(&mut self, window: &Window) {
        let calm = !matches!(self.phase, Phase::Recovery | Phase::Loss) && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.saved = if calm { window.cwnd } else { self.saved.max(window.cwnd) };
    }

    fn update_extra(&mut self, window: &Window, ack: &Ack) {
        if ack.acked == 0 || ack.sample.interval.is_none() {
            return;
        }
        if self.round_began {
            self.extra.rounds += 1;
            if self.extra.rounds >= 5 {
                self.extra.rounds = 0;
                self.extra.most = [0, self.extra.most[0]];
            }
        }
        let expected = whole(self.believed_rate() * ack.now.since(self.extra.since).as_secs_f64());
        if self.extra.acked <= expected || self.extra.acked > 1 << 20 {
            self.extra.acked = 0;
            self.extra.since = ack.now;
        }
        let expected = if self.extra.acked == 0 { 0 } else { expected };
        self.extra.acked += ack.acked;
        let extra = self.extra.acked.saturating_sub(expected).min(window.cwnd);
        self.extra.most[0] = self.extra.most[0].max(extra);
    }

    fn extra_window(&self) -> u32 {
        if !self.full {
            return 0;
        }
        let most = whole(self.believed_rate() * MOST_EXTRA);
        self.extra.most[0].max(self.extra.most[1]).min(most)
    }
}

impl Policer {
    /// Takes in an acknowledgement. Returns whether it is time to look for more again.
    fn sample(&mut self, ack: &Ack, round_began: bool, probing: bool) -> bool {
        self.all_lost += u64::from(ack.lost);
        if self.believed {
            self.rounds += u32::from(probing && round_began);
            let over = self.rounds >= 48;
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
        if self.rounds > 16 {
            self.forget();
        } else if self.rounds >= 4 && ack.lost > 0 {
            self.end_interval(ack);
        }
        false
    }

    fn end_interval(&mut self, ack: &Ack) {
        let (lost, delivered) = (self.all_lost - self.lost, ack.delivered - self.delivered);
        let time = ack.now.since(self.since);
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

    fn forget(&mut self) {
        *self = Self { all_lost: self.all_lost, ..Self::default() };
    }
}

/// What is sent at before anything is known but a round trip, in bytes a second.
pub(crate) fn first_pacing(window: &Window, rtt: Duration, mss: f64) -> f64 {
    HIGH_GAIN * f64::from(window.cwnd) * mss / rtt.as_secs_f64().max(0.001)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
fn whole(value: f64) -> u32 {
    (value as u32).min(1 << 30)
}

impl Congestion for Bbr {
    fn acked(&mut self, window: &mut Window, ack: &Ack) {
        self.update_rate(ack);
        self.update_extra(window, ack);
        self.update_cycle(ack);
        self.check_full(ack);
        self.check_drain(window, ack);
        self.update_round_trip(window, ack);
        self.set_pacing(window, ack);
        self.set_window(window, ack);
    }

    fn grow(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn reduced(&mut self, window: &Window, _now: MonoTime) -> u32 {
        self.save(window);
        window.ssthresh
    }

    fn enters(&mut self, phase: Phase, _window: &mut Window, _now: MonoTime) {
        if phase == Phase::Loss {
            self.phase = Phase::Loss;
            self.full_rate = 0.0;
        }
    }

    fn undone(&mut self, window: &Window) -> u32 {
        (self.full_rate, self.full_rounds) = (0.0, 0);
        self.policer.forget();
        window.cwnd
    }

    fn is_model_based(&self) -> bool {
        true
    }

    fn buffer_factor(&self) -> u32 {
        3
    }
}
