//! What goes wrong in hosts: settings, programs without time, their own queues, and what a test asks for.

use super::super::draw::{index, on_log, whole};
use super::super::plan::{self, Pair};
use super::ground::{Claim, Ground, Planted};

/// Buffers smaller than a path needs. Half of a receive buffer is offered, and two thirds of a send buffer are used.
fn small_buffer(pair: &Pair, [severity, used]: [f64; 2]) -> Option<u64> {
    let product = pair.rate * pair.rtt / 8.0;
    (product > 200e3).then(|| whole(product * on_log(severity, [0.7, 0.03]) / used).max(16_384))
}

pub(super) fn receive_window(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let bytes = small_buffer(&pair, [severity, 0.5])?;
    let what = vec![format!("sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 {} {bytes}\" }}", bytes.min(131_072))];
    Some(ground.on_host("receive-window-small", pair.to, severity, what))
}

pub(super) fn send_buffer(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let bytes = small_buffer(&pair, [severity, 0.67])?;
    let what = vec![format!("sysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 16384 {bytes}\" }}")];
    Some(ground.on_host("send-buffer-small", pair.from, severity, what))
}

/// The kernel's defaults: half of 6 MiB is offered.
const DEFAULTS: &str =
    "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 6291456\", \"net.ipv4.tcp_wmem\" = \"4096 16384 4194304\" }";
const DEFAULT_WINDOW: f64 = 3.0 * 1_048_576.0;

pub(super) fn host_untuned(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    if pair.rate * pair.rtt / 8.0 < 1.2 * DEFAULT_WINDOW {
        return None;
    }
    let host = if ground.draw.is(0.5) { pair.from } else { pair.to };
    Some(ground.on_host("host-untuned", host, severity, vec![DEFAULTS.to_owned()]))
}

pub(super) fn tuning_reset(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    if pair.rate * pair.rtt / 8.0 < 1.2 * DEFAULT_WINDOW {
        return None;
    }
    plan::before_and_after(ground.tests, &pair, number);
    let planted = ground.on_host("tuning-reset", pair.from, severity, vec![DEFAULTS.to_owned()]);
    Some(Planted { from: Some(ground.draw.between([0.4, 0.6])), ..planted })
}

