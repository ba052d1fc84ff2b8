//! Several hosts that are worse at once: what incidents are about.

use std::time::Duration;

use baseline::watch::Quality;
use mesh::incident::{Incident, Incidents, Measured, Metric, Occurrence, Series, Settings, Subject};
use mesh::rules::Rules;
use units::WallTime;

const START: u64 = 1_795_392_000;
const ARCHIVES: [&str; 3] = ["archive-1", "archive-2", "archive-3"];
const SITES: [&str; 2] = ["site-a", "site-b"];
/// The round from which on site-b receives a sixth of what is usual.
const FAULT: u64 = 17;
const ROUNDS: u64 = 30;
const PERIOD_S: u64 = 6;

fn at(seconds: u64) -> WallTime {
    WallTime::from_unix_nanos((START + seconds) * 1_000_000_000)
}

/// A host that has 7 % less from a round on, which is below everything that it had.
struct Dip {
    host: &'static str,
    from: u64,
}

/// Each archive to each site, one test after the other, as a hub hears of them.
fn heard(dip: &Dip, seed: u64) -> Incidents {
    let settings = Settings { pooled_over: Duration::from_secs(2 * PERIOD_S), ..Settings::default() };
    let mut incidents = Incidents::new(settings, Rules::default());
    let pairs: Vec<Series> = ARCHIVES
        .iter()
        .flat_map(|from| SITES.map(|to| (from, to)))
        .map(|(from, to)| Series {
            from: (*from).to_owned(),
            to: to.to_owned(),
            test: "tcp".to_owned(),
            family: None,
            metric: Metric::Goodput,
        })
        .collect();
    pairs.iter().for_each(|series| incidents.add_series(series.clone(), Vec::new()));
    for round in 0..ROUNDS {
        for (place, series) in (0..).zip(&pairs) {
            let lost = if series.to == "site-b" && round >= FAULT { 0.84 } else { 0.0 };
            let has_dip = (series.from == dip.host || series.to == dip.host) && round >= dip.from;
            let noise = 0.02 * share(((seed * ROUNDS + round) * 6) + place);
            let value = 4.7e7 * (1.0 - noise) * (1.0 - lost) * if has_dip { 0.93 } else { 1.0 };
            let second = round * PERIOD_S + place;
            let measured =
                Measured { series: series.clone(), at: at(second), value, settled: None, quality: Quality::Good };
            incidents.results(&[measured], at(second + 2));
        }
    }
    incidents
}

/// From 0 to 1, another one for each number.
fn share(number: u64) -> f64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / f64::from(1 << 24)
}

fn is_of(incident: &Incident, host: &str) -> bool {
    incident.subject.host() == Some(host)
}

#[test]
fn a_host_that_loses_most_is_the_incident_where_all_that_another_receives_dips_at_once() {
    for seed in 0..6 {
        let incidents = heard(&Dip { host: "site-a", from: FAULT }, seed);
        let found = incidents.list();
        assert!(is_of(&found[0], "site-b"), "seed {seed}: {found:#?}");
        assert!(found[0].opened < at((FAULT + 5) * PERIOD_S), "seed {seed}: {:?}", found[0].opened);
        let of_series = found.iter().filter(|incident| matches!(incident.subject, Subject::Series(_)));
        assert_eq!(of_series.count(), 0, "seed {seed}: {found:#?}");
    }
}

#[test]
fn what_was_found_first_and_lost_little_is_not_what_an_incident_is_about_once_both_are_one() {
    let mut incidents = heard(&Dip { host: "site-a", from: FAULT - 4 }, 1);
    let of = |host| incidents.list().iter().find(|incident| is_of(incident, host)).unwrap().id.clone();
    let (small, large) = (of("site-a"), of("site-b"));
    assert!(incidents.get(&small).unwrap().severity() < 0.1 && incidents.get(&large).unwrap().severity() > 1.0);
    let now = at(ROUNDS * PERIOD_S);
    incidents.fold(&large, &small, now);
    let kept = incidents.get(&small).unwrap();
    assert!(is_of(kept, "site-b"), "{kept:#?}");
    assert!(incidents.get(&large).unwrap().is_part_of_another() && !kept.is_part_of_another());
    let moves = kept.timeline.iter().filter(|entry| matches!(entry.occurrence, Occurrence::Moved { .. }));
    assert_eq!(moves.count(), 1, "{kept:#?}");
    // The other way round it stays what it is about.
    let mut incidents = heard(&Dip { host: "site-a", from: FAULT - 4 }, 1);
    incidents.fold(&small, &large, now);
    let kept = incidents.get(&large).unwrap();
    assert_eq!(kept.subject.host(), Some("site-b"), "{kept:#?}");
}
