//! `cms.sched affinity randomized` of XRootD 5.7.0, what RAL took after the challenge.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

pub(super) const ENTRY: Entry = Entry {
    name: "affinity-randomized",
    about: "cmsd 5.7.0: drawn with weight fuzz + 100 - load, of load-80-20",
    needs: Needs::Xrootd57,
    make: || Box::new(Randomized),
};

struct Randomized;

impl Policy for Randomized {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 80, cpu: 20, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        board.table.by_weight(board.selection, rng)
    }
}
