//! What policies do to a cluster. Runs are an hour and a quarter: long enough for what piles up to reach the memory limit.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use gateways::cluster::faults::{Fault, FaultType};
use gateways::cluster::outcome::Outcome;
use gateways::cluster::run::{run, traced};
use gateways::cluster::settings::{CatchUp, Settings};
use gateways::policy;
use path::Seed;

fn settings(utilisation: f64) -> Settings {
    let mut settings = Settings { hours: 1.25, warm_up_hours: 0.25, ..Settings::default() };
    settings.transfers.offered_gbit_s *= utilisation / settings.utilisation();
    settings
}

fn outcome(settings: &Settings, policy: &str) -> Outcome {
    run(settings, policy::find(policy).unwrap(), Seed(11)).unwrap()
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let settings = Settings { hours: 0.5, warm_up_hours: 0.1, ..settings(0.9) };
    let run = |seed| run(&settings, policy::find("affinity-randomized").unwrap(), Seed(seed)).unwrap();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn at_93_percent_unequal_gateways_stay_even_under_least_inflight() {
    let settings = settings(0.93);
    let ours = outcome(&settings, "least-inflight");
    assert_eq!(ours.restarts, 0);
    assert!(ours.spread_in_flight.unwrap() <= 0.15, "{ours:?}");
    assert!(ours.deletion_p95_ratio.unwrap() <= 1.2, "{ours:?}");
    assert!(ours.goodput_gbit_s >= outcome(&settings, "affinity-randomized").goodput_gbit_s);
}

#[test]
fn round_robin_piles_up_on_slower_gateways_and_hardly_on_equal_ones() {
    let mut settings = settings(0.93);
    let unequal = outcome(&settings, "round-robin");
    assert!(unequal.spread_in_flight.unwrap() > 0.4, "{unequal:?}");
    // The same capacity in 21 equal parts.
    let each = settings.capacity() * 8.0 / 1e9 / 21.0;
    settings.gateways.iter_mut().for_each(|class| class.nic_gbit_s = each);
    let equal = outcome(&settings, "round-robin");
    assert!(unequal.restarts > 20 * (equal.restarts + 1), "{equal:?}");
}

#[test]
fn old_reports_make_a_herd() {
    let mut settings = settings(0.87);
    let fresh = outcome(&settings, "load-80-20");
    settings.reports.usage_s = 20.0;
    settings.reports.perf_s = 20.0;
    settings.reports.fuzz = 15;
    let old = outcome(&settings, "load-80-20");
    assert!(old.spread_in_flight.unwrap() > 1.5 * fresh.spread_in_flight.unwrap(), "{old:?} {fresh:?}");
    let ours = outcome(&settings, "least-inflight");
    assert!(ours.spread_in_flight.unwrap() < 0.15, "what was sent since the report is known: {ours:?}");
}

#[test]
fn a_gateway_that_lies_is_silent_or_flaps_does_not_take_the_cluster_with_it() {
    for what in [FaultType::Lies, FaultType::Silent, FaultType::Flaps, FaultType::Slow] {
        let mut settings = settings(0.8);
        settings.faults.push(Fault { gateway: 6, what, from_hour: 0.25, to_hour: 1.25 });
        let (ours, trace) = traced(&settings, policy::find("least-inflight").unwrap(), Seed(11)).unwrap();
        let others = trace.gateways.iter().enumerate().filter(|(at, _)| *at != 5);
        assert!(others.map(|(_, trace)| trace.restarts_s.len()).sum::<usize>() == 0, "{what:?}: {ours:?}");
        assert!(ours.goodput_gbit_s > 0.9 * settings.transfers.offered_gbit_s, "{what:?}: {ours:?}");
    }
}

#[test]
fn counts_that_stand_still_while_a_gateway_is_left_out_cost_something() {
    // A gateway is away for half an hour, and comes back to take all requests until its count has caught up.
    let mut settings = settings(0.75);
    settings.faults.push(Fault { gateway: 6, what: FaultType::Slow, from_hour: 0.25, to_hour: 0.75 });
    let largest = |catch_up| {
        let mut settings = settings.clone();
        settings.reports.catch_up = catch_up;
        outcome(&settings, "round-robin-failsafe").spread_in_flight.unwrap()
    };
    assert!(largest(CatchUp::AsCmsd) > largest(CatchUp::None));
}

#[test]
fn without_four_gateways_no_policy_carries_what_21_carried() {
    let mut settings = settings(0.93);
    settings.gateways[0].count = 0;
    assert!(settings.utilisation() > 1.0);
    for policy in ["least-inflight", "oracle"] {
        let without = outcome(&settings, policy);
        assert!(without.goodput_gbit_s < 0.99 * settings.transfers.offered_gbit_s, "{policy}: {without:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut settings = Settings::default();
    settings.reports.usage_s = 1.0;
    assert_eq!(run(&settings, &policy::ALL[0], Seed(1)).unwrap_err().name, "usage-s");
    settings = Settings::default();
    settings.transfers.mean_size_gb = f64::NAN;
    assert_eq!(run(&settings, &policy::ALL[0], Seed(1)).unwrap_err().name, "mean-size-gb");
    settings = Settings::default();
    settings.faults.push(Fault { gateway: 22, what: FaultType::Down, from_hour: 0.0, to_hour: 1.0 });
    assert_eq!(run(&settings, &policy::ALL[0], Seed(1)).unwrap_err().name, "faults.gateway");
}
