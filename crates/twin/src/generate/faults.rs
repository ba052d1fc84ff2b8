//! Faults, each with what it does to a network from barely visible to total (docs/incidents.md, "What is wrong").

use super::draw::{Draw, on_log, whole};
use super::network::{Network, Nic, adapter};
use super::plan::{self, Pair, Test};

/// A fault as a file has it, and the truth of it.
#[derive(Debug, Clone)]
pub(super) struct Planted {
    pub(super) cause: &'static str,
    /// `host = "…"`, or `link = "…"` with or without `towards`.
    pub(super) place: Vec<String>,
    /// The tables `[[faults]]`, without their ids.
    pub(super) faults: Vec<Vec<String>>,
    /// When it begins, in parts of the tests; from the start where it is [`None`].
    pub(super) from: Option<f64>,
    pub(super) severity: f64,
    /// What no other fault of the incident may touch.
    pub(super) claims: Vec<Claim>,
}

/// A thing that a fault has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Host(usize),
    /// One direction of a link.
    Link(usize, usize),
}

impl Claim {
    /// The same link the other way.
    pub(super) const fn other_direction(self) -> Option<Self> {
        match self {
            Self::Host(_) => None,
            Self::Link(link, direction) => Some(Self::Link(link, 1 - direction)),
        }
    }
}

/// What a fault is drawn in.
pub(super) struct Ground<'a> {
    pub(super) network: &'a mut Network,
    pub(super) pairs: &'a [Pair],
    pub(super) tests: &'a mut Vec<Test>,
    pub(super) draw: &'a mut Draw,
}

type Recipe = fn(&mut Ground<'_>, f64) -> Option<Planted>;

/// All that can be drawn. One that a network cannot have gives nothing, and another is drawn.
pub(super) const RECIPES: &[Recipe] = &[
    random_loss,
    dirty_fibre,
    duplex_mismatch,
    lag_member,
    reordering,
    policer,
    slow_segment,
    rate_limit,
    shallow_queue,
    bufferbloat,
    cross_traffic,
    microburst,
    firewall,
    mtu_black_hole,
    mtu_mismatch,
    receive_window,
    send_buffer,
    host_untuned,
    tuning_reset,
    congestion_control,
    sender_cpu,
    receiver_slow,
    udp_sender_drops,
    ring_small,
    receive_offload,
];

impl Ground<'_> {
    fn pair(&mut self) -> (usize, Pair) {
        let number = self.draw.below(self.pairs.len());
        (number, self.pairs[number].clone())
    }

    /// A link on the path of a tested pair, with the direction of the data.
    fn on_path(&mut self) -> (usize, Pair, usize, usize) {
        let (number, pair) = self.pair();
        let (link, direction) = pair.path[self.draw.below(pair.path.len())];
        (number, pair, link, direction)
    }

    fn towards(&self, [link, direction]: [usize; 2]) -> String {
        let link = &self.network.links[link];
        self.network.hosts[link.ends[1 - direction]].name.clone()
    }

    /// When a fault begins that can be there from the start.
    fn begins(&mut self) -> Option<f64> {
        self.draw.is(0.2).then(|| self.draw.between([0.3, 0.6]))
    }

    /// A fault on one direction of a link.
    fn on_link(
        &mut self,
        cause: &'static str,
        [link, direction]: [usize; 2],
        severity: f64,
        what: Vec<String>,
    ) -> Planted {
        let place = vec![
            format!("link = \"{}\"", self.network.links[link].name),
            format!("towards = \"{}\"", self.towards([link, direction])),
        ];
        let fault = place.iter().cloned().chain(what).collect();
        let from = self.begins();
        let claims = vec![Claim::Link(link, direction)];
        Planted { cause, place, faults: vec![fault], from, severity, claims }
    }

    fn on_host(&mut self, cause: &'static str, host: usize, severity: f64, what: Vec<String>) -> Planted {
        let place = vec![format!("host = \"{}\"", self.network.hosts[host].name)];
        let fault = place.iter().cloned().chain(what).collect();
        Planted { cause, place, faults: vec![fault], from: None, severity, claims: vec![Claim::Host(host)] }
    }

    /// The port of a link with other settings.
    fn port(&self, link: usize, rate: f64, queue: &str) -> Vec<String> {
        let cross = self.network.links[link].cross_setting();
        vec![format!("set = {{ port = {{ rate = \"{}kbit/s\", queue = {{ {queue} }}{cross} }} }}", whole(rate / 1e3))]
    }
}

