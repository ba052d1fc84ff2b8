//! What is found in rounds whose cause is known because they were made with it.

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, FaultLocation, diagnose};
use model::round::Tested;

use crate::world::{Tcp, round, tcp, udp, udp_of_asked};

fn diagnosed(tests: Vec<Tested>) -> Diagnosis {
    diagnose(&round(tests), Catalogue::built_in(), &Rules::built_in())
}

fn first(diagnosis: &Diagnosis) -> (&str, &FaultLocation, f64) {
    let ranked = &diagnosis.problems[0].ranking[0];
    (&ranked.cause, &ranked.places[0].place, ranked.probability)
}

/// 1 MiB in 50 ms.
const SMALL_WINDOW: Tcp = Tcp { mbps: 160, again: 0, window: 1 << 20, window_limited: 0.97, cwnd: 4000 };
const LOSSES: Tcp = Tcp { mbps: 60, again: 5, window: 16 << 20, window_limited: 0.0, cwnd: 260 };

#[test]
fn a_network_that_is_well_has_no_problem() {
    let tests = vec![tcp("a", "c", 0, Tcp::GOOD), tcp("c", "a", 1, Tcp::GOOD), udp("b", "d", 2, 100, None)];
    let diagnosis = diagnosed(tests);
    assert!(diagnosis.is_healthy(), "{:#?}", diagnosis.problems);
    assert_eq!(diagnosis.symptoms, []);
}

#[test]
fn a_small_window_is_the_receivers_and_other_receivers_exculpate_all_else() {
    let diagnosis = diagnosed(vec![
        tcp("a", "c", 0, SMALL_WINDOW),
        tcp("b", "c", 1, SMALL_WINDOW),
        tcp("a", "d", 2, Tcp::GOOD),
        tcp("c", "a", 3, Tcp::GOOD),
    ]);
    let (cause, place, probability) = first(&diagnosis);
    assert_eq!(
        (cause, place),
        ("receive-window-small", &FaultLocation::Host { name: "c".to_owned() }),
        "{diagnosis:#?}"
    );
    assert!(probability > 0.75, "{probability}");
    assert_eq!(diagnosis.problems.len(), 1);
    assert_eq!(diagnosis.problems[0].explains.len(), 2);
}

#[test]
fn loss_at_any_rate_is_the_long_links_and_in_one_direction() {
    let diagnosis = diagnosed(vec![
        tcp("a", "c", 0, LOSSES),
        tcp("b", "d", 1, LOSSES),
        tcp("c", "a", 2, Tcp::GOOD),
        udp("a", "c", 3, 10, Some(1000)),
        udp("a", "c", 4, 100, Some(1000)),
    ]);
    let (cause, place, _) = first(&diagnosis);
    let long = FaultLocation::Segment { name: "long".to_owned(), towards: Some("there".to_owned()) };
    assert_eq!((cause, place), ("random-loss", &long), "{:#?}", diagnosis.problems);
}

#[test]
fn a_sender_that_hands_over_less_than_was_asked_for_is_found_though_nothing_is_lost() {
    let held = udp_of_asked("a", "c", 0, 29, 40);
    let diagnosis = diagnosed(vec![held, udp("b", "c", 1, 40, None), tcp("c", "a", 2, Tcp::GOOD)]);
    let (cause, place, _) = first(&diagnosis);
    let sender = FaultLocation::Host { name: "a".to_owned() };
    assert_eq!((cause, place), ("udp-sender-held", &sender), "{:#?}", diagnosis.problems);
    assert!(diagnosed(vec![udp_of_asked("a", "c", 0, 38, 40)]).is_healthy());
}

#[test]
fn two_causes_in_two_places_are_both_found() {
    let diagnosis = diagnosed(vec![
        tcp("a", "c", 0, SMALL_WINDOW),
        tcp("b", "c", 1, SMALL_WINDOW),
        tcp("d", "a", 2, LOSSES),
        tcp("d", "b", 3, LOSSES),
        tcp("c", "b", 4, Tcp::GOOD),
        tcp("a", "d", 5, Tcp::GOOD),
    ]);
    let causes: Vec<&str> = diagnosis.problems.iter().map(|problem| problem.ranking[0].cause.as_str()).collect();
    assert!(causes.contains(&"receive-window-small"), "{causes:?}");
    assert_eq!(causes.len(), 2, "{causes:?}");
}

