//! Which of several sources counts for each thing that a prediction is reckoned from.

use std::time::Duration;

use model::expectation::{How, Inputs, KnownValue, Pacing, Writer};
use model::host::BufferSizes;
use model::run::Outcome;
use model::spec::{Limit, TestSpec};
use sim::receiver::ReceiverSpec;
use sim::sender::SenderSpec;
use sim::{Algorithm, Kernel};
use units::{ByteCount, DataRate, Mtu, Percent};

use crate::case::{Case, End, Unpredictable};
use crate::host;

impl Case<'_> {
    /// What its prediction is reckoned from.
    ///
    /// # Errors
    /// If the path's rate or its round trip is not known, or nothing was moved.
    pub fn inputs(&self) -> Result<Inputs, Unpredictable> {
        gather(self)
    }
}

fn gather(case: &Case<'_>) -> Result<Inputs, Unpredictable> {
    let moved = case.total.received.or(case.total.sent).unwrap_or_default();
    let has_failed = matches!(case.run.outcome, Outcome::Failed(_));
    if case.total.elapsed.is_zero() || has_failed && moved.get() == 0 {
        return Err(Unpredictable::Nothing);
    }
    let spec = &case.run.spec;
    let path_rate = path_rate(case)?;
    let rtt_us = round_trip(case).ok_or(Unpredictable::NoRoundTrip)?;
    let segment = segment(case);
    Ok(Inputs {
        adapter_rate: adapter_rate(case, &path_rate),
        queue: queue(path_rate.value, Duration::from_micros(rtt_us.value)),
        rtt_us,
        loss: case.path.loss.clone(),
        segment_bytes: segment,
        congestion_control: congestion_control(case),
        streams: streams(case),
        initial_window_segments: initial_window(case),
        send_buffer: send_buffer(case),
        first_receive_buffer: receive_buffer(case, |sizes| sizes.first, RECEIVER.buffer_default),
        receive_buffer: receive_buffer(case, |sizes| sizes.most, RECEIVER.buffer),
        window_percent: window_percent(case),
        writer: writer(case),
        pacing: pacing(case),
        pace: spec.pace.map(asked),
        application_rate: spec.rate.map(asked),
        time: case.total.elapsed,
        bytes: bytes(spec, moved),
        path_rate,
    })
}

fn asked<T>(value: T) -> KnownValue<T> {
    KnownValue::new(value, How::Given, "as the test asked")
}

fn of_host<T>(end: &End<'_>, value: T, what: &str) -> KnownValue<T> {
    KnownValue::new(value, How::Host, format!("{what} of {}", end.name))
}

/// What a path without faults has room for: as much as it holds, so that a slow start fills it without a loss.
pub(crate) fn queue(rate: DataRate, rtt: Duration) -> KnownValue<ByteCount> {
    let (usual, product) = (path::buffer::usual(rate), rate * rtt);
    if product > usual {
        KnownValue::new(product, How::Assumed, "as much as the path holds")
    } else {
        KnownValue::new(usual, How::Assumed, "50 ms at the bottleneck's rate")
    }
}

/// The rate of the narrowest link: what somebody said, or else that of the slower network card.
fn path_rate(case: &Case<'_>) -> Result<KnownValue<DataRate>, Unpredictable> {
    if let Some(said) = &case.path.said {
        return Ok(said.clone());
    }
    if let Some(declared) = case.run.declared_line_rate.filter(|rate| !rate.is_zero()) {
        return Ok(KnownValue::new(declared, How::Given, "as declared for the test"));
    }
    let cards = [(&case.sender, &case.receiver), (&case.receiver, &case.sender)];
    let cards = cards.map(|(end, other)| card(end, other));
    let known = cards.iter().flatten().cloned().chain(case.path.rate.clone());
    known.min_by_key(|known| known.value).ok_or_else(|| Unpredictable::NoRate(why_no_rate(case)))
}