fn random_loss(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let loss = on_log(severity, [2e-5, 5e-2]);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.7} }} }}")];
    Some(ground.on_link("random-loss", [link, direction], severity, what))
}

fn dirty_fibre(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn duplex_mismatch(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = if ground.draw.is(0.5) { *pair.path.first()? } else { *pair.path.last()? };
    if ground.network.links[link].is_long {
        return None;
    }
    let loss = on_log(severity, [1e-2, 2e-1]);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.5} }} }}")];
    let mut planted = ground.on_link("duplex-mismatch", [link, direction], severity, what);
    // Both directions: collisions do not ask who sent.
    planted.place.truncate(1);
    planted.faults.iter_mut().for_each(|fault| drop(fault.remove(1)));
    planted.claims.push(Claim::Link(link, 1 - direction));
    Some(planted)
}

fn lag_member(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair, link, direction) = ground.on_path();
    let loss = on_log(severity, [5e-4, 2e-1]);
    let bad = ground.draw.below(4);
    ground.tests.push(plan::streams(&pair, number));
    let what = vec![format!("add = {{ loss = {{ member = {{ of = 4, bad = {bad}, probability = {loss:.5} }} }} }}")];
    Some(ground.on_link("lag-member-loss", [link, direction], severity, what))
}

fn reordering(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let (part, late) = (on_log(severity, [2e-3, 1e-1]), on_log(severity, [2.0, 30.0]));
    let what = vec![format!("add = {{ reorder = {{ probability = {part:.5}, time = \"{}us\" }} }}", whole(late * 1e3))];
    Some(ground.on_link("reordering", [link, direction], severity, what))
}

fn policer(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let rate = pair.rate * on_log(severity, [0.95, 0.03]);
    let burst = whole(ground.draw.log([32e3, 256e3]));
    let limit = format!("policer = {{ rate = \"{}kbit/s\", burst = \"{burst}B\" }}", whole(rate / 1e3));
    let what = vec![format!("add = {{ {limit} }}"), "at = \"first\"".to_owned()];
    Some(ground.on_link("policer", [link, direction], severity, what))
}

fn slow_segment(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let queue = format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let what = ground.port(link, pair.rate * on_log(severity, [0.8, 0.03]), &queue);
    let planted = ground.on_link("slow-segment", [link, direction], severity, what);
    Some(Planted { from: None, ..planted })
}

/// The same from a moment on: the pair is tested before and after it.
fn rate_limit(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair, link, direction) = ground.on_path();
    let queue = format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let what = ground.port(link, pair.rate * on_log(severity, [0.8, 0.03]), &queue);
    ground.tests.insert(0, plan::tcp(&pair, number, &[]));
    ground.tests.push(plan::tcp(&pair, number, &[]));
    let planted = ground.on_link("rate-limit", [link, direction], severity, what);
    Some(Planted { from: Some(ground.draw.between([0.4, 0.6])), ..planted })
}

fn shallow_queue(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn bufferbloat(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let rate = pair.rate * 0.9;
    let bytes = whole(rate / 8.0 * on_log(severity, [0.2, 2.0]));
    let what = ground.port(link, rate, &format!("bytes = \"{bytes}B\""));
    Some(ground.on_link("bufferbloat", [link, direction], severity, what))
}

fn cross_traffic(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, _, link, direction) = ground.on_path();
    let rate = ground.network.links[link].rate;
    let what = bursts(ground, link, &format!("{{ rate = \"{}kbit/s\" }}", whole(rate * (0.2 + 0.75 * severity) / 1e3)));
    Some(ground.on_link("cross-traffic", [link, direction], severity, what))
}

fn microburst(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn firewall(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair, link, direction) = ground.on_path();
    let full = pair.rate / (8.0 * f64::from(ground.network.mtu + 14));
    let packets = whole(full * on_log(severity, [0.9, 0.04])).max(50);
    let queue = whole(ground.draw.log([32.0, 128.0]));
    let what =
        vec![format!("add = {{ firewall = {{ packets-per-second = {packets}, queue = {{ packets = {queue} }} }} }}")];
    Some(ground.on_link("firewall", [link, direction], severity, what))
}

fn mtu_black_hole(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let (link, direction) = *pair.path.iter().find(|(link, _)| ground.network.links[*link].is_long)?;
    silent_mtu(ground, "mtu-black-hole", number, &pair, [link, direction], severity)
}

fn mtu_mismatch(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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
    let what =
        vec![format!("add = {{ mtu = {{ bytes = {bytes}, report = \"silent\" }} }}"), "at = \"first\"".to_owned()];
    let mut planted = ground.on_link(cause, [link, direction], severity, what);
    planted.place.truncate(1);
    planted.faults.iter_mut().for_each(|fault| drop(fault.remove(1)));
    planted.claims.push(Claim::Link(link, 1 - direction));
    Some(planted)
}

