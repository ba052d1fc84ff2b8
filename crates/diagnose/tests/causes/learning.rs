//! Likelihoods learnt from rounds whose cause is known because they were made with it.

use diagnose::causes::Catalogue;
use diagnose::causes::learn::{PlantedCause, Tally, Worth};
use diagnose::diagnosis::FaultLocation;
use diagnose::signs::SignState;

use crate::world::{Tcp, round, tcp};

const SMALL_WINDOW: Tcp = Tcp { mbps: 160, again: 0, window: 1 << 20, window_limited: 0.97, cwnd: 4000 };

fn planted() -> Vec<PlantedCause> {
    let place = FaultLocation::Host { name: "c".to_owned() };
    vec![PlantedCause { cause: "receive-window-small".to_owned(), place }]
}

#[test]
fn counts_move_a_likelihood_from_its_prior_and_are_read_back() {
    let catalogue = Catalogue::built_in();
    let cause = catalogue.get("receive-window-small").unwrap();
    let seen = SignState::named("limit", "receive-window").unwrap();
    let incident =
        round(vec![tcp("a", "c", 0, SMALL_WINDOW), tcp("b", "c", 1, SMALL_WINDOW), tcp("a", "d", 2, Tcp::GOOD)]);
    let mut tally = Tally::default();
    assert!((tally.likelihood(cause, seen, 5.0) - cause.likelihood(seen)).abs() < 1e-9, "no incident, the prior alone");
    for _ in 0..20 {
        tally.add(&incident, &planted(), catalogue);
    }
    let learnt = tally.likelihood(cause, seen, 5.0);
    assert!(learnt > cause.likelihood(seen), "{learnt}");
    let mut shards = Tally::default();
    shards.merge(&tally);
    assert_eq!(shards, tally);
    let text = tally.learnt(catalogue, Worth { prior: 5.0, least: 3.0 });
    let read = catalogue.with_learnt(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let read = read.get("receive-window-small").unwrap().likelihood(seen);
    assert!((read - learnt).abs() < 2e-3, "{read} {learnt}");
}

#[test]
fn a_file_that_names_what_does_not_exist_is_refused() {
    let catalogue = Catalogue::built_in();
    let refused = |text: &str| catalogue.with_learnt(text).unwrap_err().to_string();
    assert!(refused("[nobody]\nlimit = { loss = 1.0 }").contains("no cause `nobody`"));
    assert!(refused("[policer]\nlimit = { los = 1.0 }").contains("limit=los"));
    assert!(refused("[policer]\nlimit = { loss = 0.5 }").contains("add up to 0.500"));
}
