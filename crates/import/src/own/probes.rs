//! Sessions of OWAMP and TWAMP, as what perfSONAR's tools print of theirs.

use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::Subject;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::probe::one_way::{OneWayProbe, OneWayResult, SessionSpec, TwoWayProbe, TwoWayResult};
use model::run::Outcome;

use super::found::{Found, admitted};
use crate::evidence::{HostFact, OneWayDelays, OneWaySeries, PacketsAsked, Shown, TEST_PACKET, THIS_HOST};

/// Each direction of OWAMP is a sparse run of UDP.
pub(super) fn one_way(text: &str) -> Result<Found, String> {
    let OneWayProbe { subject, spec, outcome, forward, reverse } = admitted(text)?;
    let target = subject.target.as_str();
    let mut shows = Vec::new();
    for (result, ends) in [(forward, [THIS_HOST, target]), (reverse, [target, THIS_HOST])] {
        let Some(result) = result else { continue };
        shows.push(Shown::OneWay(series(&result, &spec, ends)));
        shows.extend(delays(&result, ends));
        shows.extend(unsent(&result, &spec, target));
    }
    found(shows, &outcome)
}

/// TWAMP is echoes: what was lost may have been lost in either direction.
pub(super) fn two_way(text: &str) -> Result<Found, String> {
    let TwoWayProbe { subject, spec, outcome, result } = admitted(text)?;
    let mut shows = Vec::new();
    if let Some(result) = result {
        shows.extend(delays(&result.forward, [THIS_HOST, &subject.target]));
        shows.extend(delays(&result.reverse, [&subject.target, THIS_HOST]));
        shows.push(Shown::Echo(round_trips(subject, &spec, &result)));
    }
    found(shows, &outcome)
}

fn found(shows: Vec<Shown>, outcome: &Outcome) -> Result<Found, String> {
    match outcome {
        Outcome::Failed(failure) if shows.is_empty() => Err(format!("it failed: {}", failure.detail)),
        _ => Ok(Found::of(shows)),
    }
}

fn series(result: &OneWayResult, spec: &SessionSpec, [from, to]: [&str; 2]) -> OneWaySeries {
    let packets = &result.packets;
    let sent = packets.sent.get();
    OneWaySeries {
        tool: ONE_WAY,
        from: from.to_owned(),
        to: to.to_owned(),
        sent,
        lost: packets.lost.get().min(sent),
        duplicated: packets.duplicated.get(),
        reordered: packets.reordered.get(),
        elapsed: spec.interval.saturating_mul(u32::try_from(sent).unwrap_or(u32::MAX)),
        padding: Some(spec.padding_bytes),
    }
}

/// What the runs of these series are called.
pub(crate) const ONE_WAY: &str = "linerate probe owamp";

fn delays(result: &OneWayResult, [from, to]: [&str; 2]) -> Option<Shown> {
    let delay = result.delay?;
    let error = Duration::from_nanos(result.clocks.error_ns);
    Some(Shown::Host(HostFact::OneWay(OneWayDelays {
        from: from.to_owned(),
        to: to.to_owned(),
        least_us: delay.min_ns / NANOS,
        median_us: Some(delay.median_ns / NANOS),
        most_us: delay.max_ns / NANOS,
        error_us: result.clocks.bounds_delay().then(|| u64::try_from(error.as_micros()).unwrap_or(u64::MAX)),
    })))
}

/// Nanoseconds of a microsecond.
const NANOS: i64 = 1_000;

fn unsent(result: &OneWayResult, spec: &SessionSpec, to: &str) -> Option<Shown> {
    let (asked, sent) = (u64::from(spec.count), result.packets.sent.get());
    let fact = PacketsAsked { tool: ONE_WAY, to: to.to_owned(), asked, sent };
    (sent < asked).then_some(Shown::Host(HostFact::Asked(fact)))
}

fn round_trips(subject: Subject, spec: &SessionSpec, result: &TwoWayResult) -> EchoSeries {
    let micros = |nanos: i64| u64::try_from(nanos / NANOS).ok();
    let rtt = RttSummary {
        sent: result.packets.sent,
        lost: result.packets.lost,
        min_us: result.rtt.and_then(|rtt| micros(rtt.min_ns)),
        median_us: result.rtt.and_then(|rtt| micros(rtt.median_ns)),
        p95_us: result.rtt.and_then(|rtt| micros(rtt.p95_ns)),
        max_us: result.rtt.and_then(|rtt| micros(rtt.max_ns)),
        ..RttSummary::default()
    };
    let (reordered, duplicated) = (result.packets.reordered, result.packets.duplicated);
    EchoSeries {
        subject,
        spec: EchoSpec {
            count: spec.count,
            interval: spec.interval,
            payload_bytes: TEST_PACKET.saturating_add(spec.padding_bytes),
            timeout: spec.timeout,
            ..EchoSpec::default()
        },
        outcome: Outcome::Complete,
        access: None,
        summary: EchoSummary { rtt, reordered, duplicated, ..EchoSummary::default() },
        probes: Vec::new(),
    }
}
