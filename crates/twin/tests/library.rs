//! Scenarios of the library in virtual time. Those that take the simulator longest are left to `linerate lab score --virtual`.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use diagnose::signs::flow::Complaint;
use diagnose::signs::flows;
use path::Seed;
use scenario::library;

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