/// Why the cards tell nothing.
fn why_no_rate(case: &Case<'_>) -> String {
    let name = |end: &End<'_>| {
        let device = end.identity.device.as_ref().map(|device| {
            // Else who looks at `ethtool` finds a speed there.
            let is_made_up = device.speed.is_some_and(|speed| !speed.is_zero()) && device.reported_speed().is_none();
            let driver = device.driver.as_deref().filter(|_| is_made_up);
            let driver = driver.map_or_else(String::new, |driver| format!(" ({driver}, whose speed is made up)"));
            format!("{} of {}{driver}", device.name, end.name)
        });
        device.unwrap_or_else(|| format!("the device of {}", end.name))
    };
    format!("{} and {} report no link speed", name(&case.sender), name(&case.receiver))
}

/// The speed of the network card by which an end reaches another.
fn card(end: &End<'_>, other: &End<'_>) -> Option<KnownValue<DataRate>> {
    let told =
        end.identity.device.as_ref().and_then(|device| Some(of_host(end, device.reported_speed()?, &device.name)));
    told.or_else(|| host::adapter(end, other.address).map(|speed| of_host(end, speed, "the NIC")))
}

fn adapter_rate(case: &Case<'_>, path: &KnownValue<DataRate>) -> KnownValue<DataRate> {
    let card = card(&case.sender, &case.receiver).filter(|card| card.value >= path.value);
    card.unwrap_or_else(|| KnownValue::new(path.value, How::Assumed, "no faster than the path"))
}

/// The round trip of the path without load.
fn round_trip(case: &Case<'_>) -> Option<KnownValue<u64>> {
    if case.path.rtt.is_some() {
        return case.path.rtt.clone();
    }
    if let Some(given) = case.run.declared.rtt.filter(|rtt| !rtt.is_zero()) {
        return Some(KnownValue::new(units::duration::micros(given), How::Given, "as declared for the test"));
    }
    let idle = case.measurement.latency.as_ref().and_then(|latency| latency.idle);
    let measured = idle.and_then(|idle| idle.min_us.or(idle.median_us));
    if let Some(micros) = measured {
        return Some(KnownValue::new(micros, How::Measured, "the least before the test"));
    }
    let clock = case.measurement.clock.filter(|clock| clock.uncertainty_ns > 0)?;
    Some(KnownValue::new(clock.uncertainty_ns / 500, How::Measured, "the least exchange between the clocks"))
}

fn segment(case: &Case<'_>) -> KnownValue<u32> {
    let measured = case.flows().find_map(|flow| flow.mss).filter(|bytes| *bytes > 0);
    if let (None, Some(given)) = (measured, case.run.declared.mss.filter(|bytes| *bytes > 0)) {
        return KnownValue::new(given, How::Given, "as declared for the test");
    }
    measured.map_or_else(
        || KnownValue::new(ETHERNET, How::Assumed, "that of Ethernet"),
        |bytes| KnownValue::new(bytes, How::Measured, "what the connection used"),
    )
}

fn congestion_control(case: &Case<'_>) -> KnownValue<String> {
    if let Some(name) = case.flows().find_map(|flow| flow.congestion_control.clone()) {
        return KnownValue::new(name, How::Measured, "what the connection used");
    }
    if let Some(name) = &case.run.spec.congestion_control {
        return asked(name.clone());
    }
    if let Some(name) = &case.run.declared.congestion_control {
        return KnownValue::new(name.clone(), How::Given, "as declared for the test");
    }
    host::congestion_control(&case.sender).map_or_else(
        || KnownValue::new("cubic".to_owned(), How::Assumed, "what Linux uses where nothing is said"),
        |name| of_host(&case.sender, name, "tcp_congestion_control"),
    )
}

fn streams(case: &Case<'_>) -> KnownValue<u16> {
    asked(case.run.spec.streams.max(1))
}

fn initial_window(case: &Case<'_>) -> KnownValue<u32> {
    let route = host::route(&case.sender, case.receiver.address);
    let set = route.and_then(|route| host::metric(route, "initcwnd")).filter(|segments| *segments > 0);
    match (set, route) {
        (Some(segments), _) => of_host(&case.sender, segments, "initcwnd of the route"),
        (None, Some(_)) => {
            let from = format!("no route of {} says otherwise", case.sender.name);
            KnownValue::new(SENDER.initial_window, How::Host, from)
        }
        (None, None) => KnownValue::new(SENDER.initial_window, How::Assumed, "what Linux begins with"),
    }
}

