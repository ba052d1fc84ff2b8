//! What goes wrong between hosts: loss, limits, queues, others' traffic, packets that are too large.

use super::super::draw::{on_log, whole};
use super::super::plan::{self, Pair};
use super::ground::{Ground, Planted};

pub(super) fn random_loss(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let loss = on_log(severity, [2e-5, 5e-2]);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.7} }} }}")];
    Some(ground.on_link("random-loss", [link, direction], severity, what))
}

pub(super) fn dirty_fibre(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    if ground.network.mtu < 9_000 {
        return None;
    }
    let (number, pair, link, direction) = ground.on_path();
    let loss = on_log(severity, [5e-4, 1e-1]);
    let small = plan::tcp(&pair, number, &["mss = 1448", "label = \"small segments\""]);
    ground.tests.push(small);
    let what = vec![format!("add = {{ loss = {{ large = {{ above = 1600, probability = {loss:.6} }} }} }}")];
    Some(ground.on_link("dirty-fibre", [link, direction], severity, what))
}

pub(super) fn duplex_mismatch(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = if ground.draw.is(0.5) { *pair.path.first()? } else { *pair.path.last()? };
    if ground.network.links[link].is_long {
        return None;
    }
    let loss = on_log(severity, [1e-2, 2e-1]);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.5} }} }}")];
    // Collisions do not ask who sent.
    Some(ground.on_link("duplex-mismatch", [link, direction], severity, what).both_ways())
}

pub(super) fn lag_member(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair, link, direction) = ground.on_path();
    let loss = on_log(severity, [5e-4, 2e-1]);
    let bad = ground.draw.below(4);
    ground.tests.push(plan::streams(&pair, number));
    let what = vec![format!("add = {{ loss = {{ member = {{ of = 4, bad = {bad}, probability = {loss:.5} }} }} }}")];
    Some(ground.on_link("lag-member-loss", [link, direction], severity, what))
}

pub(super) fn reordering(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let (part, late) = (on_log(severity, [2e-3, 1e-1]), on_log(severity, [2.0, 30.0]));
    let what = vec![format!("add = {{ reorder = {{ probability = {part:.5}, time = \"{}us\" }} }}", whole(late * 1e3))];
    Some(ground.on_link("reordering", [link, direction], severity, what))
}

pub(super) fn policer(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let rate = pair.rate * on_log(severity, [0.95, 0.03]);
    let burst = whole(ground.draw.log([32e3, 256e3]));
    let limit = format!("policer = {{ rate = \"{}kbit/s\", burst = \"{burst}B\" }}", whole(rate / 1e3));
    let what = vec![format!("add = {{ {limit} }}"), "at = \"first\"".to_owned()];
    Some(ground.on_link("policer", [link, direction], severity, what))
}

pub(super) fn slow_segment(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let queue = format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let what = ground.port(link, pair.rate * on_log(severity, [0.8, 0.03]), &queue);
    let planted = ground.on_link("slow-segment", [link, direction], severity, what);
    Some(Planted { from: None, ..planted })
}

/// The same from a moment on: the pair is tested before and after it.
pub(super) fn rate_limit(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair, link, direction) = ground.on_path();
    let queue = format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let what = ground.port(link, pair.rate * on_log(severity, [0.8, 0.03]), &queue);
    plan::before_and_after(ground.tests, &pair, number);
    let planted = ground.on_link("rate-limit", [link, direction], severity, what);
    Some(Planted { from: Some(ground.draw.between([0.4, 0.6])), ..planted })
}

pub(super) fn shallow_queue(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    // Where nothing is slower before it, no queue builds.
    let slowest = pair
        .path
        .iter()
        .min_by(|one, other| ground.network.links[one.0].rate.total_cmp(&ground.network.links[other.0].rate));
    let (link, direction) = *slowest?;
    let packets = whole(on_log(severity, [64.0, 4.0]));
    let what = ground.port(link, ground.network.links[link].rate, &format!("packets = {packets}"));
    Some(ground.on_link("shallow-queue", [link, direction], severity, what))
}

pub(super) fn bufferbloat(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let rate = pair.rate * 0.9;
    let bytes = whole(rate / 8.0 * on_log(severity, [0.2, 2.0]));
    let what = ground.port(link, rate, &format!("bytes = \"{bytes}B\""));
    Some(ground.on_link("bufferbloat", [link, direction], severity, what))
}

pub(super) fn cross_traffic(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let rate = ground.network.links[link].rate;
    let what = bursts(ground, link, &format!("{{ rate = \"{}kbit/s\" }}", whole(rate * (0.2 + 0.75 * severity) / 1e3)));
    Some(ground.on_link("cross-traffic", [link, direction], severity, what))
}

pub(super) fn microburst(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let rate = ground.network.links[link].rate * (1.0 + 3.0 * severity);
    let length = whole(on_log(severity, [20.0, 200.0]));
    let period = whole(on_log(severity, [3_000.0, 500.0])).max(length + 1);
    let burst = format!(
        "{{ rate = \"{}kbit/s\", start = \"100ms\", length = \"{length}ms\", period = \"{period}ms\" }}",
        whole(rate / 1e3)
    );
    let what = bursts(ground, link, &burst);
    Some(ground.on_link("microburst", [link, direction], severity, what))
}

