//! The plan that rounds follow, written from one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mesh::clock;
use model::played::Finding;
use model::round::{Endpoint, Passage, Round, Tested};
use model::spec::Protocol;
use toml::{Table, Value};
use units::{DataRate, duration};

/// What tests of rounds are called in a plan: names there have fewer letters, and each test of a pair has its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestNames(Vec<String>);

impl TestNames {
    /// Of the tests of a round, in their order. The same test of another pair has the same name.
    #[must_use]
    pub fn of(round: &Round) -> Self {
        let mut taken: BTreeSet<(String, &Endpoint, &Endpoint)> = BTreeSet::new();
        let mut names = Vec::new();
        for Tested { label, from, to, .. } in &round.tests {
            let label: String =
                label.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
            let mut name = label.clone();
            for number in 2.. {
                if taken.insert((name.clone(), from, to)) {
                    break;
                }
                name = format!("{label}-{number}");
            }
            names.push(name);
        }
        Self(names)
    }

    /// The names of the runs of a round with the same tests: `label@group/from/to/second`.
    pub(super) fn runs(&self, round: &Round) -> Vec<String> {
        let run = |(tested, name): (&Tested, &String)| {
            let second = clock::later(round.started, tested.began).unix_seconds();
            let group = group(tested);
            format!("{name}@{group}/{}/{}/{second}", tested.from.host, tested.to.host)
        };
        round.tests.iter().zip(&self.0).map(run).collect()
    }
}

/// Pairs that meet in one network are a group.
fn group(tested: &Tested) -> &str {
    tested.from.network.as_deref().unwrap_or(DIRECT)
}