/// What the send buffer grows to.
fn send_buffer(case: &Case<'_>) -> KnownValue<ByteCount> {
    let sizes = host::buffers(&case.sender).map(|buffers| buffers.send);
    if let Some(window) = case.run.spec.window {
        return fixed(window, sizes);
    }
    sizes.map_or_else(
        || KnownValue::new(SENDER.buffer, How::Assumed, "the kernel's default, since nobody told the host's"),
        |sizes| of_host(&case.sender, sizes.most, "tcp_wmem"),
    )
}

fn receive_buffer(
    case: &Case<'_>,
    size: impl Fn(&BufferSizes) -> ByteCount,
    assumed: ByteCount,
) -> KnownValue<ByteCount> {
    let sizes = host::buffers(&case.receiver).map(|buffers| buffers.receive);
    if let Some(window) = case.run.spec.window {
        return fixed(window, sizes);
    }
    sizes.map_or_else(
        || KnownValue::new(assumed, How::Assumed, "the kernel's default, since nobody told the host's"),
        |sizes| of_host(&case.receiver, size(&sizes), "tcp_rmem"),
    )
}

/// How much of a receive buffer is window, by the receiver's kernel.
fn window_percent(case: &Case<'_>) -> KnownValue<Percent> {
    let end = &case.receiver;
    let of_facts = || end.facts.and_then(|facts| facts.machine.kernel_release.value()).map(String::as_str);
    let release = end.identity.kernel.as_deref().or_else(of_facts);
    match release.and_then(|release| release.parse::<Kernel>().ok()) {
        Some(kernel) => of_host(end, kernel.window_percent(), "the kernel"),
        None => KnownValue::new(Kernel::default().window_percent(), How::Assumed, "that of kernels before 6.6"),
    }
}

/// A buffer that the test asked for: no more than the host allows, and the kernel doubles it for its own overhead
/// (`sk_setsockopt`, net/core/sock.c).
fn fixed(window: ByteCount, sizes: Option<BufferSizes>) -> KnownValue<ByteCount> {
    let allowed = sizes.and_then(|sizes| sizes.most_asked).unwrap_or(window);
    let from =
        if allowed < window { "as the test asked and the host allows, doubled" } else { "as the test asked, doubled" };
    KnownValue::new(ByteCount::new(window.min(allowed).get().saturating_mul(2)), How::Given, from)
}

/// How the sending program writes: `iperf3` waits until the socket is writable before each write, which leaves a third of
/// its buffer unused, and linerate and nuttcp block.
fn writer(case: &Case<'_>) -> KnownValue<Writer> {
    match case.sender.identity.software.as_deref() {
        Some(name) if name.starts_with("iperf") => {
            KnownValue::new(Writer::Polls, How::Host, format!("as {name} writes"))
        }
        Some(name) => KnownValue::new(Writer::Blocks, How::Host, format!("as {name} writes")),
        None => KnownValue::new(Writer::Blocks, How::Assumed, "as linerate writes"),
    }
}

fn pacing(case: &Case<'_>) -> KnownValue<Pacing> {
    match host::has_fq(&case.sender, case.receiver.address) {
        Some(true) => of_host(&case.sender, Pacing::Fq, "the qdisc"),
        Some(false) => of_host(&case.sender, Pacing::Algorithm, "the qdisc"),
        None => KnownValue::new(Pacing::Algorithm, How::Assumed, "no fq is known of"),
    }
}

/// How many bytes end the test; none where time does.
fn bytes(spec: &TestSpec, moved: ByteCount) -> Option<ByteCount> {
    match spec.limit {
        Limit::Time(_) => None,
        Limit::Bytes(bytes) => Some(bytes),
        // How long a block is, is known by what they were.
        Limit::Blocks(_) => Some(moved),
    }
    .filter(|bytes| bytes.get() > 0)
}

/// Payload of an Ethernet frame with IPv4, TCP and timestamps.
pub(crate) const ETHERNET: u32 = 1448;
/// A host on which nobody set anything.
pub(crate) const SENDER: SenderSpec = SenderSpec::linux(Algorithm::Cubic, Mtu::MAX);
/// The same as the one that receives.
pub(crate) const RECEIVER: ReceiverSpec = ReceiverSpec::linux();
