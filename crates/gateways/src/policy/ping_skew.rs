//! The mix of 80/20 with reports at different moments, so that not all of them are old at once.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy, Timing};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

pub(super) const ENTRY: Entry = Entry {
    name: "ping-skew",
    about: "load-80-20 with each gateway's report at its own part of the interval",
    needs: Needs::Configuration,
    make: || Box::new(PingSkew),
};

struct PingSkew;

impl Policy for PingSkew {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 80, cpu: 20, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_load(board.selection)
    }

    fn timing(&self) -> Timing {
        Timing::Skewed
    }
}
