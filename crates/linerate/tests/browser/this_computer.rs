//! Test from this computer: a browser that has signed in runs NDT7 against the hub, which keeps both directions.

use serde_json::{Value, json};

use super::Visit;
use super::hub::hub;
use super::people::add;
use crate::actors::chromium::{DARK, LIGHT, PHONE};

const PAGE: &str = "/this-computer";

/// Signs in as a viewer, and opens the page.
fn visit(directory: &str) -> Visit {
    let password = add(directory, "ada", "viewer");
    let mut visit = Visit::of_hub(directory);
    visit.browser.open(&format!("{}{PAGE}", visit.site));
    visit.submit("Sign in", &[("name", "ada"), ("password", &password)]);
    visit
}

/// Starts a test, and waits until what the form says contains one of these.
fn start(visit: &mut Visit, expect: &str, until: &[&str]) -> String {
    let until = serde_json::to_string(until).unwrap();
    let script = format!(
        "(async (until) => {{
           const form = document.querySelector('main form'), says = form.querySelector('.says');
           form.elements.expect.value = {}; form.querySelector('button').click();
           while (!until.some((part) => says.innerText.includes(part))) await new Promise((later) => setTimeout(later, 50));
           return says.innerText; }})({until})",
        Value::from(expect)
    );
    visit.browser.value(&script).as_str().unwrap().to_owned()
}

#[test]
fn both_directions_are_measured_stored_and_explained() {
    let (_place, directory, _store) = hub();
    let mut visit = visit(&directory);
    let text = visit.look_at(PAGE, "this-computer-empty");
    assert!(text.contains("Test from this computer") && text.contains("None yet."), "{text}");
    let said = start(&mut visit, "100Gbit/s", &["stored", "problem", "could not", "Another"]);
    assert_eq!(said, "Both directions are measured and stored.");
    assert_eq!(visit.browser.complaints(), Vec::<Value>::new());
    let info = visit.json("/api/v1/testing");
    let tests = info["tests"].as_array().unwrap();
    assert_eq!((tests.len(), &info["state"]), (2, &json!("free")), "{info}");
    let text = visit.browser.text();
    for (test, direction, heading) in [(&tests[1], "reverse", "outbound"), (&tests[0], "forward", "inbound")] {
        assert_eq!((&test["direction"], &test["failure"]), (&json!(direction), &Value::Null), "{test}");
        let page = format!("/run/{}", test["run"].as_str().unwrap());
        let run = visit.json(&format!("/view/v1{page}"));
        // Ten seconds, of which the browser reads or sends the whole time.
        let total = &run["measurement"]["totals"][0];
        assert_eq!((&total["heading"], &total["goodput_bps"]), (&json!(heading), &test["goodput_bps"]), "{total}");
        assert!(
            total["elapsed_us"].as_u64() > Some(9_500_000) && total["elapsed_us"].as_u64() < Some(14_000_000),
            "{total}"
        );
        assert!(test["goodput_bps"].as_u64() > Some(10_000_000), "{test}");
        assert!(run["peer"]["target"].as_str().unwrap().starts_with("the browser of ada at 127.0.0.1"), "{run}");
        // Its waterfall is on the page, and on that of the run.
        let fall = &run["waterfalls"][0];
        assert_eq!(fall["line_rate_bps"].as_u64().unwrap_or(100_000_000_000), 100_000_000_000, "{fall}");
        for fact in fall["facts"].as_array().unwrap() {
            assert!(text.contains(fact["text"].as_str().unwrap()), "{fact}: {text}");
        }
        assert!(visit.links().values().any(|link| *link == page), "{page}: {:?}", visit.links());
    }
    assert!(text.contains("Where the rate went, outbound") && text.contains("Where the rate went, inbound"), "{text}");
    // What is there after a test is as readable as before.
    let picture = |visit: &mut Visit, screen, of: &str| {
        visit.browser.look_with(screen);
        let wide = visit.browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, 0, "{of}");
        assert_eq!(visit.violations(), Vec::<String>::new(), "{of}");
        visit.keep(&format!("this-computer-{of}"));
    };
    for (screen, of) in [(PHONE, "phone"), (DARK, "dark"), (LIGHT, "light")] {
        picture(&mut visit, screen, of);
    }
    let text = visit.look_at(PAGE, "this-computer-later");
    assert!(!text.contains("None yet.") && text.contains("download") && text.contains("upload"), "{text}");
    let run = format!("/run/{}", tests[1]["run"].as_str().unwrap());
    let text = visit.look_at(&run, "this-computer-run");
    assert!(text.contains("the browser of ada") && text.contains("Where the rate went"), "{text}");
}

#[test]
fn a_test_can_be_cancelled_and_another_meanwhile_is_asked_to_wait() {
    let (_place, directory, _store) = hub();
    let mut visit = visit(&directory);
    assert_eq!(start(&mut visit, "fast", &["rate"]).split(':').next(), Some("expected rate"));
    visit.look_at(PAGE, "this-computer-again");
    // A test of another page of this browser.
    let other = "new Promise((done) => { window.other = new WebSocket(`wss://${location.host}/ndt/v7/download`, 'net.measurementlab.ndt.v7');
                 window.other.onopen = () => done(true); window.other.onerror = () => done(false); })";
    assert_eq!(visit.browser.value(other), true);
    let said = start(&mut visit, "", &["one at a time", "stored"]);
    assert!(said.contains("Another test runs here"), "{said}");
    visit
        .browser
        .value("new Promise((done) => { window.other.onclose = done; window.other.close(4000); }).then(() => 1)");
    let free = "(async () => { for (;;) { const now = await (await fetch('/api/v1/testing')).json(); if (now.state === 'free') return now.tests.length;
                await new Promise((later) => setTimeout(later, 50)); } })()";
    visit.browser.value(free);
    // Cancelled once a rate is shown.
    let cancel = "(async () => { const form = document.querySelector('main form'), says = form.querySelector('.says');
                  form.elements.expect.value = ''; form.querySelector('button').click();
                  while (!document.querySelector('main div p span').innerText.includes('bit/s')) await new Promise((later) => setTimeout(later, 20));
                  [...form.querySelectorAll('button')].find((one) => one.innerText === 'Cancel').click();
                  while (!says.innerText.includes('Cancelled')) await new Promise((later) => setTimeout(later, 20));
                  return says.innerText; })()";
    assert_eq!(visit.browser.value(cancel), "Cancelled. What was measured until then is stored.");
    let info = visit.json("/api/v1/testing");
    let newest = &info["tests"][0];
    assert!(
        newest["direction"] == "reverse" && newest["failure"].as_str().unwrap().contains("ended the test early"),
        "{info}"
    );
    let text = visit.browser.text();
    assert!(text.contains("ended the test early") && text.contains("Where the rate went"), "{text}");
    assert_eq!(visit.browser.value("document.activeElement.innerText"), "Start the test");
}

#[test]
fn pages_without_a_hub_say_what_answers_such_tests() {
    let (_place, directory, _store) = hub();
    let mut visit = Visit::of(&directory);
    let text = visit.look_at(PAGE, "this-computer-view");
    assert!(text.contains("linerate serve --ndt7 8080"), "{text}");
}
