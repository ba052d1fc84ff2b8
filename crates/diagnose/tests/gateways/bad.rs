//! What is bad in a status: lies, silence, a newer version, too much of it.

use diagnose::causes::Catalogue;
use diagnose::gateways::{EvidenceError, diagnose};
use diagnose::signs::SignState;
use gateways::status::observed;

use super::world;

#[test]
fn each_sign_of_a_status_is_one_of_the_catalogue_and_of_a_cause() {
    for sign in observed::ALL {
        for state in sign.states {
            assert!(SignState::named(sign.name, state).is_some(), "{} {state}", sign.name);
        }
        let is_shown = |(seen, _): (&SignState, &f64)| seen.sign().name == sign.name;
        assert!(Catalogue::built_in().all().iter().any(|cause| cause.shows.iter().any(is_shown)), "{}", sign.name);
    }
}

#[test]
fn each_finding_is_a_cause() {
    let settings = world::cluster(0.93);
    let mut status = world::status(&settings, "round-robin", 1);
    for (sign, state) in [
        (observed::REQUESTS, "one-at-a-time"),
        (observed::AFTER_PAUSE, "nearly-all"),
        (observed::TRANSFER_RATE, "slower"),
        (observed::MEMORY, "restarted"),
        (observed::DELETIONS, "slow"),
    ] {
        let mut one = status.observations[0].clone();
        (one.sign, one.state) = (sign.name.to_owned(), state.to_owned());
        one.gateway = Some("gw1".to_owned());
        status.observations.push(one);
    }
    let findings = gateways::status::findings::of(&status.observations);
    assert!(findings.len() >= 5, "{findings:?}");
    for finding in findings {
        assert!(Catalogue::built_in().get(&finding.cause).is_some(), "{}", finding.cause);
    }
}

#[test]
fn nothing_that_was_reported_is_not_judged_and_says_what_lacks() {
    let mut status = world::status(&world::cluster(0.5), "inflight-cmsd", 1);
    status.observations.clear();
    let diagnosis = world::diagnosis(&status);
    assert!(diagnosis.verdict.starts_with("Not judged"), "{}", diagnosis.verdict);
    assert!(diagnosis.is_healthy() && diagnosis.judged == 0);
    let lacks = |sign: &observed::GatewaySign| diagnosis.notes.iter().any(|note| note.contains(sign.name));
    assert!(observed::ALL.iter().all(lacks), "{:?}", diagnosis.notes);
}

#[test]
fn a_gateway_that_contradicts_itself_is_named_and_not_weighed() {
    let mut settings = world::cluster(0.7);
    settings.faults.push(gateways::cluster::faults::Fault {
        gateway: 5,
        what: gateways::cluster::faults::FaultType::Slow,
        from_hour: 0.1,
        to_hour: 0.25,
    });
    let mut status = world::status(&settings, "round-robin", 1);
    status.gateways[4].contradictions.push("counters go back without a restart".to_owned());
    status.gateways[4].excluded = Some("not believed: counters go back without a restart".to_owned());
    let diagnosis = world::diagnosis(&status);
    assert!(world::named(&diagnosis).iter().all(|name| !name.ends_with("gw5")), "{:?}", world::named(&diagnosis));
    assert!(diagnosis.notes.iter().any(|note| note.starts_with("gw5: not believed")), "{:?}", diagnosis.notes);
}

#[test]
fn a_sign_of_a_newer_version_and_a_flood_are_errors() {
    let mut status = world::status(&world::cluster(0.5), "inflight-cmsd", 1);
    status.observations[0].state = "sideways".to_owned();
    let newer = diagnose(&status, Catalogue::built_in()).unwrap_err();
    assert!(newer.to_string().contains("sideways") && newer.to_string().contains("newer"), "{newer}");
    status.observations = vec![status.observations[1].clone(); 3000];
    assert_eq!(diagnose(&status, Catalogue::built_in()), Err(EvidenceError::Many(3000)));
}
