//! The network of a round as a picture, with the suspect part marked.

use std::fs;

use hub::store::Store as _;
use hub::store::rows::Judgement;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Visit;
use super::hub::{hub, incident, points};
use crate::actors::linerate::linerate;

/// A round of a scenario, played in virtual time.
fn round(scenario: &str) -> (TempDir, String) {
    let place = TempDir::new().unwrap();
    let file = place.path().join("round.json").to_str().unwrap().to_owned();
    let played = linerate(&["lab", "run", scenario, "--virtual", "--evidence", &file]);
    assert_eq!(played.code, Some(0), "{played:?}");
    (place, file)
}

#[test]
fn the_suspect_link_of_a_round_is_marked_in_the_picture_and_in_words() {
    let (_place, file) = round("dirty-fibre");
    let mut visit = Visit::of(&file);
    let id =
        serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap()).unwrap()["id"].as_str().unwrap().to_owned();
    visit.browser.open(&format!("{}/round/{id}", visit.site));
    visit.browser.follow("document.querySelector('a[href$=\"/network\"]').click()");
    let page = format!("/round/{id}/network");
    let text = visit.look_at(&page, "network");
    let view = visit.json(&format!("/view/v1{page}"));
    let suspects: Vec<&Value> =
        view["links"].as_array().unwrap().iter().filter(|link| link["is_suspect"] == json!(true)).collect();
    assert_eq!(suspects.len(), 1, "{view}");
    let place = view["suspects"][0]["place"].as_str().unwrap();
    assert!(place.starts_with(suspects[0]["name"].as_str().unwrap()), "{place}");
    assert!(text.contains(&format!("! {place}")), "{text}");
    let marked = "[...document.querySelectorAll('svg.network .link.suspect title')].map((one) => one.textContent)";
    let marked: Vec<String> = serde_json::from_value(visit.browser.value(marked)).unwrap();
    assert!(marked.len() == 1 && marked[0].contains("suspect"), "{marked:?}");
    let shown = visit.browser.value("document.querySelectorAll('svg.network .node').length");
    assert_eq!(shown, view["nodes"].as_array().unwrap().len());

    // By the keyboard: nodes are links in their order, and Enter opens the host.
    visit.browser.value("document.querySelector('svg.network a.node').focus()");
    let label = visit.browser.value("document.activeElement.getAttribute('aria-label')");
    visit.browser.press_enter_and_follow();
    let title = visit.browser.value("document.querySelector('h1').innerText");
    assert!(label.as_str().unwrap().starts_with(title.as_str().unwrap()), "{label} {title}");
}

#[test]
fn an_incident_leads_to_its_place_in_the_network() {
    let (_place, directory, store) = hub();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    let mut visit = Visit::of(&directory);
    visit.browser.open(&format!("{}/incident/I1795521600-1", visit.site));
    visit.browser.follow("document.querySelector('a[href$=\"/network\"]').click()");
    assert!(visit.browser.text().contains("Nothing to show"), "a hub without a plan knows no network");

    let place = TempDir::new().unwrap();
    let replayed = place.path().join("hub").to_str().unwrap().to_owned();
    let ended = linerate(&["hub", "replay", &replayed, "nrao-overlay-offload"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut visit = Visit::of(&replayed);
    visit.browser.open(&visit.site.clone());
    visit.browser.follow("document.querySelector('a[href^=\"/incident/\"]').click()");
    visit.browser.follow("document.querySelector('a[href$=\"/network\"]').click()");
    let page = visit.browser.value("location.pathname").as_str().unwrap().to_owned();
    let text = visit.look_at(&page, "incident-network");
    let view = visit.json(&format!("/view/v1{page}"));
    let suspect = view["nodes"].as_array().unwrap().iter().find(|node| node["is_suspect"] == json!(true));
    let suspect = suspect.unwrap_or_else(|| panic!("{view}"))["label"].as_str().unwrap();
    assert!(text.contains(&format!("! {suspect}")), "{suspect}: {text}");
}
