//! Rounds that are run: over namespaces, by an `ssh` that leads into them, and with hosts that fail.

mod faults;
mod resuming;

use std::time::Duration;

use diagnose::grid::{Cell, Grids};
use model::played::Finding;
use model::round::{Passage, Round, Tested};
use model::run::{Outcome, Run};

use crate::actors::network::{Network, run_of};

const TESTS: &str = r#"
[groups.all]
mesh = ["a", "b", "c"]

[[tests]]
kind = "ping"
count = 3
interval = "20ms"

[[tests]]
kind = "mtu"

[[tests]]
kind = "hops"

[[tests]]
kind = "tcp"
bytes = "2MB"
cca = "cubic"
"#;

#[test]
fn a_round_over_namespaces_has_every_test_with_its_ways_and_all_facts() {
    let mut network = Network::new();
    network.plan(TESTS);
    let round = network.round("--output $F/round.json");
    assert_eq!(round.tests.len(), 4 * 6);
    assert!(round.members.iter().all(|member| member.failure.is_none()), "{:?}", failures(&round));
    for member in ["a", "b", "c"] {
        let member = round.members.iter().find(|known| known.name == member).unwrap();
        assert!(member.before.is_some() && member.after.is_some(), "{}: {:?}", member.name, member.remarks);
    }
    for tested in &round.tests {
        assert!(archive::rounds::has_result(&tested.finding), "{} {:?}", pair(tested), tested.finding);
        let words = |way: &[Passage]| way.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (way, back) = (words(&tested.way), words(&tested.way_back));
        let [from, to] = [&tested.from.host, &tested.to.host];
        let (there, here) = (format!("cable-{to} towards {to}"), format!("cable-{from} towards switch"));
        assert_eq!(way, [here, there]);
        assert_eq!(back, [format!("cable-{to} towards switch"), format!("cable-{from} towards {from}")]);
    }
    let runs: Vec<&Tested> = round.tests.iter().filter(|tested| matches!(tested.finding, Finding::Run(_))).collect();
    assert_eq!(runs.len(), 6);
    for tested in runs {
        let run = run_of(tested);
        assert_eq!(run.declared_line_rate.map(units::DataRate::bps), Some(10_000_000_000), "the plan knows it");
        let samples = tested.samples.as_ref().unwrap();
        assert!(samples.streams.iter().any(|stream| !stream.at_us.is_empty()), "{}", pair(tested));
    }
    // Heavy tests begin when all light ones have ended.
    let begins = |kind: fn(&Finding) -> bool| {
        let of_kind = round.tests.iter().filter(move |tested| kind(&tested.finding)).map(|tested| tested.began);
        of_kind.collect::<Vec<Duration>>()
    };
    let light = begins(|finding| !matches!(finding, Finding::Run(_))).into_iter().max();
    assert!(light < begins(|finding| matches!(finding, Finding::Run(_))).into_iter().min());
    let file: Round = serde_json::from_str(&network.world.run("cat $F/round.json")).unwrap();
    assert_eq!((file.id, file.tests.len()), (round.id, round.tests.len()));
    network.is_left_empty();
}

#[test]
fn a_round_is_kept_and_found_again() {
    let mut network = Network::new();
    network.plan(TESTS);
    let round = network.round("");
    let summary: Listed = network.world.document("round list --json");
    assert_eq!((summary.id.as_str(), summary.tests, summary.tests_failed), (&*round.id.to_string(), 24, 0));
    let grids: Grids = network.world.document("round grid last --json");
    let goodput = grids.grids.iter().find(|grid| grid.hosts.len() == 3).unwrap();
    let measured = goodput.rows.iter().flatten().filter(|cell| matches!(cell, Cell::Measured(_))).count();
    assert_eq!(measured, 6, "{goodput:?}");
    let again: Round = network.world.document(&format!("round show {} --json", round.id));
    assert_eq!(again.tests.iter().filter(|tested| tested.samples.is_some()).count(), 6, "with the samples of its runs");
    let shown = network.world.run("$L round show last");
    assert!(shown.contains("24 of 24 tests gave a result"), "{shown}");
    let (said, code) = network.world.ends("$L why last");
    assert!(matches!(code, 0 | 10), "{said}");
    let runs = network.world.run("$L runs list --json");
    assert_eq!(runs.lines().count(), 6, "its runs are runs as any other");
    let (said, code) = network.world.ends("$L round show 00000000");
    assert!(code == 9 && said.contains("`linerate round list` shows"), "{said}");
}

