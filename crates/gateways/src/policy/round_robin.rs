//! Round robin: cmsd with `fuzz 100`.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin",
    about: "cmsd by reference counts: each gateway in turn, whatever its size",
    needs: Needs::Configuration,
    make: || Box::new(RoundRobin),
};

struct RoundRobin;

impl Policy for RoundRobin {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_references()
    }

    fn manager_fuzz(&self, _: i32) -> i32 {
        // cmsd takes `SelbyRef` only where every load is within the fuzz of every other.
        100
    }
}
