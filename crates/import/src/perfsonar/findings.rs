//! What each type of test has measured.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{DatagramCounts, DirectionTotal, Heading, Measurement, RttSummary, SteadyState};
use model::played::Finding;
use model::probe::Subject;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::probe::hops::{Hop, HopAnswer, HopsSpec, Trace, TraceEnd};
use model::probe::path_mtu::{PathMtu, PathMtuSpec};
use model::run::{Declared, Outcome, Peer, Role, Run, RunId};
use model::spec::{Limit, Protocol, TestSpec};
use serde_json::Value;
use units::{ByteCount, DataRate, Mtu, PacketCount, WallTime};

use super::values::{ArchivedError, Object, seconds, shortened};

/// What a document says beside its result.
pub(super) struct Context<'a> {
    pub(super) began: WallTime,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) spec: Object<'a>,
    /// How long the run was scheduled for.
    pub(super) seconds: Option<Duration>,
    pub(super) software: String,
    pub(super) number: u128,
}

/// The finding of a test of this type; that nothing was found where it failed.
pub(super) fn finding(word: &str, result: Option<Object<'_>>, context: &Context<'_>) -> Result<Finding, ArchivedError> {
    let failed = |detail: Option<&str>| Finding::Nothing { detail: shortened(detail.unwrap_or("it failed")) };
    let Some(result) = result else { return Ok(failed(Some("pScheduler has no result of it"))) };
    if result.get("succeeded").and_then(Value::as_bool) == Some(false) {
        return Ok(failed(result.text("error")));
    }
    match word {
        "throughput" => context.throughput(&result),
        "rtt" => context.echo(&result).ok_or(ArchivedError::Lacks("result.roundtrips")),
        "latency" | "latencybg" => context.losses(&result).ok_or(ArchivedError::Lacks("result.packets-sent")),
        "mtu" => context.mtu(&result),
        _ => context.hops(&result).ok_or(ArchivedError::Lacks("result.paths")),
    }
}

