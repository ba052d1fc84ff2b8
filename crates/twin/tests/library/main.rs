//! Scenarios of the library in virtual time. Those that take the simulator longest are left to `linerate lab score --virtual`.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

mod strangers;

use std::path::Path;
use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::diagnose;
use diagnose::next::Proposal;
use diagnose::signs::flow::Complaint;
use diagnose::signs::{Flow, flows};
use path::Seed;
use plan::task::{Ping, Task};
use scenario::{Scenario, library};
use twin::play::{Setting, play_on};
use units::ByteCount;

fn complaints(name: &str) -> Vec<(String, Complaint)> {
    let scenario = library::load(name).unwrap();
    let round = twin::play(&scenario, Seed(1)).round;
    assert_eq!(round.tests.len(), scenario.tests.len(), "{name}: each test has a result");
    flows(&round).into_iter().filter_map(|flow| Some((flow.label, flow.complaint?))).collect()
}

#[test]
fn equal_seeds_give_equal_rounds() {
    let scenario = library::load("duplex-mismatch").unwrap();
    let round = |seed| serde_json::to_string(&twin::play(&scenario, Seed(seed)).round).unwrap();
    assert_eq!(round(1), round(1));
    assert_ne!(round(1), round(2));
}

#[test]
fn a_planted_fault_makes_a_test_complain_and_a_healthy_network_none() {
    for name in ["duplex-mismatch", "sender-cpu", "reordering", "udp-sender-drops", "random-loss-1e-3"] {
        assert!(!complaints(name).is_empty(), "{name}: nobody complains");
    }
    assert_eq!(complaints("amlight-quiet"), []);
}

#[test]
fn only_the_slow_host_is_slow() {
    // The store whose programs get a tenth of a CPU sends slowly, and receives what it is sent.
    let slow = complaints("sender-cpu");
    assert!(slow.iter().any(|(label, _)| label == "store-1 to store-2"), "{slow:?}");
}

/// What a diagnosis names first in each of its problems.
fn named(name: &str) -> Vec<String> {
    named_in(&library::load(name).unwrap())
}

fn named_in(scenario: &Scenario) -> Vec<String> {
    let round = twin::play(scenario, Seed(1)).round;
    let problems = diagnose(&round, Catalogue::built_in(), &Rules::built_in()).problems;
    let first = |problem: &diagnose::diagnosis::Problem| {
        let first = problem.ranking.first()?;
        let explains = if problem.explains.is_empty() { ", explains nothing" } else { "" };
        Some(format!("{} at {}{explains}", first.cause, first.places.first()?.place))
    };
    problems.iter().filter_map(first).collect()
}

#[test]
fn a_slow_link_that_is_what_a_flow_should_have_is_no_fault_of_its_host() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/unseen/ski-resort-webcams.toml");
    let scenario = Scenario::parse("ski-resort", &std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(named_in(&scenario), ["bufferbloat at uplink towards town-hall"]);
}

#[test]
fn a_loss_that_stops_tcp_and_thins_datagrams_is_one_problem() {
    assert_eq!(named("lhn-backup-circuit"), ["loss-on-segment at backup towards chicago"]);
}

#[test]
fn a_shaper_of_the_host_is_no_queue_of_the_path() {
    assert_eq!(complaints("circuit-shaped"), []);
}

#[test]
fn a_paced_transfer_fills_no_queue_of_a_faster_link() {
    let scenario = library::load("amlight-burst-early").unwrap();
    let flows = flows(&twin::play(&scenario, Seed(1)).round);
    assert_eq!(flows[0].state("lost-where"), Some("elsewhere"), "150 of 500 Mbit/s overflow nothing by themselves");
    assert_eq!(named("amlight-burst-early"), ["microburst at loop towards receiver"]);
}

#[test]
fn a_proxy_serves_what_lies_on_its_own_node() {
    assert_eq!(named("nrao-storage-link"), ["slow-segment at storage towards switch"]);
}

#[test]
fn queues_that_downloads_through_proxies_build_are_no_loss_of_a_free_segment() {
    assert_eq!(named("nrao-rerouted"), ["rerouted-requests at portal, explains nothing"]);
}

