//! A hub at its first start, without a plan: it offers a demonstration, by a button.

use std::time::Duration;

use serde_json::Value;

use super::Visit;
use super::hub::hub;
use super::people::add;
use crate::actors::linerate::linerate;

/// Signs in at a hub without a plan, whose process has this in its environment as well.
fn signed_in(directory: &str, role: &str, environment: &[(&str, &str)]) -> Visit {
    let password = add(directory, "ada", role);
    let mut visit = Visit::of_hub_in(directory, environment);
    visit.browser.open(&visit.site.clone());
    visit.submit("Sign in", &[("name", "ada"), ("password", &password)]);
    visit
}

/// Presses a button of the offer, and waits until pages show the demonstration. What the hub says of it then.
fn begin(visit: &mut Visit, button: &str) -> Value {
    assert_eq!(visit.json("/api/v1/demonstration")["state"], "offered");
    let press = format!(
        "(async () => {{ [...document.querySelectorAll('button')].find((one) => one.innerText === '{button}').click();
           for (;;) {{ const now = await (await fetch('/api/v1/demonstration')).json();
             if (now.state !== 'offered') return now.state;
             await new Promise((later) => setTimeout(later, 20)); }} }})()"
    );
    assert_eq!(visit.browser.value(&press), "preparing");
    // Other pages go on meanwhile.
    visit.browser.open(&format!("{}/plan", visit.site));
    let shown = "(async () => { for (;;) { const now = await (await fetch('/api/v1/demonstration')).json();
           if (now.state !== 'preparing') return now;
           await new Promise((later) => setTimeout(later, 200)); } })()";
    let now = visit.browser.value_within(shown, PATIENCE);
    assert_eq!(now["state"], "shown", "{now}");
    now
}

#[test]
fn an_admin_starts_a_demonstration_in_virtual_time_looks_at_it_and_ends_it() {
    let (_place, directory, _store) = hub();
    let mut visit = signed_in(&directory, "admin", &[]);
    let text = visit.look_at("/", "demonstration-offered");
    assert!(text.contains("See it first") && text.contains("Show the demonstration"), "{text}");
    let now = begin(&mut visit, "Show it in virtual time");
    assert_eq!((&now["kind"], &now["reason"]), (&Value::from("virtual"), &Value::Null));
    let text = visit.look_at("/", "demonstration-virtual");
    assert!(text.contains("Demonstration in virtual time") && text.contains("no host of yours"), "{text}");
    let incident = "document.querySelector('a[href^=\"/incident/\"]')";
    visit.browser.follow(&format!("{incident}.click()"));
    // Its incidents are none of this hub: nobody acts on them.
    let text = visit.browser.text();
    assert!(text.contains("Demonstration in virtual time") && !text.contains("What to do next"), "{text}");
    let page = visit.browser.value("location.pathname").as_str().unwrap().to_owned();
    visit.look_at(&page, "demonstration-incident");
    visit.look_at(&format!("{page}/report"), "demonstration-report");

    visit.browser.follow(
        "[...document.querySelectorAll('button')].find((one) => one.innerText === 'End the demonstration').click()",
    );
    let text = visit.browser.text();
    assert!(text.contains("See it first") && !text.contains("no host of yours"), "{text}");
    let actions = linerate(&["hub", "actions", &directory]).stdout;
    for deed in ["demonstration begun, in virtual time", "demonstration ended"] {
        assert!(actions.lines().any(|line| line.contains("ada") && line.contains(deed)), "{deed}: {actions}");
    }
}

#[test]
fn a_demonstration_is_live_where_the_machine_can_make_its_network_and_gone_after_its_end() {
    let (place, directory, _store) = hub();
    let own = place.path().to_str().unwrap();
    let mut visit = signed_in(&directory, "operator", &[("XDG_RUNTIME_DIR", own), ("TMPDIR", own)]);
    let now = begin(&mut visit, "Show the demonstration");
    assert_eq!((&now["kind"], &now["reason"]), (&Value::from("live"), &Value::Null), "{now}");
    let text = visit.look_at("/", "demonstration-live");
    assert!(text.contains("Demonstration, live") && text.contains("archive-1"), "{text}");
    visit.browser.open(&visit.site.clone());
    // It measures: a page follows by itself.
    let measured =
        "new Promise((seen) => { const look = () => document.body.innerText.includes('planned.') ? seen(true)
                    : setTimeout(look, 200); look(); })";
    visit.browser.value(measured);
    visit.browser.follow(
        "[...document.querySelectorAll('button')].find((one) => one.innerText === 'End the demonstration').click()",
    );
    assert!(visit.browser.text().contains("See it first"));
    let left: Vec<String> = std::fs::read_dir(place.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.starts_with("linerate-"))
        .collect();
    assert_eq!(left, [""; 0], "nothing of it is left");
}

#[test]
fn where_no_network_can_be_made_the_demonstration_goes_on_in_virtual_time_and_says_why() {
    let (place, directory, _store) = hub();
    // Where labs are noted is no directory.
    std::fs::write(place.path().join("linerate"), "").unwrap();
    let mut visit = signed_in(&directory, "operator", &[("XDG_RUNTIME_DIR", place.path().to_str().unwrap())]);
    let now = begin(&mut visit, "Show the demonstration");
    assert_eq!(now["kind"], "virtual");
    assert!(!now["reason"].as_str().unwrap().is_empty(), "{now}");
    let text = visit.look_at("/", "demonstration-not-live");
    assert!(text.contains("It is not live:"), "{text}");
    // A plan has pages of its own to show.
    visit.browser.open(&format!("{}/plan", visit.site));
    let said = visit.try_submit("Check, and give it to the hub", &[("text", super::people::PLAN)]);
    assert_eq!(said, "The hub carries it out from now on.");
    assert_eq!(visit.json("/api/v1/demonstration")["state"], "unavailable");
    let again = "fetch('/api/v1/demonstration', { method: 'POST', headers: { 'content-type': 'application/json' }, \
                 body: '{\"wish\":\"virtual\"}' }).then((one) => one.status)";
    assert_eq!(visit.browser.value(again), 409);
}

#[test]
fn a_viewer_reads_who_may_start_it_and_cannot() {
    let (_place, directory, _store) = hub();
    let mut visit = signed_in(&directory, "viewer", &[]);
    let text = visit.look_at("/", "demonstration-viewer");
    assert!(text.contains("An operator or admin can start it here"), "{text}");
    let asked = "fetch('/api/v1/demonstration', { method: 'POST', headers: { 'content-type': 'application/json' }, \
                 body: '{\"wish\":\"live\"}' }).then((one) => one.status)";
    assert_eq!(visit.browser.value(asked), 403);
}

/// A network of six hosts is made, five agents join.
const PATIENCE: Duration = Duration::from_secs(240);
