//! How long it takes to say what is wrong with a round in which a hundred hosts have tested each other, both ways: ten sites
//! of ten hosts, a router each, and one host that receives badly. Nothing is read: the round is in memory.

use std::time::{Duration, Instant};

use anyhow::ensure;
use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::diagnose;
use model::host::HostIdentity;
use model::measurement::{DirectionTotal, Heading, Measurement, SteadyState};
use model::played::Finding;
use model::round::{Endpoint, Member, Passage, Round, Segment, Tested};
use model::run::{Outcome, Peer, Role, Run, RunId};
use model::spec::TestSpec;
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let round = round();
    let (catalogue, rules) = (Catalogue::built_in(), Rules::built_in());
    let mut times = Vec::new();
    for _ in 0..effort.choose(3, 11) {
        let began = Instant::now();
        let diagnosis = diagnose(&round, catalogue, &rules);
        times.push(began.elapsed().as_secs_f64() * 1e3);
        let place = diagnosis.problems.first().and_then(|problem| problem.ranking.first()?.places.first().cloned());
        let named = place.map(|likely| likely.place.to_string()).unwrap_or_default();
        ensure!(named.contains(BAD), "the host that receives badly is {BAD}, and {named} was named");
    }
    Ok(vec![
        Row::new("100 hosts that tested each other, diagnosed", Spread::of(times).median, "ms")
            .target(Target::AtMost(200.0))
            .note(format!("{} tests", round.tests.len())),
    ])
}

fn name(host: usize) -> String {
    format!("host{host:02}")
}

fn round() -> Round {
    let routers = (0..SITES).map(|site| format!("router{site}")).chain([CORE.to_owned()]);
    let segment = |name: String, one: String, other: String| Segment {
        name,
        between: [one, other],
        rate: None,
        interfaces: None,
    };
    let edges = (0..HOSTS)
        .map(|host| segment(format!("of-{}", name(host)), name(host), format!("router{}", host / HOSTS_OF_SITE)));
    let trunks = (0..SITES).map(|site| segment(format!("trunk{site}"), format!("router{site}"), CORE.to_owned()));
    let pairs = (0..HOSTS).flat_map(|from| (0..HOSTS).filter(move |to| *to != from).map(move |to| (from, to)));
    Round {
        format: Round::FORMAT,
        id: RunId::new(WallTime::default(), 1),
        title: "a hundred hosts".to_owned(),
        started: WallTime::default(),
        elapsed: Duration::from_secs(3600),
        members: (0..HOSTS).map(name).chain(routers).map(|name| Member::named(&name)).collect(),
        segments: edges.chain(trunks).collect(),
        tests: pairs.map(|(from, to)| tested(from, to)).collect(),
    }
}

fn tested(from: usize, to: usize) -> Tested {
    let endpoint = |host| Endpoint { host: name(host), network: None };
    let is_bad = name(to) == BAD;
    Tested {
        label: format!("{} to {}", name(from), name(to)),
        from: endpoint(from),
        to: endpoint(to),
        began: Duration::ZERO,
        expected: Some(rate(10_000)),
        way: way(from, to),
        way_back: way(to, from),
        emulator: None,
        attempt: None,
        finding: Finding::Run(Box::new(flow(if is_bad { 700 } else { 9_300 }))),
        samples: None,
    }
}

fn way(from: usize, to: usize) -> Vec<Passage> {
    let passage = |segment: String, towards: String| Passage { segment, towards };
    let (near, far) = (from / HOSTS_OF_SITE, to / HOSTS_OF_SITE);
    let mut way = vec![passage(format!("of-{}", name(from)), format!("router{near}"))];
    if near != far {
        way.push(passage(format!("trunk{near}"), CORE.to_owned()));
        way.push(passage(format!("trunk{far}"), format!("router{far}")));
    }
    way.push(passage(format!("of-{}", name(to)), name(to)));
    way
}

fn flow(mbps: u64) -> Run {
    let bytes = ByteCount::new(mbps * 1_000_000 / 8 * SECONDS);
    let total = DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(bytes),
        received: Some(bytes),
        elapsed: Duration::from_secs(SECONDS),
        goodput: rate(mbps),
        retransmits: Some(PacketCount::default()),
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    Run {
        format: Run::FORMAT,
        id: RunId::new(WallTime::default(), 2),
        started: WallTime::default(),
        role: Role::Client,
        command: Vec::new(),
        spec: TestSpec::default(),
        declared_line_rate: None,
        declared: model::run::Declared::default(),
        batch: None,
        local: HostIdentity::default(),
        peer: Peer { target: "peer".to_owned(), address: None, host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Some(Measurement { totals: vec![total], ..Measurement::default() }),
    }
}

const fn rate(mbps: u64) -> DataRate {
    DataRate::from_bps(mbps * 1_000_000)
}

const SITES: usize = 10;
const HOSTS_OF_SITE: usize = 10;
const HOSTS: usize = SITES * HOSTS_OF_SITE;
const SECONDS: u64 = 10;
const CORE: &str = "core";
const BAD: &str = "host42";
