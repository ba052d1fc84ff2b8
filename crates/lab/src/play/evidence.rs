//! What a diagnosis may see of a played scenario: a round of tests with the facts of all hosts, and nothing of the truth.

use std::thread;
use std::time::Duration;

use measure::stop::Stop;
use model::host::snapshot::Snapshot;
use model::played;
use model::quality::EmulatorConditions;
use model::round::{Endpoint, Member, Passage, Round, Segment, Tested};
use model::run::RunId;
use model::series::RunSamples;
use path::Seed;
use round::facts;
use units::{DataRate, WallTime};

use super::{Fit, Setting, trial};
use crate::blueprint::Blueprint;
use crate::network::Network;
use crate::scenario::{Point, Scenario, Test};

/// A test with what came of it.
#[derive(Clone)]
pub(super) struct Measured<'t> {
    pub(super) test: &'t Test,
    pub(super) tested: played::Tested,
    pub(super) samples: Option<Box<RunSamples>>,
    pub(super) emulator: EmulatorConditions,
    pub(super) attempt: Option<u32>,
}

/// What was seen of a host at one time, or why nothing was.
pub(super) type Seen = Result<Box<Snapshot>, String>;

/// The facts of every host, read by the program inside each: all at once, since one waits for its kernel most of the time.
pub(super) fn look(network: &Network, setting: &Setting<'_>) -> Vec<Seen> {
    // They are read even where somebody wants to stop: of a round that was stopped, its tests are worth a diagnosis.
    let never = &Stop::default();
    let sites = network.hosts().iter().enumerate().map(|(number, host)| trial::site(host, number, setting));
    thread::scope(|scope| {
        let reading: Vec<_> =
            sites.map(|site| scope.spawn(move || facts::snapshot(&site, trial::PATIENCE, never))).collect();
        let seen = reading.into_iter().map(|thread| match thread.join() {
            Ok(seen) => seen,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        seen.collect()
    })
}

/// The round of a scenario, without its tests, which are added as they end.
pub(super) fn round(scenario: &Scenario, seed: Seed, id: RunId, started: WallTime) -> Round {
    let blueprint = scenario.blueprint(seed);
    let members = scenario.hosts.iter().map(|host| {
        let mut attributes = host.attributes.clone();
        if !host.group.is_empty() {
            attributes.insert("group".to_owned(), host.group.clone());
        }
        Member { attributes, ..Member::named(&host.name) }
    });
    let segments = scenario.links.iter().map(|link| Segment {
        name: link.name.clone(),
        between: link.ends.map(|host| scenario.hosts[host].name.clone()),
        rate: None,
        interfaces: interfaces(&blueprint, &link.name),
    });
    Round {
        format: Round::FORMAT,
        id,
        title: scenario.title.clone(),
        started,
        elapsed: Duration::ZERO,
        members: members.collect(),
        segments: segments.collect(),
        tests: Vec::new(),
    }
}

/// The interfaces at the ends of a cable.
fn interfaces(blueprint: &Blueprint, cable: &str) -> Option<[String; 2]> {
    let number = blueprint.cables.iter().position(|known| known.name == cable)?;
    let at = |end: usize| {
        let mut devices = blueprint.hosts.iter().flat_map(|host| &host.devices);
        devices.find(|device| device.cable == number && device.end == end).map(|device| device.name.clone())
    };
    Some([at(0)?, at(1)?])
}

/// Puts what was seen of the hosts before the tests into their places.
pub(super) fn add_before(round: &mut Round, seen: Vec<Seen>) {
    for (member, seen) in round.members.iter_mut().zip(seen) {
        member.before = kept(seen, &mut member.failure);
    }
}

/// The same of what was seen after them.
pub(super) fn add_after(round: &mut Round, seen: Vec<Seen>) {
    for (member, seen) in round.members.iter_mut().zip(seen) {
        member.after = kept(seen, &mut member.failure);
    }
}

fn kept(seen: Seen, failure: &mut Option<String>) -> Option<Box<Snapshot>> {
    seen.map_err(|why| failure.get_or_insert(why)).ok()
}

/// A test with the way that its packets took when it began.
pub(super) fn tested(setting: &Setting<'_>, measured: Measured<'_>) -> Tested {
    let scenario = setting.scenario;
    let Measured { test, tested: result, samples, emulator, attempt } = measured;
    Tested {
        label: result.label,
        from: endpoint(scenario, test.from),
        to: endpoint(scenario, test.to),
        began: result.began,
        expected: test.kind.expected().map(|rate| on_the_slower_path(rate, &emulator, setting.fit)),
        way: way(scenario, test.from.host, test.to.host, result.began),
        way_back: way(scenario, test.to.host, test.from.host, result.began),
        emulator: Some(emulator),
        attempt,
        finding: result.finding,
        samples,
    }
}

/// What a path allows whose clock went slower than that of the hosts which use it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share below 1 of a rate is a smaller rate, never negative"
)]
fn on_the_slower_path(rate: DataRate, emulator: &EmulatorConditions, fit: Fit) -> DataRate {
    // The pace is in the rate already.
    let speed = emulator.speed() * 100.0 / f64::from(fit.pace.percent());
    let speed = if speed > AS_GOOD_AS_REAL { 1.0 } else { speed };
    let speed = speed * f64::from(fit.dependable_percent) / 100.0;
    if speed < 1.0 { DataRate::from_bps((rate.bps() as f64 * speed) as u64) } else { rate }
}

/// Below this a comparison would notice.
const AS_GOOD_AS_REAL: f64 = 0.98;

fn endpoint(scenario: &Scenario, point: Point) -> Endpoint {
    let network = point.overlay.map(|overlay| scenario.overlays[overlay].name.clone());
    Endpoint { host: scenario.hosts[point.host].name.clone(), network }
}

fn way(scenario: &Scenario, from: usize, to: usize, at: Duration) -> Vec<Passage> {
    let passage = |(link, towards): (usize, usize)| Passage {
        segment: scenario.links[link].name.clone(),
        towards: scenario.hosts[towards].name.clone(),
    };
    scenario.way(from, to, at).into_iter().map(passage).collect()
}
