//! Sessions of OWAMP and TWAMP on loopback: our client with our server, and each with a peer that speaks recorded bytes.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod peers;

use std::time::Duration;

use measure::one_way::owping::one_way;
use measure::one_way::twping::two_way;
use measure::stop::Stop;
use model::probe::one_way::{DelaySummary, Directions, OneWayResult, PacketTotals, SessionSpec, Spacing};
use model::run::{FailureKind, Outcome};
use owamp::control::Protocol;
use peers::{Owampd, Owping, serving, serving_with};
use units::PacketCount;

fn spec(port: u16) -> SessionSpec {
    SessionSpec {
        port,
        count: 20,
        interval: Duration::from_millis(2),
        timeout: Duration::from_millis(500),
        ..SessionSpec::default()
    }
}

fn counts(totals: &PacketTotals) -> [u64; 4] {
    [totals.sent, totals.lost, totals.duplicated, totals.reordered].map(PacketCount::get)
}

/// No clock runs against itself, and no packet overtakes another on loopback.
#[track_caller]
fn whole(result: &OneWayResult) {
    assert_eq!(counts(&result.packets), [20, 0, 0, 0]);
    let DelaySummary { min_ns, median_ns, p95_ns, max_ns, .. } = result.delay.unwrap();
    assert!(min_ns > 0 && min_ns <= median_ns && median_ns <= p95_ns && p95_ns <= max_ns, "{result:?}");
    assert_eq!(result.hops.iter().map(|count| (count.hops, count.packets.get())).collect::<Vec<_>>(), [(0, 20)]);
    assert_eq!(result.histogram.buckets.iter().map(|bucket| bucket.packets.get()).sum::<u64>(), 20);
}

#[test]
fn each_direction_of_owamp_is_measured_by_its_own_packets() {
    serving(Protocol::Owamp, |port| {
        let found = one_way("127.0.0.1", &spec(port), &Stop::default());
        assert_eq!(found.outcome, Outcome::Complete);
        whole(found.forward.as_ref().unwrap());
        whole(found.reverse.as_ref().unwrap());
        let fixed = SessionSpec { directions: Directions::Reverse, spacing: Spacing::Fixed, ..spec(port) };
        let found = one_way("127.0.0.1", &fixed, &Stop::default());
        assert_eq!((found.outcome, found.forward), (Outcome::Complete, None));
        whole(found.reverse.as_ref().unwrap());
    });
}

#[test]
fn a_round_of_twamp_has_both_directions_in_it() {
    serving(Protocol::Twamp, |port| {
        let found = two_way("127.0.0.1", &spec(port), &Stop::default());
        assert_eq!(found.outcome, Outcome::Complete);
        let result = found.result.unwrap();
        assert_eq!((counts(&result.packets), result.lost_at_end.get()), ([20, 0, 0, 0], 0));
        whole(&result.forward);
        whole(&result.reverse);
        assert!(result.rtt.unwrap().min_ns > 0);
    });
}

#[test]
fn what_the_server_does_not_allow_is_refused_and_named() {
    let allow = vec!["192.0.2.0/24".parse().unwrap()];
    serving_with(Protocol::Owamp, allow, |port| {
        let found = one_way("127.0.0.1", &spec(port), &Stop::default());
        let Outcome::Failed(failure) = found.outcome else { panic!("it was let in") };
        assert_eq!(failure.kind, FailureKind::Lost);
    });
    serving(Protocol::Owamp, |port| {
        let flood = SessionSpec { interval: Duration::from_nanos(10), ..spec(port) };
        let found = one_way("127.0.0.1", &flood, &Stop::default());
        let Outcome::Failed(failure) = found.outcome else { panic!("it was accepted") };
        assert_eq!(
            (failure.kind, failure.detail.contains("more than its limits ever allow")),
            (FailureKind::Refused, true)
        );
    });
}

#[test]
fn our_client_reads_the_recorded_answers_of_an_owampd() {
    let owampd = Owampd::start();
    let spec = SessionSpec {
        port: owampd.port,
        count: 2,
        directions: Directions::Forward,
        timeout: Duration::from_millis(1),
        ..spec(0)
    };
    let found = one_way("127.0.0.1", &spec, &Stop::default());
    assert_eq!(found.outcome, Outcome::Complete);
    let forward = found.forward.unwrap();
    assert_eq!(counts(&forward.packets), [2, 0, 0, 0]);
    let delay = forward.delay.unwrap();
    assert_eq!((delay.min_ns, delay.max_ns), (66_000, 76_000));
    owampd.end();
}

#[test]
fn our_server_answers_a_recorded_owping_with_its_losses_copies_and_reordering() {
    serving(Protocol::Owamp, |port| {
        let mut owping = Owping::greeted(port);
        // Of five packets number 3 is never sent, 1 comes after 2, and 4 twice.
        let records = owping.session(5, &[0, 2, 1, 4, 4]);
        let numbers: Vec<_> = records.iter().map(|record| (record.sequence, record.is_lost())).collect();
        let arrived = [(0, false), (2, false), (1, false), (4, false), (4, false), (3, true)];
        assert_eq!(numbers, arrived);
        assert!(records.iter().filter(|record| !record.is_lost()).all(|record| record.ttl == 64));
    });
}

#[test]
fn a_client_that_talks_nonsense_is_sent_away_and_the_next_is_served() {
    serving(Protocol::Owamp, |port| {
        Owping::greeted(port).nonsense();
        let found = one_way("127.0.0.1", &spec(port), &Stop::default());
        assert_eq!(found.outcome, Outcome::Complete);
    });
}
