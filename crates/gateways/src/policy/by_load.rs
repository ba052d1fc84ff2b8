//! What all policies that are a mix of loads have in common: cmsd's walk with weights.

use path::random::SeededRng;

use super::definition::{Policy, percent};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};

/// cmsd's `SelbyLoad` with these weights of `cms.sched`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByLoad(pub(super) Weights);

impl Policy for ByLoad {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        self.0
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_load(board.selection)
    }
}

/// What a monitor of a host reports.
pub(super) fn sensed(sensors: &Sensors) -> Reported {
    Reported {
        runq: percent(sensors.load_average),
        cpu: percent(sensors.cpu),
        mem: percent(sensors.memory),
        pag: 0,
        net: percent(sensors.network),
    }
}
