//! `ping` and `tracert` of Windows.

use std::net::IpAddr;
use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Stamp};
use model::probe::hops::{Hop, HopAnswer, HopsSpec, TraceEnd};
use model::probe::{ReportKind, Subject};
use model::run::Outcome;
use units::{PacketCount, WallTime};

use super::shown::{Found, Shown, trace_as_printed};
use crate::quantity::milliseconds;

/// Reads from `Pinging host [192.0.2.1] with 32 bytes of data:` to `Minimum = 90ms, Maximum = 91ms, Average = 90ms`.
pub(crate) fn ping(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let rest = lines.first()?.trim().strip_prefix("Pinging ")?;
    let (target, size) = rest.split_once(" with ")?;
    let payload = size.split(' ').next()?.parse::<u16>().ok()?;
    let mut probes: Vec<EchoProbe> = Vec::new();
    let mut counted = None;
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_LINES) {
        let line = line.trim();
        if let Some(fate) = fate(line) {
            let sequence = u32::try_from(probes.len()).ok()?;
            probes.push(EchoProbe { sequence, sent: Duration::from_secs(u64::from(sequence)), fate });
        } else if let Some(counts) = line.strip_prefix("Packets: ") {
            counted = counts_of(counts);
        } else if line.starts_with("Minimum = ") {
            used += 1;
            break;
        } else if !(line.is_empty() || line.starts_with("Ping statistics") || line.starts_with("Approximate")) {
            break;
        }
        used += 1;
    }
    let mut rtts: Vec<u64> = probes.iter().filter_map(rtt_us).collect();
    rtts.sort_unstable();
    let answered = u64::try_from(rtts.len()).ok()?;
    let (sent, received) = counted.unwrap_or((u64::try_from(probes.len()).ok()?, answered));
    (sent > 0).then_some(())?;
    if received < answered || sent < received {
        complaints.push(format!("statistics of ping that count at least the {answered} answers above them"));
        return None;
    }
    let rtt = RttSummary {
        sent: PacketCount::new(sent),
        lost: PacketCount::new(sent - received),
        min_us: rtts.first().copied(),
        median_us: rtts.get(rtts.len() / 2).copied().filter(|_| answered == received),
        max_us: rtts.last().copied(),
        ..RttSummary::default()
    };
    let echoes = EchoSeries {
        subject: subject(target),
        spec: EchoSpec {
            count: u32::try_from(sent).unwrap_or(u32::MAX),
            interval: Duration::from_secs(1),
            payload_bytes: payload,
            ..EchoSpec::default()
        },
        outcome: Outcome::Complete,
        access: None,
        summary: EchoSummary { rtt, ..EchoSummary::default() },
        probes,
    };
    Some(Found { shows: vec![Shown::Echo(echoes)], lines: used })
}

/// A day of one echo a second.
const MAX_LINES: usize = 100_000;

fn rtt_us(probe: &EchoProbe) -> Option<u64> {
    match &probe.fate {
        EchoFate::Answered(answer) => u64::try_from(answer.rtt.as_micros()).ok(),
        _ => None,
    }
}

/// `host [192.0.2.1]`, or an address alone.
fn subject(target: &str) -> Subject {
    let (name, address) = target.split_once(" [").unwrap_or((target, target));
    let address: Option<IpAddr> = address.trim_end_matches(']').parse().ok();
    Subject { target: name.trim().to_owned(), address, started: WallTime::from_unix_nanos(0) }
}

/// `Reply from 192.0.2.1: bytes=32 time=90ms TTL=52`, `Request timed out.`
fn fate(line: &str) -> Option<EchoFate> {
    if line == "Request timed out." || line.ends_with("Destination host unreachable.") || line == "General failure." {
        return Some(EchoFate::Lost);
    }
    let rest = line.strip_prefix("Reply from ")?;
    let after = |key: &str| rest.split_once(key)?.1.split(' ').next();
    // Below a millisecond it says `time<1ms`.
    let rtt = milliseconds(after("time=").or_else(|| after("time<"))?.strip_suffix("ms")?)?;
    let hop_limit = after("TTL=").and_then(|limit| limit.parse().ok());
    Some(EchoFate::Answered(EchoAnswer {
        rtt,
        stamped_by: Stamp::Process,
        hop_limit,
        other_address: None,
        reordered: false,
        duplicates: 0,
    }))
}

/// `Sent = 4, Received = 3, Lost = 1 (25% loss),`: sent and received.
fn counts_of(text: &str) -> Option<(u64, u64)> {
    let number = |key: &str| text.split_once(key)?.1.split([',', ' ']).next()?.parse().ok();
    Some((number("Sent = ")?, number("Received = ")?))
}

/// Reads from `Tracing route to host [192.0.2.1]` to the last hop.
pub(crate) fn tracert(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let rest = lines.first()?.trim().strip_prefix("Tracing route to ")?;
    let subject = subject(rest.split(" over ").next()?.trim());
    let mut hops: Vec<Hop> = Vec::new();
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_HOPS) {
        let text = line.trim();
        match hop(text) {
            Some(hop) => hops.push(hop),
            None if text.is_empty() || text.starts_with("over a maximum") => {}
            None if text.starts_with("Trace complete") => {
                used += 1;
                break;
            }
            None => break,
        }
        used += 1;
    }
    (!hops.is_empty()).then_some(())?;
    let reached = subject.address.is_some()
        && hops.last().is_some_and(|hop| hop.answers.iter().any(|answer| answer.address == subject.address));
    let end = if reached { TraceEnd::Destination } else { TraceEnd::Stopped };
    let trace = trace_as_printed(subject, HopsSpec::default(), end, hops);
    Some(Found { shows: vec![Shown::Hops(trace)], lines: used })
}

/// Hops, and the lines around them.
const MAX_HOPS: usize = 300;

/// `  2    10 ms    <1 ms     *     core [192.0.2.9]`.
fn hop(line: &str) -> Option<Hop> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let words: Vec<&str> = words.collect();
    let address = words.last().and_then(|word| word.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    let mut answers = Vec::new();
    let mut sent = 0;
    for (at, word) in words.iter().enumerate() {
        if *word == "*" {
            sent += 1;
        } else if words.get(at + 1) == Some(&"ms") {
            sent += 1;
            let rtt = milliseconds(word.trim_start_matches('<'))?;
            answers.push(HopAnswer { address, rtt, report: Some(ReportKind::TimeExceeded) });
        }
    }
    (sent > 0).then_some(Hop { number, sent, answers })
}