#[test]
fn hosts_by_ssh_are_tested_by_what_is_there() {
    let mut network = Network::new();
    network.ssh("");
    network.world.run("mkdir \"$F/of b\"; ln -s $L \"$F/of b/it's linerate\"");
    let program = format!("{}/of b/it's linerate", network.world.folder.path().display());
    network.plan_of(&format!("[hosts.b]\naddress = \"192.0.2.2\"\nssh = \"h2\"\nprogram = \"{program}\""), TESTS);
    let round = network.round("");
    for tested in &round.tests {
        assert!(archive::rounds::has_result(&tested.finding), "{} {:?}", pair(tested), tested.finding);
    }
    let b = round.members.iter().find(|member| member.name == "b").unwrap();
    assert!(b.before.is_some() && b.remarks.is_empty(), "{:?}", b.remarks);
    let asked = network.world.run("cat $F/ssh.log");
    assert!(asked.lines().any(|line| line.contains("BatchMode=yes") && line.contains("ControlPath=")), "{asked}");
    network.is_left_empty();
}

#[test]
fn a_host_that_only_answers_sends_and_receives_all_the_same() {
    let mut network = Network::new();
    network.world.run(
        "mkfifo $F/serving; ip netns exec h2 $L serve --no-archive 2> $F/serving & exec 8< $F/serving; read line <&8",
    );
    network.plan_of("[hosts.b]\naddress = \"192.0.2.2\"", TESTS);
    let round = network.round("");
    let of_b = |tested: &&Tested| tested.from.host == "b" || tested.to.host == "b";
    let rates = round.tests.iter().filter(of_b).filter(|tested| matches!(tested.finding, Finding::Run(_)));
    let rates: Vec<&Run> = rates.map(run_of).collect();
    assert_eq!(rates.len(), 4);
    assert!(rates.iter().all(|run| run.outcome == Outcome::Complete));
    let hops = round.tests.iter().find(|tested| tested.from.host == "b" && tested.label == "hops").unwrap();
    assert!(matches!(&hops.finding, Finding::Nothing { detail } if detail == "nothing can be started at b"));
    let grids: Grids = network.world.document("round grid last --json");
    let measured = grids.grids[0].rows.iter().flatten().filter(|cell| matches!(cell, Cell::Measured(_))).count();
    assert_eq!(measured, 6, "both directions of each pair: {:?}", grids.grids[0]);
    // Where something can be started, but another partner has the port, that is asked.
    network.plan(TESTS);
    let round = network.round("");
    assert!(round.tests.iter().all(|tested| archive::rounds::has_result(&tested.finding)));
    network.world.run("ip netns pids h2 | xargs kill");
}

#[test]
fn what_would_be_done_is_said_and_nothing_is_sent() {
    let mut network = Network::new();
    network.plan(TESTS);
    let said = network.world.run("$L round --dry-run $F/plan.toml");
    assert!(said.contains("24 tests in"), "{said}");
    let (said, code) = network.world.ends("$L round list");
    assert!(code == 9 && said.contains("no archive"), "{said}");
    network.plan_of("[hosts.b]\naddress = \"192.0.2.2\"", TESTS);
    network.world.run("sed -i '/^netns/d' $F/plan.toml");
    let (said, code) = network.world.ends("$L round $F/plan.toml");
    assert!(code == 2 && said.contains("how any of its hosts is reached") && said.contains("netns"), "{said}");
}

#[test]
fn a_round_that_is_stopped_keeps_what_was_measured_and_marks_the_rest() {
    let mut network = Network::new();
    network.plan(&TESTS.replace("bytes = \"2MB\"", "time = \"1h\""));
    // The first flow has begun when its partner is there.
    network.world.run(
        "mkfifo $F/telling; $L round $F/plan.toml --output $F/round.json > $F/out 2> $F/telling & leader=$!; \
         exec 8< $F/telling; while read line <&8; do case $line in *hops*) break;; esac; done; cat <&8 > /dev/null & \
         until ip netns pids h1 | xargs -r -n 1 sh -c 'tr \"\\0\" \" \" < /proc/$0/cmdline' | grep -q -e --json; do sleep 0.02; done; \
         kill -INT $leader",
    );
    let (_, code) = network.world.ends("wait $leader");
    assert_eq!(code, 130);
    let round: Round = serde_json::from_str(&network.world.run("cat $F/round.json")).unwrap();
    assert_eq!(round.tests.len(), 24);
    let pings = round.tests.iter().filter(|tested| matches!(tested.finding, Finding::Echo(_))).count();
    assert_eq!(pings, 6);
    let left_out = |tested: &&Tested| matches!(&tested.finding, Finding::Nothing { detail } if detail == "not run: the round was stopped");
    assert!(round.tests.iter().filter(left_out).count() >= 3, "at most three flows had begun");
    let kept = network.world.run("$L round list");
    assert!(kept.contains(&round.id.to_string()), "{kept}");
    network.is_left_empty();
}

/// What `round list --json` prints of one.
#[derive(serde::Deserialize)]
struct Listed {
    id: String,
    tests: u32,
    tests_failed: u32,
}

fn pair(tested: &Tested) -> String {
    format!("{}: {} > {}", tested.label, tested.from, tested.to)
}

fn failures(round: &Round) -> Vec<(&str, Option<&str>)> {
    round.members.iter().map(|member| (member.name.as_str(), member.failure.as_deref())).collect()
}
