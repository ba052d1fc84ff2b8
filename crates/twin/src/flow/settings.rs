//! From how two hosts are set, and what a test asks for, to what the simulator takes.

use std::net::IpAddr;
use std::time::Duration;

use model::spec::{SendMethod, TestSpec};
use scenario::blueprint::Qdisc;
use sim::ProbeTimes;
use sim::receiver::ReceiverSpec;
use sim::sender::{Pacing, SenderSpec, Writer};
use sim::{Algorithm, Kernel, Turns};
use units::{ByteCount, DataRate, Mtu};

use crate::network::Network;
use crate::network::state::HostState;
use crate::network::way::Way;

/// A sender and a receiver, and how they came to what they agreed on.
pub(crate) struct Ends {
    pub(crate) sender: SenderSpec,
    pub(crate) receiver: ReceiverSpec,
    /// The congestion control by its kernel name.
    pub(crate) control: String,
    /// What the sender's device would take as payload of a segment.
    pub(crate) device_mss: u32,
    pub(crate) window_scale: bool,
    pub(crate) ecn: bool,
}

/// Who sends to whom, and by which paths.
pub(crate) struct Link<'a> {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    /// The address of the receiver.
    pub(crate) to: IpAddr,
    /// The host that asked for the test: it sent the first segment.
    pub(crate) asked: usize,
    pub(crate) overlay: Option<usize>,
    /// The least that a probe takes without load.
    pub(crate) base: ProbeTimes,
    pub(crate) there: &'a Way,
    pub(crate) back: &'a Way,
}

impl Link<'_> {
    /// The same the other way; `to` is the address of the one that sent.
    pub(crate) fn reversed(self, to: IpAddr) -> Self {
        let Self { sender, receiver, base, there, back, .. } = self;
        let base = seen_from_far_end(base);
        Self { sender: receiver, receiver: sender, to, base, there: back, back: there, ..self }
    }
}

/// The times of the same packets where the other end sends them.
pub(crate) fn seen_from_far_end(times: ProbeTimes) -> ProbeTimes {
    ProbeTimes { forward: times.round_trip.saturating_sub(times.forward), ..times }
}

/// The settings of a stream.
pub(crate) fn ends(network: &Network<'_>, link: &Link<'_>, spec: &TestSpec) -> Result<Ends, String> {
    let (from, to) = (&network.hosts[link.sender], &network.hosts[link.receiver]);
    let answered = if link.asked == link.sender { to } else { from };
    let asked = &network.hosts[link.asked];
    let control = control(from, link.to, spec);
    let algorithm: Algorithm = control.parse().unwrap_or_else(|_| fallback(&control));
    let [own_mtu, other_mtu] = [device_mtu(network, link, 0), device_mtu(network, link, 1)];
    let mtu = segment_mtu(network, link, spec, own_mtu.min(other_mtu))?;
    let window_scale = [from, to].iter().all(|host| host.number("net.ipv4.tcp_window_scaling") != Some(0))
        && !link.there.strips_window_scale
        && !link.back.strips_window_scale;
    let ecn = asked.number("net.ipv4.tcp_ecn") == Some(1) && answered.number("net.ipv4.tcp_ecn") != Some(0);
    let initial = route_metric(from, link.to, "initcwnd").unwrap_or(INITIAL_WINDOW);
    let writes = matches!(spec.send, SendMethod::Write | SendMethod::Auto | SendMethod::Splice);
    let sender = SenderSpec {
        initial_window: initial.max(1),
        buffer: send_buffer(from, spec),
        writer: if writes { Writer::Blocks } else { Writer::Polls },
        application_rate: spec.rate,
        pacing: spec.pace.map_or(Pacing::Algorithm, Pacing::Capped),
        offload: offload(network, link),
        adapter_rate: shaped(network, link, spec).unwrap_or(SenderSpec::linux(algorithm, mtu).adapter_rate),
        ecn,
        sack: [from, to].iter().all(|host| host.number("net.ipv4.tcp_sack") != Some(0)),
        restarts_after_idle: from.number("net.ipv4.tcp_slow_start_after_idle") != Some(0),
        turns: turns(from),
        kernel: KERNEL,
        ..SenderSpec::linux(algorithm, mtu)
    };
    let [first, most] = receive_buffer(to, spec);
    // Without a scale the window ends at 64 KiB, however large the buffer is.
    let most = if window_scale { most } else { most.min(ByteCount::new(UNSCALED)) };
    let receiver = ReceiverSpec {
        buffer_default: first.min(most),
        buffer: most,
        window_percent: KERNEL.window_percent(),
        initial_window: route_metric(to, link.to, "initrwnd"),
        turns: turns(to),
        ..ReceiverSpec::linux()
    };
    let device_mss = own_mtu.get().saturating_sub(sim::sender::HEADERS);
    Ok(Ends { sender, receiver, control, device_mss, window_scale, ecn })
}

