//! The whole: a scenario from its first test to its last, in virtual time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use diagnose::next::Proposal;
use model::played::{Finding, LinkAccount, PlantedCause, Played, Tested};
use model::round::{Endpoint, Member, Passage, Round, Segment, Tested as OfRound};
use model::run::RunId;
use model::series::RunSamples;
use model::spec::Family;
use path::Seed;
use scenario::{Point, Scenario, Test, TestKind};
use units::{ByteCount, Mtu, PacketCount, WallTime};

use crate::flow::run::{self, Stamp, overlay};
use crate::hosts::snapshot;
use crate::network::Network;
use crate::network::way::{Traffic, TrafficKind, Way};
use crate::probes::rtt::Pair;
use crate::probes::{Asked, download, echo, hops, path_mtu};

/// What a play gives, as a live one does.
#[derive(Debug, Clone)]
pub struct Play {
    /// What was found, what the path really did, and the truth.
    pub played: Played,
    /// What a diagnosis may see: nothing of the truth.
    pub round: Round,
}

/// When and under which name something is played.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Random seed; equal seeds give equal plays.
    pub seed: Seed,
    /// The name of the round.
    pub id: RunId,
    /// What the calendars of hosts say at its beginning.
    pub started: WallTime,
}

impl Setting {
    /// A play at the beginning of 2025, so that equal seeds give equal files.
    #[must_use]
    pub fn of(seed: Seed) -> Self {
        let started = WallTime::from_unix_nanos(NEW_YEAR_OF_2025);
        Self { seed, id: RunId::new(started, u128::from(seed.part(NAMES).0)), started }
    }
}

/// Plays a scenario with this random seed. Faults that hang on recorded facts are there as those facts say.
#[must_use]
pub fn play(scenario: &Scenario, seed: Seed) -> Play {
    play_as(scenario, &Setting::of(seed))
}

/// The same at a time and under a name.
#[must_use]
pub fn play_as(scenario: &Scenario, setting: &Setting) -> Play {
    play_on(scenario, setting, &mut |_| None)
}

/// Who asks for tests besides those of the file, one after the other: of what a round has until then, the next one.
pub type Ask<'a> = dyn FnMut(&Round) -> Option<Box<Proposal>> + 'a;

/// The same, and whatever is asked for after the last test of the file, until nothing is.
#[must_use]
pub fn play_on(scenario: &Scenario, setting: &Setting, ask: &mut Ask<'_>) -> Play {
    let mut network = Network::new(scenario, setting.seed);
    let before = snapshot::all(&network, setting.started);
    let mut round = empty(&network, setting);
    for (member, before) in round.members.iter_mut().zip(before) {
        member.before = Some(Box::new(before));
    }
    let mut tests = Vec::new();
    let mut wanted = scenario.tests.clone();
    while !wanted.is_empty() {
        for test in &wanted {
            let tested = in_turn(&mut network, &mut round, test, setting);
            tests.push(tested);
        }
        let after = snapshot::all(&network, later(setting.started, network.now));
        for (member, after) in round.members.iter_mut().zip(after) {
            member.after = Some(Box::new(after));
        }
        round.elapsed = network.now;
        wanted = ask(&round).map(|proposal| scenario.tests_of(&proposal)).unwrap_or_default();
    }
    let played = Played {
        scenario: scenario.name.clone(),
        title: scenario.title.clone(),
        seed: setting.seed.0,
        tests,
        truth: planted(scenario),
        links: accounts(&network),
        limited_by_emulation: Vec::new(),
    };
    Play { played, round }
}

