//! What-if over real runs, without a socket.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use model::round::Round;
use serde_json::Value;
use web::exchange::Request;
use web::site::Site;
use web::source::files::Files;

/// Transfers between guests of NRAO's archive, of which no RTT was measured.
fn nrao() -> Site {
    let text = include_bytes!("../../../testdata/rounds/nrao-overlay.json");
    let mut files = Files::named("test");
    files.add_round(Round::from_json(text).unwrap());
    Site::new(Box::new(files), Vec::new())
}

#[track_caller]
fn ask(site: &Site, query: &str) -> (u16, Value) {
    let response = site.answer(&Request::get(&format!("/view/v1/what-if?{query}")));
    (response.status, serde_json::from_slice(&response.body).unwrap())
}

fn parameter<'a>(view: &'a Value, name: &str) -> &'a Value {
    view["parameters"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

const RUN: &str = "run=01GCF000000000000000000001";

#[test]
fn what_is_not_known_of_a_run_is_asked_for_and_nothing_is_made_up() {
    let site = nrao();
    let (status, view) = ask(&site, RUN);
    assert_eq!(status, 200, "{view}");
    assert_eq!((&view["basis"]["from"], &view["basis"]["to"]), (&"na-arc-1".into(), &"na-arc-2".into()));
    assert_eq!(view["measured"]["goodput_bps"], 3_920_000_000_u64);
    assert!(view["missing"].as_str().unwrap().contains("no RTT was measured"), "{view}");
    assert_eq!(parameter(&view, "rtt")["value"], "");
    assert!(view.get("varied").is_none() && view.get("as_it_was").is_none() && view.get("command").is_none());

    let (_, view) = ask(&site, &format!("{RUN}&rtt=200us&rate=10Gbit/s&time=1s"));
    assert!(view.get("missing").is_none(), "{view}");
    let goodput = view["varied"]["goodput_bps"].as_u64().unwrap();
    assert!((8_000_000_000..10_000_000_000).contains(&goodput), "{goodput}");
    assert_eq!(view["varied"]["limit"], "path");
    assert!(
        view["command"].as_str().unwrap().starts_with("linerate simulate flow --rate 10Gbit/s --rtt 200us "),
        "{view}"
    );
}

#[test]
fn a_pair_has_the_facts_of_its_latest_transfer_and_one_without_any_those_of_untuned_hosts() {
    let site = nrao();
    let (_, view) = ask(&site, "from=na-arc-3&to=na-arc-1&network=ingress&rtt=200us&rate=10Gbit/s&time=1s");
    assert_eq!((&view["basis"]["from"], &view["basis"]["to"]), (&"na-arc-3".into(), &"na-arc-1".into()), "{view}");
    assert!(view["measured"]["goodput_bps"].as_u64().unwrap() < 1_000_000);
    let (status, view) = ask(&site, "from=nobody&to=na-arc-1&time=1s");
    assert_eq!((status, view.get("basis")), (200, None));
    assert_eq!(parameter(&view, "rmem")["value"], "6MiB");
    assert_eq!(view["varied"]["limit"], "receive_window");
}

#[test]
fn a_larger_window_gives_what_the_smaller_one_held_back() {
    let site = nrao();
    let goodput = |query: &str| ask(&site, query).1["varied"]["goodput_bps"].as_u64().unwrap();
    let path = "rate=1Gbit/s&rtt=50ms&time=5s";
    let small = goodput(&format!("{path}&rmem=1MiB"));
    let large = goodput(&format!("{path}&rmem=64MiB&wmem=64MiB"));
    assert!(large > 4 * small, "{small} {large}");
    let lossy = goodput(&format!("{path}&rmem=64MiB&wmem=64MiB&loss=0.001"));
    assert!(lossy < large / 2, "{lossy} {large}");
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out_and_no_answer_costs_more_than_is_permitted() {
    let site = nrao();
    for query in ["rate=fast", "rtt=11s", "loss=2", "flows=0", "mtu=1", "time=1s&bytes=1GB", "congestion=vegas"] {
        let (status, problem) = ask(&site, query);
        assert_eq!(status, 400, "{query}: {problem}");
        assert!(problem["error"].is_string() && problem["hint"].is_string(), "{query}: {problem}");
    }
    assert_eq!(ask(&site, "run=nothing").0, 404);
    let (status, view) =
        ask(&site, "rate=1Tbit/s&rtt=10s&time=3600s&wmem=2GiB&rmem=2GiB&mtu=576&flows=256&loss=0.001&queue=1000GB");
    assert_eq!(status, 200, "{view}");
    assert!(view["varied"]["at_us"].as_array().unwrap().len() <= 300);
}

#[test]
fn as_many_answers_are_worked_out_at_a_time_as_may_be_and_others_are_told_to_ask_again() {
    let site = nrao();
    let costly = "rate=10Gbit/s&rtt=20ms&wmem=64MiB&rmem=128MiB&loss=0.0001&time=60s";
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| ask(&site, costly).0)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|status| matches!(status, 200 | 503)), "{answers:?}");
    assert!(answers.contains(&200) && answers.contains(&503), "{answers:?}");
    assert_eq!(ask(&site, "rate=10Mbit/s&time=1s").0, 200, "places come free");
}
