//! From what a tool has printed to one test in our nouns.

use std::collections::HashSet;
use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{Heading, Interval, Latency, Measurement, RttSummary};
use model::run::{Failure, FailureKind, Outcome, Peer, Role};
use model::spec::{Direction, Limit, Offload, Protocol, SendMethod, TestBinding, TestSpec};
use units::{ByteCount, DataRate, PacketCount};

use super::limits::MAX_STREAMS;
use super::parsed::{Label, ParsedTest, Row};
use super::{Format, Imported, consistency, failure, observations, samples, segments, totals};

/// A run as far as the log has it: its specification, its measurement, and what contradicts itself in it.
pub(crate) fn assemble(mut parsed: ParsedTest) -> Imported {
    if parsed.error.is_none() && parsed.lacks_a_count() {
        parsed.error = Some("interrupted: the other end's count is zero, and `iperf Done.` is missing".to_owned());
    }
    // A server does not hear what its client counted, nor does anybody after a test that broke off: both print zeros.
    if parsed.role == Some(Role::Server) || parsed.error.is_some() {
        parsed.ends.retain(|count| count.row.bytes > ByteCount::ZERO);
    }
    if parsed.reordered.is_none() {
        parsed.reordered = parsed.peer_output.as_deref().and_then(reordered_at_peer);
    }
    within_limits(&mut parsed);
    consistency::check(&mut parsed);
    let segment_size = segments::find(&parsed);
    let mss = segment_size.map(|size| size.mss).or(parsed.mss);
    let (spec, assumed) = specification(&parsed);
    let measurement = measurement(&parsed, mss, &assumed);
    let observations = observations::of(&parsed, measurement.as_ref(), segment_size);
    let role = parsed.role.unwrap_or(Role::Client);
    let tool = match parsed.format {
        Format::NuttcpText | Format::NuttcpPairs => "nuttcp",
        _ => "iperf",
    };
    let software = parsed.version.as_ref().map_or_else(
        || match parsed.format {
            Format::Iperf2Text => "iperf 2".to_owned(),
            _ if parsed.is_iperf3() => "iperf3".to_owned(),
            _ => tool.to_owned(),
        },
        |version| format!("{tool} {version}"),
    );
    let address = parsed.connections.first().map(|connection| connection.peer.clone());
    Imported {
        format: parsed.format,
        line: parsed.line,
        started: parsed.started,
        role,
        local: HostIdentity {
            name: parsed.host_name.clone(),
            software: Some(software),
            kernel: parsed.kernel.clone(),
            ..HostIdentity::default()
        },
        peer: Peer {
            target: parsed.target.clone().or_else(|| address.clone()).unwrap_or_else(|| "unknown".to_owned()),
            address,
            host: HostIdentity::default(),
        },
        outcome: outcome(&parsed),
        samples: samples::samples(&parsed, mss),
        command: parsed.command,
        spec,
        assumed,
        measurement,
        observations,
        anomalies: parsed.anomalies.into_list(),
    }
}

/// What the server counted, of whose output the client has a copy: `[SUM]  0.0- 5.0 sec  272 datagrams received out-of-order`.
fn reordered_at_peer(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.ends_with(" datagrams received out-of-order"))?;
    line.split_whitespace().rev().nth(3)?.parse().ok()
}

/// Leaves out streams beyond the limit.
fn within_limits(parsed: &mut ParsedTest) {
    let mut seen: HashSet<u32> = HashSet::new();
    let mut keeps = |row: &Row| match row.label {
        Label::Sum => true,
        Label::Stream(stream) => seen.contains(&stream) || (seen.len() < MAX_STREAMS && seen.insert(stream)),
    };
    let before = parsed.rows.len() + parsed.ends.len();
    parsed.rows.retain(&mut keeps);
    parsed.ends.retain(|count| keeps(&count.row));
    let left_out = before - parsed.rows.len() - parsed.ends.len();
    if left_out > 0 {
        parsed.anomalies.add(
            parsed.line,
            format!("at most {MAX_STREAMS} streams"),
            &format!("{left_out} rows of more"),
        );
    }
    parsed.connections.truncate(MAX_STREAMS);
}

fn outcome(parsed: &ParsedTest) -> Outcome {
    match &parsed.error {
        Some(error) => Outcome::Failed(failure::failure(error)),
        None if parsed.ends.is_empty() => Outcome::Failed(Failure {
            kind: FailureKind::Interrupted,
            detail: "the output ends before the test".to_owned(),
        }),
        None => Outcome::Complete,
    }
}