/// Hosts of a virtual play say that they run this (`hosts::identity`), and are expected to reach what it reaches.
const KERNEL: Kernel = Kernel::V6_6;

/// The congestion control that a sender uses towards an address.
fn control(from: &HostState, to: IpAddr, spec: &TestSpec) -> String {
    let of_route = || from.route(to)?.metrics.get("congctl").cloned();
    let of_host = || from.sysctl("net.ipv4.tcp_congestion_control").map(str::to_owned);
    spec.congestion_control.clone().or_else(of_route).or_else(of_host).unwrap_or_else(|| "cubic".to_owned())
}

/// Model: algorithms that the simulator does not have grow like the one that they are most like.
fn fallback(control: &str) -> Algorithm {
    let name = if ["vegas", "westwood", "veno", "illinois"].contains(&control) { "reno" } else { "cubic" };
    name.parse().unwrap_or(Algorithm::Cubic)
}

fn route_metric(host: &HostState, to: IpAddr, name: &str) -> Option<u32> {
    host.route(to)?.metrics.get(name)?.parse().ok()
}

/// The MTU of the device by which an end (0 the sender, 1 the receiver) is on the path; that of the overlay inside one.
fn device_mtu(network: &Network<'_>, link: &Link<'_>, end: usize) -> Mtu {
    if let Some(overlay) = link.overlay {
        return network.scenario.overlays[overlay].mtu;
    }
    let (host, passed) =
        if end == 0 { (link.sender, link.there.links.first()) } else { (link.receiver, link.back.links.first()) };
    let name = passed.and_then(|(number, _)| network.device(host, *number));
    let device = name.and_then(|name| network.hosts[host].devices.get(&name).map(|device| device.mtu));
    device.unwrap_or(Mtu::MAX)
}

/// The IP packet of a full segment, as the simulator reckons it.
fn segment_mtu(network: &Network<'_>, link: &Link<'_>, spec: &TestSpec, devices: Mtu) -> Result<Mtu, String> {
    let of_route = route_metric(&network.hosts[link.sender], link.to, "mtu").unwrap_or(u32::MAX);
    // Routers tell senders what they refuse (RFC 1191).
    let mut most = devices.get().min(link.there.told_mtu.get()).min(of_route);
    if link.to.is_ipv6() {
        // Model: segments are shorter by the longer header, and count as if they were IPv4's.
        most = most.saturating_sub(LONGER_HEADER);
    }
    if let Some(mss) = spec.mss {
        most = most.min(mss.get().saturating_add(HEADERS_WITHOUT_OPTIONS));
    }
    let silent = silent_mtu(link.there);
    if network.hosts[link.sender].number("net.ipv4.tcp_mtu_probing").is_some_and(|probing| probing > 0)
        && silent.is_some_and(|silent| silent < most)
    {
        // Model: the search begins and ends at `tcp_base_mss`.
        most = most.min(PROBED);
    }
    Mtu::new(most).map_err(|error| error.to_string())
}

/// The smallest limit of a path of which no sender hears.
fn silent_mtu(way: &Way) -> Option<u32> {
    let limits = way.stages.iter().filter_map(|stage| match &stage.spec {
        path::ElementSpec::Mtu(limit) if limit.report == path::elements::Report::Silent => Some(limit.bytes.get()),
        _ => None,
    });
    limits.min()
}

