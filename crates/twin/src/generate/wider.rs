//! A wider world for incidents that are learnt from: what networks have beside what is drawn for judging (docs/incidents.md, "The
//! wider world"). Who learns from one distribution alone takes its habits for laws.

use super::draw::{Draw, whole};
use super::faults::{Claim, Planted};
use super::network::{Link, Network};
use super::plan::{self, Pair, Test};

/// Whether an incident is drawn from it: every second one that is learnt from.
pub(super) const fn has(seed: u64) -> bool {
    seed > LEARNING.0 && seed <= LEARNING.1 && seed % 2 == 1
}

/// A network that is faster by a factor, as those of today are, with queues and socket buffers that fit.
pub(super) fn enlarge(network: &mut Network, draw: &mut Draw) {
    if !draw.is(FASTER) {
        return;
    }
    let factor = draw.log([2.0, 40.0]).min(FASTEST / network.rate);
    network.rate *= factor;
    for link in &mut network.links {
        link.rate *= factor;
        link.queue *= factor;
    }
    #[expect(clippy::cast_precision_loss, reason = "socket buffers of some megabytes")]
    let buffers = whole(network.buffers as f64 * factor).next_power_of_two().min(MOST_BUFFERS);
    network.buffers = network.buffers.max(buffers);
    for host in &mut network.hosts {
        (host.receive_buffer, host.send_buffer) = (network.buffers, network.buffers);
    }
}

/// What tests leave out where nobody asked for it: samples closer than usual, and packets of another size.
pub(super) fn ask_less(tests: &mut Vec<Test>, planted: &[Planted], draw: &mut Draw) {
    if draw.is(USUAL_SAMPLES) {
        let is_usual = |key: &String| !key.starts_with("sample-every") && !key.starts_with("probe-every");
        tests.iter_mut().for_each(|test| test.keys.retain(is_usual));
    }
    if planted.iter().any(|planted| OF_SIZES.contains(&planted.cause)) && draw.is(ONE_SIZE) {
        let is_other = |key: &String| key.contains("small segments") || key.contains("large echoes");
        tests.retain(|test| !test.keys.iter().any(is_other));
    }
}

/// Tests that people run besides: paced ones, and such as last longer.
pub(super) fn add_tests(pairs: &[Pair], tests: &mut Vec<Test>, draw: &mut Draw) {
    for (number, pair) in pairs.iter().enumerate() {
        if draw.is(PACED) {
            let rate = whole(pair.rate * draw.between([0.4, 0.95]) / 1e3);
            let pace = format!("pace = \"{rate}kbit/s\"");
            tests.push(plan::tcp(pair, number, &[&pace, "label = \"paced\""]));
        }
    }
    if draw.is(LONGER) {
        for test in tests.iter_mut().filter(|test| test.kind == "tcp") {
            test.length *= 2.0;
            if let Some(time) = test.keys.first_mut() {
                *time = format!("time = \"{}ms\"", whole(test.length * 1e3));
            }
        }
    }
}

/// A fault as it is met as well: in both directions of a link, a single burst, a bucket that holds more, a loss that stays.
pub(super) fn vary(planted: Planted, length: f64, draw: &mut Draw) -> Planted {
    match planted.cause {
        "microburst" if draw.is(SINGLE) => single_burst(planted, length, draw),
        "loss-on-segment" if draw.is(STAYS) => Planted { until: None, ..planted },
        "policer" if draw.is(DEEPER) => deeper_bucket(planted, draw),
        cause if BOTH_WAYS.contains(&cause) && draw.is(IN_BOTH) => planted.both_ways(),
        _ => planted,
    }
}

/// A fault that begins between two tests of a pair that meets it, as those do that people notice.
pub(super) fn begin_later(planted: Planted, pairs: &[Pair], tests: &mut Vec<Test>, draw: &mut Draw) -> Planted {
    if !BEGINS.contains(&planted.cause) || !draw.is(LATER) {
        return planted;
    }
    let meets = |pair: &Pair| pair.path.iter().any(|(link, end)| planted.claims.contains(&Claim::Link(*link, *end)));
    let Some((number, pair)) = pairs.iter().enumerate().find(|(_, pair)| meets(pair)) else { return planted };
    plan::before_and_after(tests, pair, number);
    Planted { from: Some(draw.between([0.4, 0.6])), ..planted }
}

