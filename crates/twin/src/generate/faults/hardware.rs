//! What goes wrong with NICs: what they are and have counted stands in recorded facts, what it does to packets in elements of their
//! links.

use super::super::draw::{index, on_log, whole};
use super::super::network::{Nic, adapter};
use super::super::plan::{self, Pair};
use super::ground::{Claim, Ground, HostEnd, Planted};

pub(super) fn ring_small(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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
    let planted = ground.on_link("ring-small", [link, direction], severity, what);
    Some(of_host(planted, host, &ground.network.hosts[host].name))
}

pub(super) fn receive_offload(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
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
    let planted = ground.on_link("receive-offload-overlay", [link, direction], severity, what);
    Some(of_host(planted, machine, &ground.network.hosts[machine].name))
}

/// The transmit ring: what the kernel hands over at once does not fit, as long as the ring is short.
pub(super) fn ring_small_send(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = *pair.path.first()?;
    let name = ground.network.links[link].name.clone();
    let host = ground.network.hosts[pair.from].name.clone();
    let entries = 64 << ground.draw.below(4);
    let rings = format!("rings = {{ rx = 8192, rx_max = 8192, tx = {entries}, tx_max = 8192 }}");
    ground.network.record([pair.from, link], &["driver = { name = \"mlx5_core\" }", &rings])?;
    let to_bad = on_log(severity, [1e-5, 1e-3]);
    let what = vec![
        format!("add = {{ loss = {{ bursty = {{ to-bad = {to_bad:.7}, to-good = 0.05 }} }} }}"),
        format!("while = {{ host = \"{host}\", interface = \"{name}\", ring = \"tx\", below = 1024 }}"),
    ];
    let planted = ground.on_link("ring-small-send", [link, direction], severity, what);
    Some(of_host(planted, pair.from, &host))
}

/// A link that agreed on two fifths, a tenth or a hundredth of what it should have.
pub(super) fn link_slow(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let HostEnd { host, link, .. } = ground.host_end()?;
    let part = [0.4, 0.1, 0.01][index(severity, 3)];
    let rate = ground.network.links[link].rate * part;
    ground.network.links[link].speed = Some(rate);
    Some(slower(ground, "link-slow", [host, link], Slower { severity, rate, queue: None }))
}

/// A card of old that a hypervisor imitates: each packet costs it much.
pub(super) fn emulated_nic(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let HostEnd { host, link, pair: Pair { rate, .. }, .. } = ground.host_end()?;
    let driver = ["8139cp", "8139too", "e1000", "ne2k-pci", "pcnet32"][ground.draw.below(5)];
    let driver = format!("driver = {{ name = \"{driver}\" }}");
    ground.network.record([host, link], &[&driver, "bus = { kind = \"pci\", address = \"0000:00:03.0\" }"])?;
    ground.record_peers(host, &["driver = { name = \"virtio_net\" }"]);
    let queue = Some(format!("packets = {}", whole(ground.draw.log([32.0, 256.0]))));
    let rate = rate * on_log(severity, [0.6, 0.03]);
    Some(slower(ground, "emulated-nic", [host, link], Slower { severity, rate, queue }))
}

/// Frames that arrive with a wrong check sequence.
pub(super) fn nic_errors(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (_, pair) = ground.pair();
    let (link, direction) = *pair.path.last()?;
    let host = ground.network.hosts[pair.to].name.clone();
    let damaged = whole(ground.draw.log([2e3, 5e5]));
    let driver = ["igb", "ixgbe", "mlx5_core"][ground.draw.below(3)];
    let driver = format!("driver = {{ name = \"{driver}\" }}");
    let counters = format!("counters = {{ rx_crc_errors = {damaged}, rx_errors = {damaged} }}");
    ground.network.record([pair.to, link], &[&driver, &counters])?;
    let loss = on_log(severity, [2e-5, 2e-2]);
    let what = vec![format!("add = {{ loss = {{ random = {loss:.7} }} }}")];
    let planted = ground.on_link("nic-errors", [link, direction], severity, what);
    Some(of_host(planted, pair.to, &host))
}

