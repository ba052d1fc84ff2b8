//! One test made ready: between which hosts, and with which numbers.

use std::time::Duration;

use model::round::{Endpoint, Passage, Round};
use model::spec::{Limit, Protocol, TestSpec};
use plan::task::{Flow as Streams, Ping, Task};
use units::{ByteCount, DataRate, Mss};

use super::ground::Ground;
use super::kind::{Control, Kind, Load, Reach};
use crate::wires::way::reversed;

/// A test that could be run.
#[derive(Debug, Clone)]
pub(super) struct Asking<'a> {
    /// What kind.
    pub(super) kind: &'a Kind,
    /// What to call it.
    pub(super) label: String,
    /// What it does, for people.
    pub(super) does: String,
    /// Who asks, and sends.
    pub(super) from: Endpoint,
    /// Who answers.
    pub(super) to: Endpoint,
    /// The segments between them.
    pub(super) way: Vec<Passage>,
    /// What is measured.
    pub(super) tasks: Vec<Task>,
    /// The rate that it should reach.
    pub(super) expected: Option<DataRate>,
    /// How long that takes.
    pub(super) takes: Duration,
    /// How much of the way of the flow that suffers it takes.
    part: Part,
}

/// How much of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Some,
}

/// Two hosts, and what lies between them.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    pub(super) way: Vec<Passage>,
}

impl Stretch {
    /// The other way.
    pub(super) fn turned(self, round: &Round) -> Self {
        let way = reversed(&self.way, &round.segments);
        Self { from: self.to, to: self.from, way }
    }
}

/// What is chosen for the path.
#[derive(Debug, Clone, Default)]
struct Numbers {
    rate: Option<DataRate>,
    size: Option<u32>,
    control: Option<String>,
}

impl<'a> Asking<'a> {
    /// The test of a kind over a stretch; `None` where it needs to know what is not known, or makes no sense.
    pub(super) fn new(kind: &'a Kind, stretch: Stretch, ground: &Ground<'_>) -> Option<Self> {
        let numbers = numbers(kind, ground)?;
        let tasks = match kind.load {
            Load::Tcp => vec![Task::Tcp(streams(kind, &numbers, Protocol::Tcp))],
            Load::Udp => vec![Task::Udp(streams(kind, &numbers, Protocol::Udp))],
            Load::Echo => echoes(&stretch, ground),
            Load::Mtu => vec![Task::Mtu],
        };
        let does = in_words(kind, &numbers);
        let label = format!("{does}, {} to {}", stretch.from, stretch.to);
        let subject = ground.subject;
        let is_part = kind.reach == Reach::Parts && (stretch.from != subject.sender || stretch.to != subject.receiver);
        let expected = ground.subject.declared().filter(|_| kind.load == Load::Tcp);
        let Stretch { from, to, way } = stretch;
        Some(Self {
            kind,
            label,
            does,
            from,
            to,
            way,
            tasks,
            expected,
            takes: kind.time,
            part: if is_part { Part::Some } else { Part::Whole },
        })
    }

    /// Whether it goes as far as the flow that suffers.
    pub(super) fn is_whole(&self) -> bool {
        self.part == Part::Whole
    }
}

fn numbers(kind: &Kind, ground: &Ground<'_>) -> Option<Numbers> {
    let subject = ground.subject;
    let mut numbers = Numbers { size: kind.size, ..Numbers::default() };
    if let Some(part) = kind.rate {
        let most = scaled(subject.wanted().or_else(|| known_rate(ground))?, part);
        numbers.rate = Some(match kind.faster {
            None => most,
            // Paced faster than the limit it is no other test, slower than it was anyway it says nothing.
            Some(times) => {
                let rate = scaled(subject.goodput, times).min(most);
                (scaled(subject.goodput, 1.3) <= rate).then_some(rate)?
            }
        });
    }
    if kind.load == Load::Tcp {
        let own = subject.shape.control.clone();
        numbers.control = match kind.control {
            Control::Same => own,
            Control::Another => Some(if own.as_deref() == Some("cubic") { "bbr" } else { "cubic" }.to_owned()),
        };
    }
    Some(numbers)
}

/// What is known of a path that nobody expects a rate of: the best that a flow attained.
fn known_rate(ground: &Ground<'_>) -> Option<DataRate> {
    ground.flows.iter().map(|flow| flow.goodput).max().filter(|rate| !rate.is_zero())
}

fn streams(kind: &Kind, numbers: &Numbers, protocol: Protocol) -> Streams {
    let each = numbers.rate.map(|rate| DataRate::from_bps((rate.bps() / u64::from(kind.streams.max(1))).max(1)));
    let is_udp = protocol == Protocol::Udp;
    let spec = TestSpec {
        protocol,
        limit: Limit::Time(kind.time),
        streams: kind.streams,
        rate: each.filter(|_| is_udp),
        pace: each.filter(|_| !is_udp),
        congestion_control: numbers.control.clone(),
        mss: numbers.size.filter(|_| !is_udp).and_then(|size| Mss::new(size).ok()),
        length: numbers.size.filter(|_| is_udp).map(|size| ByteCount::new(size.into())),
        ..TestSpec::default()
    };
    Streams { spec, expect: None }
}

/// Small echoes, and such as just fit the devices at the ends.
fn echoes(stretch: &Stretch, ground: &Ground<'_>) -> Vec<Task> {
    let largest = |host: &str| {
        let member = ground.round.members.iter().find(|member| member.name == host)?;
        let snapshot = member.before.as_deref().or(member.after.as_deref())?;
        let links = snapshot.own()?.interfaces.iter().filter(|interface| interface.name != "lo");
        links.filter_map(|interface| interface.link.value()?.mtu).filter(|mtu| *mtu <= LARGEST_PACKET).max()
    };
    let mtu = match (largest(&stretch.from.host), largest(&stretch.to.host)) {
        (Some(one), Some(other)) => one.min(other),
        _ => USUAL_MTU,
    };
    let large = mtu.saturating_sub(AROUND_AN_ECHO).max(USUAL_MTU - AROUND_AN_ECHO);
    let ping =
        |count, size: u32| Task::Ping(Ping { count, interval: BETWEEN_ECHOES, size: ByteCount::new(size.into()) });
    vec![ping(50, 56), ping(100, large)]
}

fn in_words(kind: &Kind, numbers: &Numbers) -> String {
    let rate = numbers.rate.map(|rate| rate.to_string()).unwrap_or_default();
    let size = numbers.size.map(|size| format!("{size} bytes")).unwrap_or_default();
    let control = numbers.control.clone().unwrap_or_default();
    kind.does.replace("{rate}", &rate).replace("{size}", &size).replace("{control}", &control)
}

/// A part of a rate, to two digits: nobody reads `249.7 Mbit/s` with pleasure.
fn scaled(rate: DataRate, part: f64) -> DataRate {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded to two digits"
    )]
    {
        let wanted = (rate.bps() as f64 * part).max(1.0);
        let digit = 10f64.powf((wanted.log10().floor() - 1.0).max(0.0));
        DataRate::from_bps(((wanted / digit).round() * digit) as u64)
    }
}

/// Bytes of IPv6's and ICMP's headers; in IPv4 it is less.
const AROUND_AN_ECHO: u32 = 48;
/// Of Ethernet, where nothing else is known.
const USUAL_MTU: u32 = 1_500;
/// No device that leads anywhere takes larger ones: those that do are loopbacks.
const LARGEST_PACKET: u32 = 16_128;
const BETWEEN_ECHOES: Duration = Duration::from_millis(20);
