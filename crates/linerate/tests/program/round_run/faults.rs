//! Hosts that vanish, refuse, lack the program, have another one or a wrong clock, or never answer: the round ends, and
//! their cells say why.

use std::fs;

use model::played::Finding;
use model::round::{Round, Tested};

use super::pair;
use crate::actors::network::Network;

const TESTS: &str = r#"
[groups.all]
mesh = ["a", "b", "c"]

[[tests]]
kind = "ping"
count = 3
interval = "20ms"

[[tests]]
kind = "tcp"
bytes = "100kB"
cca = "cubic"
"#;

/// A round in which b is reached so.
fn with_b(network: &mut Network, b: &str) -> Round {
    network.plan_of(&format!("[hosts.b]\naddress = \"192.0.2.2\"\n{b}"), TESTS);
    network.round("")
}

/// The cells of b have this reason, and all others a result.
#[track_caller]
fn only_b_says(round: &Round, why: &str) {
    for tested in &round.tests {
        let is_of_b = tested.from.host == "b" || tested.to.host == "b";
        match &tested.finding {
            Finding::Nothing { detail } if is_of_b => assert!(detail.contains(why), "{}: {detail}", pair(tested)),
            found => assert!(!is_of_b && archive::rounds::has_result(found), "{}: {found:?}", pair(tested)),
        }
    }
    assert_eq!(round.tests.len(), 12);
    let failure = round.members.iter().find(|member| member.name == "b").unwrap().failure.as_deref();
    assert!(failure.is_some_and(|failure| failure.contains(why)), "{failure:?}");
}

/// A program that stands for linerate at b.
fn program(network: &Network, script: &str) -> String {
    let path = network.world.folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\nL={}\n{script}\n", env!("CARGO_BIN_EXE_linerate"))).unwrap();
    path.display().to_string()
}

#[test]
fn a_host_that_is_not_there_takes_no_part() {
    let mut network = Network::new();
    let round = with_b(&mut network, "netns = \"nowhere\"");
    only_b_says(&round, "network namespace nowhere does not exist");
    let shown = network.world.run("$L round grid last");
    assert!(shown.contains("network namespace nowhere does not exist") && shown.contains(": a to b, "), "{shown}");
}

#[test]
fn a_host_that_refuses_says_so() {
    let mut network = Network::new();
    network.ssh("echo 'h2: Permission denied (publickey).' >&2; exit 255");
    let round = with_b(&mut network, "ssh = \"h2\"");
    only_b_says(&round, "cannot be reached by ssh h2: h2: Permission denied (publickey).");
    // One line for all of its tests, in which its name stands once.
    let shown = network.world.run("$L round $F/plan.toml --no-archive 2>&1");
    let told = "b takes part no more: cannot be reached by ssh h2: h2: Permission denied (publickey).; ";
    assert_eq!(
        shown.lines().filter(|line| line.starts_with(told) && line.ends_with(" tests left out")).count(),
        1,
        "{shown}"
    );
    assert!(shown.lines().all(|line| !line.contains(" > b ") && !line.contains("  b > ")), "{shown}");
    assert!(shown.contains("b took no part, or ceased to: cannot be reached by ssh h2"), "{shown}");
}

#[test]
fn a_shell_that_greets_before_every_answer_is_quoted() {
    let mut network = Network::new();
    network.ssh("echo '*** Authorized use only ***'");
    let program = env!("CARGO_BIN_EXE_linerate");
    let round = with_b(&mut network, &format!("ssh = \"h2\"\nprogram = \"{program}\""));
    only_b_says(&round, "\"*** Authorized use only ***\" stands before what ");
}

#[test]
fn a_host_without_the_program_says_which_it_lacks() {
    let mut network = Network::new();
    let round = with_b(&mut network, "netns = \"h2\"\nprogram = \"/opt/linerate\"");
    only_b_says(&round, "there is no program `/opt/linerate` at namespace h2");
    network.ssh("");
    let round = with_b(&mut network, "ssh = \"h2\"\nprogram = \"/opt/linerate\"");
    only_b_says(&round, "there is no program `/opt/linerate` at ssh h2");
    let round = with_b(&mut network, "netns = \"h2\"\nprogram = \"echo\"");
    only_b_says(&round, "`echo` there is not linerate");
}