impl Context<'_> {
    fn subject(&self) -> Subject {
        Subject { target: self.to.to_owned(), address: self.to.parse().ok(), started: self.began }
    }

    fn throughput(&self, result: &Object<'_>) -> Result<Finding, ArchivedError> {
        let lacks = || ArchivedError::Lacks("result.summary.summary");
        let summary = result.object("summary").and_then(|summary| summary.object("summary")).ok_or_else(lacks)?;
        let sent = summary.rate("throughput-bits").ok_or(ArchivedError::Lacks("throughput-bits"))?;
        // `throughput-bits` is the sender's; the receiver's is there since pScheduler 4.4.
        let received = summary.rate("receiver-throughput-bits");
        let elapsed = summary.number("end").zip(summary.number("start")).map(|(end, start)| end - start);
        let elapsed = elapsed.and_then(|time| Duration::try_from_secs_f64(time).ok()).filter(|time| !time.is_zero());
        let wanted = self.spec.text("duration").and_then(seconds);
        let elapsed = elapsed.or(wanted).or(self.seconds).unwrap_or(USUAL_TIME).min(LONGEST);
        let is_udp = self.spec.flag("udp");
        let total = DirectionTotal {
            heading: Heading::Outbound,
            sent: Some(bytes(sent, elapsed)),
            received: received.map(|rate| bytes(rate, elapsed)),
            elapsed,
            goodput: received.unwrap_or(sent),
            retransmits: summary.count("retransmits").filter(|_| !is_udp),
            datagrams: if is_udp { datagrams(&summary) } else { None },
            steady: SteadyState::NotCounted,
        };
        let streams = self.spec.count("parallel").and_then(|count| u16::try_from(count.get()).ok());
        let spec = TestSpec {
            protocol: if is_udp { Protocol::Udp } else { Protocol::Tcp },
            limit: Limit::Time(elapsed),
            streams: streams.unwrap_or(1).clamp(1, 128),
            ..TestSpec::default()
        };
        Ok(Finding::Run(Box::new(self.run(spec, total))))
    }

    fn run(&self, spec: TestSpec, total: DirectionTotal) -> Run {
        let named = |name: &str| HostIdentity { name: Some(name.to_owned()), ..HostIdentity::default() };
        Run {
            format: Run::FORMAT,
            id: RunId::new(self.began, self.number),
            started: self.began,
            role: Role::Client,
            command: Vec::new(),
            spec,
            declared_line_rate: None,
            declared: Declared::default(),
            batch: None,
            local: HostIdentity { software: Some(self.software.clone()), ..named(self.from) },
            peer: Peer { target: self.to.to_owned(), address: None, host: named(self.to) },
            outcome: Outcome::Complete,
            measurement: Some(Measurement { totals: vec![total], ..Measurement::default() }),
        }
    }

    fn echo(&self, result: &Object<'_>) -> Option<Finding> {
        let trips = result.get("roundtrips").and_then(Value::as_array);
        let counted = trips.map(|trips| PacketCount::new(trips.len() as u64));
        let sent = result.count("sent").or(counted)?;
        let answered = result.count("received").map(|received| sent.get().saturating_sub(received.get()));
        let lost =
            result.count("lost").map(PacketCount::get).or(answered).or_else(|| share(result.number("loss")?, sent));
        let rtt = RttSummary {
            sent,
            lost: PacketCount::new(lost?.min(sent.get())),
            min_us: result.micros("min"),
            max_us: result.micros("max"),
            ..RttSummary::default()
        };
        let [reordered, duplicated] = ["reorders", "duplicates"].map(|key| result.count(key).unwrap_or_default());
        Some(self.series(EchoSummary { rtt, reordered, duplicated, ..EchoSummary::default() }))
    }

    /// Model: what latency tests count is loss in one direction; their delays depend on two clocks and are no RTT, so none is kept.
    fn losses(&self, result: &Object<'_>) -> Option<Finding> {
        let sent = result.count("packets-sent")?;
        let lost = result.count("packets-lost").map(PacketCount::get);
        let received = result.count("packets-received").map(|received| sent.get().saturating_sub(received.get()));
        let rtt =
            RttSummary { sent, lost: PacketCount::new(lost.or(received)?.min(sent.get())), ..RttSummary::default() };
        let [reordered, duplicated] =
            ["packets-reordered", "packets-duplicated"].map(|key| result.count(key).unwrap_or_default());
        Some(self.series(EchoSummary { rtt, reordered, duplicated, ..EchoSummary::default() }))
    }

    fn series(&self, summary: EchoSummary) -> Finding {
        let count = u32::try_from(summary.rtt.sent.get()).unwrap_or(u32::MAX);
        Finding::Echo(EchoSeries {
            subject: self.subject(),
            spec: EchoSpec { count, ..EchoSpec::default() },
            outcome: Outcome::Complete,
            access: None,
            summary,
            probes: Vec::new(),
        })
    }

    fn mtu(&self, result: &Object<'_>) -> Result<Finding, ArchivedError> {
        let bytes = result.count("mtu").ok_or(ArchivedError::Lacks("result.mtu"))?;
        let bytes = u32::try_from(bytes.get()).ok().and_then(|bytes| Mtu::new(bytes).ok());
        Ok(Finding::PathMtu(PathMtu {
            subject: self.subject(),
            spec: PathMtuSpec::default(),
            outcome: Outcome::Complete,
            access: None,
            interface_mtu: None,
            path_mtu: Some(bytes.ok_or(ArchivedError::Value("result.mtu"))?),
            limit: None,
            sizes: Vec::new(),
        }))
    }

    fn hops(&self, result: &Object<'_>) -> Option<Finding> {
        let path = result.get("paths")?.as_array()?.first()?.as_array()?;
        let hop = |(number, hop): (u8, &Value)| {
            let hop = Object(hop);
            let address = hop.text("ip").and_then(|text| text.parse().ok());
            let rtt = hop.text("rtt").and_then(seconds);
            let answer = address.zip(rtt).map(|(address, rtt)| HopAnswer { address: Some(address), rtt, report: None });
            Hop { number, sent: 1, answers: answer.into_iter().collect() }
        };
        let hops: Vec<Hop> = (1..).zip(path.iter().take(MOST_HOPS)).map(hop).collect();
        Some(Finding::Hops(Trace {
            subject: self.subject(),
            spec: HopsSpec::default(),
            outcome: Outcome::Complete,
            access: None,
            end: if hops.last().is_some_and(|hop| !hop.answers.is_empty()) {
                TraceEnd::Destination
            } else {
                TraceEnd::Limit
            },
            hops,
        }))
    }
}

fn datagrams(summary: &Object<'_>) -> Option<DatagramCounts> {
    let (sent, lost) = (summary.count("sent")?, summary.count("lost")?);
    Some(DatagramCounts {
        sent,
        received: PacketCount::new(sent.get().saturating_sub(lost.get())),
        lost: lost.min(sent),
        lost_at_tail: PacketCount::default(),
        reordered: PacketCount::default(),
        duplicated: PacketCount::default(),
        dropped_at_socket: None,
        jitter: summary.number("jitter").and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()).unwrap_or_default(),
    })
}

fn bytes(rate: DataRate, time: Duration) -> ByteCount {
    let bits = u128::from(rate.bps()) * u128::from(units::duration::micros(time)) / 1_000_000;
    ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
}

/// A part of what was sent, counted.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a count"
)]
fn share(part: f64, sent: PacketCount) -> Option<u64> {
    (0.0..=1.0).contains(&part).then(|| (part * sent.get() as f64).round() as u64)
}

/// pScheduler's own, where a task says nothing.
const USUAL_TIME: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(crate::limits::MAX_SECONDS);
/// More routers than a hop limit counts are none.
const MOST_HOPS: usize = 255;
