//! One diagnosis against the truth.

use diagnose::score::{Spot, judge};

use crate::made::{diagnosis, host, planted, problem, segment, truth};

#[test]
fn the_right_name_at_the_right_place_is_right() {
    let said = diagnosis(vec![problem(&[("policer", segment("long", Some("b")), 0.9)])]);
    let verdict = judge(&truth(vec![planted("policer", "long", Some("b"))]), &said.problems);
    assert!(verdict.is_right(), "{verdict:?}");
    assert_eq!((verdict.planted[0].rank, verdict.planted[0].is_place_right), (Some(1), true));
}

#[test]
fn the_other_direction_is_another_place() {
    let said = diagnosis(vec![problem(&[("policer", segment("long", Some("a")), 0.9)])]);
    let verdict = judge(&truth(vec![planted("policer", "long", Some("b"))]), &said.problems);
    assert!(verdict.is_right() && !verdict.planted[0].is_place_right);
    let verdict = judge(&truth(vec![planted("policer", "long", None)]), &said.problems);
    assert!(verdict.planted[0].is_place_right, "who plants in both directions is found in either");
}

#[test]
fn what_is_named_besides_is_a_mistake_even_where_all_else_is_right() {
    let said = diagnosis(vec![
        problem(&[("ecn-forced", host("a"), 0.9)]),
        problem(&[("microburst", segment("long", Some("b")), 0.4)]),
    ]);
    let verdict = judge(&truth(vec![planted("ecn-forced", "a", None)]), &said.problems);
    assert_eq!(verdict.planted[0].rank, Some(1));
    assert_eq!(verdict.besides.len(), 1);
    assert!(!verdict.is_right());
}

#[test]
fn a_cause_behind_the_problems_that_count_is_not_found() {
    let said = diagnosis(vec![
        problem(&[("microburst", segment("long", Some("b")), 0.4)]),
        problem(&[("ecn-forced", host("a"), 0.9)]),
    ]);
    let verdict = judge(&truth(vec![planted("ecn-forced", "a", None)]), &said.problems);
    assert_eq!(verdict.planted[0].rank, None);
    assert_eq!(verdict.planted[0].named.as_ref().unwrap().cause, "microburst");
}

#[test]
fn two_causes_each_take_the_problem_that_fits_them() {
    let said = diagnosis(vec![
        problem(&[("send-buffer-small", host("a"), 0.6), ("receive-window-small", host("a"), 0.3)]),
        problem(&[("receive-window-small", host("a"), 0.6), ("send-buffer-small", host("a"), 0.3)]),
    ]);
    let causes = vec![planted("receive-window-small", "a", None), planted("send-buffer-small", "a", None)];
    let verdict = judge(&truth(causes), &said.problems);
    assert!(verdict.is_right(), "{verdict:?}");
    assert_eq!(verdict.planted[0].named.as_ref().unwrap().cause, "receive-window-small");
}

#[test]
fn nothing_named_is_right_for_a_healthy_network_only() {
    assert!(judge(&truth(Vec::new()), &diagnosis(Vec::new()).problems).is_right());
    let verdict = judge(&truth(vec![planted("policer", "long", None)]), &diagnosis(Vec::new()).problems);
    assert!(!verdict.is_right() && verdict.planted[0].named.is_none());
}

#[test]
fn an_innocent_is_blamed_where_it_is_likelier_than_not() {
    let mut healthy = truth(Vec::new());
    healthy.innocent = vec![Spot { place: "long".to_owned(), towards: None }];
    let blamed = |probability| {
        let said = diagnosis(vec![problem(&[("policer", segment("long", Some("b")), probability)])]);
        judge(&healthy, &said.problems).innocents_blamed.len()
    };
    assert_eq!((blamed(0.8), blamed(0.4)), (1, 0));
}
