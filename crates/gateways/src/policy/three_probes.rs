//! Three gateways are asked before each choice (as Prequal does, NSDI 2024, without its reuse of probes).

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use super::oracle::per_capacity;
use super::random::drawn;
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "three-probes",
    about: "three at random are asked, the one with the least in flight per capacity",
    needs: Needs::Balancer,
    make: || Box::new(ThreeProbes),
};

struct ThreeProbes;

impl Policy for ThreeProbes {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        let asked = [drawn(board, rng), drawn(board, rng), drawn(board, rng)];
        let least = |one: &usize, other: &usize| per_capacity(board, *one).total_cmp(&per_capacity(board, *other));
        asked.into_iter().flatten().min_by(least).ok_or(Refused::Offline)
    }
}
