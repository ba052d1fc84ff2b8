//! How a play is made to fit a machine that has little time for it.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use units::duration::show;

use crate::relay::probe::{ProbeError, Timekeeping, timekeeping};
use model::quality::Quality;
use model::quality::disturbance::POOR;
use model::round::Round;

use crate::blueprint::Qdisc;
use crate::relay::{Limit, Limited, Pace, Report};
use crate::scenario::Scenario;
use path::Seed;

/// How a play is made to fit a machine that has little time for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// How fast the clock of the paths goes: at half of real time rates are half as high and delays twice as long.
    pub pace: Pace,
    /// How many tests run at the same time, of those that can.
    pub at_once: usize,
    /// Percent of what a path allows that an undisturbed flow can be relied on to reach here: programs in hosts wait for a CPU,
    /// and less than this says nothing of the network.
    pub dependable_percent: u8,
    /// The time for tests that the machine has disturbed, and that are run once more.
    pub repeats: Duration,
}

/// Whether a play can give evidence on a machine, and how.
#[derive(Debug, Clone, PartialEq)]
pub enum Fitness {
    /// It has time to spare.
    Quiet,
    /// It is busy with other things, and a play that is made to fit gives evidence all the same.
    Busy {
        /// What was found, in words.
        because: String,
        /// How the play is made to fit.
        fit: Fit,
    },
    /// Whatever was measured here now would say more about this machine than about the network.
    Unfit {
        /// What was found, in words.
        because: String,
    },
}

impl Fitness {
    /// Measures it, in 2 s.
    ///
    /// # Errors
    /// Where the relay cannot be measured.
    pub fn measure() -> Result<Self, ProbeError> {
        timekeeping(MEASURED).map(|found| Self::of(&found))
    }

    /// What follows from a measurement.
    #[must_use]
    pub fn of(found: &Timekeeping) -> Self {
        let hosts = found.hosts.run_delay_share().unwrap_or(0.0);
        let steal = found.hosts.steal_share().unwrap_or(0.0);
        let stopped = 1.0 - found.emulator.speed();
        let longest = found.emulator.longest_stop;
        let because = format!(
            "the emulator was not scheduled for {:.0} % of the time, {} at most; programs in hosts waited for a CPU for \
             {:.0} % of the time they could run; steal {:.0} %",
            stopped * 100.0,
            show(longest),
            hosts * 100.0,
            steal * 100.0,
        );
        let scarce = hosts.max(stopped).max(steal);
        if stopped > MOST_STOPPED || longest > LONGEST_STOP || found.delivered < LEAST_DELIVERED {
            Self::Unfit { because }
        } else if scarce > BUSY {
            let (percent, dependable_percent) = if scarce > VERY_BUSY { (50, 65) } else { (75, 80) };
            let pace = Pace::of_percent(percent);
            Self::Busy { because, fit: Fit { pace, at_once: 1, dependable_percent, ..Fit::default() } }
        } else {
            Self::Quiet
        }
    }
}

impl Default for Fit {
    /// A machine with time to spare: real time, and a test on each CPU.
    fn default() -> Self {
        let at_once = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { pace: Pace::REAL, at_once, dependable_percent: 100, repeats: REPEATS }
    }
}

impl Fit {
    /// The same for a scenario: only what has no times and no rates of its own can be played at another pace.
    #[must_use]
    pub fn of(self, scenario: &Scenario) -> Self {
        let comes_or_goes = scenario.faults.iter().any(|fault| !fault.from.is_zero() || fault.until.is_some());
        let begins = scenario.tests.iter().any(|test| test.start.is_some());
        let blueprint = scenario.blueprint(Seed(0));
        let mut devices = blueprint.hosts.iter().flat_map(|host| &host.devices);
        let shapes = devices.any(|device| matches!(device.qdisc, Some(Qdisc::Tbf { .. })));
        let pace = if comes_or_goes || begins || shapes { Pace::REAL } else { self.pace };
        Self { pace, ..self }
    }
}

/// In which ways the emulation was the limit of a round, the three worst: of tests that were not, or could not be, repeated.
#[must_use]
pub fn limits(round: &Round, report: &Report) -> Vec<String> {
    let mut limits = Vec::new();
    for limit in report.limited.iter().flat_map(|limited| &limited.because) {
        // What came late or was lost is counted for each test.
        if matches!(limit, Limit::Failed { .. } | Limit::Slow { .. }) {
            limits.extend(Limited { because: vec![limit.clone()] }.worst());
        }
    }
    let disturbed = round.tests.iter().filter_map(|tested| {
        let quality = Quality::of(tested);
        let worst = quality.disturbances.iter().find(|worst| worst.is_the_emulators())?;
        (worst.severity >= POOR).then(|| (worst.severity, format!("{}: {}", tested.label, worst.kind)))
    });
    let mut disturbed: Vec<_> = disturbed.collect();
    disturbed.sort_by(|one, other| other.0.total_cmp(&one.0));
    let more = disturbed.len().saturating_sub(SAID);
    limits.extend(disturbed.into_iter().take(SAID).map(|(_, said)| said));
    if let Some(last) = limits.last_mut().filter(|_| more > 0) {
        last.push_str(&format!(", and {more} more tests"));
    }
    limits
}

const REPEATS: Duration = Duration::from_secs(20);
/// How long the machine is watched before a play.
const MEASURED: Duration = Duration::from_secs(2);
/// From these shares of time on that the machine keeps for others, a play is made to fit.
const BUSY: f64 = 0.1;
const VERY_BUSY: f64 = 0.3;
/// Beyond these, nothing that is measured is the network's doing: TCP gives up what it knows of a path after some
/// timeouts in a row, of 200 ms, 400 ms and 800 ms.
const MOST_STOPPED: f64 = 0.7;
const LONGEST_STOP: Duration = Duration::from_millis(1_000);
const LEAST_DELIVERED: f64 = 0.3;
const SAID: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use model::quality::{CpuContention, EmulatorConditions};

    const SECOND: Duration = Duration::from_secs(1);

    fn found(stopped: Duration, longest: Duration, run_delay: Duration) -> Timekeeping {
        let emulator = EmulatorConditions {
            elapsed: SECOND * 2,
            emulated: SECOND * 2 - stopped,
            longest_stop: longest,
            ..EmulatorConditions::default()
        };
        let hosts = CpuContention {
            elapsed: SECOND * 2,
            on_cpu: Some(SECOND),
            run_delay: Some(run_delay),
            ..CpuContention::default()
        };
        Timekeeping { emulator, hosts, delivered: 0.9 }
    }

    #[test]
    fn play_fits_the_time_that_the_machine_has_left() {
        let millis = Duration::from_millis;
        assert_eq!(Fitness::of(&found(millis(10), millis(1), millis(20))), Fitness::Quiet);
        let busy = Fitness::of(&found(millis(300), millis(30), millis(800)));
        assert!(matches!(busy, Fitness::Busy { fit: Fit { at_once: 1, .. }, .. }), "{busy:?}");
        let stolen = Fitness::of(&found(millis(700), millis(300), millis(0)));
        assert!(matches!(stolen, Fitness::Busy { fit, .. } if fit.pace < Pace::REAL), "{stolen:?}");
        let gone = Fitness::of(&found(millis(1_600), millis(1_200), millis(0)));
        assert!(matches!(gone, Fitness::Unfit { .. }), "{gone:?}");
    }
}
