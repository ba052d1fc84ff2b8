//! Which change came before the rate changed.

use std::time::Duration;

use diagnose::contrast::class::Classes;
use diagnose::contrast::history::{History, Measured, Question, history};
use model::host::change::{ChangeEntry, ChangeSource};
use units::WallTime;

const HOUR: u64 = 3600;

fn at(hour: u64) -> WallTime {
    WallTime::from_unix_nanos((1_600_000_000 + hour * HOUR) * 1_000_000_000)
}

/// A test every six hours: 150 Mbit/s until hour 120, 2 Mbit/s from then on, as in an incident of 2020.
fn series() -> Vec<Measured> {
    let wobble = |step: u64| 1.0 + f64::from(u32::try_from(step * 7 % 11).unwrap()) / 100.0;
    (0..40)
        .map(|step| Measured { time: at(step * 6), value: wobble(step) * if step < 20 { 150.0 } else { 2.0 } })
        .collect()
}

fn entry(hour: u64, host: &str, fact: &str) -> ChangeEntry {
    let mut entry = ChangeEntry::new(at(hour), host, fact, ChangeSource::Watch);
    (entry.old, entry.new) = (Some("old".to_owned()), Some("new".to_owned()));
    entry
}

fn asked(series: &[Measured], entries: &[ChangeEntry]) -> History {
    let hosts = ["dtn1".to_owned(), "dtn2".to_owned()];
    let question = Question { series, entries, hosts: &hosts, window: Duration::from_secs(48 * HOUR) };
    let history = history(&question, &Classes::built_in());
    println!("{history}");
    history
}

fn order(history: &History) -> Vec<(&str, &str)> {
    history.steps[0].suspects.iter().map(|suspect| (suspect.entry.host.as_str(), suspect.entry.fact.as_str())).collect()
}

#[test]
fn the_entry_just_before_the_change_is_named_and_those_after_it_are_not() {
    let entries = [
        entry(10, "dtn1", "net.ipv4.tcp_wmem"),
        entry(100, "dtn1", "net.ipv4.tcp_ecn"),
        entry(116, "dtn1", "net.ipv4.tcp_rmem"),
        entry(117, "dtn2", "net.core.somaxconn"),
        entry(118, "elsewhere", "net.ipv4.tcp_rmem"),
        entry(121, "dtn1", "net.ipv4.tcp_congestion_control"),
    ];
    let history = asked(&series(), &entries);
    assert_eq!(history.steps.len(), 1);
    assert_eq!((history.steps[0].last_before, history.steps[0].first_after), (at(114), at(120)));
    assert_eq!(
        order(&history),
        [
            ("dtn1", "net.ipv4.tcp_rmem"),
            ("dtn2", "net.core.somaxconn"),
            ("dtn1", "net.ipv4.tcp_ecn"),
            ("elsewhere", "net.ipv4.tcp_rmem"),
        ]
    );
    assert_eq!(history.steps[0].suspects[2].good_since, 3);
    assert!(!history.steps[0].suspects[3].is_on_path);
}

#[test]
fn where_no_entry_precedes_it_says_so() {
    let history = asked(&series(), &[entry(10, "dtn1", "net.ipv4.tcp_rmem"), entry(120, "dtn1", "link.mtu")]);
    assert!(history.steps[0].suspects.is_empty());
    assert!(history.to_string().contains("no entry of the change log precedes it"));
}

#[test]
fn an_entry_that_was_found_late_counts_from_when_all_was_as_before() {
    let mut found_late = entry(130, "dtn1", "link.mtu");
    found_late.after = Some(at(90));
    let history = asked(&series(), &[found_late]);
    assert_eq!(order(&history), [("dtn1", "link.mtu")]);
    assert_eq!(history.steps[0].suspects[0].good_since, 0);
}

#[test]
fn short_names_of_people_have_the_class_of_the_setting() {
    let mut by_hand = entry(116, "dtn1", "rx-gro-hw");
    by_hand.subject = Some("em1".to_owned());
    let history = asked(&series(), &[by_hand]);
    assert_eq!(history.steps[0].suspects[0].class, "receive offload");
}

#[test]
fn a_rate_that_does_not_change_has_no_history() {
    let steady: Vec<Measured> = series().into_iter().filter(|measured| measured.value > 100.0).collect();
    assert!(asked(&steady, &[entry(50, "dtn1", "link.mtu")]).steps.is_empty());
}
