//! Tests of each kind through the hub: between two agents, and with a server of files that has none.

use std::collections::BTreeMap;

use hub::agent::guard::DayUse;
use hub::api::record::{RunResult, content};
use mesh::incident::Metric;
use model::played::Finding;
use model::run::Outcome;
use units::WallTime;

use super::world::World;

/// Every kind but downloads, between hosts that are both this one.
const EVERY_KIND: &str = r#"
title = "five kinds"
[times]
every = "1h"
light-every = "4s"
gap = "0s"
[hosts.a]
address = "127.0.0.1"
port = 5201
[hosts.b]
address = "127.0.0.1"
port = 5202
[groups.all]
mesh = ["a", "b"]
[[tests]]
kind = "tcp"
time = "1s"
[[tests]]
kind = "udp"
time = "1s"
rate = "1Mbit/s"
[[tests]]
kind = "ping"
count = 3
[[tests]]
kind = "mtu"
[[tests]]
kind = "hops"
"#;

/// What was measured, by its kind; [`None`] of a test that failed.
fn measured(finding: &Finding) -> Option<&'static str> {
    match finding {
        Finding::Run(run) if run.outcome == Outcome::Complete => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            Some(if totals.filter_map(|total| total.datagrams.as_ref()).next().is_some() { "udp" } else { "tcp" })
        }
        Finding::Echo(echo) if echo.summary.rtt.min_us.is_some() => Some("ping"),
        Finding::PathMtu(mtu) if mtu.path_mtu.is_some() => Some("mtu"),
        Finding::Hops(hops) if hops.outcome == Outcome::Complete => Some("hops"),
        _ => None,
    }
}

#[test]
fn tcp_udp_ping_mtu_and_hops_are_measured_both_ways_and_become_series() {
    let mut world = World::empty("true");
    world.write("plan.toml", EVERY_KIND);
    world.hub(super::world::HUB, "--name 127.0.0.1 --listen 127.0.0.1:8443");
    world.join("https://127.0.0.1:8443");
    for heavy in ["tcp", "udp"] {
        world.run(&format!("$L hub test $F/hub/made {heavy} a b && $L hub test $F/hub/made {heavy} b a"));
    }
    let kinds = |world: &World| {
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        for record in world.results() {
            let result: RunResult = content(&record.content).unwrap();
            let pair = record.run.unwrap();
            let is_from_a = pair.contains("/a/b/");
            if let Some(kind) = measured(&result.finding) {
                *kinds.entry(kind).or_default() |= if is_from_a { 1 } else { 2 };
            }
        }
        kinds
    };
    for kind in ["ping", "mtu", "hops", "tcp", "udp"] {
        world.wait(&format!("{kind} both ways"), |world| kinds(world).get(kind) == Some(&3));
    }
    let metrics = |world: &World| {
        let points = world.store().points(None, WallTime::default()).unwrap();
        points.into_iter().map(|point| point.series.metric).collect::<std::collections::BTreeSet<Metric>>()
    };
    let all = [Metric::Goodput, Metric::Loss, Metric::RttMin, Metric::Mtu];
    world.wait("a series of each", |world| all.iter().all(|metric| metrics(world).contains(metric)));
}

/// A host that has files and no agent.
const FILES: &str = r#"
title = "files"
[times]
every = "1h"
light-every = "1h"
[hosts.a]
address = "127.0.0.1"
port = 5201
[hosts.files]
address = "127.0.0.1"
http-port = 8080
[groups.all]
mesh = ["a", "files"]
[[tests]]
kind = "http"
file = "file"
count = 2
[[tests]]
kind = "hops"
"#;

#[test]
fn files_are_fetched_from_a_host_without_an_agent_which_is_not_asked_to_fetch_any() {
    let mut world = World::empty("mkdir $F/files && head -c 3000000 /dev/urandom >$F/files/file");
    world.run("python3 -m http.server 8080 --bind 127.0.0.1 --directory $F/files </dev/null >/dev/null 2>&1 &");
    world.write("plan.toml", FILES);
    world.hub(super::world::HUB, "--name 127.0.0.1 --listen 127.0.0.1:8443");
    world.join("https://127.0.0.1:8443");
    world.run("until $L probe http http://127.0.0.1:8080/file >/dev/null 2>&1; do sleep 0.1; done");
    world.run("$L hub test $F/hub/made download a files");
    let refused = world.run("$L hub test $F/hub/made download files a 2>&1 || true");
    assert!(refused.contains("there is no heavy test download from files to a"), "{refused}");
    let whole = |world: &World| {
        let results = world.results().into_iter();
        results
            .filter_map(|record| match content::<RunResult>(&record.content).unwrap().finding {
                Finding::Downloads(downloads) => Some(downloads),
                _ => None,
            })
            .next()
    };
    world.wait("a result of downloads", |world| whole(world).is_some());
    let downloads = whole(&world).unwrap();
    assert_eq!(downloads.len(), 2);
    assert!(
        downloads.iter().all(|one| one.outcome == Outcome::Complete && one.body.get() == 3_000_000),
        "{downloads:?}"
    );
    let used: DayUse = serde_json::from_str(&world.run("cat $F/a/made/day.json")).unwrap();
    assert_eq!(used.bytes, 6_000_000, "the day's bytes of the agent");
    let rate = |world: &World| {
        let points = world.store().points(None, WallTime::default()).unwrap().into_iter();
        points.map(|point| point.series).find(|series| series.metric == Metric::DownloadRate)
    };
    world.wait("a series of the rate", |world| rate(world).is_some());
    let series = rate(&world).unwrap();
    assert_eq!([series.from.as_str(), series.to.as_str()], ["files", "a"]);
}
