//! Chosen evenly at random: what every policy has to be better than.

use path::random::SeededRng;

use super::by_load::sensed;
use super::definition::{Entry, Needs, Policy};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::bounds::small;
use crate::cluster::sensors::Sensors;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Refused;

pub(super) const ENTRY: Entry = Entry {
    name: "random",
    about: "each gateway with the same probability",
    needs: Needs::Balancer,
    make: || Box::new(Random),
};

struct Random;

impl Policy for Random {
    fn report(&self, sensors: &Sensors) -> Reported {
        sensed(sensors)
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice {
        drawn(board, rng).ok_or(Refused::Offline)
    }
}

/// One of those that are there.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the count of gateways")]
pub(super) fn drawn(board: &Board, rng: &mut SeededRng) -> Option<usize> {
    let count = board.online().count();
    board.online().nth((rng.unit() * small(count)) as usize)
}
