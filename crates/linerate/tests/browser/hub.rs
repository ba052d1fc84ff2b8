//! Pages of a hub: without a plan, and with an incident.

use hub::store::Store;
use hub::store::rows::{Judgement, Point, PointQuality};
use hub::store::sqlite::Sqlite;
use hub::store::turn::{Changes, TurnRequest};
use mesh::incident::{Incident, Metric, Series};
use serde_json::json;
use tempfile::TempDir;
use units::WallTime;

use super::Visit;
use crate::actors::linerate::linerate;

/// A hub's directory, and its database.
pub(super) fn hub() -> (TempDir, String, Sqlite) {
    let place = TempDir::new().unwrap();
    let directory = place.path().join("hub").to_str().unwrap().to_owned();
    let made = linerate(&["hub", "init", &directory, "--name", "127.0.0.1", "--listen", "127.0.0.1:0"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let store = Sqlite::open(&place.path().join("hub/hub.db")).unwrap();
    (place, directory, store)
}

const SECOND: u64 = 1_000_000_000;
/// 2026-11-24.
const NOON: u64 = 1_795_521_600 * SECOND;

/// What a hub stores of a receiver whose buffer somebody made small. A stranger has a say in its name and in the notes.
pub(super) fn incident() -> Incident {
    let value = json!({
        "id": "I1795521600-1", "status": "explained", "subject": { "element": { "host": "site-b" } }, "hosts": ["site-b"],
        "since_unix_ns": NOON, "opened_unix_ns": NOON + 43 * SECOND,
        "symptoms": [{ "metric": "goodput", "subject": { "element": { "to": "site-b" } }, "since_unix_ns": NOON, "shift": -1.8, "sign": "worse" }],
        "explanation": { "cause": "receive-window-small", "place": "site-b", "probability": 0.98, "by": "diagnosis" },
        "timeline": [
            { "at_unix_ns": NOON - 2 * SECOND, "what": "configuration", "lead_s": 2, "change": { "host": "site-b", "at_unix_ns": NOON - 2 * SECOND,
              "what": "net.ipv4.tcp_rmem: 4096 131072 6291456 -> 4096 16384 32768", "by": "pid 4711, sysctl" } },
            { "at_unix_ns": NOON + 43 * SECOND, "what": "opened" },
            { "at_unix_ns": NOON + 60 * SECOND, "what": "note", "by": "ada", "text": "<img src=x onerror=window.ran=1>" }
        ]
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_hub_without_a_plan_says_how_to_give_it_one() {
    let (_place, directory, _store) = hub();
    let mut visit = Visit::of(&directory);
    let text = visit.look_at("/", "hub-empty");
    assert!(text.contains("linerate hub plan DIR PLAN") && text.contains("linerate hub token DIR"), "{text}");
    let text = visit.look_at("/round/latest", "hub-no-grid");
    assert!(text.contains("Nothing to show"), "{text}");
}

#[test]
fn an_incident_is_shown_with_its_cause_its_place_and_what_was_changed_before() {
    let (_place, directory, store) = hub();
    store.judged(Judgement { incidents: vec![incident()], points: points(), ..Judgement::default() }).unwrap();
    let mut visit = Visit::of(&directory);
    let text = visit.look_at("/", "hub-overview");
    assert!(text.contains("receive-window-small at site-b"), "{text}");
    visit.browser.follow("document.querySelector('a[href^=\"/incident/\"]').click()");
    let text = visit.look_at("/incident/I1795521600-1", "hub-incident");
    let shown = visit.json("/view/v1/incident/I1795521600-1");
    for entry in shown["timeline"].as_array().unwrap().iter().chain(shown["symptoms"].as_array().unwrap()) {
        assert!(text.contains(entry["text"].as_str().unwrap()), "{entry}: {text}");
    }
    assert!(text.contains("98.0 %") && text.contains("tcp_rmem"), "{text}");
    assert!(text.contains("<img src=x"), "a note is shown as it was written: {text}");
    assert_eq!(visit.browser.value("typeof window.ran"), "undefined");
    visit.browser.follow("document.querySelector('a[href$=\"/report\"]').click()");
    let text = visit.look_at("/incident/I1795521600-1/report", "hub-report");
    assert!(text.contains("## Root cause") && text.contains("onerror"), "{text}");
    visit.browser.open_document(&format!("{}/incident/I1795521600-1/report.html", visit.site));
    let drawn = visit.browser.value("document.querySelectorAll('svg').length + document.images.length");
    assert_eq!((drawn, visit.browser.value("typeof window.ran")), (1.into(), "undefined".into()));
}

#[test]
fn downloads_of_each_site_are_shown_by_server_and_proxy() {
    let (_place, directory, store) = hub();
    let args = [
        "plan",
        "downloads",
        "--file",
        "/cube.fits",
        "--site",
        "arc-na",
        "--site",
        "arc-eu",
        "--server",
        "na-arc-1:8088",
        "--proxy",
        "archive",
    ];
    let plan = linerate(&args);
    assert_eq!(plan.code, Some(0), "{plan:?}");
    let changes = Changes { plan: Some(plan.stdout), ..Changes::default() };
    store.turn(TurnRequest::default()).unwrap().1.commit(changes).unwrap();
    store.judged(Judgement { points: downloads(), ..Judgement::default() }).unwrap();
    let mut visit = Visit::of(&directory);
    let text = visit.look_at("/downloads", "downloads");
    let shown = visit.json("/view/v1/downloads");
    let series = shown["series"].as_array().unwrap();
    let of_sites = ["arc-na", "arc-eu"].map(|site| series.iter().filter(|one| one["to"] == site).count());
    assert_eq!(of_sites, [2, 2], "{shown}");
    for one in series {
        let from_to = format!("{} to {}", one["from"].as_str().unwrap(), one["to"].as_str().unwrap());
        assert!(text.contains(&from_to) && text.contains(one["test"].as_str().unwrap()), "{one}: {text}");
    }
    // The proxy gives one of its two sites a tenth since the last week.
    assert!(visit.rows().iter().any(|row| row.contains("archive to arc-eu") && row.contains("10.0 %")), "{text}");
    let plots = visit.browser.value("document.querySelectorAll('.u-wrap').length");
    assert_eq!(plots, 2, "a plot for each site");
    visit.look_at("/pair?from=archive&to=arc-eu", "downloads-pair");
    let history = visit.json("/view/v1/pair?from=archive&to=arc-eu");
    assert_eq!(history["results"].as_array().unwrap().len() as u64, WEEKS, "{history}");
}

const WEEKS: u64 = 12;

/// A download each week by two sites, directly and through the proxy.
fn downloads() -> Vec<Point> {
    let now = linux::clock::wall_now().unix_nanos();
    let mut points = Vec::new();
    for (number, (site, server, test)) in [
        ("arc-na", "na-arc-1", "direct"),
        ("arc-na", "archive", "through-proxy"),
        ("arc-eu", "na-arc-1", "direct"),
        ("arc-eu", "archive", "through-proxy"),
    ]
    .into_iter()
    .enumerate()
    {
        let (from, to, test) = (server.to_owned(), site.to_owned(), test.to_owned());
        let series = Series { from, to, test, family: None, metric: Metric::DownloadRate };
        for week in 0..WEEKS {
            let is_slow = number == 3 && week == WEEKS - 1;
            points.push(Point {
                series: series.clone(),
                at: WallTime::from_unix_nanos(now - (WEEKS - week) * 7 * 86_400 * SECOND),
                value: if is_slow { 8e7 } else { 8e8 },
                settled: None,
                good: PointQuality::Good,
                record: number as u64 * WEEKS + week + 1,
            });
        }
    }
    points
}

/// Goodput to the host, before and after.
pub(super) fn points() -> Vec<Point> {
    let series = Series {
        from: "archive-1".to_owned(),
        to: "site-b".to_owned(),
        test: "tcp".to_owned(),
        family: None,
        metric: Metric::Goodput,
    };
    let at = |number: u64| WallTime::from_unix_nanos(NOON - 200 * SECOND + number * 10 * SECOND);
    let value = |number: u64| if number < 20 { 42e6 } else { 7e6 } + (number * 7 % 5) as f64 * 1e5;
    let good = PointQuality::Good;
    (0..30)
        .map(|number| Point {
            series: series.clone(),
            at: at(number),
            value: value(number),
            settled: None,
            good,
            record: number,
        })
        .collect()
}
