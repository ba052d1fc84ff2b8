//! Many verdicts as a score.

use diagnose::score::summary::{CountOf, NOTHING, Taken};
use diagnose::score::{Score, Verdict, judge, score};

use crate::made::{diagnosis, host, planted, problem, truth};

/// A play with `cause` planted at `a`, of which this was said.
fn play(cause: Option<&str>, said: &[(&str, f64)]) -> Verdict {
    let ranking: Vec<_> = said.iter().map(|(cause, probability)| (*cause, host("a"), *probability)).collect();
    let problems = if said.is_empty() { Vec::new() } else { vec![problem(&ranking)] };
    let causes = cause.map(|cause| planted(cause, "a", None)).into_iter().collect();
    judge(&truth(causes), &diagnosis(problems).problems)
}

fn four() -> Score {
    let plays = vec![
        play(Some("policer"), &[("policer", 0.9), ("firewall", 0.05)]),
        play(Some("firewall"), &[("policer", 0.6), ("shallow-queue", 0.2), ("firewall", 0.1)]),
        play(None, &[]),
        play(None, &[("policer", 0.8)]),
    ];
    score(plays, Vec::new())
}

#[test]
fn parts_are_counted_over_causes_and_healthy_networks() {
    let score = four();
    assert_eq!(score.first, CountOf { count: 2, of: 4 });
    assert_eq!(score.among_three, CountOf { count: 3, of: 4 });
    assert_eq!(score.place, CountOf { count: 2, of: 2 });
    assert_eq!(score.false_alarms, CountOf { count: 1, of: 2 });
}

#[test]
fn what_was_taken_for_what_is_told_where_it_happened() {
    let taken = |planted: &str, named: &str| Taken { planted: planted.to_owned(), named: named.to_owned(), times: 1 };
    let expected =
        [taken("firewall", "policer"), taken(NOTHING, NOTHING), taken(NOTHING, "policer"), taken("policer", "policer")];
    assert_eq!(four().confusion, expected);
}

#[test]
fn the_brier_score_is_the_mean_square_of_what_the_first_names_missed() {
    let expected = (0.1_f64.powi(2) + 0.6_f64.powi(2) + 0.8_f64.powi(2)) / 3.0;
    assert!((four().brier.unwrap() - expected).abs() < 1e-12);
    assert_eq!(score(vec![play(None, &[])], Vec::new()).brier, None);
}

#[test]
fn bands_hold_every_claim_once() {
    let score = four();
    assert_eq!(score.calibration.iter().map(|band| band.right.of).sum::<usize>(), 6);
    let sure = score.calibration.iter().find(|band| band.from <= 0.9 && band.to > 0.9).unwrap();
    assert_eq!(sure.right, CountOf { count: 1, of: 1 });
}

#[test]
fn a_score_of_nothing_has_no_shares() {
    let score = score(Vec::new(), Vec::new());
    assert_eq!((score.first.share(), score.brier), (None, None));
}