/// Plays one test as soon as it is due, and enters it into the round.
fn in_turn(network: &mut Network<'_>, round: &mut Round, test: &Test, setting: &Setting) -> Tested {
    let scenario = network.scenario;
    network.go_to(test.start.unwrap_or_default());
    let began = network.now;
    let seed = setting.seed.part(TESTS + round.tests.len() as u64);
    let started = later(setting.started, began);
    let stamp = Stamp { id: RunId::new(started, u128::from(seed.part(NAMES).0)), started };
    let found = one(network, test, stamp, seed);
    round.tests.push(of_round(scenario, test, began, &found));
    network.go_to(began + found.took);
    Tested {
        label: test.label.clone(),
        from: name(scenario, test.from),
        to: name(scenario, test.to),
        began,
        finding: found.finding,
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

/// What one test found.
struct Found {
    finding: Finding,
    samples: Option<Box<RunSamples>>,
    took: Duration,
}

fn one(network: &mut Network<'_>, test: &Test, stamp: Stamp, seed: Seed) -> Found {
    let (Some(own), Some(target)) =
        (address(network.scenario, test.from, test.family), address(network.scenario, test.to, test.family))
    else {
        return nothing("the host has no such address");
    };
    let asked = Asked { target, started: stamp.started, seed };
    match &test.kind {
        TestKind::Tcp(task) | TestKind::Udp(task) => {
            let run::Tested { finding, samples, took } = run::test(network, test, task, [own, target], stamp, seed);
            Found { finding, samples, took }
        }
        TestKind::Ping(_) | TestKind::Mtu => probe(network, test, asked),
        TestKind::Hops => {
            let trace = hops::trace(network, [test.from.host, test.to.host], asked);
            found(Finding::Hops(trace), Duration::from_millis(600))
        }
        TestKind::Http(http) => {
            let ends = [test.from.host, test.to.host];
            let (downloads, took) = download::downloads(network, ends, http, asked);
            found(Finding::Downloads(downloads), took)
        }
    }
}

/// Echoes, or a search for the largest packet.
fn probe(network: &mut Network<'_>, test: &Test, asked: Asked) -> Found {
    let traffic = Traffic { kind: TrafficKind::Other, overlay: overlay(test), hash: 0 };
    let (from, to) = (test.from.host, test.to.host);
    let length = test.length().unwrap_or(Duration::from_secs(3));
    let ways = (network.way([from, to], traffic, length), network.way([to, from], traffic, length));
    let (Some(there), Some(back)) = ways else { return nothing("there is no route to the host") };
    let device = device_mtu(network, test, &there);
    let pair = Pair { there: &there, back: &back };
    if let TestKind::Ping(ping) = &test.kind {
        let series = echo::series(network, &pair, ping, device.get(), asked);
        found(Finding::Echo(series), ping.interval * ping.count)
    } else {
        let search = path_mtu::search(network, &pair, device, asked);
        let silent = search.sizes.iter().filter(|size| size.answered == 0).count();
        let took = Duration::from_secs(silent as u64) + Duration::from_millis(100);
        found(Finding::PathMtu(search), took)
    }
}

/// The largest packet that the asking host's device on the path takes.
fn device_mtu(network: &Network<'_>, test: &Test, there: &Way) -> Mtu {
    if let Some(overlay) = overlay(test) {
        return network.scenario.overlays[overlay].mtu;
    }
    let name = there.links.first().and_then(|(link, _)| network.device(test.from.host, *link));
    let device = name.and_then(|name| network.hosts[test.from.host].devices.get(&name).map(|device| device.mtu));
    device.unwrap_or(Mtu::MAX)
}

fn found(finding: Finding, took: Duration) -> Found {
    Found { finding, samples: None, took: took + STARTED }
}

fn nothing(detail: &str) -> Found {
    found(Finding::Nothing { detail: detail.to_owned() }, Duration::ZERO)
}

fn address(scenario: &Scenario, point: Point, family: Option<Family>) -> Option<IpAddr> {
    let fits = |address: &IpAddr| match family {
        Some(Family::Ipv4) => address.is_ipv4(),
        Some(Family::Ipv6) => address.is_ipv6(),
        None => true,
    };
    scenario.addresses(point).into_iter().find(fits)
}

fn empty(network: &Network<'_>, setting: &Setting) -> Round {
    let scenario = network.scenario;
    let members = scenario.hosts.iter().map(|host| {
        let mut attributes = host.attributes.clone();
        if !host.group.is_empty() {
            attributes.insert("group".to_owned(), host.group.clone());
        }
        Member { attributes, ..Member::named(&host.name) }
    });
    let segments = scenario.links.iter().enumerate().map(|(number, link)| {
        let [one, other] = link.ends.map(|host| network.device(host, number));
        Segment {
            name: link.name.clone(),
            between: link.ends.map(|host| scenario.hosts[host].name.clone()),
            rate: None,
            interfaces: one.zip(other).map(|(one, other)| [one, other]),
        }
    });
    Round {
        format: Round::FORMAT,
        id: setting.id,
        title: scenario.title.clone(),
        started: setting.started,
        elapsed: Duration::ZERO,
        members: members.collect(),
        segments: segments.collect(),
        tests: Vec::new(),
    }
}

fn of_round(scenario: &Scenario, test: &Test, began: Duration, found: &Found) -> OfRound {
    let endpoint = |point: Point| Endpoint {
        host: scenario.hosts[point.host].name.clone(),
        network: point.overlay.map(|overlay| scenario.overlays[overlay].name.clone()),
    };
    let passages = |from: usize, to: usize| -> Vec<Passage> {
        let passed = scenario.way(from, to, began).into_iter();
        passed
            .map(|(link, towards)| Passage {
                segment: scenario.links[link].name.clone(),
                towards: scenario.hosts[towards].name.clone(),
            })
            .collect()
    };
    OfRound {
        label: test.label.clone(),
        from: endpoint(test.from),
        to: endpoint(test.to),
        began,
        expected: test.kind.expected(),
        way: passages(test.from.host, test.to.host),
        way_back: passages(test.to.host, test.from.host),
        finding: found.finding.clone(),
        samples: found.samples.clone(),
        emulator: None,
        attempt: None,
    }
}

/// How a point is written in files and results.
fn name(scenario: &Scenario, point: Point) -> String {
    let host = &scenario.hosts[point.host].name;
    match point.overlay {
        Some(overlay) => format!("{host}.{}", scenario.overlays[overlay].name),
        None => host.clone(),
    }
}

/// What the path did, by its own account.
fn accounts(network: &Network<'_>) -> Vec<LinkAccount> {
    let scenario = network.scenario;
    let links = scenario.links.iter().zip(&network.tallies.links);
    let each = links.flat_map(|(link, tallies)| {
        let [one, other] = link.ends.map(|host| scenario.hosts[host].name.clone());
        [(one.clone(), other.clone()), (other, one)].into_iter().zip(tallies).map(|((from, to), tally)| LinkAccount {
            link: link.name.clone(),
            from,
            to,
            taken_packets: PacketCount::new(tally.taken.packets),
            taken_bytes: ByteCount::new(tally.taken.bytes),
            given_packets: PacketCount::new(tally.given),
            held_packets: PacketCount::new(0),
            duplicated_packets: PacketCount::new(0),
            dropped_packets: tally
                .dropped
                .iter()
                .map(|(reason, count)| ((*reason).to_owned(), PacketCount::new(*count)))
                .collect(),
            lost_packets: BTreeMap::new(),
            marked_packets: BTreeMap::new(),
            mean_delay_ns: BTreeMap::new(),
            lateness_p99_ns: 0,
        })
    });
    each.collect()
}

/// Parts of the seed.
const NAMES: u64 = 1 << 40;
const TESTS: u64 = 1 << 41;
/// 2025-01-01T00:00:00Z.
const NEW_YEAR_OF_2025: u64 = 1_735_689_600_000_000_000;
/// What starting a program takes.
const STARTED: Duration = Duration::from_millis(20);

fn later(started: WallTime, by: Duration) -> WallTime {
    WallTime::from_unix_nanos(started.unix_nanos().saturating_add(units::duration::nanos(by)))
}