fn send_buffer(host: &HostState, spec: &TestSpec) -> ByteCount {
    if let Some(window) = spec.window {
        let most = host.number("net.core.wmem_max").unwrap_or(u64::MAX);
        return ByteCount::new(window.get().min(most).saturating_mul(2));
    }
    ByteCount::new(host.sizes("net.ipv4.tcp_wmem").map_or(4 << 20, |sizes| sizes[2]))
}

/// What the receive buffer begins with, and the most that it grows to.
fn receive_buffer(host: &HostState, spec: &TestSpec) -> [ByteCount; 2] {
    if let Some(window) = spec.window {
        let most = host.number("net.core.rmem_max").unwrap_or(u64::MAX);
        let fixed = ByteCount::new(window.get().min(most).saturating_mul(2));
        return [fixed, fixed];
    }
    let sizes = host.sizes("net.ipv4.tcp_rmem").unwrap_or([4_096, 131_072, 6 << 20]);
    [ByteCount::new(sizes[1]), ByteCount::new(sizes[2])]
}

/// Bytes that segmentation offload takes at once.
fn offload(network: &Network<'_>, link: &Link<'_>) -> ByteCount {
    let name = link.there.links.first().and_then(|(number, _)| network.device(link.sender, *number));
    let device = name.and_then(|name| network.hosts[link.sender].devices.get(&name).cloned());
    let is_off =
        |feature: &str| device.as_ref().is_some_and(|device| device.features.get(feature).is_some_and(|on| !on));
    if is_off("tx-tcp-segmentation") && is_off("tx-generic-segmentation") {
        ByteCount::new(1)
    } else {
        sim::hosts::OFFLOAD
    }
}

/// What a shaper of the sending host lets out of each stream. The kernel lets TCP have little in the queues of its own host
/// (`tcp_small_queue_check`): its segments wait in the socket, and their RTTs do not grow.
fn shaped(network: &Network<'_>, link: &Link<'_>, spec: &TestSpec) -> Option<DataRate> {
    Some(shaper(network, link)?.of_each(spec.streams))
}

/// A shaper on the device of the sending host.
pub(super) struct Shaper {
    rate: DataRate,
    /// Room of its queue.
    pub(super) limit: ByteCount,
}

impl Shaper {
    /// What it lets out of each of so many streams.
    pub(super) fn of_each(&self, streams: u16) -> DataRate {
        DataRate::from_bps((self.rate.bps() / u64::from(streams.max(1))).max(1))
    }
}

/// The shaper by which a sender's packets leave, if there is one.
pub(super) fn shaper(network: &Network<'_>, link: &Link<'_>) -> Option<Shaper> {
    let (number, _) = link.there.links.first()?;
    let name = network.device(link.sender, *number)?;
    match network.hosts[link.sender].devices.get(&name)?.qdisc.as_ref()? {
        Qdisc::Tbf { rate, limit, .. } => Some(Shaper { rate: *rate, limit: *limit }),
        Qdisc::Pfifo { .. } => None,
    }
}

/// When programs of a host run.
pub(crate) fn turns(host: &HostState) -> Option<Turns> {
    let share = host.cpu_share.filter(|share| *share < 1.0)?;
    Some(Turns { on: TURN.mul_f64(share.max(0.0)).max(SHORTEST_TURN), period: TURN })
}

/// The period of `cpu.max`, the kernel's limit on the share of CPUs, and that of the lab.
const TURN: Duration = Duration::from_millis(100);
const SHORTEST_TURN: Duration = Duration::from_millis(1);
/// `TCP_INIT_CWND`.
const INITIAL_WINDOW: u32 = 10;
/// The buffer of which half, 64 KiB, is offered.
const UNSCALED: u64 = 131_070;
/// An IPv6 header is so much longer than one of IPv4.
const LONGER_HEADER: u32 = 20;
/// IPv4 and TCP.
const HEADERS_WITHOUT_OPTIONS: u32 = 40;
/// `tcp_base_mss` with its headers.
const PROBED: u32 = 1_024 + 40;