/// Routes as most long paths have them: one direction leads over the second way, which is as good. Nothing is wrong with that, and
/// whoever looks for a fault beside it must not take it for one.
pub(super) fn part_directions(network: &mut Network, pairs: &[Pair], planted: &[Planted], draw: &mut Draw) {
    let is_of_routes = |planted: &Planted| OF_ROUTES.contains(&planted.cause);
    if planted.iter().any(is_of_routes) || !draw.is(PARTED) {
        return;
    }
    let is_spared = |at: (usize, usize)| {
        let claim = Claim::Link(at.0, at.1);
        planted.iter().all(|planted| !planted.claims.contains(&claim))
    };
    let long = |pair: &Pair| pair.path.iter().copied().find(|(link, _)| network.links[*link].is_long);
    let Some((pair, (link, end))) = pairs.iter().find_map(|pair| Some((pair, long(pair)?))) else { return };
    let there = is_spared((link, end)) && draw.is(0.5);
    let (to, end) = if there { (pair.to, end) } else { (pair.from, 1 - end) };
    if !is_spared((link, end)) {
        return;
    }
    let from = network.links[link].ends[end];
    let is_first = |link: &&Link| link.is_spare && link.ends.contains(&from);
    let Some(first) = network.links.iter().find(is_first) else { return };
    let lines = [
        "[[routes]]".to_owned(),
        format!("host = \"{}\"", network.hosts[from].name),
        format!("to = [\"{}\"]", network.hosts[to].name),
        format!("link = \"{}\"", first.name),
        String::new(),
    ];
    network.services.extend(lines);
}

/// A bucket that holds up to sixteen times as much.
fn deeper_bucket(mut planted: Planted, draw: &mut Draw) -> Planted {
    let factor = draw.log([1.0, 16.0]);
    for key in planted.faults.iter_mut().flatten() {
        let parts = key.split_once("burst = \"").and_then(|(before, rest)| Some((before, rest.split_once("B\"")?)));
        let Some((before, (bytes, rest))) = parts else { continue };
        let bytes = bytes.parse().map_or(0, |bytes: f64| whole(bytes * factor));
        *key = format!("{before}burst = \"{bytes}B\"{rest}");
    }
    planted
}

/// One burst, somewhen while it is tested.
fn single_burst(mut planted: Planted, length: f64, draw: &mut Draw) -> Planted {
    let start = whole(draw.between([0.1, 0.8]) * length * 1e3);
    for fault in &mut planted.faults {
        for key in fault.iter_mut() {
            if let Some((burst, rest)) = key.split_once(", period = \"").map(|(a, b)| (a.to_owned(), b.to_owned())) {
                let rest = rest.split_once('"').map_or("", |(_, rest)| rest);
                *key = format!("{burst}{rest}").replace("start = \"100ms\"", &format!("start = \"{start}ms\""));
            }
        }
    }
    Planted { from: None, ..planted }
}

/// Seeds of incidents that are learnt from, the first of them excluded.
const LEARNING: (u64, u64) = (1_000_000, 2_000_000);
const PACED: f64 = 0.25;
const LONGER: f64 = 0.3;
const SINGLE: f64 = 0.35;
const LATER: f64 = 0.25;
/// What has no name of its own where it begins while it is tested.
const BEGINS: [&str; 9] = [
    "random-loss",
    "cross-traffic",
    "policer",
    "bufferbloat",
    "firewall",
    "reordering",
    "duplex-mismatch",
    "lag-member-loss",
    "shallow-queue",
];
/// How often the directions part where there is a second way.
const PARTED: f64 = 0.6;
/// What moves packets to the second way.
const OF_ROUTES: [&str; 2] = ["asymmetric-route", "route-change"];
const STAYS: f64 = 0.35;
const DEEPER: f64 = 0.5;
const FASTER: f64 = 0.4;
/// In bit/s.
const FASTEST: f64 = 10e9;
/// Bytes that hosts are tuned to as a rule where they are tuned.
const MOST_BUFFERS: u64 = 1 << 30;
const USUAL_SAMPLES: f64 = 0.5;
const ONE_SIZE: f64 = 0.4;
/// What packets of several sizes show.
const OF_SIZES: [&str; 3] = ["mtu-black-hole", "mtu-mismatch", "dirty-fibre"];
const IN_BOTH: f64 = 0.35;
/// What contracts, cables and devices do in both directions as a rule.
const BOTH_WAYS: [&str; 7] =
    ["policer", "slow-segment", "shallow-queue", "bufferbloat", "random-loss", "firewall", "cross-traffic"];
