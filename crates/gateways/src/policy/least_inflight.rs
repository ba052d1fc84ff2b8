//! Least in flight per capacity: what was reported, plus what was sent since.
//!
//! van der Boor, Borst and van Leeuwaarden (arXiv 1903.02337) show that a dispatcher that remembers what it has sent since the
//! last report needs few reports. Added here: memory weighs before it restarts a gateway, a gateway has a bound beyond which
//! clients wait, one that is silent counts as no emptier than the others, and none gets more than twice its share, whatever
//! it says.

use path::random::SeededRng;

use super::definition::{Entry, FULL, Needs, Policy, inflight_percent, percent};
use crate::cluster::balancer::{Board, Choice, GatewayView};
use crate::cluster::bounds::small;
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "least-inflight",
    about: "reported in flight plus sent since, per capacity, with memory, a bound and doubt",
    needs: Needs::Balancer,
    make: || Box::new(LeastInflight),
};

struct LeastInflight;

/// Memory from which on a gateway gets less, and from which on nothing, percent of its limit.
const WARM: f64 = 70.0;
const HOT: f64 = 85.0;
/// Reported and sent, of [`FULL`], beyond which clients wait.
const BOUND: f64 = 98.0;
/// Expected reports without one after which a gateway's last report is not believed.
const SILENT: f64 = 4.0;
/// How many times its share of the last minute's requests a gateway may have, and from how many requests on that counts.
const LARGEST_SHARE: f64 = 2.0;
const SHARE_COUNTS_FROM: f64 = 3.0;
/// Gateways that differ by less than one request at a full-size gateway are equal.
const EQUAL: f64 = 100.0 / FULL;

impl Policy for LeastInflight {
    fn report(&self, sensors: &Sensors) -> Reported {
        Reported { runq: inflight_percent(sensors), mem: percent(sensors.memory), ..Reported::default() }
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        let view = View::of(board);
        let score = |at: usize| view.score(board, at);
        let best = board.online().filter_map(score).fold(f64::INFINITY, f64::min);
        if best.is_infinite() {
            let is_one_there = board.online().next().is_some();
            return Err(if is_one_there { Refused::Overloaded } else { Refused::Offline });
        }
        let is_equal = |at: &usize| score(*at).is_some_and(|score| score <= best + EQUAL);
        let equal = board.online().filter(is_equal).count();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the count of gateways")]
        let drawn = (rng.unit() * small(equal)) as usize;
        board.online().filter(is_equal).nth(drawn).ok_or(Refused::Offline)
    }
}

/// What is true of all gateways together.
struct View {
    /// The mean of what gateways that are heard of have in flight.
    mean: f64,
    /// Requests of the last minute per capacity.
    recent: f64,
}

impl View {
    fn of(board: &Board) -> Self {
        let (mut sum, mut heard, mut recent, mut capacity) = (0.0, 0.0, 0.0, 0.0);
        for at in board.online() {
            let known = &board.known[at];
            recent += known.recent;
            capacity += known.capacity;
            if board.missed_reports(at) <= SILENT {
                sum += in_flight(known);
                heard += 1.0;
            }
        }
        Self {
            mean: if heard > 0.0 { sum / heard } else { 0.0 },
            recent: recent / f64::max(capacity, f64::MIN_POSITIVE),
        }
    }

    /// What a gateway has in flight per capacity as far as it is known and believed; [`None`] where it may have nothing more.
    fn score(&self, board: &Board, at: usize) -> Option<f64> {
        let known = &board.known[at];
        let believed =
            if board.missed_reports(at) > SILENT { in_flight(known).max(self.mean) } else { in_flight(known) };
        let is_over_share =
            known.recent > SHARE_COUNTS_FROM && known.recent > LARGEST_SHARE * self.recent * known.capacity;
        let room = ((HOT - f64::from(known.reported.mem)) / (HOT - WARM)).clamp(0.0, 1.0);
        if is_over_share || room <= 0.0 || believed >= BOUND {
            return None;
        }
        // With less room left, the same load weighs more: so a gateway comes back by and by.
        Some(believed / room)
    }
}

/// Reported and sent since, as the number that gateways report.
fn in_flight(known: &GatewayView) -> f64 {
    f64::from(known.reported.runq) + f64::from(known.sent) * 100.0 / (FULL * known.capacity)
}
