//! Playing a scenario: its network comes up, its faults come and go, its tests run, and all is gone.
//!
//! * [`play`]: the whole, once; [`rounds`]: several rounds in one network
//! * [`model::played`]: what it gives
//! * [`planted`]: the truth alone
//! * `trial`: one test
//! * [`Fit`]: how a play is made to fit a machine that is busy
//! * `repeat`: tests that the machine has disturbed, once more
//! * `account`: what the path really did
//! * `evidence`: what a diagnosis may see of it

mod account;
mod error;
mod evidence;
mod fit;
mod repeat;
mod rounds;
mod trial;

use std::path::Path;
use std::time::Duration;

use diagnose::next::Proposal;
use measure::stop::Stop;
use path::Seed;

pub use error::PlayError;
pub use fit::{Fit, Fitness, limits};
use model::played::{PlantedCause, Played, Tested};
use model::quality::Quality;
use model::round::Round;
use model::run::RunId;
pub use round::carrier::Voice;
pub use rounds::{Order, Ran, Rounds, rounds};

use crate::network::Network;
use crate::relay::Report;
use crate::relay::log::Events;
use crate::scenario::{Point, Scenario, Test};

/// What is played, and how.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Scenario that is played.
    pub scenario: &'a Scenario,
    /// Where all chance comes from.
    pub seed: Seed,
    /// The program of linerate, which hosts run to serve and to test.
    pub program: &'a Path,
    /// The archive in which the runs of tests are kept.
    pub archive: Option<&'a Path>,
    /// Whether tests show their progress.
    pub voice: Voice,
    /// What the round is called in the archive.
    pub id: RunId,
    /// Whether the facts of all hosts are read before and after the tests.
    pub facts: bool,
    /// How it fits the machine.
    pub fit: Fit,
    /// The wish to end before the last test.
    pub stop: &'a Stop,
}

/// Who is told how it goes.
pub trait Audience {
    /// The network is up: so many hosts and links, in this time.
    fn raised(&mut self, network: &Network, took: Duration);

    /// A round of so many tests begins.
    fn round_begins(&mut self, _tests: usize) {}

    /// It is over; the hosts are looked at once more.
    fn round_ended(&mut self) {}

    /// A test begins at an instant of the network's clock.
    fn begins(&mut self, test: &Test, at: Duration);

    /// A test has ended.
    fn ended(&mut self, test: &Test, tested: &Tested);

    /// A test that the machine has disturbed is run once more.
    fn repeats(&mut self, _test: &Test, _quality: &Quality) {}

    /// The tests of the scenario have run, and its network is still up: what should be tested besides? Asked again after
    /// each such test, with what is known until then. Samples that an archive has may be put into the round.
    fn wants(&mut self, _round: &mut Round) -> Option<Box<Proposal>> {
        None
    }
}

/// What playing gave.
#[derive(Debug)]
pub struct Show {
    /// What was found, and the truth.
    pub played: Played,
    /// What a diagnosis may see.
    pub round: Round,
    /// What happened to single packets.
    pub events: Events,
}

/// Plays a scenario once. However it ends, nothing of its network is left.
///
/// # Errors
/// See [`PlayError`].
pub fn play(setting: &Setting<'_>, audience: &mut dyn Audience) -> Result<Show, PlayError> {
    let tests = &setting.scenario.tests;
    let (ran, report, events) = rounds(setting, audience, |rounds| rounds.run(setting.id, tests, Order::InTurn))?;
    let Ran { round, tests } = ran?;
    let limits = fit::limits(&round, &report);
    Ok(Show { played: played(setting, tests, &report, limits), round, events })
}

fn played(setting: &Setting<'_>, tests: Vec<Tested>, report: &Report, limits: Vec<String>) -> Played {
    let scenario = setting.scenario;
    Played {
        scenario: scenario.name.clone(),
        title: scenario.title.clone(),
        seed: setting.seed.0,
        tests,
        truth: planted(scenario),
        links: account::accounts(scenario, report),
        limited_by_emulation: limits,
    }
}

/// What is wrong in the network of a scenario.
#[must_use]
pub fn planted(scenario: &Scenario) -> Vec<PlantedCause> {
    let causes = scenario.truth.causes.iter().map(|cause| {
        let (place, towards) = scenario.named(&cause.place);
        PlantedCause { cause: cause.id.to_owned(), place, towards, since: cause.since }
    });
    causes.collect()
}

/// How a point is written in files and results.
fn name(scenario: &Scenario, point: Point) -> String {
    let host = &scenario.hosts[point.host].name;
    match point.overlay {
        Some(overlay) => format!("{host}.{}", scenario.overlays[overlay].name),
        None => host.clone(),
    }
}