/// A link that pause frames stop for a part of the time: towards the host that sends them.
pub(super) fn pause_frames(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let HostEnd { number, pair, is_sender, host, link, direction } = ground.host_end()?;
    let frames = whole(ground.draw.log([5e4, 5e6]));
    let (driver, received, sent) = [
        ("ixgbe", "rx_flow_control_xoff", "tx_flow_control_xoff"),
        ("mlx5_core", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy"),
        ("igb", "rx_flow_control_xoff", "tx_flow_control_xoff"),
    ][ground.draw.below(3)];
    // Who sends is told to pause, who receives tells.
    let counter = if is_sender { received } else { sent };
    let driver = format!("driver = {{ name = \"{driver}\" }}");
    ground.network.record([host, link], &[&driver, &format!("driver_counters = {{ {counter} = {frames} }}")])?;
    let queue = format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let what = ground.port(link, pair.rate * on_log(severity, [0.8, 0.05]), &queue);
    ground.tests.push(plan::tcp(&pair, number, &["reverse = true"]));
    let planted = ground.on_link("pause-frames", [link, direction], severity, what);
    let name = ground.network.hosts[host].name.clone();
    Some(of_host(planted, host, &name))
}

/// A slot with fewer lanes than the card has, or slower ones.
pub(super) fn bus_narrow(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let HostEnd { host, link, pair: Pair { rate, .. }, .. } = ground.host_end()?;
    let narrow = [FEW_LANES, SLOW_LANES, Slot { width: 1, ..SLOW_LANES }][ground.draw.below(3)];
    ground.network.record([host, link], &["driver = { name = \"ixgbe\" }", &narrow.text()])?;
    ground.record_peers(host, &["driver = { name = \"ixgbe\" }", &WHOLE.text()]);
    let rate = rate * on_log(severity, [0.8, 0.1]);
    Some(slower(ground, "bus-narrow", [host, link], Slower { severity, rate, queue: None }))
}

/// The slot of a card of eight lanes at 8 GT/s.
#[derive(Clone, Copy)]
struct Slot {
    /// In GT/s.
    speed: &'static str,
    /// In lanes.
    width: u32,
}

const WHOLE: Slot = Slot { speed: "8.0", width: 8 };
const FEW_LANES: Slot = Slot { speed: "8.0", width: 1 };
const SLOW_LANES: Slot = Slot { speed: "2.5", width: 8 };

impl Slot {
    fn text(self) -> String {
        let Self { speed, width } = self;
        format!(
            "bus = {{ kind = \"pci\", address = \"0000:81:00.0\", pcie_speed = \"{speed} GT/s PCIe\", pcie_width = {width}, \
             pcie_max_speed = \"8.0 GT/s PCIe\", pcie_max_width = 8 }}"
        )
    }
}

/// Frames of networks that a host does not know: a counter that alarms, and harms nobody.
pub(super) fn unknown_vlan(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let HostEnd { host, link, .. } = ground.host_end()?;
    let dropped = whole(on_log(severity, [5e4, 5e6]));
    ground.network.record([host, link], &[&format!("counters = {{ rx_dropped = {dropped} }}")])?;
    let planted = ground.on_host("unknown-vlan-drops", host, severity, Vec::new());
    Some(Planted { faults: Vec::new(), ..planted })
}

/// What a NIC leaves of its link.
struct Slower {
    severity: f64,
    /// In bit/s.
    rate: f64,
    /// Its queue, where it is not that of the link.
    queue: Option<String>,
}

/// A link that is slower in both directions because of a NIC.
fn slower(ground: &mut Ground<'_>, cause: &'static str, [host, link]: [usize; 2], slower: Slower) -> Planted {
    let usual = || format!("bytes = \"{}B\"", whole(ground.network.links[link].queue));
    let queue = slower.queue.unwrap_or_else(usual);
    let what = ground.port(link, slower.rate, &queue);
    let mut planted = ground.on_link(cause, [link, 0], slower.severity, what);
    planted.faults.iter_mut().for_each(|fault| fault.retain(|key| !key.starts_with("towards")));
    planted.claims.push(Claim::Link(link, 1));
    let name = ground.network.hosts[host].name.clone();
    of_host(planted, host, &name)
}

/// A fault of a link that is its host's, from the start.
fn of_host(planted: Planted, host: usize, name: &str) -> Planted {
    let claims = planted.claims.into_iter().chain([Claim::Host(host)]).collect();
    Planted { place: vec![format!("host = \"{name}\"")], from: None, claims, ..planted }
}
