//! Rounds made for the purpose: two sites with two hosts each, runs of TCP and UDP with the numbers that matter.

use std::time::Duration;

use model::measurement::{DatagramCounts, DirectionTotal, End, Heading, Measurement, RttSummary, SteadyState, Whose};
use model::played::Finding;
use model::probe::Subject;
use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Stamp};
use model::round::{Endpoint, Member, Passage, Round, Segment, Tested};
use model::run::{Outcome, Peer, Role, Run, RunId};
use model::series::field::Field;
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};
use model::spec::{Protocol, TestSpec};
use units::{ByteCount, DataRate, PacketCount, WallTime};

/// What a flow of TCP did, second by second, for eight seconds at 50 ms.
#[derive(Clone, Copy)]
pub(crate) struct Tcp {
    /// Megabits of payload a second.
    pub(crate) mbps: u64,
    /// Segments sent again in each second.
    pub(crate) again: u64,
    /// Bytes of the receiver's window.
    pub(crate) window: u64,
    /// Part of the time in which the receiver's window was the limit.
    pub(crate) window_limited: f64,
    /// Segments of the congestion window.
    pub(crate) cwnd: u64,
}

impl Tcp {
    /// A flow that fills its line of 500 Mbit/s.
    pub(crate) const GOOD: Self = Self { mbps: 470, again: 0, window: 16 << 20, window_limited: 0.0, cwnd: 2200 };
}

/// Two sites with a long link between their routers: `a` and `b` here, `c` and `d` there.
pub(crate) fn round(tests: Vec<Tested>) -> Round {
    let segment = |name: &str, one: &str, other: &str| Segment {
        name: name.to_owned(),
        between: [one.to_owned(), other.to_owned()],
        rate: None,
        interfaces: None,
    };
    Round {
        format: Round::FORMAT,
        id: RunId::new(WallTime::default(), 1),
        title: "made for the purpose".to_owned(),
        started: WallTime::default(),
        elapsed: Duration::from_secs(60),
        members: ["a", "b", "here", "there", "c", "d"].map(Member::named).into(),
        segments: vec![
            segment("of-a", "a", "here"),
            segment("of-b", "b", "here"),
            segment("long", "here", "there"),
            segment("of-c", "there", "c"),
            segment("of-d", "there", "d"),
        ],
        tests,
    }
}

/// A test of TCP, ten seconds later than the one before.
pub(crate) fn tcp(from: &str, to: &str, number: u64, what: Tcp) -> Tested {
    let bytes = what.mbps * 1_000_000 / 8 * SECONDS;
    let total = total(bytes, what.mbps, Some(what.again * SECONDS), None);
    let spec = TestSpec { protocol: Protocol::Tcp, ..TestSpec::default() };
    Tested { samples: Some(Box::new(samples(what))), ..tested(from, to, number, run(spec, total)) }
}

/// A test of UDP at a rate, of whose datagrams one in `lost` was lost on the path.
pub(crate) fn udp(from: &str, to: &str, number: u64, mbps: u64, lost: Option<u64>) -> Tested {
    let sent = mbps * 1_000_000 / 8 * SECONDS / 1_400;
    let lost = lost.map_or(0, |part| sent / part);
    let counts = DatagramCounts {
        sent: PacketCount::new(sent),
        received: PacketCount::new(sent - lost),
        lost: PacketCount::new(lost),
        ..DatagramCounts::default()
    };
    let total = total((sent - lost) * 1_400, mbps, None, Some(counts));
    let spec = TestSpec { protocol: Protocol::Udp, rate: Some(rate(mbps)), ..TestSpec::default() };
    tested(from, to, number, run(spec, total))
}

/// A test of UDP whose sender hands over `mbps` where `asked` were asked for, without loss.
pub(crate) fn udp_of_asked(from: &str, to: &str, number: u64, mbps: u64, asked: u64) -> Tested {
    let mut held = udp(from, to, number, mbps, None);
    if let Finding::Run(run) = &mut held.finding {
        run.spec.rate = Some(rate(asked));
    }
    held
}

/// Twenty echoes of a size, all of which came back; each took this long.
pub(crate) fn echoes(from: &str, to: &str, number: u64, payload_bytes: u16, rtt: Duration) -> Tested {
    let probe = |sequence: u32| EchoProbe {
        sequence,
        sent: Duration::from_millis(50) * sequence,
        fate: EchoFate::Answered(EchoAnswer {
            rtt,
            stamped_by: Stamp::Kernel,
            hop_limit: None,
            other_address: None,
            reordered: false,
            duplicates: 0,
        }),
    };
    let series = EchoSeries {
        subject: Subject { target: to.to_owned(), address: None, started: WallTime::default() },
        spec: EchoSpec { count: 20, payload_bytes, ..EchoSpec::default() },
        outcome: Outcome::Complete,
        access: None,
        summary: EchoSummary {
            rtt: RttSummary { sent: PacketCount::new(20), ..RttSummary::default() },
            ..EchoSummary::default()
        },
        probes: (0..20).map(probe).collect(),
    };
    let run = run(TestSpec::default(), total(0, 0, None, None));
    Tested { finding: Finding::Echo(series), ..tested(from, to, number, run) }
}

