//! Pages of files and archives.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::Visit;
use crate::actors::linerate::{ArchiveFile, Server, linerate};

/// The round of the archive whose NIC lost 13 GB transfers.
fn nrao() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rounds/nrao-overlay.json")
}

#[test]
fn a_round_is_shown_as_its_json_has_it_and_a_first_time_user_finds_the_cause() {
    let mut visit = Visit::of(nrao().to_str().unwrap());
    let text = visit.look_at("/", "overview");
    let overview = visit.json("/view/v1/overview");
    let round = overview["rounds"][0].clone();
    assert!(text.contains(round["title"].as_str().unwrap()), "{text}");
    let first = visit.rows()[0].clone();
    for count in ["hosts", "tests", "tests_failed"] {
        assert!(first.contains(&round[count].to_string()), "{count}: {first}");
    }

    // Overview, round, why: by links alone.
    visit.browser.follow("document.querySelector('a[href^=\"/round/\"]').click()");
    let id = round["id"].as_str().unwrap().to_owned();
    let page = format!("/round/{id}");
    let text = visit.look_at(&page, "round");
    let why = visit.json(&format!("/view/v1/round/{id}/why"));
    let shown = visit.look_at(&format!("{page}/why"), "why");
    let first = &why["problems"][0]["ranking"][0];
    for said in [&why["verdict"], &first["cause"], &first["places"][0]["place"]["name"], &first["title"]] {
        let said = said.as_str().unwrap_or_else(|| panic!("{why}"));
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let grid = visit.json(&format!("/view/v1/round/{id}/grid"));
    for worst in grid["worst"].as_array().unwrap() {
        let pair = format!("{} to {}", worst["from"].as_str().unwrap(), worst["to"].as_str().unwrap());
        assert!(text.contains(&pair) && text.contains(&format!("{} %", worst["percent"])), "{pair}: {text}");
    }

    // By the keyboard: the grid takes arrows, and Enter opens the pair below the mark.
    visit.browser.open(&format!("{}{page}", visit.site));
    visit.browser.value("document.querySelector('.grid').focus()");
    visit.browser.press("ArrowDown");
    let says = visit.browser.value("document.querySelector('.says').innerText");
    let hosts: Vec<&str> = grid["hosts"].as_array().unwrap().iter().map(|host| host.as_str().unwrap()).collect();
    assert!(says.as_str().unwrap().starts_with(&format!("{} to {}", hosts[1], hosts[1])), "{says}");
    visit.browser.press("ArrowLeft");
    visit.browser.follow("document.querySelector('.says a').click()");
    let title = visit.browser.value("document.querySelector('h1').innerText");
    assert_eq!(title, format!("{} to {}", hosts[1], hosts[0]));
}

#[test]
fn a_run_and_the_history_of_its_pair_are_shown() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let port = server.port.to_string();
    let args = ["test", "127.0.0.1", "--port", &port, "--bytes", "20MB", "--archive", archive.arg(), "--json"];
    let ended = linerate(&args);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let mut visit = Visit::of(archive.arg());
    let id = run["id"].as_str().unwrap();
    visit.look_at("/", "runs");
    assert!(visit.links().values().any(|to| *to == format!("/run/{id}")), "the overview lists the run");
    let text = visit.look_at(&format!("/run/{id}"), "run");
    let explained = visit.json(&format!("/view/v1/run/{id}"));
    assert_eq!(explained["id"], id);
    for fact in explained["waterfalls"][0]["facts"].as_array().unwrap() {
        assert!(text.contains(fact["text"].as_str().unwrap()), "{fact}: {text}");
    }
    let plots = visit.browser.value("document.querySelectorAll('.u-wrap canvas').length");
    assert!(plots.as_u64().unwrap() > 0, "the samples are drawn");
    let name = run["local"]["name"].as_str().unwrap();
    let history = visit.json(&format!("/view/v1/pair?from={name}&to={}", peer(&run)));
    assert_eq!(history["results"][0]["run"], id, "{history}");
    let text = visit.look_at(&format!("/pair?from={name}&to={}", peer(&run)), "pair");
    assert!(text.contains("Results") && text.contains("Changes of goodput"), "{text}");
    let plots = visit.browser.value("document.querySelectorAll('.u-wrap canvas').length");
    assert!(plots.as_u64().unwrap() > 0, "the history is drawn");
    let text = visit.look_at("/host?name=nobody", "host-unknown");
    assert!(text.contains("Nothing to show"), "{text}");
}

/// The other end of a run, as its pair is called.
fn peer(run: &Value) -> &str {
    run["peer"]["name"].as_str().or_else(|| run["peer"]["target"].as_str()).unwrap()
}

