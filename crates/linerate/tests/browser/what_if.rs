//! What if: from a run to the same run with other settings, by links and a form.

use serde_json::Value;

use super::Visit;
use crate::actors::linerate::{ArchiveFile, Server, linerate};

#[test]
fn a_run_is_simulated_with_other_settings_and_the_address_holds_them() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let port = server.port.to_string();
    let args = ["test", "127.0.0.1", "--port", &port, "--time", "1s", "--archive", archive.arg(), "--json"];
    let ended = linerate(&args);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let mut visit = Visit::of(archive.arg());
    visit.browser.open(&format!("{}/run/{}", visit.site, run["id"].as_str().unwrap()));
    visit.browser.follow("document.querySelector('a[href^=\"/what-if\"]').click()");
    // Nobody knows the rate of a loopback device: the form asks for it, and predicts nothing meanwhile.
    let text = visit.browser.text();
    assert!(text.contains("Not predicted: no rate of the path is known"), "{text}");
    assert_eq!(visit.browser.value("document.querySelector('input[name=rate]').value"), "");
    let page = visit.browser.value("location.pathname + location.search").as_str().unwrap().to_owned();
    visit.look_at(&page, "what-if-missing");

    visit.browser.follow(&simulate(&[
        ("rate", "1Gbit/s"),
        ("rtt", "30ms"),
        ("rmem", "1MiB"),
        ("mtu", "1500"),
        ("congestion", "cubic"),
    ]));
    let page = visit.browser.value("location.pathname + location.search").as_str().unwrap().to_owned();
    assert!(page.contains("rate=1Gbit%2Fs&rtt=30ms"), "only what was typed is in it: {page}");
    assert!(!page.contains("wmem="), "{page}");
    let text = visit.look_at(&page, "what-if");
    let view = visit.json(&format!("/view/v1{page}"));
    let because = view["varied"]["because"].as_str().unwrap();
    assert!(because.contains("receive window, 1 MiB"), "{because}");
    assert!(text.contains(because) && text.contains("measured") && text.contains("predicted, varied"), "{text}");
    let drawn = visit.browser.value("document.querySelectorAll('.u-wrap canvas').length");
    assert_eq!(drawn, 3, "goodput, RTT and congestion window");
    let series = "[...document.querySelector('.u-legend').querySelectorAll('.u-label')].map((one) => one.innerText)";
    assert_eq!(visit.browser.value(series), serde_json::json!(["s", "measured", "predicted, varied"]));

    // What cannot be is said beside the form, which keeps what was typed.
    visit.browser.follow(&simulate(&[("loss", "2")]));
    let text = visit.browser.text();
    assert!(text.contains("Random loss probability: 0 to 0.5 can be simulated here"), "{text}");
    let kept = "['rate', 'rmem', 'loss'].map((name) => document.querySelector(`[name=${name}]`).value)";
    assert_eq!(visit.browser.value(kept), serde_json::json!(["1Gbit/s", "1MiB", "2"]));
    let page = visit.browser.value("location.pathname + location.search").as_str().unwrap().to_owned();
    visit.look_at(&page, "what-if-refused");
}

#[test]
fn a_path_without_a_run_is_simulated_from_the_overview_by_the_keyboard() {
    let archive = ArchiveFile::new();
    archive.make();
    let mut visit = Visit::of(archive.arg());
    visit.browser.open(&visit.site.clone());
    visit.browser.follow("document.querySelector('a[href=\"/what-if\"]').click()");
    visit.browser.value("document.querySelector('input[name=wmem]').focus()");
    visit.browser.value("document.activeElement.value = '64MiB'");
    visit.browser.press_enter_and_follow();
    let page = visit.browser.value("location.search");
    assert_eq!(page, "?wmem=64MiB");
    let text = visit.look_at("/what-if?wmem=64MiB", "what-if-path");
    assert!(
        text.contains("linerate simulate flow --rate 10Gbit/s") || text.contains("The same on a command line"),
        "{text}"
    );
}

/// Fills the form and sends it.
fn simulate(values: &[(&str, &str)]) -> String {
    let values: std::collections::BTreeMap<&str, &str> = values.iter().copied().collect();
    format!(
        "{{ const form = document.querySelector('main form'); for (const [name, value] of Object.entries({})) \
         form.elements[name].value = value; form.querySelector('button').click(); }}",
        serde_json::to_string(&values).unwrap()
    )
}