#[test]
fn what_is_asked_for_is_played_behind_the_tests_of_the_file() {
    let scenario = library::load("random-loss-1e-3").unwrap();
    let setting = Setting::of(Seed(1));
    let alone = twin::play(&scenario, Seed(1)).round;
    let (from, to) = (alone.tests[0].from.clone(), alone.tests[0].to.clone());
    let ping = Ping { count: 20, interval: Duration::from_millis(50), size: ByteCount::new(56) };
    let mut left = Some(Box::new(Proposal {
        label: "echoes besides".to_owned(),
        from,
        to,
        tasks: vec![Task::Ping(ping)],
        expected: None,
        takes: Duration::from_secs(1),
        bits: 1.0,
        says: "a test asks".to_owned(),
    }));
    let round = play_on(&scenario, &setting, &mut |_| left.take()).round;
    assert_eq!(round.tests.len(), alone.tests.len() + 1);
    let text = |tests: &[model::round::Tested]| serde_json::to_string(tests).unwrap();
    assert_eq!(text(&round.tests[..alone.tests.len()]), text(&alone.tests), "the tests of the file are as they were");
    assert_eq!(round.tests.last().unwrap().label, "echoes besides");
    assert!(round.elapsed > alone.elapsed);
}

#[test]
fn what_became_of_packets_adds_up() {
    for name in ["duplex-mismatch", "udp-sender-drops", "reordering"] {
        let played = twin::play(&library::load(name).unwrap(), Seed(1)).played;
        for link in &played.links {
            assert_eq!(link.unaccounted(), 0, "{name}: {link:?}");
            assert!(link.taken_packets.get() > 0, "{name}: nothing went over {}", link.link);
        }
    }
}

/// Two hosts, 40 ms apart, with a queue of a third of what is under way.
const PAIR: &str = r#"title = "t"
about = "a"
families = ["ipv4"]
[defaults]
congestion-control = "cubic"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 33554432", "net.ipv4.tcp_wmem" = "4096 131072 33554432" }
[hosts.near]
[hosts.far]
[[links]]
name = "long"
between = ["near", "far"]
both = [{ port = { rate = "200Mbit/s", queue = { bytes = "300kB" } } }, { delay = { time = "20ms" } }]
[[tests]]
kind = "KIND"
from = "near"
to = "far"
expect = "200Mbit/s"
KEYS
[truth]
healthy = true
"#;

/// The flow of one test between the two hosts, the sender with these keys.
fn between(kind: &str, keys: &str, sender: &str) -> Flow {
    let text =
        PAIR.replace("KIND", kind).replace("KEYS", keys).replace("[hosts.near]", &format!("[hosts.near]\n{sender}"));
    let scenario = Scenario::parse("pair.toml", &text).unwrap();
    flows(&twin::play(&scenario, Seed(1)).round).remove(0)
}

#[test]
fn without_selective_acknowledgements_an_overflow_costs_a_round_trip_for_each_segment() {
    let with = between("tcp", "time = \"8s\"", "");
    let without = between("tcp", "time = \"8s\"", "sysctl = { \"net.ipv4.tcp_sack\" = 0 }");
    assert_eq!([with.state("sack"), without.state("sack")], [Some("agreed"), Some("missing")]);
    assert!(without.goodput.bps() < with.goodput.bps() / 10 * 8, "{} with, {} without", with.goodput, without.goodput);
}

#[test]
fn a_shaper_with_room_holds_datagrams_and_one_without_drops_them() {
    let shaped = |limit: &str| {
        let sender = format!("qdisc = {{ tbf = {{ rate = \"50Mbit/s\", burst = \"32kB\", limit = \"{limit}\" }} }}");
        between("udp", "time = \"3s\"\nrate = \"100Mbit/s\"\nlength = \"1400B\"", &sender)
    };
    let (held, dropped) = (shaped("4MB"), shaped("30kB"));
    assert_eq!([held.state("offered"), held.state("loss")], [Some("less"), Some("none")]);
    assert_eq!([dropped.state("offered"), dropped.state("loss")], [Some("as-asked"), Some("severe")]);
}

#[test]
fn a_short_transfer_is_slow_where_its_initial_window_is_and_by_that_alone() {
    let route = "[[routes]]\nhost = \"near\"\nto = [\"far\"]\ninitcwnd = 1";
    let [usual, small] =
        ["", route].map(|route| between("tcp", &format!("bytes = \"100kB\"\nsample-every = \"5ms\"\n{route}"), ""));
    assert_eq!([usual.state("initial-window"), small.state("initial-window")], [Some("usual"), Some("small")]);
    assert_eq!([usual.complaint, small.complaint], [None, Some(Complaint::Slow)]);
}

#[test]
fn streams_of_datagrams_share_the_path() {
    let together = between("udp", "time = \"3s\"\nrate = \"50Mbit/s\"\nstreams = 8\nlength = \"1400B\"", "");
    assert!(together.goodput.bps() < 200_000_000, "{} through 200 Mbit/s", together.goodput);
    assert_eq!(together.state("loss"), Some("severe"), "half of 400 Mbit/s");
}