/// A plan in TOML, as docs/formats/plan.md has it.
#[must_use]
pub fn text(round: &Round, names: &TestNames, period: Duration) -> String {
    let mut plan = Table::new();
    plan.insert("title".to_owned(), round.title.clone().into());
    plan.insert("times".to_owned(), table([("every", duration::show(period).replace(' ', "").into())]).into());
    plan.insert("networks".to_owned(), networks(round).into());
    plan.insert("hosts".to_owned(), hosts(round).into());
    plan.insert("segments".to_owned(), segments(round).into());
    plan.insert("ways".to_owned(), ways(round).into());
    plan.insert("groups".to_owned(), groups(round).into());
    plan.insert("tests".to_owned(), tests(round, names).into());
    plan.to_string()
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The networks that hosts meet in.
fn networks(round: &Round) -> Table {
    let named = round.tests.iter().filter_map(|tested| tested.from.network.clone());
    named.map(|network| (network, Value::from(Table::new()))).collect()
}

fn hosts(round: &Round) -> Table {
    let ends: BTreeSet<&str> =
        round.tests.iter().flat_map(|tested| [tested.from.host.as_str(), tested.to.host.as_str()]).collect();
    let networks = networks(round);
    let host = |member: &model::round::Member| {
        let name = &member.name;
        let mut host = table([("address", name.clone().into())]);
        if !member.attributes.is_empty() {
            let attributes = member.attributes.iter().map(|(key, value)| (key.clone(), Value::from(value.clone())));
            host.insert("attributes".to_owned(), attributes.collect::<Table>().into());
        }
        if ends.contains(name.as_str()) {
            let addresses = networks.keys().map(|network| (network.as_str(), Value::from(name.clone())));
            host.insert("addresses".to_owned(), table(addresses).into());
        } else {
            host.insert("forwards".to_owned(), true.into());
        }
        (name.clone(), host.into())
    };
    round.members.iter().map(host).collect()
}

fn segments(round: &Round) -> Vec<Value> {
    let segment = |segment: &model::round::Segment| {
        let between: Vec<Value> = segment.between.iter().cloned().map(Value::from).collect();
        let mut entry = table([("name", segment.name.clone().into()), ("between", between.into())]);
        if let Some(rate) = segment.rate {
            entry.insert("rate".to_owned(), rate_text(rate).into());
        }
        Value::from(entry)
    };
    round.segments.iter().map(segment).collect()
}

/// Each way once, in both directions.
fn ways(round: &Round) -> Vec<Value> {
    let mut ways: BTreeMap<(&Endpoint, &Endpoint), &Vec<Passage>> = BTreeMap::new();
    for Tested { from, to, way, way_back, .. } in &round.tests {
        for (ends, way) in [((from, to), way), ((to, from), way_back)] {
            if !way.is_empty() {
                ways.insert(ends, way);
            }
        }
    }
    let way = |((from, to), way): ((&Endpoint, &Endpoint), &Vec<Passage>)| {
        let over: Vec<Value> = way.iter().map(|passage| passage.segment.clone().into()).collect();
        let mut entry =
            table([("from", from.host.clone().into()), ("to", to.host.clone().into()), ("over", over.into())]);
        entry.extend(from.network.iter().map(|network| ("network".to_owned(), network.clone().into())));
        Value::from(entry)
    };
    ways.into_iter().map(way).collect()
}

fn groups(round: &Round) -> Table {
    let mut pairs: BTreeMap<&str, BTreeSet<[&str; 2]>> = BTreeMap::new();
    for tested in &round.tests {
        pairs.entry(group(tested)).or_default().insert([&tested.from.host, &tested.to.host]);
    }
    let entry = |(name, pairs): (&str, BTreeSet<[&str; 2]>)| {
        let list: Vec<Value> = pairs.into_iter().map(|pair| Value::from(pair.map(Value::from).to_vec())).collect();
        let mut entry = table([("list", list.into())]);
        if name != DIRECT {
            entry.insert("network".to_owned(), name.into());
        }
        (name.to_owned(), entry.into())
    };
    pairs.into_iter().map(entry).collect()
}

fn tests(round: &Round, names: &TestNames) -> Vec<Value> {
    let mut tests: BTreeMap<(&str, &str), &Tested> = BTreeMap::new();
    for (tested, name) in round.tests.iter().zip(&names.0) {
        tests.entry((name.as_str(), group(tested))).or_insert(tested);
    }
    let entry = |((name, group), tested): ((&str, &str), &Tested)| {
        let kind = match &tested.finding {
            Finding::Run(run) if run.spec.protocol == Protocol::Udp => "udp",
            Finding::Run(_) | Finding::Nothing { .. } => "tcp",
            Finding::Echo(_) => "ping",
            Finding::PathMtu(_) => "mtu",
            Finding::Hops(_) => "hops",
            Finding::Downloads(_) => "http",
        };
        let mut entry = table([("kind", kind.into()), ("label", name.into()), ("group", group.into())]);
        if let (Some(rate), "tcp" | "udp") = (tested.expected, kind) {
            entry.insert("expect".to_owned(), rate_text(rate).into());
        }
        if kind == "udp" {
            entry.insert("rate".to_owned(), rate_text(tested.expected.unwrap_or(USUAL_RATE)).into());
        }
        Value::from(entry)
    };
    tests.into_iter().map(entry).collect()
}

/// Exactly, in a unit that plans have.
fn rate_text(rate: DataRate) -> String {
    format!("{}bit/s", rate.bps())
}

/// Of datagrams, as far as nothing else is known.
const USUAL_RATE: DataRate = DataRate::from_bps(1_000_000);
/// The group of pairs that meet at their usual addresses.
const DIRECT: &str = "direct";

#[cfg(test)]
mod tests {
    use model::round::Member;
    use model::run::RunId;
    use plan::Plan;
    use units::WallTime;

    use super::*;

    fn tested(label: &str, to: &str, network: Option<&str>) -> Tested {
        let end = |host: &str| Endpoint { host: host.to_owned(), network: network.map(str::to_owned) };
        Tested {
            label: label.to_owned(),
            from: end("a"),
            to: end(to),
            began: Duration::from_secs(5),
            expected: Some(DataRate::from_bps(123_456_789)),
            way: Vec::new(),
            way_back: Vec::new(),
            emulator: None,
            attempt: None,
            finding: Finding::Nothing { detail: "no answer".to_owned() },
            samples: None,
        }
    }

    #[test]
    fn a_plan_of_a_round_has_its_tests_by_names_that_plans_can_have() {
        let round = Round {
            format: Round::FORMAT,
            id: RunId::new(WallTime::from_unix_nanos(1_700_000_000_000_000_000), 7),
            title: "\"two\" networks".to_owned(),
            started: WallTime::from_unix_nanos(1_700_000_000_000_000_000),
            elapsed: Duration::from_secs(60),
            members: vec![Member::named("a"), Member::named("b"), Member::named("router")],
            segments: Vec::new(),
            tests: vec![
                tested("a to b", "b", None),
                tested("a to b", "b", None),
                tested("a to b", "b", Some("ingress")),
            ],
        };
        let names = TestNames::of(&round);
        let plan = Plan::parse("plan", &text(&round, &names, Duration::from_secs(21_600))).unwrap();
        assert_eq!((plan.title.as_str(), plan.hosts.len(), plan.tests.len()), ("\"two\" networks", 3, 3));
        assert!(plan.host("router").is_some_and(|router| plan.hosts[router].forwards));
        let runs = names.runs(&round);
        let expected =
            ["a-to-b@direct/a/b/1700000005", "a-to-b-2@direct/a/b/1700000005", "a-to-b@ingress/a/b/1700000005"];
        assert_eq!(runs, expected);
    }
}
