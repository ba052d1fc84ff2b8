//! Faults that are planted into the model of a cluster, from what its gateways would report to the cause that is named first.

use gateways::cluster::faults::{Fault, FaultType};
use gateways::cluster::settings::{GatewayClass, Settings};

use super::world;

/// Runs of each fault, each with other files.
const SEEDS: u64 = 20;

/// In how many of the runs the first name is one of these; the empty name is that nothing is wrong.
fn named_first(settings: &Settings, policy: &str, right: &[&str]) -> u64 {
    let is_right = |seed: &u64| {
        let named = world::named(&world::diagnosis(&world::status(settings, policy, *seed)));
        right.contains(&named.first().map_or("", String::as_str))
    };
    (0..SEEDS).filter(is_right).count() as u64
}

fn with_fault(what: FaultType, [from_hour, to_hour]: [f64; 2]) -> Settings {
    let mut settings = world::cluster(0.7);
    settings.faults.push(Fault { gateway: 5, what, from_hour, to_hour });
    settings
}

#[test]
fn nothing_is_named_where_nothing_is_wrong_though_chance_is_uneven() {
    let settings = world::cluster(0.8);
    for policy in ["least-inflight", "inflight-cmsd", "affinity-randomized", "static-weights", "best-of-two"] {
        assert_eq!(named_first(&settings, policy, &[""]), SEEDS, "{policy}");
    }
}

#[test]
fn old_loads_are_a_herd() {
    let mut settings = world::cluster(0.8);
    (settings.reports.usage_s, settings.reports.perf_s, settings.reports.fuzz) = (20.0, 20.0, 15);
    // Where it shows in fewer than three intervals, a gateway that gets everything looks like one that catches up.
    assert!(named_first(&settings, "load-80-20", &["gateway-herd at the balancer"]) >= 16);
}

#[test]
fn a_slow_nic_is_found_under_each_policy() {
    let settings = with_fault(FaultType::Slow, [0.1, 0.25]);
    for policy in ["inflight-cmsd", "round-robin", "affinity-randomized"] {
        assert_eq!(named_first(&settings, policy, &["gateway-slow at gw5"]), SEEDS, "{policy}");
    }
}

#[test]
fn who_was_left_out_and_gets_everything_catches_up() {
    let settings = with_fault(FaultType::Busy, [0.12, 0.17]);
    assert!(named_first(&settings, "round-robin-failsafe", &["gateway-catch-up at gw5"]) >= 18);
}

#[test]
fn memory_that_transfers_do_not_explain_is_the_services_own() {
    let mut settings = world::cluster(0.7);
    settings.gateways[1].count = 8;
    settings.gateways.push(GatewayClass { memory_per_transfer_gb: 2.4, ..GatewayClass::default() });
    // A gateway that was restarted comes back empty and gets everything, as one that catches up.
    assert!(named_first(&settings, "inflight-cmsd", &["gateway-memory at gw12"]) >= 18);
}

#[test]
fn equal_counts_fill_the_smaller_gateways() {
    let mut settings = world::cluster(0.93);
    settings.hours = 0.4;
    let smaller = ["gw1", "gw2", "gw3"].map(|gateway| format!("gateway-over-capacity at {gateway}"));
    let smaller: Vec<&str> = smaller.iter().map(String::as_str).collect();
    assert!(named_first(&settings, "round-robin", &smaller) >= 15);
}
