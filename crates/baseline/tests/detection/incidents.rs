//! A mesh with a bad host is one incident.

use baseline::mesh::{Element, Fault, Mesh};
use baseline::monitor::{Incident, Monitor, RoundResult, Subject};
use baseline::pool::{self, Pooling};
use baseline::series::Sample;
use baseline::watch::{Quality, WatchSettings};
use path::Seed;

/// 10 hosts for 30 days; thresholds were chosen on seed 7 and 20 hosts.
fn incidents(fault: Option<Fault>) -> Vec<Incident<(usize, usize), Element>> {
    let mesh = Mesh { hosts: 10, rounds: 60, seed: Seed(4242), fault };
    let mut monitor = Monitor::new(WatchSettings::default(), Pooling::default());
    mesh.pairs().into_iter().for_each(|(pair, elements)| monitor.add(pair, elements));
    for (round, results) in (0_i64..).zip(mesh.results()) {
        monitor.round(&results, round * 43_200);
    }
    monitor.incidents().to_vec()
}

#[test]
fn a_host_fault_is_one_incident_in_its_first_round_until_it_is_fixed() {
    for element in [Element::Host(3), Element::To(5)] {
        let fault = Fault { element, rounds: (30, 50), drop: 0.4 };
        let found = incidents(Some(fault));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].subject, Subject::Element(element));
        assert!((30..32).contains(&(found[0].opened_s / 43_200)), "{found:?}");
        assert!(found[0].recovered_s.is_some_and(|back| (50..52).contains(&(back / 43_200))), "{found:?}");
        assert!((found[0].shift - 0.6_f64.ln()).abs() < 0.2, "{found:?}");
    }
}

#[test]
fn a_quiet_month_has_no_incident() {
    assert!(incidents(None).is_empty());
}

#[test]
fn a_rank_in_a_short_history_says_nothing() {
    assert_eq!(pool::rank(&[1.0; 9], 0.5), None);
    let rank = pool::rank(&[1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 0.98, 1.0, 1.0, 1.0], 0.5).unwrap();
    assert!((rank.shift + 0.5).abs() < 1e-12 && rank.z < -1.5, "{rank:?}");
}

/// 4 hosts, as a hub hears of them.
fn of_four(seed: u64, fault: Option<Fault>) -> Vec<Incident<(usize, usize), Element>> {
    heard(&Mesh { hosts: 4, rounds: 46, seed: Seed(seed), fault })
}

/// A mesh as a hub hears of it: one result after the other, pooled over two rounds.
fn heard(mesh: &Mesh) -> Vec<Incident<(usize, usize), Element>> {
    let mut monitor = Monitor::new(WatchSettings::default(), Pooling::default()).pooled_over(2 * 43_200);
    mesh.pairs().into_iter().for_each(|(pair, elements)| monitor.add(pair, elements));
    for mut results in mesh.results() {
        results.sort_by_key(|result| result.sample.at_s);
        for result in results {
            monitor.round(&[result], result.sample.at_s);
        }
    }
    monitor.incidents().to_vec()
}

#[test]
fn a_host_of_few_pairs_shows_its_fault_in_several_results_of_each() {
    for element in [Element::Host(1), Element::To(2), Element::From(3)] {
        let fault = Fault { element, rounds: (20, 34), drop: 0.7 };
        let found = of_four(11, Some(fault));
        let [incident] = found.as_slice() else { panic!("{element:?}: {found:?}") };
        assert_eq!(incident.subject, Subject::Element(element));
        let rounds = |seconds: i64| seconds / 43_200;
        assert_eq!(rounds(incident.since_s), 20, "{incident:?}");
        assert!((21..27).contains(&rounds(incident.opened_s)), "{incident:?}");
        assert!(incident.recovered_s.is_some_and(|back| (34..38).contains(&rounds(back))), "{incident:?}");
    }
}

#[test]
fn a_pair_that_drops_to_a_third_alone_is_an_incident_at_its_third_result() {
    let mut monitor: Monitor<&str, &str> = Monitor::new(WatchSettings::default(), Pooling::default());
    monitor.add("alone", vec!["a", "b"]);
    let mut opened = Vec::new();
    for round in 0..40_i64 {
        let level = if round < 30 { 1e9 } else { 3.3e8 };
        let value = level * (1.0 + (round * 7 % 11) as f64 * 0.02);
        let sample = Sample { at_s: round * 21_600, value };
        opened.extend(monitor.round(&[RoundResult { series: "alone", sample, quality: Quality::Good }], sample.at_s));
        assert_eq!(opened.len(), usize::from(round >= 32), "round {round}");
    }
    assert_eq!(monitor.incidents()[0].since_s, 30 * 21_600);
}

#[test]
fn what_a_series_has_had_before_is_no_drop() {
    let mut monitor: Monitor<&str, &str> = Monitor::new(WatchSettings::default(), Pooling::default());
    monitor.add("wild", vec!["a", "b"]);
    for round in 0..200_i64 {
        // Every 25th result is a tenth, and once three follow each other.
        let is_low = round % 25 == 0 || (150..153).contains(&round);
        let value = if is_low { 1e8 } else { 1e9 } * (1.0 + (round * 7 % 11) as f64 * 0.02);
        let sample = Sample { at_s: round * 21_600, value };
        monitor.round(&[RoundResult { series: "wild", sample, quality: Quality::Good }], sample.at_s);
    }
    assert!(monitor.incidents().is_empty(), "{:?}", monitor.incidents());
}

#[test]
fn months_of_few_pairs_without_a_fault_have_no_incident_of_a_host() {
    for seed in 20..24 {
        let found = of_four(seed, None);
        let of_hosts = found.iter().filter(|one| matches!(one.subject, Subject::Element(_))).count();
        assert_eq!(of_hosts, 0, "seed {seed}: {found:?}");
    }
}

/// Four hosts, with something that moves the whole mesh from a round on, and some results of poor quality.
fn with_load(fault: Fault, load_from: i64, quality: impl Fn(i64) -> Quality) -> Vec<Incident<(usize, usize), Element>> {
    let mesh = Mesh { hosts: 4, rounds: 46, seed: Seed(11), fault: Some(fault) };
    let mut monitor = Monitor::new(WatchSettings::default(), Pooling::default()).pooled_over(2 * 43_200);
    mesh.pairs().into_iter().for_each(|(pair, elements)| monitor.add(pair, elements));
    for (round, mut results) in (0_i64..).zip(mesh.results()) {
        results.sort_by_key(|result| result.sample.at_s);
        for mut result in results {
            result.sample.value *= if round >= load_from { 0.7 } else { 1.0 };
            result.quality = quality(round);
            monitor.round(&[result], result.sample.at_s);
        }
    }
    monitor.incidents().to_vec()
}

#[test]
fn results_of_poor_quality_that_are_as_good_as_before_end_an_incident_and_worse_ones_open_none() {
    let fault = Fault { element: Element::To(2), rounds: (20, 34), drop: 0.7 };
    let poor_from = |first: i64| move |round: i64| if round >= first { Quality::Poor } else { Quality::Good };
    let found = with_load(fault, i64::MAX, poor_from(34));
    let [incident] = found.as_slice() else { panic!("{found:?}") };
    assert!(incident.recovered_s.is_some_and(|back| (34..38).contains(&(back / 43_200))), "{incident:?}");
    assert_eq!(with_load(fault, i64::MAX, poor_from(20)), []);
}
