//! Round robin with a fail-safe: a constant load, until the load average says that a gateway is full.

use path::random::SeededRng;

use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin-failsafe",
    about: "cmsd by load: a constant until the load average is above 95 %, then 100",
    needs: Needs::Configuration,
    make: || Box::new(Failsafe),
};

struct Failsafe;

const LIMIT: f64 = 95.0;
const CONSTANT: u8 = 10;

impl Policy for Failsafe {
    fn report(&self, sensors: &Sensors) -> Reported {
        let runq = if sensors.load_average > LIMIT { 100 } else { CONSTANT };
        Reported { runq, ..Reported::default() }
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_load(board.selection)
    }
}
