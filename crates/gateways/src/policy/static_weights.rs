//! Drawn by capacity: weights that somebody has written down once.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "static-weights",
    about: "each gateway with a probability that is its share of the capacity",
    needs: Needs::Balancer,
    make: || Box::new(StaticWeights),
};

struct StaticWeights;

impl Policy for StaticWeights {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        let total: f64 = board.online().map(|at| board.known[at].capacity).sum();
        let mut drawn = rng.unit() * total;
        let mut last = Err(Refused::Offline);
        for at in board.online() {
            last = Ok(at);
            drawn -= board.known[at].capacity;
            if drawn < 0.0 {
                break;
            }
        }
        last
    }
}