/// Buffers smaller than a path needs. Half of a receive buffer is offered, and two thirds of a send buffer are used.
fn small_buffer(pair: &Pair, [severity, used]: [f64; 2]) -> Option<u64> {
    let product = pair.rate * pair.rtt / 8.0;
    (product > 200e3).then(|| whole(product * on_log(severity, [0.7, 0.03]) / used).max(16_384))
}

fn receive_window(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let bytes = small_buffer(&pair, [severity, 0.5])?;
    let what = vec![format!("sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 {} {bytes}\" }}", bytes.min(131_072))];
    Some(ground.on_host("receive-window-small", pair.to, severity, what))
}

fn send_buffer(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let bytes = small_buffer(&pair, [severity, 0.67])?;
    let what = vec![format!("sysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 16384 {bytes}\" }}")];
    Some(ground.on_host("send-buffer-small", pair.from, severity, what))
}

/// The kernel's defaults: half of 6 MiB is offered.
const DEFAULTS: &str =
    "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 6291456\", \"net.ipv4.tcp_wmem\" = \"4096 16384 4194304\" }";
const DEFAULT_WINDOW: f64 = 3.0 * 1_048_576.0;

fn host_untuned(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    if pair.rate * pair.rtt / 8.0 < 1.2 * DEFAULT_WINDOW {
        return None;
    }
    let host = if ground.draw.is(0.5) { pair.from } else { pair.to };
    Some(ground.on_host("host-untuned", host, severity, vec![DEFAULTS.to_owned()]))
}

fn tuning_reset(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    if pair.rate * pair.rtt / 8.0 < 1.2 * DEFAULT_WINDOW {
        return None;
    }
    ground.tests.insert(0, plan::tcp(&pair, number, &[]));
    ground.tests.push(plan::tcp(&pair, number, &[]));
    let planted = ground.on_host("tuning-reset", pair.from, severity, vec![DEFAULTS.to_owned()]);
    Some(Planted { from: Some(ground.draw.between([0.4, 0.6])), ..planted })
}

fn congestion_control(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn sender_cpu(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    cpu(ground, "sender-cpu", pair.from, severity)
}

fn receiver_slow(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn udp_sender_drops(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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

fn ring_small(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = *pair.path.last()?;
    let host = pair.to;
    let name = ground.network.links[link].name.clone();
    let (packets, rate) = (whole(on_log(severity, [64.0, 8.0])), pair.rate * on_log(severity, [0.9, 0.4]));
    let missed = whole(on_log(severity, [2e3, 2e5]));
    ground.network.hosts[host].facts = vec![
        format!("[hosts.@.facts.interfaces.{name}]"),
        "driver = { name = \"mlx5_core\" }".to_owned(),
        "rings = { rx = 512, rx_max = 8192, tx = 512, tx_max = 8192 }".to_owned(),
        format!("counters = {{ rx_missed_errors = {missed} }}"),
        format!("driver_counters = {{ rx_out_of_buffer = {missed} }}"),
    ];
    let what = vec![format!(
        "add = {{ port = {{ rate = \"{}kbit/s\", queue = {{ packets = {packets} }} }} }}",
        whole(rate / 1e3)
    )];
    let mut planted = ground.on_link("ring-small", [link, direction], severity, what);
    planted.place = vec![format!("host = \"{}\"", ground.network.hosts[host].name)];
    planted.from = None;
    planted.claims.push(Claim::Host(host));
    Some(planted)
}

fn receive_offload(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    if !ground.network.overlay {
        return None;
    }
    let (_, pair) = ground.pair();
    let machine = ground.network.hosts[pair.to].machine?;
    let (link, direction) =
        *pair.path.iter().find(|(link, end)| ground.network.links[*link].ends[1 - end] == machine)?;
    let name = ground.network.links[link].name.clone();
    ground.network.hosts[machine].facts = adapter(&name, &Nic { driver: "bnxt_en", merges: true });
    let window = whole(on_log(severity, [20.0, 400.0]));
    let what = vec![format!("add = {{ merger = {{ window = \"{window}us\", tunnelled-only = true }} }}")];
    let mut planted = ground.on_link("receive-offload-overlay", [link, direction], severity, what);
    planted.place = vec![format!("host = \"{}\"", ground.network.hosts[machine].name)];
    planted.from = None;
    planted.claims.push(Claim::Host(machine));
    Some(planted)
}
