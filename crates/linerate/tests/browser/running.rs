//! A round while it is measured: the page shows what is done, what runs and what is left, and follows by itself.

use serde_json::Value;

use super::Visit;
use crate::actors::network::Network;

/// Three hosts whose tests take long enough to be looked at, and leave the CPUs to who looks.
const TESTS: &str = r#"
[groups.all]
mesh = ["a", "b", "c"]

[[tests]]
kind = "ping"
count = 3
interval = "20ms"

[[tests]]
kind = "tcp"
time = "3s"
rate = "100Mbit/s"
cca = "cubic"
"#;

#[test]
fn a_round_is_followed_without_a_hub_until_it_is_kept() {
    let mut network = Network::new();
    network.plan(TESTS);
    network
        .world
        .run("$L round $F/plan.toml --overtime 1h --patience 5min --quiet > $F/round.out 2>&1 & echo $! > $F/leader");
    network
        .world
        .run("until grep -qs '\"begun\"' $F/archive.db.rounds/*.round.jsonl; do kill -0 $(cat $F/leader) && sleep 0.02; done");
    let archive = network.world.folder.path().join("archive.db");
    let mut visit = Visit::of(archive.to_str().unwrap());
    let text = visit.look_at("/", "running-overview");
    assert!(
        text.contains("Measured now") && text.contains("three hosts") && text.contains("of 12 tests done"),
        "{text}"
    );
    visit.browser.follow("document.querySelector('a[href^=\"/round/\"]').click()");
    let page = visit.browser.value("location.pathname").as_str().unwrap().to_owned();
    let view = visit.json(&format!("/view/v1{page}"));
    assert_eq!(
        (view["progress"]["tests"].as_u64(), view["progress"]["is_led"].as_bool()),
        (Some(12), Some(true)),
        "{view}"
    );
    let rows = view["progress"]["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["state"] == "running") && rows.iter().any(|row| row["state"] == "waiting"),
        "{view}"
    );
    visit.look_at(&page, "running");
    // Nobody reloads: rows that are done become more, and what is measured is in the grid.
    let done = "[...document.querySelectorAll('tbody tr')].filter((row) => row.cells[0].innerText === 'done').length";
    let until = |wanted: &str| {
        format!(
            "new Promise((seen) => {{ const look = () => ({wanted}) ? seen(true) : setTimeout(look, 100); look(); }})"
        )
    };
    let known = visit.browser.value(done).as_u64().unwrap();
    visit.browser.value(&until(&format!("{done} > {known}")));
    visit.browser.value(&until("document.querySelector('.grid')"));
    // Once it is kept the same page has all of it, with its diagnosis.
    network.world.run("wait $(cat $F/leader) || true; cat $F/round.out");
    visit.browser.value(&until("!document.body.innerText.includes('Measured now')"));
    let view = visit.json(&format!("/view/v1{page}"));
    assert_eq!((view["tests"].as_u64(), view.get("progress")), (Some(12), None), "{view}");
    let text = visit.look_at(&page, "running-kept");
    assert!(text.contains("12 tests") && !text.contains("so far"), "{text}");
    assert_eq!(visit.browser.complaints(), Vec::<Value>::new());
}

#[test]
fn a_round_that_nobody_leads_any_more_is_shown_as_interrupted() {
    let mut network = Network::new();
    network.plan(TESTS);
    network.world.run(
        "$L round $F/plan.toml --quiet > /dev/null 2>&1 & leader=$!; until grep -qs '\"slot\"' $F/archive.db.rounds/*.round.jsonl; \
         do kill -0 $leader && sleep 0.02; done; kill -9 $leader; wait $leader || true",
    );
    network.is_left_empty();
    let mut visit = Visit::of(network.world.folder.path().join("archive.db").to_str().unwrap());
    let text = visit.look_at("/", "interrupted");
    assert!(text.contains("Interrupted") && text.contains("--resume"), "{text}");
    let overview = visit.json("/view/v1/overview");
    assert_eq!(overview["running"][0]["is_led"], false, "{overview}");
}