#[test]
fn a_host_with_another_version_or_a_wrong_clock_takes_part_and_it_is_said() {
    let mut network = Network::new();
    let path = program(
        &network,
        "case \"$*\" in --version) echo linerate 0.0.9;; \
         'host snapshot --json') $L \"$@\" | sed 's/\"taken_unix_ns\":[0-9]*/\"taken_unix_ns\":1000/';; \
         *) exec $L \"$@\";; esac",
    );
    network.world.run("chmod +x $F/program");
    let round = with_b(&mut network, &format!("netns = \"h2\"\nprogram = \"{path}\""));
    assert!(round.tests.iter().all(|tested| archive::rounds::has_result(&tested.finding)));
    let b = round.members.iter().find(|member| member.name == "b").unwrap();
    assert_eq!(b.failure, None);
    assert!(b.remarks.iter().any(|remark| remark.starts_with("has linerate 0.0.9, ")), "{:?}", b.remarks);
    assert!(b.remarks.iter().any(|remark| remark.starts_with("its clock is ") && remark.ends_with(" behind")));
    let shown = network.world.run("$L round show last");
    assert!(shown.contains("b: has linerate 0.0.9, "), "{shown}");
}

#[test]
fn a_host_that_never_answers_is_not_waited_for() {
    let mut network = Network::new();
    network.ssh("exec cat > /dev/null");
    network.plan_of("[hosts.b]\naddress = \"192.0.2.2\"\nssh = \"h2\"", TESTS);
    // The others have this long for each answer, too, and may not use it up on any machine.
    let round: Round = network.world.document("round $F/plan.toml --json --overtime 1h --patience 20s");
    only_b_says(&round, "has not answered within 20.0 s");
    network.is_left_empty();
}

#[test]
fn a_host_that_vanishes_in_the_middle_loses_what_comes_behind() {
    let mut network = Network::new();
    let folder = network.world.folder.path().display().to_string();
    // Its first flow is the last that anybody sees of it.
    network.ssh(&format!(
        "case $line in *--samples*|*serve*) touch {folder}/gone;; esac; \
         if [ -e {folder}/gone ]; then echo 'ssh: connect to host h2 port 22: No route to host' >&2; exit 255; fi"
    ));
    let program = env!("CARGO_BIN_EXE_linerate");
    let round = with_b(&mut network, &format!("ssh = \"h2\"\nprogram = \"{program}\""));
    let why = "cannot be reached by ssh h2: ssh: connect to host h2 port 22: No route to host";
    for tested in &round.tests {
        let is_of_b = tested.from.host == "b" || tested.to.host == "b";
        let is_lost = matches!(&tested.finding, Finding::Nothing { detail } if detail.contains(why));
        assert_eq!(is_lost, is_of_b && is_flow(tested), "{}: {:?}", pair(tested), tested.finding);
        assert!(is_lost || archive::rounds::has_result(&tested.finding), "{}: {:?}", pair(tested), tested.finding);
    }
    let b = round.members.iter().find(|member| member.name == "b").unwrap();
    assert!(b.before.is_some() && b.after.is_none() && b.failure.as_deref().is_some_and(|said| said.contains(why)));
    network.is_left_empty();
}

#[test]
fn a_round_that_takes_much_longer_than_planned_ends_even_so() {
    let mut network = Network::new();
    // An hour of patience with a partner that says nothing, but no overtime at all.
    let path = program(&network, "case \"$*\" in serve*) exec tail -f /dev/null;; *) exec $L \"$@\";; esac");
    network.world.run("chmod +x $F/program");
    let b = format!("[hosts.b]\naddress = \"192.0.2.2\"\nnetns = \"h2\"\nprogram = \"{path}\"");
    let tests = TESTS.replace("bytes = \"100kB\"", "time = \"1s\"");
    network.plan_of(&b, &tests);
    let round: Round = network.world.document("round $F/plan.toml --json --overtime 0s --patience 1h");
    let to_b = |tested: &&Tested| tested.to.host == "b" && is_flow(tested);
    for tested in round.tests.iter().filter(to_b) {
        let Finding::Nothing { detail } = &tested.finding else { panic!("{:?}", tested.finding) };
        let is_told =
            detail.contains("was stopped") || detail.contains("more than planned") || detail.contains("no partner");
        assert!(is_told, "{detail}");
    }
    assert_eq!(round.tests.len(), 12);
}

fn is_flow(tested: &Tested) -> bool {
    tested.label.contains("tcp")
}
