//! A mesh with a bad host is one incident.

use baseline::mesh::{Element, Fault, Mesh};
use baseline::monitor::{Incident, Monitor, Subject};
use baseline::pool::{self, Pooling};
use baseline::watch::WatchSettings;
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

/// 4 hosts, as a hub hears of them: one result after the other, pooled over two rounds.
fn of_four(seed: u64, fault: Option<Fault>) -> Vec<Incident<(usize, usize), Element>> {
    let mesh = Mesh { hosts: 4, rounds: 46, seed: Seed(seed), fault };
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
fn months_of_few_pairs_without_a_fault_have_no_incident_of_a_host() {
    for seed in 20..24 {
        let found = of_four(seed, None);
        let of_hosts = found.iter().filter(|one| matches!(one.subject, Subject::Element(_))).count();
        assert_eq!(of_hosts, 0, "seed {seed}: {found:?}");
    }
}
