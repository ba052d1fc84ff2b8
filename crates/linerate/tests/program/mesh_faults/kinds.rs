//! Tests of each kind that two agents can do without a server of files, through the hub.

use std::collections::BTreeMap;

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
