//! The flows of a round, as far as their rates matter.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{DirectionTotal, Heading, Interval, Measurement, SteadyState};
use model::played::Finding;
use model::round::{Endpoint, Round, Tested};
use model::run::{Outcome, Run};
use model::spec::{Limit, Protocol, TestSpec};
use units::{DataRate, PacketCount};

/// One direction of one test, with its rate.
#[derive(Debug, Clone)]
pub struct RatedFlow<'a> {
    /// The place of its test in the round.
    pub test: usize,
    /// Its direction, seen from the end that asked.
    pub heading: Heading,
    /// Who sent payload.
    pub from: &'a Endpoint,
    /// Who received it.
    pub to: &'a Endpoint,
    /// What carried it.
    pub carrier: Carrier,
    /// Payload a second after the start-up.
    pub goodput: DataRate,
    /// Whether it is known how much arrived: datagrams that only their sender counted say nothing of a path.
    pub is_received: bool,
    /// The least RTT without load, where it was measured.
    pub rtt: Option<Duration>,
    /// The rate that the test asked for, of all streams together.
    pub requested: Option<DataRate>,
    /// The line rate that was declared for the run.
    pub declared: Option<DataRate>,
    /// The speed of the slower NIC, as far as the drivers do not make it up, and whose that is.
    pub link: Option<(DataRate, String)>,
    /// An interface that reports no speed, or an invented one.
    pub silent_device: Option<String>,
}

/// What carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// A stream of a test over TCP.
    Tcp,
    /// Datagrams.
    Udp,
    /// A download over HTTP, or files that a program moved, which disks and programs slow down as well.
    Http,
}

/// All flows of a round with a rate.
#[must_use]
pub fn all(round: &Round) -> Vec<RatedFlow<'_>> {
    let flows = round.tests.iter().enumerate().flat_map(|(test, tested)| match &tested.finding {
        Finding::Run(run) => of_run(test, tested, run),
        Finding::Downloads(downloads) => {
            let mut rates: Vec<DataRate> =
                downloads.iter().filter_map(|download| download.goodput.or(download.overall)).collect();
            rates.sort_unstable();
            let median = rates.get(rates.len() / 2).copied();
            median.map(|goodput| download(test, tested, goodput)).into_iter().collect()
        }
        _ => Vec::new(),
    });
    flows.collect()
}

fn download<'a>(test: usize, tested: &'a Tested, goodput: DataRate) -> RatedFlow<'a> {
    RatedFlow {
        test,
        heading: Heading::Inbound,
        from: &tested.to,
        to: &tested.from,
        carrier: Carrier::Http,
        goodput,
        is_received: true,
        rtt: None,
        requested: None,
        declared: None,
        link: None,
        silent_device: None,
    }
}

fn of_run<'a>(test: usize, tested: &'a Tested, run: &'a Run) -> Vec<RatedFlow<'a>> {
    let Some(measurement) = &run.measurement else { return Vec::new() };
    if matches!(run.outcome, Outcome::Failed(_)) && measurement.totals.iter().all(|total| total.received.is_none()) {
        return Vec::new();
    }
    let Nics { slower: link, silent } = Nics::of(run);
    let of_total = |total: &DirectionTotal| {
        let (from, to) = ends(tested, total.heading);
        RatedFlow {
            test,
            heading: total.heading,
            from,
            to,
            carrier: carrier(run),
            goodput: settled(run, total),
            is_received: run.spec.protocol == Protocol::Tcp || total.received.is_some(),
            rtt: run.declared.rtt.or_else(|| idle_rtt(measurement)),
            requested: requested(&run.spec),
            declared: run.declared.expected.or(run.declared_line_rate),
            link: link.clone(),
            silent_device: silent.clone(),
        }
    };
    measurement.totals.iter().map(of_total).collect()
}

/// What programs print of the files they moved is no test: disks and they themselves are part of its rate.
fn carrier(run: &Run) -> Carrier {
    let is_of_files =
        run.local.software.is_some() && run.command.is_empty() && matches!(run.spec.limit, Limit::Bytes(_));
    let has_rows = run.measurement.as_ref().is_some_and(|found| !found.intervals.is_empty() || !found.flows.is_empty());
    match run.spec.protocol {
        Protocol::Udp => Carrier::Udp,
        Protocol::Tcp if is_of_files && !has_rows => Carrier::Http,
        Protocol::Tcp => Carrier::Tcp,
    }
}

