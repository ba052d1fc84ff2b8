//! Networks that were written by people who did not know how causes are weighed: what each of them taught.

use std::collections::BTreeSet;
use std::path::Path;

use diagnose::signs::flows;
use path::Seed;
use scenario::Scenario;

use crate::{named, named_in};

/// A network that was written by somebody who did not know how causes are weighed.
fn of_strangers(name: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/once-unseen").join(format!("{name}.toml"));
    Scenario::parse(name, &std::fs::read_to_string(file).unwrap()).unwrap()
}

fn named_of_strangers(name: &str) -> Vec<String> {
    named_in(&of_strangers(name))
}

/// What the flows of such a network answer to a question, without repetitions.
fn answers_of_strangers(name: &str, sign: &str) -> Vec<&'static str> {
    let flows = flows(&twin::play(&of_strangers(name), Seed(1)).round);
    let answers: BTreeSet<&'static str> = flows.iter().filter_map(|flow| flow.state(sign)).collect();
    answers.into_iter().collect()
}

#[test]
fn only_a_link_that_is_slower_than_those_before_it_is_overrun_by_one_test() {
    assert_eq!(answers_of_strangers("rural-clinic", "lost-where"), ["at-a-queue"], "1 Gbit/s behind 1 Gbit/s");
    assert_eq!(answers_of_strangers("fishery-lab", "lost-where"), ["at-a-slower-link"], "2 Gbit/s behind 10");
}

#[test]
fn small_echoes_that_come_back_say_nothing_of_large_packets() {
    assert_eq!(answers_of_strangers("satellite-images", "echoes"), ["all-of-small-ones"]);
    let named = named_of_strangers("satellite-images");
    assert!(named[0].starts_with("mtu-"), "{named:?}");
}

#[test]
fn pauses_that_only_one_host_has_counted_are_no_slow_cpu() {
    assert_eq!(named_of_strangers("burst-buffer"), ["pause-frames at buffer-1"]);
}

#[test]
fn a_path_that_became_another_one_is_no_device_that_was_reset() {
    let named = named_of_strangers("antennas-and-a-detour");
    assert!(matches!(named.as_slice(), [only] if only.contains("at back-1")), "{named:?}");
}

#[test]
fn a_window_that_a_test_asked_for_is_no_untuned_host() {
    let named = named_of_strangers("county-offices-nat-and-vm");
    assert!(named.contains(&"test-limit at office-a".to_owned()), "{named:?}");
}

#[test]
fn a_buffer_that_was_large_enough_before_was_reset() {
    let named = named_of_strangers("field-station-and-dtn-reset");
    assert!(named.contains(&"tuning-reset at inst-dtn".to_owned()), "{named:?}");
}

#[test]
fn requests_that_are_passed_on_explain_a_slow_download() {
    assert_eq!(named_of_strangers("portal-and-door-nodes"), ["rerouted-requests at portal"]);
}

#[test]
fn what_a_host_has_counted_and_negotiated_names_what_slows_its_link() {
    for (network, found) in [
        ("desk-cable-library", "link-slow at scan-2"),
        ("flash-dtn-one-lane", "bus-narrow at psi-dtn2"),
        ("tier2-crc-and-contract", "nic-errors at t2-gate"),
        ("camera-bursts-and-txq", "device-queue-drops at calib"),
    ] {
        let named = named_of_strangers(network);
        assert!(named.contains(&found.to_owned()), "{network}: {named:?}");
    }
}

#[test]
fn a_machine_that_merges_what_its_guests_receive_is_found_by_its_own_facts() {
    let named = named_of_strangers("bookshop-cloud");
    assert_eq!(named, ["receive-offload-overlay at iron-2"], "no guest says in which machine it lives");
}

#[test]
fn a_host_that_is_not_paced_as_its_peers_are_is_the_one_that_overruns_a_queue() {
    assert_eq!(named_of_strangers("court-archive-files"), ["sender-unpaced at court-new"]);
}

#[test]
fn marks_that_all_hosts_ask_for_are_a_queue_that_marks_early() {
    let named = named_of_strangers("weather-kites");
    assert_eq!(named, ["ecn-marking-below-capacity at backhaul towards bureau"], "routers ask for nothing");
}

#[test]
fn a_test_that_asks_for_less_makes_no_packets_vanish() {
    let named = named_of_strangers("horse-race");
    assert!(!named.iter().any(|named| named.starts_with("test-limit")), "{named:?}");
}

#[test]
fn a_host_that_is_starved_of_cpu_is_one_problem_in_both_directions() {
    assert_eq!(named("sender-cpu"), ["sender-cpu at store-1"]);
    assert_eq!(named("receiver-slow"), ["receiver-slow at store-2"]);
    assert_eq!(named_of_strangers("ambulances"), ["host-contention at maps-2"], "it sends and receives");
    assert_eq!(named_of_strangers("falconry"), ["host-contention at xray"], "beside datagrams");
}

#[test]
fn offloads_that_a_peer_has_on_are_what_a_host_lacks() {
    assert_eq!(named_of_strangers("crystallography"), ["offload-off at writer-1"]);
}

#[test]
fn a_few_marks_on_a_path_that_is_not_full_are_enough() {
    assert_eq!(named_of_strangers("perfume-house"), ["ecn-forced at still"]);
}

#[test]
fn a_test_that_was_luckier_than_another_does_not_tell_of_two_ways() {
    assert_eq!(answers_of_strangers("svalbard-relay-rare-loss", "same-again"), ["alike"]);
}

#[test]
fn two_directions_of_one_slow_link_are_one_problem() {
    assert_eq!(named_of_strangers("shopping-centre-third-floor"), ["slow-segment at riser-23"]);
}

#[test]
fn what_a_host_lacks_in_both_directions_is_one_problem() {
    let named = named_of_strangers("livestock-genetics-nairobi");
    assert_eq!(named, ["host-untuned at new-dtn", "random-loss at dish towards institute"]);
}

#[test]
fn a_strange_frame_now_and_then_is_what_any_network_brings() {
    assert_eq!(named_of_strangers("traffic-light-containers"), Vec::<String>::new(), "one in two seconds of two days");
    let named = named_of_strangers("eye-clinic");
    assert_eq!(named.len(), 2, "{named:?}");
}

#[test]
fn an_algorithm_that_grows_in_time_is_not_what_slows_its_host() {
    let named = named_of_strangers("blood-bank-donor-samples");
    assert!(named.len() == 1 && named[0].starts_with("random-loss"), "{named:?}");
}

#[test]
fn what_a_start_lost_limits_no_flow_that_waited_for_something_else() {
    let named = named_of_strangers("hydrology-answers-by-satellite");
    assert_eq!(named, ["asymmetric-route at satellite towards office-router"]);
}
