//! The number of connections as the load: fresh, but blind to how large a gateway is.

use path::random::SeededRng;

use super::definition::{Entry, Needs, Policy, percent};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::bounds::small;
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

pub(super) const ENTRY: Entry = Entry {
    name: "connections",
    about: "cmsd by load: connections in flight, the same scale for all gateways",
    needs: Needs::Configuration,
    make: || Box::new(Connections),
};

struct Connections;

/// Connections that are reported as 100.
const FULL: f64 = 150.0;

impl Policy for Connections {
    fn report(&self, sensors: &Sensors) -> Reported {
        Reported { runq: percent(100.0 * small(sensors.in_flight) / FULL), ..Reported::default() }
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_load(board.selection)
    }
}