/// The interfaces that carried a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Nics {
    /// The speed of the slower one, as far as drivers do not make it up, and whose that is.
    pub(super) slower: Option<(DataRate, String)>,
    /// One that reports no speed, or an invented one.
    pub(super) silent: Option<String>,
}

impl Nics {
    pub(super) fn of(run: &Run) -> Self {
        let device = |host: &HostIdentity| {
            let device = host.device.as_ref()?;
            let name = host.name.clone().unwrap_or_else(|| "the peer".to_owned());
            Some((device.reported_speed(), format!("{} of {name}", device.name)))
        };
        let devices: Vec<(Option<DataRate>, String)> =
            [device(&run.local), device(&run.peer.host)].into_iter().flatten().collect();
        Self {
            slower: devices.iter().filter_map(|(speed, name)| Some(((*speed)?, name.clone()))).min(),
            silent: devices.iter().find(|(speed, _)| speed.is_none()).map(|(_, name)| name.clone()),
        }
    }
}

/// Who sends and who receives in a direction.
fn ends(tested: &Tested, heading: Heading) -> (&Endpoint, &Endpoint) {
    match heading {
        Heading::Outbound => (&tested.from, &tested.to),
        Heading::Inbound => (&tested.to, &tested.from),
    }
}

fn idle_rtt(measurement: &Measurement) -> Option<Duration> {
    let idle = measurement.latency.as_ref().and_then(|latency| latency.idle);
    let micros = idle.and_then(|idle| idle.min_us.or(idle.median_us));
    let handshake =
        || measurement.clock.filter(|clock| clock.uncertainty_ns > 0).map(|clock| clock.uncertainty_ns / 500);
    micros.or_else(handshake).map(Duration::from_micros)
}

/// The rate that all streams of a test ask for together.
#[must_use]
pub fn requested(spec: &TestSpec) -> Option<DataRate> {
    let each = spec.rate.into_iter().chain(spec.pace).min()?;
    Some(DataRate::from_bps(each.bps().saturating_mul(u64::from(spec.streams.max(1)))))
}

/// The rate once the flow had started up. Long paths take seconds to be filled: a run that ends before its rate is steady is
/// judged by what it had come to.
#[must_use]
pub fn settled(run: &Run, total: &DirectionTotal) -> DataRate {
    // Intervals of the host that sends datagrams count what it sent, and there is no start to leave out.
    if total.datagrams.is_some_and(|counts| counts.lost > PacketCount::ZERO) {
        return total.goodput;
    }
    if let SteadyState::Reached { goodput, .. } = total.steady {
        return goodput.max(total.goodput);
    }
    let intervals = run.measurement.iter().flat_map(|measurement| &measurement.intervals);
    let intervals: Vec<&Interval> = intervals.filter(|of| of.heading == total.heading).collect();
    // A start grows. What stands still for seconds is none, whatever follows.
    if stood_still(&intervals) >= STANDS_STILL {
        return total.goodput;
    }
    let rates: Vec<u64> = intervals.iter().map(|of| of.rate.bps()).collect();
    // The last one may be a part of an interval only.
    let whole = &rates[..rates.len().saturating_sub(1)];
    let late = &whole[whole.len() - whole.len() * 2 / 5..];
    if late.len() < 2 {
        return total.goodput;
    }
    let mean = late.iter().sum::<u64>() / late.len() as u64;
    total.goodput.max(DataRate::from_bps(mean))
}

/// The longest time in which next to nothing was delivered, after something was sent.
fn stood_still(intervals: &[&Interval]) -> Duration {
    let is_still = |of: &Interval| of.bytes.get() < A_SEGMENT;
    let chunks = intervals.chunk_by(|one, other| is_still(one) == is_still(other));
    let still = chunks.filter(|chunk| is_still(chunk[0]));
    still.map(|chunk| chunk.iter().map(|of| of.end.saturating_sub(of.start)).sum()).max().unwrap_or(Duration::ZERO)
}

/// A handshake and the first window over the longest paths take no longer.
const STANDS_STILL: Duration = Duration::from_secs(3);
/// The smallest segment, in bytes (RFC 9293 section 3.7.1).
const A_SEGMENT: u64 = 536;
