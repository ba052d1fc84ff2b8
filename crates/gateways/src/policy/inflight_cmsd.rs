//! In flight per capacity as the load of a plain cmsd: our policy as far as configuration goes.
//!
//! The gateways' own `fuzz 0` has every change reported at the next sample of `cms.perf`, and a small one at the manager
//! leaves little to the reference counts, which know no capacity.

use path::random::SeededRng;

use super::definition::{Alert, Entry, Needs, Policy, inflight_percent};
use crate::cluster::balancer::{Board, Choice};
use crate::cluster::sensors::Sensors;
use crate::cluster::settings::Reports;
use crate::cmsd::load::{Reported, Weights};
use crate::cmsd::node::Selection;

pub(super) const ENTRY: Entry = Entry {
    name: "inflight-cmsd",
    about: "cmsd by load: in flight per capacity by cms.perf, fuzz 1, each change reported at once",
    needs: Needs::Configuration,
    make: || Box::new(InflightCmsd),
};

struct InflightCmsd;

/// The `fuzz` of the manager.
const FUZZ: i32 = 1;
/// How often the gateways' program samples, seconds: the least that cmsd takes.
const PERF_S: f64 = 1.0;

impl Policy for InflightCmsd {
    fn report(&self, sensors: &Sensors) -> Reported {
        Reported { runq: inflight_percent(sensors), ..Reported::default() }
    }

    fn weights(&self) -> Weights {
        Weights { runq: 100, ..Weights::default() }
    }

    fn choose(&self, board: &mut Board, _: &mut SeededRng) -> Choice {
        board.table.by_load(Selection { fuzz: FUZZ, ..board.selection })
    }

    fn manager_fuzz(&self, _: i32) -> i32 {
        FUZZ
    }

    fn alert(&self, given: &Reports) -> Alert {
        Alert { perf_s: given.perf_s.min(PERF_S), fuzz: 0 }
    }
}