#[test]
fn a_host_is_shown_with_its_findings_and_what_is_set_otherwise_than_on_its_peers() {
    let groups = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/groups/nrao");
    let mut visit = Visit::of(groups.to_str().unwrap());
    visit.browser.open(&visit.site.clone());
    let peers = visit.json("/view/v1/host/peers?name=naasc-vs-4");
    let odd = peers["differences"].as_array().unwrap();
    assert!(
        odd.iter().any(|one| one["setting"].as_str().unwrap().ends_with("rx-gro-hw") && one["here"] == "on"),
        "{peers}"
    );
    let text = visit.look_at("/host?name=naasc-vs-4", "host");
    for one in odd {
        assert!(text.contains(one["setting"].as_str().unwrap()), "{one}: {text}");
    }
    for host in ["naasc-vs-2", "naasc-vs-3", "naasc-vs-5"] {
        assert!(text.contains(host), "{host}: {text}");
    }
    let audit = visit.json("/view/v1/host?name=naasc-vs-4")["audit"].clone();
    let rules = &audit["summary"]["by_rule"];
    let counted = format!("{} rules: {} fired, {} passed", audit["summary"]["rules"], rules["fail"], rules["pass"]);
    assert!(text.contains(&counted), "{counted}: {text}");
    let findings = audit["findings"].clone();
    for finding in findings.as_array().unwrap() {
        assert!(text.contains(finding["rule"].as_str().unwrap()), "{finding}");
    }
}

#[test]
fn labels_of_an_axis_differ_and_times_are_those_of_tables() {
    let mut visit = Visit::of(nrao().to_str().unwrap());
    visit.browser.open(&visit.site.clone());
    let with = "Promise.all([import('/assets/plot.js'), import('/assets/units.js')])";
    let rates = visit
        .browser
        .value(&format!("{with}.then(([plot, units]) => plot.labels([190.4e6, 190.6e6, 191e6], units.rate))"));
    assert_eq!(rates, serde_json::json!(["190.4 Mbit/s", "190.6 Mbit/s", "191.0 Mbit/s"]));
    let round = visit.browser.value(&format!("{with}.then(([plot, units]) => plot.labels([1e8, 2e8], units.rate))"));
    assert_eq!(round, serde_json::json!(["100 Mbit/s", "200 Mbit/s"]));
    // 2026-11-29 10:50:00 UTC and a minute later.
    let times = visit.browser.value("import('/assets/plot.js').then((plot) => plot.moments([1795949400, 1795949460]))");
    assert_eq!(times, serde_json::json!(["10:50\n2026-11-29", "10:51"]));
}

#[test]
fn what_is_missing_is_said_with_what_to_do_next() {
    let archive = ArchiveFile::new();
    archive.make();
    let mut visit = Visit::of(archive.arg());
    let text = visit.look_at("/", "empty");
    for command in ["linerate round PLAN", "linerate host snapshot"] {
        assert!(text.contains(command), "{command}: {text}");
    }
    let text = visit.look_at("/run/01M7YBV61WD9A5DHCG4CFK32TT", "missing");
    assert!(text.contains("Nothing to show") && text.contains("All rounds and runs"), "{text}");
}

#[test]
fn script_in_a_host_name_is_text_on_every_page() {
    const NAME: &str = "<img src=x onerror=window.ran=1>";
    let place = TempDir::new().unwrap();
    let round = fs::read_to_string(nrao()).unwrap();
    let round = round.replace("\"na-arc-1\"", &format!("{}", Value::from(NAME)));
    fs::write(place.path().join("round.json"), &round).unwrap();
    let id = serde_json::from_str::<Value>(&round).unwrap()["id"].as_str().unwrap().to_owned();
    let mut visit = Visit::of(place.path().to_str().unwrap());
    let name = "%3Cimg%20src%3Dx%20onerror%3Dwindow.ran%3D1%3E";
    for page in [
        "/".to_owned(),
        format!("/round/{id}"),
        format!("/round/{id}/why"),
        format!("/host?name={name}"),
        format!("/pair?from={name}&to=na-arc-2"),
        format!("/?search={name}"),
    ] {
        visit.browser.open(&format!("{}{page}", visit.site));
        assert_eq!(visit.browser.value("typeof window.ran"), "undefined", "{page}");
        assert_eq!(visit.browser.value("document.querySelectorAll('main img').length"), 0, "{page}");
        assert_eq!(visit.browser.complaints(), Vec::<Value>::new(), "{page}");
    }
    assert!(visit.browser.text().contains(NAME), "it is shown as it is");
}

#[test]
fn paths_that_lead_out_and_pages_of_other_sites_get_nothing() {
    let mut visit = Visit::of(nrao().to_str().unwrap());
    visit.browser.open(&visit.site.clone());
    for path in ["/assets/..%2f..%2fCargo.toml", "/assets/%2e%2e/%2e%2e/etc/passwd", "/view/v1/../../etc/passwd"] {
        let status = visit.browser.value(&format!("fetch('{path}').then((one) => one.status)"));
        assert_eq!(status, 404, "{path}");
    }
    // A page of another origin: its requests are refused by the server and its readings by the browser.
    let other = Visit::of(nrao().to_str().unwrap());
    let from_there = format!("fetch('{}/view/v1/overview').then(() => 'read', () => 'refused')", other.site);
    assert_eq!(visit.browser.value(&from_there), "refused");
    let status = "fetch('/view/v1/overview', { method: 'POST' }).then((one) => one.status)";
    assert_eq!(visit.browser.value(status), 405);
}