#[test]
fn a_shaper_that_drops_nothing_stands_in_the_facts_of_its_host() {
    let text = r#"# virtual time
title = "A shaper that somebody left behind"
about = "One host has a shaper with room for all that TCP has under way."
[hosts.left]
[hosts.right]
[[links]]
name = "wire"
between = ["left", "right"]
speed = "1Gbit/s"
both = [{ port = { rate = "1Gbit/s", queue = { bytes = "2MB" } } }, { delay = { time = "5ms" } }]
[[faults]]
id = "shaper"
host = "left"
link = "wire"
qdisc = { tbf = { rate = "200Mbit/s", burst = "64kB", limit = "4MB" } }
[[tests]]
kind = "tcp"
from = "left"
to = "right"
time = "4s"
expect = "1Gbit/s"
[[tests]]
kind = "tcp"
from = "right"
to = "left"
time = "4s"
expect = "1Gbit/s"
[[truth.causes]]
id = "device-queue-drops"
host = "left"
fault = "shaper"
"#;
    let scenario = Scenario::parse("left-behind", text).unwrap();
    assert_eq!(named_in(&scenario), ["device-queue-drops at left"]);
}

#[test]
fn a_host_whose_facts_say_that_it_scales_its_windows_is_not_what_takes_the_scale_away() {
    let text = r#"# virtual time
title = "A firewall in front of one host of a fast room"
about = "It takes the window scale out of connections, and 64 KiB are too little at 7 Gbit/s even within a building."
[hosts.one]
[hosts.two]
[hosts.switch]
forwards = true
[[links]]
name = "to-one"
between = ["one", "switch"]
speed = "7Gbit/s"
both = [{ port = { rate = "7Gbit/s", queue = { bytes = "4MB" } } }, { delay = { time = "100us" } }]
[[links]]
name = "to-two"
between = ["two", "switch"]
speed = "7Gbit/s"
both = [{ port = { rate = "7Gbit/s", queue = { bytes = "4MB" } } }, { delay = { time = "100us" } }]
[[faults]]
id = "firewall"
link = "to-one"
add = { firewall = { packets-per-second = 2000000, inspects = "tcp", strips-window-scale = true } }
[[tests]]
kind = "tcp"
from = "one"
to = "two"
time = "4s"
expect = "7Gbit/s"
[[tests]]
kind = "tcp"
from = "two"
to = "one"
time = "4s"
expect = "7Gbit/s"
[[truth.causes]]
id = "firewall"
link = "to-one"
fault = "firewall"
"#;
    let scenario = Scenario::parse("scaling", text).unwrap();
    let named = named_in(&scenario);
    assert!(named.len() == 1 && named[0].starts_with("firewall"), "{named:?}");
}

#[test]
fn what_a_host_does_not_let_out_is_a_second_problem_of_a_flow_that_loses_packets_behind_it() {
    let text = r#"# virtual time
title = "A shaper and a segment that loses"
about = "One host lets out less than it is asked for, and a segment behind it loses packets."
[hosts.left]
[hosts.other]
[hosts.right]
[hosts.switch]
forwards = true
[[links]]
name = "to-left"
between = ["left", "switch"]
speed = "1Gbit/s"
both = [{ port = { rate = "1Gbit/s", queue = { bytes = "2MB" } } }, { delay = { time = "1ms" } }]
[[links]]
name = "to-other"
between = ["other", "switch"]
speed = "1Gbit/s"
both = [{ port = { rate = "1Gbit/s", queue = { bytes = "2MB" } } }, { delay = { time = "1ms" } }]
[[links]]
name = "to-right"
between = ["switch", "right"]
speed = "1Gbit/s"
both = [{ port = { rate = "1Gbit/s", queue = { bytes = "2MB" } } }, { delay = { time = "5ms" } }]
[[faults]]
id = "shaper"
host = "left"
link = "to-left"
qdisc = { tbf = { rate = "60Mbit/s", burst = "64kB", limit = "4MB" } }
[[faults]]
id = "loss"
link = "to-right"
towards = "right"
add = { loss = { random = 0.01 } }
[[tests]]
kind = "udp"
from = "left"
to = "right"
time = "4s"
rate = "100Mbit/s"
[[tests]]
kind = "udp"
from = "other"
to = "right"
time = "4s"
rate = "20Mbit/s"
[[tests]]
kind = "tcp"
from = "other"
to = "right"
time = "4s"
expect = "1Gbit/s"
[[truth.causes]]
id = "udp-sender-held"
host = "left"
fault = "shaper"
[[truth.causes]]
id = "random-loss"
link = "to-right"
towards = "right"
fault = "loss"
"#;
    let named = named_in(&Scenario::parse("two-of-one-flow", text).unwrap());
    assert_eq!(named, ["random-loss at to-right towards right", "udp-sender-held at left"]);
}
