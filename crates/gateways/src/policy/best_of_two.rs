//! Best of two (Mitzenmacher 2000): two drawn at random, the one with less in flight by its last report.

use path::random::SeededRng;

use super::definition::{Entry, Needs, Policy, inflight_percent};
use super::random::drawn;
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "best-of-two",
    about: "two at random, the one with less in flight per capacity by its last report",
    needs: Needs::Balancer,
    make: || Box::new(BestOfTwo),
};

struct BestOfTwo;

impl Policy for BestOfTwo {
    fn report(&self, sensors: &Sensors) -> Reported {
        Reported { runq: inflight_percent(sensors), ..Reported::default() }
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        let one = drawn(board, rng).ok_or(Refused::Offline)?;
        let other = drawn(board, rng).ok_or(Refused::Offline)?;
        let load = |at: usize| board.table.nodes[at].load;
        Ok(if load(one) <= load(other) { one } else { other })
    }
}