pub(super) fn congestion_control(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let segments = pair.rate * pair.rtt / 8.0 / f64::from(ground.network.mtu);
    if segments < 400.0 || ground.network.control == "reno" {
        return None;
    }
    let (link, direction) = *pair.path.iter().find(|(link, _)| ground.network.links[*link].is_long)?;
    let name = ground.network.links[link].name.clone();
    let towards = ground.towards([link, direction]);
    let what = vec!["congestion-control = \"reno\"".to_owned()];
    let mut planted = ground.on_host("congestion-control", pair.from, severity, what);
    // What every long path has: without a loss no algorithm is worse than another.
    let loss = on_log(severity, [5e-6, 5e-5]);
    planted.faults.push(vec![
        format!("link = \"{name}\""),
        format!("towards = \"{towards}\""),
        format!("add = {{ loss = {{ random = {loss:.8} }} }}"),
    ]);
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

pub(super) fn sender_cpu(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    cpu(ground, "sender-cpu", pair.from, severity)
}

pub(super) fn receiver_slow(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    cpu(ground, "receiver-slow", pair.to, severity)
}

/// The host has this role in all tests: in the other one it would have the other cause.
fn cpu(ground: &mut Ground<'_>, cause: &'static str, host: usize, severity: f64) -> Option<Planted> {
    let sends = cause == "sender-cpu";
    let other = ground.tests.iter().any(|test| {
        let pair = &ground.pairs[test.pair];
        let is_reverse = test.keys.iter().any(|key| key == "reverse = true");
        let sender = if is_reverse { pair.to } else { pair.from };
        let is_at = pair.from == host || pair.to == host;
        matches!(test.kind, "tcp" | "udp") && is_at && (sender == host) != sends
    });
    if other {
        return None;
    }
    let share = on_log(severity, [0.6, 0.02]);
    Some(ground.on_host(cause, host, severity, vec![format!("cpu-share = {share:.3}")]))
}

pub(super) fn udp_sender_drops(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let (link, direction) = *pair.path.first()?;
    let sent = pair.rate * 0.2;
    let rate = whole(sent * on_log(severity, [0.9, 0.1]) / 1e3);
    ground.tests.push(plan::udp(&pair, number, 0.2));
    let link_name = ground.network.links[link].name.clone();
    let what = vec![
        format!("link = \"{link_name}\""),
        format!("qdisc = {{ tbf = {{ rate = \"{rate}kbit/s\", burst = \"32kB\", limit = \"30kB\" }} }}"),
    ];
    let mut planted = ground.on_host("udp-sender-drops", pair.from, severity, what);
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

/// The same shaper with room for all that waits: the program is made to wait, and nothing is dropped.
pub(super) fn udp_sender_held(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let (link, direction) = *pair.path.first()?;
    ground.tests.retain(|test| test.pair != number || test.kind != "tcp");
    let part = ground.draw.between([0.2, 0.8]);
    ground.tests.push(plan::udp(&pair, number, part));
    let rate = whole(pair.rate * part * on_log(severity, [0.9, 0.1]) / 1e3);
    let limit = whole(ground.draw.log([400.0, 16_000.0]));
    let link_name = ground.network.links[link].name.clone();
    let what = vec![
        format!("link = \"{link_name}\""),
        format!("qdisc = {{ tbf = {{ rate = \"{rate}kbit/s\", burst = \"32kB\", limit = \"{limit}kB\" }} }}"),
    ];
    let mut planted = ground.on_host("udp-sender-held", pair.from, severity, what);
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

/// Datagrams that the receiving program does not read in time; nothing else ends at the host.
pub(super) fn udp_receiver_drops(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let mut others = ground.pairs.iter().enumerate().filter(|(other, _)| *other != number);
    if others.any(|(_, other)| other.from == pair.to || other.to == pair.to) {
        return None;
    }
    ground.tests.retain(|test| test.pair != number || test.kind != "tcp");
    let part = ground.draw.between([0.2, 0.8]);
    ground.tests.push(plan::udp(&pair, number, part));
    let share = on_log(severity, [0.3, 0.01]);
    Some(ground.on_host("udp-receiver-drops", pair.to, severity, vec![format!("cpu-share = {share:.3}")]))
}

/// A shaper that somebody left behind, whose queue is shorter than the bursts of TCP.
pub(super) fn device_queue_drops(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = *pair.path.first()?;
    let rate = whole(pair.rate * on_log(severity, [0.95, 0.1]) / 1e3);
    let (burst, limit) = (whole(ground.draw.log([8.0, 32.0])), whole(ground.draw.log([16.0, 64.0])));
    let link_name = ground.network.links[link].name.clone();
    let what = vec![
        format!("link = \"{link_name}\""),
        format!("qdisc = {{ tbf = {{ rate = \"{rate}kbit/s\", burst = \"{burst}kB\", limit = \"{limit}kB\" }} }}"),
    ];
    let mut planted = ground.on_host("device-queue-drops", pair.from, severity, what);
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

pub(super) fn window_scaling_off(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    if pair.rate * pair.rtt / 8.0 < 1.3 * f64::from(u16::MAX) {
        return None;
    }
    let host = if ground.draw.is(0.5) { pair.from } else { pair.to };
    let what = vec!["sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }".to_owned()];
    Some(ground.on_host("window-scaling-off", host, severity, what))
}

/// A host that says nothing of what is missing, on a path whose queue overflows while the window first grows, or that loses segments
/// in bursts.
pub(super) fn sack_off(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let product = pair.rate * pair.rtt / 8.0;
    if product < LEAST_WITHOUT_SACK {
        return None;
    }
    let host = if ground.draw.is(0.5) { pair.from } else { pair.to };
    let what = vec!["sysctl = { \"net.ipv4.tcp_sack\" = 0 }".to_owned()];
    let mut planted = ground.on_host("sack-off", host, severity, what);
    let (name, towards) = (ground.network.links[link].name.clone(), ground.towards([link, direction]));
    let place = vec![format!("link = \"{name}\""), format!("towards = \"{towards}\"")];
    let losses = if ground.draw.is(0.5) {
        let queue = format!("bytes = \"{}B\"", whole(product * on_log(severity, [0.8, 0.2])).max(30_000));
        ground.port(link, pair.rate, &queue)
    } else {
        let to_bad = on_log(severity, [1e-6, 3e-5]);
        vec![format!("add = {{ loss = {{ bursty = {{ to-bad = {to_bad:.8}, to-good = 0.1 }} }} }}")]
    };
    planted.faults.push(place.into_iter().chain(losses).collect());
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

/// Hosts keep to a little less than a link carries, whose queue is short, and one of them sends as fast as its own link does.
pub(super) fn sender_unpaced(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let ((first, _), behind) = pair.path.split_first()?;
    let slowest = behind.iter().min_by(|one, other| {
        let rate = |link: usize| ground.network.links[link].rate;
        rate(one.0).total_cmp(&rate(other.0))
    });
    let (link, direction) = *slowest?;
    if pair.rate * pair.rtt / 8.0 < LEAST_OF_GUSTS * f64::from(ground.network.mtu) {
        return None;
    }
    // Gusts need a link of the sender's that is faster than the one behind it.
    ground.network.links[*first].rate = ground.network.links[*first].rate.max(4.0 * pair.rate);
    let paced = pair.rate * ground.draw.between([0.8, 0.95]);
    for host in ground.network.testing() {
        ground.network.hosts[host].paced = Some(paced);
    }
    if ground.draw.is(0.4) {
        let pace = format!("pace = \"{}kbit/s\"", whole(paced / 1e3));
        ground.tests.push(plan::tcp(&pair, number, &[&pace, "label = \"paced\""]));
    }
    let what = vec!["qdisc = { pfifo = { packets = 10000 } }".to_owned()];
    let mut planted = ground.on_host("sender-unpaced", pair.from, severity, what);
    let (name, towards) = (ground.network.links[link].name.clone(), ground.towards([link, direction]));
    let place = vec![format!("link = \"{name}\""), format!("towards = \"{towards}\"")];
    let queue = format!("packets = {}", whole(on_log(severity, [64.0, 12.0])));
    planted.faults.push(place.into_iter().chain(ground.port(link, pair.rate, &queue)).collect());
    planted.claims.push(Claim::Link(link, direction));
    planted.claims.extend(ground.network.testing().into_iter().filter(|host| *host != pair.from).map(Claim::Host));
    Some(planted)
}

/// A route with a smaller initial window, and transfers of a few of its round trips.
pub(super) fn start_window(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    if ground.network.overlay || pair.rate * pair.rtt / 8.0 < 60.0 * f64::from(ground.network.mtu) {
        return None;
    }
    ground.tests.retain(|test| test.pair != number || test.kind != "tcp");
    let segments = ground.draw.log([15.0, 90.0]);
    let bytes = format!("bytes = \"{}kB\"", whole(segments * f64::from(ground.network.mtu) / 1e3));
    for _ in 0..2 + ground.draw.below(3) {
        ground.tests.push(plan::short(&pair, number, &bytes));
    }
    // Others that send as little begin with as much as is usual.
    if let Some((other, beside)) = ground.pairs.iter().enumerate().find(|(_, beside)| beside.from != pair.from) {
        ground.tests.push(plan::short(beside, other, &bytes));
    }
    let to = &ground.network.hosts[pair.to].name;
    let window = 4 - index(severity, 4);
    let what = vec![format!("route = {{ to = [\"{to}\"], initcwnd = {window} }}")];
    Some(ground.on_host("start-window-small", pair.from, severity, what))
}

/// One host asks for marks, and a queue on its path gives them at once.
pub(super) fn ecn_forced(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let marks = ground.marking(link, [pair.rate * 0.95, severity]);
    let (name, towards) = (ground.network.links[link].name.clone(), ground.towards([link, direction]));
    let what = vec!["sysctl = { \"net.ipv4.tcp_ecn\" = 1 }".to_owned()];
    let mut planted = ground.on_host("ecn-forced", pair.from, severity, what);
    let place = vec![format!("link = \"{name}\""), format!("towards = \"{towards}\"")];
    planted.faults.push(place.into_iter().chain(marks).collect());
    planted.claims.push(Claim::Link(link, direction));
    Some(planted)
}

/// A test that asks for a window below what its path needs: nothing is wrong with the hosts.
pub(super) fn test_limit(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let bytes = small_buffer(&pair, [severity, 0.5])?;
    let window = format!("window = \"{}kB\"", (bytes / 1_000).max(16));
    let of_pair = ground.tests.iter_mut().filter(|test| test.pair == number && test.kind == "tcp");
    of_pair.for_each(|test| test.keys.push(window.clone()));
    let planted = ground.on_host("test-limit", pair.from, severity, Vec::new());
    Some(Planted { faults: Vec::new(), ..planted })
}

/// Packets under way from which on what is sent at once is more than a short queue holds.
const LEAST_OF_GUSTS: f64 = 80.0;
/// Bytes in flight from which on more than one segment is lost at once as a rule.
const LEAST_WITHOUT_SACK: f64 = 100e3;