#[test]
fn probabilities_add_up_and_nothing_is_certain() {
    let diagnosis = diagnosed(vec![tcp("a", "c", 0, LOSSES)]);
    let problem = &diagnosis.problems[0];
    let sum: f64 = problem.ranking.iter().map(|ranked| ranked.probability).sum::<f64>() + problem.unknown;
    assert!(sum <= 1.0 + 1e-9 && problem.unknown > 0.0, "{sum}");
    for ranked in &problem.ranking {
        let places: f64 = ranked.places.iter().map(|place| place.probability).sum();
        assert!(places <= 1.0 + 1e-9, "{}", ranked.cause);
    }
}

#[test]
fn one_test_alone_leaves_the_place_open() {
    let diagnosis = diagnosed(vec![tcp("a", "c", 0, LOSSES)]);
    let ranked = &diagnosis.problems[0].ranking[0];
    assert!(ranked.places.len() > 1 && ranked.places[0].probability < 0.9, "{ranked:#?}");
}

#[test]
fn a_cause_is_told_in_the_way_in_which_it_is_at_work() {
    let text = "[[cause]]\nid = \"x\"\ntitle = \"loses\"\nexplanation = \"e\"\nplace = \"sender\"\ntest = \"t\"\n\
                remedy = \"r\"\nverify = \"v\"\nshows.limit = { loss = 0.9 }\n\
                [[cause.manner]]\ntitle = \"holds back\"\nshare = 0.4\nshows.limit = { receive-window = 0.9 }\n";
    let ways = |text: &str, flow: Tcp| {
        let catalogue = Catalogue::read(&[("mine.toml", text)]).unwrap();
        let diagnosis = diagnose(&round(vec![tcp("a", "c", 0, flow)]), &catalogue, &Rules::built_in());
        diagnosis.problems[0].ranking[0].title.clone()
    };
    let without_it = format!("{text}requires = [\"loss=severe\"]\n");
    assert_eq!(ways(&without_it, SMALL_WINDOW), "loses", "it was looked at, and is not so");
    let catalogue = Catalogue::read(&[("mine.toml", text)]).unwrap();
    for (flow, title) in [(SMALL_WINDOW, "holds back"), (LOSSES, "loses")] {
        let diagnosis = diagnose(&round(vec![tcp("a", "c", 0, flow)]), &catalogue, &Rules::built_in());
        let ranking = &diagnosis.problems[0].ranking;
        let told: Vec<(&str, &str)> = ranking.iter().map(|ranked| (&*ranked.cause, &*ranked.title)).collect();
        assert_eq!(told, [("x", title)]);
        assert_eq!(ranking[0].places.len(), 1, "{ranking:#?}");
    }
}

/// Loses nearly all that is sent, at 1 Mbit/s.
const CRAWLS: Tcp = Tcp { mbps: 1, again: 4, window: 16 << 20, window_limited: 0.0, cwnd: 5 };

#[test]
fn tcp_that_loses_as_large_a_part_as_datagrams_a_hundred_times_as_fast_is_hit_at_any_rate() {
    let state = |mbps: u64, lost: Option<u64>| {
        let flows = diagnose::signs::flows(&round(vec![tcp("a", "c", 0, CRAWLS), udp("a", "c", 1, mbps, lost)]));
        flows[0].state("datagram-loss")
    };
    assert_eq!(state(400, Some(25)), Some("same-at-any-rate"));
    assert_eq!(state(15, Some(25)), None, "they were hardly faster: a limit of both may have dropped these");
    assert_eq!(state(400, None), None, "no datagram was lost");
}

#[test]
fn a_change_that_nothing_shows_is_not_told_before_what_is_so_all_the_time() {
    let catalogue = Catalogue::built_in();
    let needs = |id: &str| catalogue.get(id).is_some_and(|cause| !cause.needs.is_empty());
    assert!(needs("rate-limit") && needs("loss-on-segment"));
    let diagnosis = diagnosed(vec![tcp("a", "c", 0, LOSSES), tcp("b", "d", 1, LOSSES)]);
    let ranking = &diagnosis.problems[0].ranking;
    let place_of = |id: &str| ranking.iter().position(|ranked| ranked.cause == id).unwrap_or(usize::MAX);
    assert!(place_of("random-loss") < place_of("loss-on-segment"), "{ranking:#?}");
}

#[test]
fn results_of_tests_alone_are_weighed_by_the_mechanisms() {
    let mut alone = round(vec![tcp("a", "c", 0, LOSSES)]);
    alone.segments.clear();
    for tested in &mut alone.tests {
        (tested.samples, tested.way, tested.way_back) = (None, Vec::new(), Vec::new());
    }
    let by = |catalogue: &Catalogue| diagnose(&alone, catalogue, &Rules::built_in()).problems;
    assert_eq!(by(Catalogue::built_in()), by(&Catalogue::by_hand()));
}
