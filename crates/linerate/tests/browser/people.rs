//! People sign in at a hub that runs, and do there what their roles permit.

use hub::store::Store as _;
use hub::store::rows::Judgement;
use serde_json::json;

use super::Visit;
use super::hub::{hub, incident, points};
use crate::actors::linerate::linerate;

/// Adds an account; its password, as it was printed.
pub(super) fn add(directory: &str, name: &str, role: &str) -> String {
    let added = linerate(&["hub", "user", "add", directory, name, "--role", role]);
    assert_eq!(added.code, Some(0), "{added:?}");
    added.stdout.trim().to_owned()
}

const INCIDENT: &str = "/incident/I1795521600-1";
pub(super) const PLAN: &str = r#"
title = "two"
[times]
every = "6h"
[hosts.archive-1]
address = "192.0.2.1"
[hosts.site-b]
address = "192.0.2.2"
[groups.all]
mesh = ["archive-1", "site-b"]
[[tests]]
kind = "tcp"
time = "10s"
"#;

#[test]
fn who_has_never_seen_it_signs_in_acts_on_an_incident_and_has_the_post_mortem() {
    let (_place, directory, store) = hub();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    let password = add(&directory, "ada", "admin");
    let mut visit = Visit::of_hub(&directory);
    let text = visit.look_at("/", "people-sign-in");
    assert!(text.contains("Sign in") && !text.contains("site-b"), "nothing is shown before: {text}");
    let said = visit.try_submit("Sign in", &[("name", "ada"), ("password", "not the password")]);
    assert_eq!(said, "name or password is wrong");
    visit.submit("Sign in", &[("name", "ada"), ("password", &password)]);
    let text = visit.look_at("/", "people-overview");
    assert!(text.contains("ada (admin)") && text.contains("receive-window-small at site-b"), "{text}");
    let text = visit.look_at(INCIDENT, "people-incident");
    assert!(text.contains("What to do next") && !text.contains("linerate hub incidents"), "{text}");

    visit.submit("Record it", &[("step", "note"), ("text", "the <vendor> is called")]);
    let shown = visit.json("/view/v1/incident/I1795521600-1");
    let entry = &shown["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find(|one| one["text"].as_str().unwrap().contains("vendor"))
        .unwrap()["text"];
    assert!(entry.as_str().unwrap().contains("ada"), "a note has the name of its account: {entry}");
    assert!(visit.browser.text().contains("the <vendor> is called"));

    let report = format!("{INCIDENT}/report");
    let text = visit.look_at(&report, "people-report");
    assert!(text.contains("All sections grow"), "{text}");
    let edited = visit.browser.value("document.querySelector('textarea').value").as_str().unwrap().to_owned();
    assert!(edited.contains("## Root cause") && edited.contains("receive-window-small"), "{edited}");
    let edited = edited.replace("To be written by those who were there.", "Watch the buffers.") + "\nAda was here.\n";
    assert_eq!(visit.try_submit("Save", &[("text", &edited)]), "Saved.");
    visit.browser.open(&format!("{}{report}", visit.site));
    let kept = visit.browser.value("document.querySelector('textarea').value");
    assert!(kept.as_str().unwrap().contains("Ada was here."), "{kept}");
    let page = visit.browser.value(&format!("fetch('{report}.html').then((one) => one.text())"));
    assert!(page.as_str().unwrap().contains("<svg") && page.as_str().unwrap().contains("Ada was here."), "{page}");

    let text = visit.look_at("/people", "people-people");
    assert!(text.contains("incident I1795521600-1: note the <vendor> is called"), "{text}");
    assert!(text.contains("signing in failed") && text.contains("post-mortem of I1795521600-1 edited"), "{text}");
}

#[test]
fn a_plan_is_tried_and_given_to_the_hub_in_the_browser() {
    let (_place, directory, _store) = hub();
    let password = add(&directory, "olaf", "operator");
    let mut visit = Visit::of_hub(&directory);
    visit.browser.open(&format!("{}/plan", visit.site));
    visit.submit("Sign in", &[("name", "olaf"), ("password", &password)]);
    assert!(visit.browser.text().contains("linerate plan init"));
    let wrong = visit.try_submit("Check", &[("text", "hosts = 7")]);
    assert!(wrong.contains("hosts"), "{wrong}");
    assert_eq!(visit.try_submit("Check", &[("text", PLAN)]), "It fits.");
    assert_eq!(visit.json("/api/v1/plan")["error"], "there is no plan");
    let said = visit.try_submit("Check, and give it to the hub", &[("text", PLAN)]);
    assert_eq!(said, "The hub carries it out from now on.");
    let text = visit.look_at("/plan", "people-plan");
    assert_eq!(visit.json("/api/v1/plan")["text"], PLAN);
    assert!(text.contains("8 heavy") && text.contains("archive-1, site-b"), "{text}");
}

#[test]
fn a_viewer_reads_and_changes_nothing() {
    let (_place, directory, store) = hub();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    let password = add(&directory, "vera", "viewer");
    let mut visit = Visit::of_hub(&directory);
    visit.browser.open(&format!("{}{INCIDENT}", visit.site));
    visit.submit("Sign in", &[("name", "vera"), ("password", &password)]);
    let text = visit.browser.text();
    assert!(text.contains("receive-window-small") && !text.contains("What to do next"), "{text}");
    let text = visit.look_at(&format!("{INCIDENT}/report"), "people-report-viewer");
    assert!(text.contains("## Root cause") && !text.contains("Save"), "{text}");
    let step = json!({ "id": "I1795521600-1", "step": "close", "text": "no fault" });
    let asked = format!(
        "fetch('/api/v1/incident', {{ method: 'POST', body: {} }}).then((one) => one.status)",
        json!(step.to_string())
    );
    assert_eq!(visit.browser.value(&asked), 403);
    let pages = visit.look_at("/people", "people-refused");
    assert!(pages.contains("this account does not open that"), "{pages}");
    visit.browser.follow("document.querySelector('.who button').click()");
    assert!(visit.browser.text().contains("Sign in"));
    assert_eq!(visit.browser.value("fetch('/view/v1/overview').then((one) => one.status)"), 401);
}
