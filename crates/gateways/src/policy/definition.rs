//! What a policy is.

use path::random::SeededRng;

use crate::cluster::balancer::{Board, Choice};
use crate::cluster::bounds::small;
use crate::cluster::sensors::Sensors;
use crate::cluster::settings::Reports;
use crate::cmsd::load::{Reported, Weights};

/// A way to balance: what gateways report, and how one of them is chosen by that.
pub trait Policy {
    /// What a gateway reports: what its program for `cms.perf` prints.
    fn report(&self, sensors: &Sensors) -> Reported;

    /// The weights of `cms.sched` that make one load of it.
    fn weights(&self) -> Weights;

    /// Where the next request goes.
    ///
    /// # Errors
    /// Why it has to wait.
    fn choose(&self, board: &mut Board, rng: &mut SeededRng) -> Choice;

    /// Whether all gateways report at the same moment, as cmsd asks them to.
    fn timing(&self) -> Timing {
        Timing::Together
    }

    /// How a gateway samples itself, and what it reports unasked: the configuration of the gateways, where the policy has one
    /// of its own.
    fn alert(&self, given: &Reports) -> Alert {
        Alert { perf_s: given.perf_s, fuzz: given.fuzz }
    }

    /// The `fuzz` of the manager, where the policy has one of its own.
    fn manager_fuzz(&self, given: i32) -> i32 {
        given
    }
}

/// When a gateway reports without being asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alert {
    /// How often its program samples (`cms.perf int`), seconds.
    pub perf_s: f64,
    /// By how much a load must differ from the sample before (`fuzz` in the gateway's configuration).
    pub fuzz: i32,
}

/// When gateways report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// All at once, when the manager asks.
    Together,
    /// Each at its own part of the interval.
    Skewed,
}

/// A policy in the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Whether a plain XRootD 5.5.3 can do it by configuration alone.
    pub needs: Needs,
    /// Makes it.
    pub make: fn() -> Box<dyn Policy>,
}

/// What a site needs for a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Its configuration, with any cmsd of the 5 series.
    Configuration,
    /// XRootD 5.7.0 or later.
    Xrootd57,
    /// Another balancer than cmsd.
    Balancer,
    /// What no balancer has: it is a bound on all others.
    Oracle,
}

/// A number of a sensor as a program reports it: a whole percentage.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 100")]
pub(super) fn percent(value: f64) -> u8 {
    value.clamp(0.0, 100.0) as u8
}

/// In flight per capacity, as one of cmsd's five numbers: 100 is [`FULL`] transfers at [`FULL_CAPACITY`].
pub(super) fn inflight_percent(sensors: &Sensors) -> u8 {
    percent((100.0 * small(sensors.in_flight) / FULL * FULL_CAPACITY / sensors.capacity).round())
}

/// What 100 of the reported in-flight number means: transfers at a gateway of [`FULL_CAPACITY`]. Beyond it gateways are
/// slower for more (the crowding of the model), so that no finer number is needed there.
pub const FULL: f64 = 100.0;
/// The capacity that [`FULL`] is for: 9.6 Gbit/s of payload, a 10 Gbit/s NIC; bytes per second.
pub const FULL_CAPACITY: f64 = 1.2e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_is_cut_and_not_rounded() {
        assert_eq!([percent(-3.0), percent(9.99), percent(250.0), percent(f64::NAN)], [0, 9, 100, 0]);
    }
}