fn rate(mbps: u64) -> DataRate {
    DataRate::from_bps(mbps * 1_000_000)
}

fn tested(from: &str, to: &str, number: u64, run: Run) -> Tested {
    let endpoint = |host: &str| Endpoint { host: host.to_owned(), network: None };
    Tested {
        label: format!("{number}: {from} to {to}"),
        from: endpoint(from),
        to: endpoint(to),
        began: Duration::from_secs(10 * number),
        expected: Some(rate(500)),
        way: way(from, to),
        way_back: way(to, from),
        emulator: None,
        attempt: None,
        finding: Finding::Run(Box::new(run)),
        samples: None,
    }
}

fn way(from: &str, to: &str) -> Vec<Passage> {
    let passage = |segment: String, towards: &str| Passage { segment, towards: towards.to_owned() };
    let is_here = |host: &str| host == "a" || host == "b";
    let (near, far) = if is_here(from) { ("here", "there") } else { ("there", "here") };
    let mut way = vec![passage(format!("of-{from}"), near)];
    if is_here(from) != is_here(to) {
        way.push(passage("long".to_owned(), far));
    }
    way.push(passage(format!("of-{to}"), to));
    way
}

fn run(spec: TestSpec, total: DirectionTotal) -> Run {
    Run {
        format: Run::FORMAT,
        id: RunId::new(WallTime::default(), 2),
        started: WallTime::default(),
        role: Role::Client,
        command: Vec::new(),
        spec,
        declared_line_rate: None,
        declared: model::run::Declared::default(),
        batch: None,
        local: model::host::HostIdentity::default(),
        peer: Peer { target: "peer".to_owned(), address: None, host: model::host::HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Some(Measurement { totals: vec![total], ..Measurement::default() }),
    }
}

fn total(bytes: u64, mbps: u64, again: Option<u64>, datagrams: Option<DatagramCounts>) -> DirectionTotal {
    DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(ByteCount::new(bytes)),
        received: Some(ByteCount::new(bytes)),
        elapsed: Duration::from_secs(SECONDS),
        goodput: rate(mbps),
        retransmits: again.map(PacketCount::new),
        datagrams,
        steady: SteadyState::NotReached,
    }
}

/// Ten samples a second of a sender that does the same all the time.
fn samples(what: Tcp) -> RunSamples {
    let steps = SECONDS * 10;
    let at_us: Vec<i64> = (0..=steps).map(|step| i64::try_from(step * 100_000).unwrap()).collect();
    let growing = |per_second: f64| (0..=steps).map(|step| (per_second * step as f64 / 10.0) as u64).collect();
    let steady = |value: u64| vec![value; at_us.len()];
    let bytes = what.mbps as f64 * 1e6 / 8.0;
    let column = |field: Field, values: Vec<u64>| Column { field, values };
    let flying = (bytes * 0.05 / 1448.0) as u64;
    let columns = vec![
        column(Field::BytesAcked, growing(bytes)),
        column(Field::BytesSent, growing(bytes)),
        column(Field::BusyTime, growing(1e6)),
        column(Field::RwndLimited, growing(1e6 * what.window_limited)),
        column(Field::SndbufLimited, steady(0)),
        column(Field::SndWnd, steady(what.window)),
        column(Field::SndCwnd, steady(what.cwnd)),
        column(Field::SndMss, steady(1448)),
        column(Field::Advmss, steady(1448)),
        column(Field::Unacked, steady(flying)),
        column(Field::Notsent, steady(1 << 20)),
        column(Field::TotalRetrans, growing(what.again as f64)),
        column(Field::Rtt, steady(50_000)),
        column(Field::MinRtt, steady(50_000)),
        column(Field::Options, steady(7)),
        column(Field::ReordSeen, steady(0)),
        column(Field::Delivered, growing(bytes / 1448.0)),
        column(Field::DeliveredCe, steady(0)),
    ];
    let sender =
        StreamSamples { stream: 1, heading: Heading::Outbound, end: End::Sender, whose: Whose::Local, at_us, columns };
    RunSamples { streams: vec![sender], probes: ProbeSamples::default() }
}

const SECONDS: u64 = 8;
