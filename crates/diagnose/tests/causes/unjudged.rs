//! Rounds without declared rates: what is found in them, and what is said where nothing is known.

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, FaultLocation, diagnose};
use model::played::Finding;
use model::round::{Round, Tested};

use crate::world::{Tcp, round, tcp, udp};

fn diagnosed(round: &Round) -> Diagnosis {
    diagnose(round, Catalogue::built_in(), &Rules::built_in())
}

/// A test between hosts of which neither rate nor path is known.
fn bare(tested: Tested) -> Tested {
    Tested { expected: None, way: Vec::new(), way_back: Vec::new(), samples: None, ..tested }
}

fn first(diagnosis: &Diagnosis) -> (&str, &FaultLocation) {
    let ranked = &diagnosis.problems[0].ranking[0];
    (&ranked.cause, &ranked.places[0].place)
}

#[test]
fn the_machine_of_an_overlay_is_named_from_rates_alone() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/rounds/nrao-overlay.json");
    let round: Round = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let diagnosis = diagnosed(&round);
    assert_eq!((diagnosis.judged, diagnosis.symptoms.len()), (30, 9), "{}", diagnosis.verdict);
    let machine = FaultLocation::Host { name: "naasc-vs-4".to_owned() };
    assert_eq!(first(&diagnosis), ("receive-offload-overlay", &machine));
    let located = diagnosis.located[0].to_string();
    assert!(located.contains("receiver on naasc-vs-4, sender elsewhere"), "{located}");
}

#[test]
fn one_port_at_a_tenth_of_three_hosts_is_found() {
    let pair = |number, from, to, mbps| bare(tcp(from, to, number, Tcp { mbps, ..Tcp::GOOD }));
    let diagnosis = diagnosed(&round(vec![
        pair(0, "a", "b", 940),
        pair(1, "b", "a", 938),
        pair(2, "a", "c", 94),
        pair(3, "c", "a", 94),
        pair(4, "b", "c", 93),
        pair(5, "c", "b", 94),
    ]));
    assert_eq!(diagnosis.symptoms.len(), 4, "{}", diagnosis.verdict);
    assert_eq!(diagnosis.problems[0].explains.len(), 4, "{:#?}", diagnosis.problems);
    let place = &diagnosis.problems[0].ranking[0].places[0].place;
    assert_eq!(*place, FaultLocation::Host { name: "c".to_owned() }, "{:#?}", diagnosis.problems);
}

#[test]
fn a_single_test_of_an_unknown_path_is_not_judged() {
    let diagnosis = diagnosed(&round(vec![bare(tcp("a", "c", 0, Tcp::GOOD))]));
    assert!(diagnosis.is_healthy() && diagnosis.judged == 0);
    assert!(diagnosis.verdict.starts_with("Not judged"), "{}", diagnosis.verdict);
    assert!(diagnosis.not_judged[0].reason.contains("--expect RATE"), "{:?}", diagnosis.not_judged);
}

#[test]
fn datagrams_that_are_lost_somewhere_are_no_duplex_mismatch() {
    let mut lossy = bare(udp("a", "c", 0, 999, Some(14)));
    if let Finding::Run(run) = &mut lossy.finding {
        run.spec.rate = Some(units::DataRate::from_bps(1_000_000_000));
    }
    let diagnosis = diagnosed(&round(vec![lossy]));
    let mismatch = diagnosis.problems[0].ranking.iter().find(|ranked| ranked.cause == "duplex-mismatch");
    assert!(mismatch.is_none_or(|ranked| ranked.probability < 0.1), "{}", diagnosis.verdict);
    let is_open = ["no cause stands out", "does not tell apart"].iter().any(|words| diagnosis.verdict.contains(words));
    assert!(is_open, "{}", diagnosis.verdict);
}

#[test]
fn severe_flows_are_explained_beside_many_mild_ones() {
    let mild = |number, from, to| tcp(from, to, number, Tcp { mbps: 210 + 20 * (number % 5), ..Tcp::GOOD });
    let severe = |number, from| tcp(from, "c", number, Tcp { mbps: 1, again: 40, cwnd: 5, ..Tcp::GOOD });
    let mut tests = vec![severe(0, "a"), severe(1, "b"), severe(2, "d")];
    let pairs =
        [("a", "d"), ("b", "d"), ("d", "a"), ("d", "b"), ("a", "b"), ("b", "a"), ("c", "a"), ("c", "b"), ("c", "d")];
    tests.extend(pairs.iter().zip(3..).map(|((from, to), number)| mild(number, from, to)));
    let diagnosis = diagnosed(&round(tests));
    let problem = &diagnosis.problems[0];
    assert!(problem.explains.iter().filter(|label| label.ends_with("to c")).count() == 3, "{:#?}", problem.explains);
    assert!(problem.unknown < 0.5, "{}", diagnosis.verdict);
}
