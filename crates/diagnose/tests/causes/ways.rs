//! What tests of one pair over different paths say, and a test that asks for its own window.

use diagnose::signs::{Flow, flows};
use model::played::Finding;
use model::round::Tested;
use units::ByteCount;

use crate::world::{Tcp, round, tcp};

const SLOW: Tcp = Tcp { mbps: 140, ..Tcp::GOOD };

/// The same test over another link between the sites.
fn over_a_detour(mut test: Tested) -> Tested {
    for passage in test.way.iter_mut().filter(|passage| passage.segment == "long") {
        "detour".clone_into(&mut passage.segment);
    }
    test
}

fn state_of_last(tests: Vec<Tested>, sign: &str) -> Option<&'static str> {
    flows(&round(tests)).iter().max_by_key(|flow| flow.began).and_then(|flow| Flow::state(flow, sign))
}

#[test]
fn a_pair_that_took_another_path_before_did_not_do_better_on_this_one() {
    let tests = || vec![tcp("a", "c", 0, Tcp::GOOD), over_a_detour(tcp("a", "c", 1, SLOW))];
    assert_eq!(state_of_last(tests(), "routes"), Some("changed"));
    assert_eq!(state_of_last(tests(), "before"), None, "the other path was fast, this one was never seen");
}

#[test]
fn a_pair_that_was_fast_over_the_same_path_did_better_before() {
    let tests = || vec![tcp("a", "c", 0, Tcp::GOOD), tcp("a", "c", 1, SLOW)];
    assert_eq!(state_of_last(tests(), "routes"), Some("same"));
    assert_eq!(state_of_last(tests(), "before"), Some("good"));
}

#[test]
fn the_way_back_of_the_other_direction_counts_as_a_way() {
    let mut back = tcp("c", "a", 0, Tcp::GOOD);
    for passage in back.way_back.iter_mut().filter(|passage| passage.segment == "long") {
        "detour".clone_into(&mut passage.segment);
    }
    let over_the_detour = over_a_detour(tcp("a", "c", 1, SLOW));
    assert_eq!(state_of_last(vec![back, over_the_detour], "routes"), Some("differ"), "asymmetric, and always was");
}

#[test]
fn a_window_that_the_test_asked_for_is_no_share_of_a_hosts_setting() {
    let limited = Tcp { mbps: 15, window: 96_000, window_limited: 0.95, ..Tcp::GOOD };
    let test = |asked: Option<u64>| {
        let mut test = tcp("a", "c", 0, limited);
        let Finding::Run(run) = &mut test.finding else { panic!("{:?}", test.finding) };
        run.spec.window = asked.map(ByteCount::new);
        vec![test]
    };
    assert_eq!(state_of_last(test(None), "window-share"), Some("most"));
    assert_eq!(state_of_last(test(None), "limit"), Some("receive-window"));
    assert_eq!(state_of_last(test(Some(48_000)), "window-share"), None);
    assert_eq!(state_of_last(test(Some(48_000)), "limit"), Some("configured"));
}