/// What was asked for, and what of it is assumed.
fn specification(parsed: &ParsedTest) -> (TestSpec, Vec<String>) {
    let options = &parsed.options;
    let mut assumed = Vec::new();
    let mut note = |what: &str| assumed.push(what.to_owned());
    let protocol = parsed.protocol().unwrap_or_else(|| {
        note("the protocol is not printed, assumed: TCP");
        Protocol::Tcp
    });
    let headings: Vec<Heading> = parsed.rows.iter().map(|row| parsed.heading(row)).collect();
    let seen = match (headings.contains(&Heading::Outbound), headings.contains(&Heading::Inbound)) {
        (true, true) => Direction::Bidirectional,
        (false, false) => Direction::Forward,
        (out, _) if out == (parsed.role != Some(Role::Server)) => Direction::Forward,
        _ => Direction::Reverse,
    };
    let ran = parsed.ends.iter().map(|count| count.row.end).chain(parsed.rows.iter().map(|row| row.end)).max();
    let limit = options.limit.unwrap_or_else(|| match ran.filter(|_| parsed.command.is_empty()) {
        Some(ran) => {
            note("the limit is not printed, assumed: the time that the test ran");
            Limit::Time(ran)
        }
        None => {
            note("the limit is not printed, assumed: the tool's own, 10 s");
            TestSpec::default().limit
        }
    });
    let streams = options.streams.unwrap_or_else(|| {
        let most = [Heading::Outbound, Heading::Inbound].map(|heading| totals::flows(parsed, heading, None).len());
        u16::try_from(most.into_iter().max().unwrap_or(0)).unwrap_or(u16::MAX).max(1)
    });
    let first = parsed.rows.iter().find(|row| !row.omitted).map(|row| rounded(row.end.saturating_sub(row.start)));
    let spec = TestSpec {
        protocol,
        direction: options.direction.unwrap_or(seen),
        limit,
        omit: options.omit.unwrap_or_default(),
        streams,
        rate: options.rate,
        pace: options.pace,
        congestion_control: options.congestion_control.clone(),
        mss: options.mss,
        window: options.window,
        dscp: options.dscp,
        length: options.length,
        send: options.send.unwrap_or(SendMethod::Write),
        udp_gso: Offload::Off,
        udp_gro: Offload::Off,
        family: options.family,
        place: TestBinding {
            bind: options.bind,
            device: options.device.clone(),
            netns: None,
            cpus: options.cpu.into_iter().collect(),
        },
        interval: options.interval.or(first).unwrap_or(Duration::from_secs(1)),
        sample_every: Duration::ZERO,
        probe_every: Duration::ZERO,
        ..TestSpec::default()
    };
    (spec, assumed)
}

/// What was probably asked for, of the length of an interval: iperf3 goes down to 100 ms.
fn rounded(length: Duration) -> Duration {
    const STEP: u64 = 100;
    let millis = units::duration::millis(length);
    if millis < STEP { length } else { Duration::from_millis((millis + STEP / 2) / STEP * STEP) }
}

fn measurement(parsed: &ParsedTest, mss: Option<u32>, assumed: &[String]) -> Option<Measurement> {
    if parsed.rows.is_empty() && parsed.ends.is_empty() {
        return None;
    }
    let mut found = Measurement {
        latency: parsed.handshake.map(handshake),
        local_cpu: parsed.local_cpu,
        peer_cpu: parsed.peer_cpu,
        peer_output: parsed.peer_output.clone(),
        anomalies: parsed.notes.iter().chain(assumed).cloned().collect(),
        ..Measurement::default()
    };
    found.anomalies.extend(parsed.anomalies.clone().into_list().iter().map(ToString::to_string));
    for heading in [Heading::Outbound, Heading::Inbound] {
        let intervals = intervals(parsed, heading);
        let bytes: Vec<ByteCount> = intervals.iter().map(|interval| interval.bytes).collect();
        found.intervals.extend(intervals);
        found.totals.extend(totals::total(parsed, heading, &bytes));
        found.flows.extend(totals::flows(parsed, heading, mss));
    }
    Some(found)
}

/// The one RTT of a handshake.
fn handshake(rtt: Duration) -> Latency {
    let micros = u64::try_from(rtt.as_micros()).ok();
    let once = RttSummary {
        sent: PacketCount::new(1),
        min_us: micros,
        median_us: micros,
        max_us: micros,
        ..RttSummary::default()
    };
    Latency { idle: Some(once), ..Latency::default() }
}

/// The intervals of one direction, all streams together. Their spans differ from stream to stream by some
/// microseconds, so that the next interval starts where a stream comes up again.
fn intervals(parsed: &ParsedTest, heading: Heading) -> Vec<Interval> {
    let rows: Vec<&Row> = parsed.rows.iter().filter(|row| !row.omitted && parsed.heading(row) == heading).collect();
    let mut rest = rows.as_slice();
    std::iter::from_fn(|| {
        let repeats = |at: &usize| rest[..*at].iter().any(|other| other.label == rest[*at].label);
        let end = (1..rest.len()).find(repeats).unwrap_or(rest.len());
        let (group, others) = rest.split_at(end);
        rest = others;
        (!group.is_empty()).then(|| interval(group, heading))
    })
    .flatten()
    .collect()
}

fn interval(rows: &[&Row], heading: Heading) -> Option<Interval> {
    let streams = || rows.iter().filter(|row| row.label != Label::Sum);
    let printed = rows.iter().find(|row| row.label == Label::Sum).map(|row| (**row).clone());
    let added = || streams().map(|row| (**row).clone()).reduce(|sum, row| totals::added(&sum, &row));
    let sum = printed.or_else(added)?;
    let windows = streams().try_fold(0_u64, |sum, row| Some(sum.saturating_add(row.cwnd?.bytes.get())));
    let trips: Option<Duration> = streams().map(|row| row.rtt).sum();
    let count = u32::try_from(streams().count()).ok().filter(|count| *count > 0);
    let time = sum.end.saturating_sub(sum.start);
    let lost = sum.datagrams.and_then(|datagrams| datagrams.lost).map(|lost| u64::try_from(lost).unwrap_or(0));
    Some(Interval {
        start: sum.start,
        end: sum.end,
        heading,
        bytes: sum.bytes,
        rate: sum.rate.or_else(|| DataRate::of(sum.bytes, time)).unwrap_or_default(),
        retransmits: sum.retransmits.map(PacketCount::new),
        rtt: trips.zip(count).map(|(trips, count)| trips / count),
        cwnd: windows.filter(|_| count.is_some()).map(ByteCount::new),
        lost: lost.map(PacketCount::new),
        // Those that came; of a sender, those that left.
        datagrams: sum.datagrams.map(|datagrams| PacketCount::new(datagrams.total.saturating_sub(lost.unwrap_or(0)))),
    })
}
