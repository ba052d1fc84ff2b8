//! The least in flight per capacity as it is at the very moment: no balancer knows that. A bound.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "oracle",
    about: "the least in flight per capacity at this very moment: a bound",
    needs: Needs::Oracle,
    make: || Box::new(Oracle),
};

struct Oracle;

impl Policy for Oracle {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        let least = |one: &usize, other: &usize| per_capacity(board, *one).total_cmp(&per_capacity(board, *other));
        board.online().min_by(least).ok_or(Refused::Offline)
    }
}

/// What is in flight just now, per capacity.
pub(super) fn per_capacity(board: &Board, gateway: usize) -> f64 {
    let known = &board.known[gateway];
    f64::from(known.in_flight) / known.capacity
}
