//! What pages make of what is rare: ten thousand hosts, a time without results, results of the future, a session that has ended.

use std::fs;
use std::time::Duration;

use hub::store::Store as _;
use hub::store::rows::{Judgement, Point};
use hub::store::turn::{Changes, TurnRequest};
use model::round::{Member, Round};
use model::run::RunId;
use serde_json::Value;
use tempfile::TempDir;
use units::WallTime;

use super::Visit;
use super::hub::{hub, incident, points};
use super::people::{PLAN, add};

#[test]
fn ten_thousand_hosts_are_shown_in_part_and_found_by_name() {
    let place = TempDir::new().unwrap();
    let round = Round {
        format: Round::FORMAT,
        id: RunId::new(WallTime::from_unix_nanos(1_700_000_000_000_000_000), 7),
        title: "ten thousand".to_owned(),
        started: WallTime::from_unix_nanos(1_700_000_000_000_000_000),
        elapsed: Duration::from_secs(3),
        members: (0..10_000).map(|at| Member::named(&format!("h{at:05}"))).collect(),
        segments: Vec::new(),
        tests: Vec::new(),
    };
    fs::write(place.path().join("round.json"), serde_json::to_vec(&round).unwrap()).unwrap();
    let mut visit = Visit::of(place.path().to_str().unwrap());
    let text = visit.look_at("/", "many-hosts");
    assert!(text.contains("9900 more match"), "{text}");
    let text = visit.look_at("/?search=h09999", "many-hosts-found");
    assert!(text.contains("h09999") && !text.contains("more match"), "{text}");
}

/// A hub with a plan, whose results were measured so many seconds from now.
fn measured_in(seconds: u64) -> (TempDir, String) {
    let (place, directory, store) = hub();
    let changes = Changes { plan: Some(PLAN.to_owned()), ..Changes::default() };
    store.turn(TurnRequest::default()).unwrap().1.commit(changes).unwrap();
    let now = linux::clock::wall_now().unix_nanos();
    let at = |place: u64| WallTime::from_unix_nanos(now + (seconds + 60 * place) * 1_000_000_000);
    let mut points: Vec<Point> = points().into_iter().zip(0..).map(|(point, n)| Point { at: at(n), ..point }).collect();
    points.iter_mut().for_each(|point| "tcp".clone_into(&mut point.series.test));
    store.judged(Judgement { points, ..Judgement::default() }).unwrap();
    (place, directory)
}

#[test]
fn results_of_an_agent_whose_clock_is_a_day_ahead_are_shown_as_they_are() {
    let (_place, directory) = measured_in(86_400);
    let mut visit = Visit::of(&directory);
    let text = visit.look_at("/", "future-overview");
    assert!(text.contains("Grid of all pairs"), "{text}");
    let series = points()[0].series.clone();
    let page = format!("/pair?from={}&to={}", series.from, series.to);
    let results = visit.json(&format!("/view/v1{page}"))["results"].as_array().unwrap().len();
    let text = visit.look_at(&page, "future-pair");
    assert!(results > 0 && text.contains("Results"), "{text}");
    for page in ["/", "/round/latest", page.as_str()] {
        visit.browser.open(&format!("{}{page}", visit.site));
        let text = visit.browser.text();
        assert!(!text.contains("NaN") && !text.contains("Invalid Date"), "{page}: {text}");
    }
}

#[test]
fn a_time_without_results_says_so_and_keeps_its_link() {
    let (_place, directory) = measured_in(0);
    let mut visit = Visit::of(&directory);
    let series = points()[0].series.clone();
    let page = format!("/pair?from={}&to={}&since_s=1&until_s=2", series.from, series.to);
    let text = visit.look_at(&page, "pair-without-results");
    assert!(text.contains(&series.from) && text.to_lowercase().contains("no result"), "{text}");
}

#[test]
fn a_session_that_has_ended_is_said_where_somebody_acts_and_leads_to_signing_in() {
    let (_place, directory, store) = hub();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    let password = add(&directory, "ada", "operator");
    let mut visit = Visit::of_hub(&directory);
    let page = format!("{}/incident/I1795521600-1", visit.site);
    visit.browser.open(&page);
    visit.submit("Sign in", &[("name", "ada"), ("password", &password)]);
    // Another password ends the sessions of the account; the page that is open does not know yet.
    add(&directory, "ada", "operator");
    let said = visit.try_submit("Record it", &[("step", "note"), ("text", "too late")]);
    assert!(said.contains("sign in first"), "{said}");
    visit.browser.open(&page);
    let text = visit.browser.text();
    assert!(text.contains("Sign in") && !text.contains("receive-window-small"), "{text}");
    let incident: Value = serde_json::to_value(store.mesh().unwrap().incidents).unwrap();
    assert!(!incident.to_string().contains("too late"), "{incident}");
}