fn bursts(ground: &Ground<'_>, link: usize, burst: &str) -> Vec<String> {
    let link = &ground.network.links[link];
    let (rate, queue) = (whole(link.rate / 1e3), whole(link.queue));
    vec![format!(
        "set = {{ port = {{ rate = \"{rate}kbit/s\", queue = {{ bytes = \"{queue}B\" }}, cross = {{ bursts = [{burst}] }} }} }}"
    )]
}

pub(super) fn firewall(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    if pair.rate * pair.rtt / 8.0 > 1.3 * f64::from(u16::MAX) && ground.draw.is(STRIPS) {
        let what =
            "add = { firewall = { packets-per-second = 2000000, inspects = \"tcp\", strips-window-scale = true } }";
        return Some(ground.on_link("firewall", [link, direction], severity, vec![what.to_owned()]).both_ways());
    }
    let full = pair.rate / (8.0 * f64::from(ground.network.mtu + 14));
    let packets = whole(full * on_log(severity, [0.9, 0.04])).max(50);
    let queue = whole(ground.draw.log([32.0, 128.0]));
    let what =
        vec![format!("add = {{ firewall = {{ packets-per-second = {packets}, queue = {{ packets = {queue} }} }} }}")];
    Some(ground.on_link("firewall", [link, direction], severity, what))
}

pub(super) fn mtu_black_hole(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let (link, direction) = *pair.path.iter().find(|(link, _)| ground.network.links[*link].is_long)?;
    silent_mtu(ground, "mtu-black-hole", number, &pair, [link, direction], severity)
}

pub(super) fn mtu_mismatch(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let (link, direction) = if ground.draw.is(0.5) { *pair.path.first()? } else { *pair.path.last()? };
    silent_mtu(ground, "mtu-mismatch", number, &pair, [link, direction], severity)
}

fn silent_mtu(
    ground: &mut Ground<'_>,
    cause: &'static str,
    number: usize,
    pair: &Pair,
    [link, direction]: [usize; 2],
    severity: f64,
) -> Option<Planted> {
    if ground.network.mtu < 9_000 {
        return None;
    }
    let bytes = whole(on_log(severity, [8_000.0, 1_500.0]));
    ground.tests.push(plan::tcp(pair, number, &["mss = 1400", "label = \"small segments\""]));
    Some(swallows(ground, cause, [link, direction], severity, bytes))
}

/// Both directions of a link lose what is larger, and nobody says so.
fn swallows(ground: &mut Ground<'_>, cause: &'static str, place: [usize; 2], severity: f64, bytes: u64) -> Planted {
    let what =
        vec![format!("add = {{ mtu = {{ bytes = {bytes}, report = \"silent\" }} }}"), "at = \"first\"".to_owned()];
    ground.on_link(cause, place, severity, what).both_ways()
}

/// An overlay with the MTU of the network below, which has no room for its headers at one port.
pub(super) fn mtu_overlay(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let machine = ground.network.hosts[pair.to].machine?;
    let (link, direction) =
        *pair.path.iter().find(|(link, end)| ground.network.links[*link].ends[1 - end] == machine)?;
    ground.network.overlay_mtu = ground.network.mtu;
    let bytes = whole(f64::from(ground.network.mtu) + ground.draw.between([0.0, 40.0]));
    if ground.draw.is(0.5) {
        ground.tests.push(plan::tcp(&pair, number, &["mss = 1000", "label = \"small segments\""]));
    }
    Some(swallows(ground, "mtu-overlay", [link, direction], severity, bytes))
}

/// An appliance that forgets a connection before it is needed again.
pub(super) fn conntrack_timeout(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, _, link, direction) = ground.on_path();
    let forgets = ground.draw.log([1.0, 4.0]);
    let idle = forgets * on_log(severity, [1.2, 4.0]);
    ground.tests.retain(|test| test.pair != number || test.kind != "tcp");
    ground.tests.push(plan::seldom(number, idle));
    let what =
        vec![format!("add = {{ conntrack = {{ forgets-after = \"{}ms\", flows = 1000 }} }}", whole(forgets * 1e3))];
    Some(ground.on_link("conntrack-timeout", [link, direction], severity, what))
}

/// Queues that mark long before they are full, on a path whose hosts ask for marks.
pub(super) fn ecn_marking(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let what = if ground.draw.is(0.3) {
        vec!["add = { ecn = \"mark-all\" }".to_owned()]
    } else {
        ground.marking(link, [pair.rate * 0.95, severity])
    };
    ground.network.hosts.iter_mut().for_each(|host| host.marks = true);
    Some(ground.on_link("ecn-marking-below-capacity", [link, direction], severity, what))
}

/// A loss of several packets in a thousand or more that ends: the pair is tested before and after that.
pub(super) fn loss_on_segment(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair, link, direction) = ground.on_path();
    let loss = on_log(severity, [3e-3, 1e-1]);
    plan::before_and_after(ground.tests, &pair, number);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.5} }} }}")];
    let planted = ground.on_link("loss-on-segment", [link, direction], severity, what);
    Some(Planted { from: None, until: Some(ground.draw.between([0.4, 0.6])), ..planted })
}

/// How often a firewall takes an option out of what opens a connection, where that costs anything.
const STRIPS: f64 = 0.25;
