//! What a series should have: a fault that is as old as the series is found as well.

use baseline::expectation::{Expectation, OpenIncident, Yardstick};
use baseline::monitor::{Incident, Monitor, RoundResult, Subject};
use baseline::pool::Pooling;
use baseline::series::{Sample, Scale};
use baseline::watch::{Quality, WatchSettings, Worse};

type Found = Incident<&'static str, &'static str>;

const HOUR_S: i64 = 3_600;
const EXPECTED: Expectation = Expectation { value: 9e8, limit: 7.2e8 };

fn sample(hour: i32, value: f64) -> Sample {
    // Results of a healthy path differ by some percent.
    Sample { at_s: i64::from(hour) * HOUR_S, value: value * (1.0 + f64::from(hour * 7 % 11) * 0.004) }
}

fn monitor() -> Monitor<&'static str, &'static str> {
    let mut monitor = Monitor::new(WatchSettings::default(), Pooling::default());
    monitor.add("pair", vec!["a", "b"]);
    monitor.expect("pair", EXPECTED);
    monitor
}

/// The hours at which results open something.
fn opened(monitor: &mut Monitor<&'static str, &'static str>, results: &[Sample]) -> Vec<i64> {
    let mut hours = Vec::new();
    for sample in results {
        let result = RoundResult { series: "pair", sample: *sample, quality: Quality::Good };
        let found = monitor.round(&[result], sample.at_s);
        hours.extend(found.iter().map(|_| sample.at_s / HOUR_S));
    }
    hours
}

fn only(monitor: &Monitor<&'static str, &'static str>) -> Found {
    let [found] = monitor.incidents() else { panic!("{:?}", monitor.incidents()) };
    found.clone()
}

#[test]
fn what_was_slow_from_the_first_result_on_falls_short_of_what_was_expected() {
    let results: Vec<Sample> = (0..20).map(|hour| sample(hour, if hour < 9 { 3e8 } else { 8.8e8 })).collect();
    let mut monitor = monitor();
    assert_eq!(opened(&mut monitor, &results[..9]), [2]);
    let found = only(&monitor);
    assert_eq!((found.since_s, found.against, found.recovered_s), (0, Yardstick::Expectation, None));
    assert!((found.shift - (3e8_f64 / 9e8).ln()).abs() < 0.05, "{found:?}");
    assert_eq!(opened(&mut monitor, &results[9..]), Vec::<i64>::new());
    assert_eq!(only(&monitor).recovered_s, Some(11 * HOUR_S), "its third good result");
}

#[test]
fn a_fault_that_begins_while_a_series_learns_does_not_become_what_is_usual() {
    let results: Vec<Sample> = (0..60).map(|hour| sample(hour, if hour < 12 { 8.8e8 } else { 1.3e8 })).collect();
    let mut monitor = monitor();
    assert_eq!(opened(&mut monitor, &results), [14]);
    assert_eq!(only(&monitor).since_s, 12 * HOUR_S);
    assert!(monitor.usual("pair").is_some_and(|usual| usual > 8e8), "{:?}", monitor.usual("pair"));
}

#[test]
fn two_slow_results_are_no_fault_and_nothing_is_short_of_no_expectation() {
    let results: Vec<Sample> = (0..60).map(|hour| sample(hour, if hour % 3 == 0 { 8.8e8 } else { 3e8 })).collect();
    assert_eq!(opened(&mut monitor(), &results), Vec::<i64>::new());
    let mut without = Monitor::new(WatchSettings::default(), Pooling::default());
    without.add("pair", vec!["a", "b"]);
    let slow: Vec<Sample> = (0..60).map(|hour| sample(hour, 3e8)).collect();
    assert_eq!(opened(&mut without, &slow), Vec::<i64>::new());
}

#[test]
fn where_higher_is_worse_results_above_the_limit_fall_short() {
    let settings = WatchSettings { worse: Worse::Higher, scale: Scale::Ratio, ..WatchSettings::default() };
    let mut monitor = Monitor::new(settings, Pooling::default());
    monitor.add("pair", vec!["a", "b"]);
    monitor.expect("pair", Expectation { value: 20e3, limit: 25e3 });
    let results: Vec<Sample> = (0..8).map(|hour| sample(hour, 80e3)).collect();
    assert_eq!(opened(&mut monitor, &results), [2]);
    assert!(only(&monitor).shift > 1.0);
}

#[test]
fn a_level_that_was_accepted_is_not_held_against_the_expectation() {
    let results: Vec<Sample> = (0..60).map(|hour| sample(hour, 3e8)).collect();
    let mut monitor = monitor();
    opened(&mut monitor, &results[..5]);
    monitor.accept(&Subject::Series("pair"), 5 * HOUR_S);
    assert_eq!(opened(&mut monitor, &results[5..]), Vec::<i64>::new());
    assert_eq!(only(&monitor).recovered_s, Some(5 * HOUR_S));
}

#[test]
fn a_result_that_was_as_expected_once_it_had_started_does_not_fall_short() {
    let mut monitor = monitor();
    for hour in 0..30 {
        monitor.settle("pair", 8.8e8);
        assert_eq!(
            opened(&mut monitor, &[sample(hour, 5e8)]),
            Vec::<i64>::new(),
            "over a long path the start is half of it"
        );
    }
    assert_eq!(opened(&mut monitor, &[sample(30, 5e8), sample(31, 5e8), sample(32, 5e8)]), [32]);
}

/// A hub that stops at an hour and starts anew with what it has stored.
fn started_anew(results: &[Sample], stop: usize) -> (Found, Found) {
    let mut before = monitor();
    opened(&mut before, &results[..stop]);
    let known = only(&before);
    let mut again = monitor();
    again.restore("pair", &results[..stop]);
    again.reopen(&known.subject, OpenIncident { since_s: known.since_s, shift: known.shift, against: known.against });
    assert_eq!(opened(&mut again, &results[stop..]), Vec::<i64>::new(), "it is the same incident");
    (known, only(&again))
}

#[test]
fn an_incident_of_a_series_goes_on_after_a_start_and_ends() {
    let short: Vec<Sample> = (0..20).map(|hour| sample(hour, if hour < 9 { 3e8 } else { 8.8e8 })).collect();
    let (known, found) = started_anew(&short, 7);
    assert_eq!((known.against, found.recovered_s), (Yardstick::Expectation, Some(11 * HOUR_S)));
    // As fast as expected, and half of what it was.
    let dropped: Vec<Sample> =
        (0..70).map(|hour| sample(hour, if (30..50).contains(&hour) { 8e8 } else { 18e8 })).collect();
    let (known, found) = started_anew(&dropped, 40);
    assert_eq!(known.against, Yardstick::History);
    let recovered = found.recovered_s.map(|back| back / HOUR_S);
    assert!(recovered.is_some_and(|hour| (50..58).contains(&hour)), "{found:?}");
}
