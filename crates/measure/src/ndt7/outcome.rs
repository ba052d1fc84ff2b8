//! From what was exchanged to a measurement: the same one that a test by linerate's own protocol gives.

use std::time::Duration;

use linux::clock::{self, CpuTimes};
use linux::contention::thread_scheduled;
use linux::sockets;
use linux::tcp_info::TcpInfo;
use model::measurement::{Cadence, CpuUse, End, Heading, Measurement, Whose};
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use model::spec::{ReceiveMethod, SendMethod, TestSpec};
use units::PacketCount;
use wire::extension::FlowReport;
use wire::results::{Results, StreamResult, stream_id};

use super::exchange::{Exchanged, REPORT_EVERY};
use super::report::Ndt7Report;
use super::socket::SocketEnds;
use crate::contention::ContentionBefore;
use crate::counting::CountersBefore;
use crate::session::assemble::{Gathered, assemble};
use crate::session::part::{LocalFlow, LocalResult};
use crate::telemetry;

/// What this host had counted when the test began.
#[derive(Debug)]
pub(crate) struct Before {
    counters: CountersBefore,
    contention: ContentionBefore,
    cpu: CpuTimes,
    scheduled: Option<linux::contention::Scheduled>,
    congestion_control: Option<String>,
}

impl Before {
    /// Reads the counters; by the thread that conducts the test.
    pub(crate) fn read(socket: impl std::os::fd::AsFd) -> Self {
        Self {
            counters: CountersBefore::read(),
            contention: ContentionBefore::read(),
            cpu: clock::process_cpu_times().unwrap_or_default(),
            scheduled: thread_scheduled(),
            congestion_control: sockets::congestion_control(socket).ok(),
        }
    }
}

/// Which way the payload went, and between whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    pub(crate) heading: Heading,
    pub(crate) ends: SocketEnds,
}

/// The measurement with its samples.
pub(crate) fn measured(
    exchanged: &Exchanged,
    before: &Before,
    path: Path,
    spec: &TestSpec,
) -> (Option<Measurement>, RunSamples) {
    let end = if path.heading == Heading::Outbound { End::Sender } else { End::Receiver };
    let since = |at: units::MonoTime| at.since(exchanged.start);
    let time = since(exchanged.confirmed.unwrap_or(exchanged.last));
    let peer = peer_samples(&exchanged.reports, path.heading, end);
    let elapsed = since(clock::now());
    let scheduled = before.scheduled.zip(thread_scheduled()).map(|(before, after)| linux::contention::Scheduled {
        on_cpu: after.on_cpu.saturating_sub(before.on_cpu),
        run_delay: after.run_delay.saturating_sub(before.run_delay),
    });
    let part = LocalResult {
        start: exchanged.start,
        time,
        flows: vec![LocalFlow {
            number: 1,
            heading: path.heading,
            local: path.ends.local,
            remote: path.ends.peer,
            report: own(exchanged, before, end),
            omitted: None,
        }],
        samples: own_samples(exchanged, path.heading, end).into_iter().chain(peer.clone()).collect(),
        cadence: cadence(&own_times(exchanged), Whose::Local, spec.sample_every),
        counters: before.counters.readings(),
        cpu: cpu_since(before.cpu, elapsed),
        contention: before.contention.until_now(elapsed, scheduled),
        anomalies: exchanged.anomalies.clone(),
        broken: None,
    };
    let round_trip = exchanged.recording.infos.first().and_then(|info| info.tcpi_rtt()).map(u64::from);
    let mut gathered = Gathered {
        part: Some(part),
        peer: (end == End::Sender).then(|| receiver(exchanged)).flatten(),
        round_trip: round_trip.map(Duration::from_micros),
        ..Gathered::default()
    };
    let (mut measurement, samples) = assemble(&mut gathered, spec);
    if let Some(found) = &mut measurement {
        found.telemetry.extend(peer.and_then(|peer| cadence(&peer.at_us, Whose::Peer, REPORT_EVERY)));
        if end == End::Receiver {
            add_retransmits(found, &exchanged.reports);
        }
    }
    (measurement, samples)
}

/// What this host counted of the flow.
fn own(exchanged: &Exchanged, before: &Before, end: End) -> FlowReport {
    let last = exchanged.recording.last();
    let is_sender = end == End::Sender;
    let mss = last.and_then(|info| if is_sender { info.tcpi_snd_mss() } else { info.tcpi_advmss() });
    FlowReport {
        bytes: exchanged.payload,
        elapsed_us: units::duration::micros(exchanged.last.since(exchanged.start)),
        drained: !is_sender,
        retransmits: last.filter(|_| is_sender).and_then(|info| info.tcpi_total_retrans()).map(u64::from),
        mss,
        congestion_control: before.congestion_control.clone().filter(|_| is_sender),
        sent_by: is_sender.then_some(SendMethod::Write),
        copy_fallback: None,
        received_by: (!is_sender).then_some(ReceiveMethod::Copy),
        datagrams: None,
    }
}

/// What the receiver of our payload got: all of it where it closed after us, since it had read all before; else what it reported
/// last. That it was handed to our kernel says nothing (m-lab/ndt7-client-go#74).
fn receiver(exchanged: &Exchanged) -> Option<Results> {
    let (bytes, elapsed) = match exchanged.confirmed {
        Some(at) => (exchanged.payload, at.since(exchanged.start)),
        None => exchanged.reports.iter().rev().find_map(received)?,
    };
    let result = StreamResult {
        id: stream_id(0),
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        retransmits: -1,
        end_time: elapsed.as_secs_f64(),
        ..StreamResult::default()
    };
    // No peer tells its CPU time: a part below zero is none.
    Some(Results { cpu_util_user: -1.0, cpu_util_system: -1.0, streams: vec![result], ..Results::default() })
}

fn received(report: &Ndt7Report) -> Option<(u64, Duration)> {
    let app = report.app.map(|app| (app.bytes, app.elapsed));
    app.or_else(|| report.tcp.as_ref().and_then(|tcp| Some((tcp.get(Field::BytesReceived)?, tcp.elapsed))))
}

/// The sender's retransmits, of whom we know only what it reports.
fn add_retransmits(found: &mut Measurement, reports: &[Ndt7Report]) {
    let of = |report: &Ndt7Report| report.tcp.as_ref()?.get(Field::TotalRetrans);
    let Some(retransmits) = reports.iter().rev().find_map(of).map(PacketCount::new) else { return };
    for total in &mut found.totals {
        total.retransmits.get_or_insert(retransmits);
    }
    for flow in &mut found.flows {
        flow.retransmits.get_or_insert(retransmits);
    }
}

fn own_times(exchanged: &Exchanged) -> Vec<i64> {
    exchanged.recording.at.iter().map(|at| at.signed_nanos_since(exchanged.start) / 1_000).collect()
}

fn own_samples(exchanged: &Exchanged, heading: Heading, end: End) -> Option<StreamSamples> {
    let recording = &exchanged.recording;
    let bytes = Column { field: Field::AppBytes, values: recording.bytes.clone() };
    let records: Vec<&[u8]> = recording.infos.iter().map(TcpInfo::as_bytes).collect();
    let columns = std::iter::once(bytes).chain(telemetry::kernel_columns(&records)).collect();
    let at_us = own_times(exchanged);
    (!at_us.is_empty()).then_some(StreamSamples { stream: 1, heading, end, whose: Whose::Local, at_us, columns })
}

/// The peer's reports as samples of its end.
///
/// Model: its test began when ours did; the two are apart by half an RTT, beside reports that come each 250 ms.
fn peer_samples(reports: &[Ndt7Report], heading: Heading, own: End) -> Option<StreamSamples> {
    let end = if own == End::Sender { End::Receiver } else { End::Sender };
    let mut rows: Vec<&Ndt7Report> = Vec::new();
    let time = |report: &Ndt7Report| report.tcp.as_ref().map(|tcp| tcp.elapsed);
    for report in reports {
        if time(report).is_some() && rows.last().is_none_or(|last| time(last) < time(report)) {
            rows.push(report);
        }
    }
    let at_us = |report: &&Ndt7Report| i64::try_from(units::duration::micros(time(report).unwrap_or_default()));
    let at_us: Vec<i64> = rows.iter().filter_map(|report| at_us(report).ok()).collect();
    if at_us.len() < LEAST_ROWS || at_us.len() != rows.len() {
        return None;
    }
    let of_kernel = super::report::NAMES.iter().filter_map(|(_, field)| {
        let values: Option<Vec<u64>> = rows.iter().map(|report| report.tcp.as_ref()?.get(*field)).collect();
        Some(Column { field: *field, values: values? })
    });
    let of_app: Option<Vec<u64>> = rows.iter().map(|report| Some(report.app?.bytes)).collect();
    let of_app = of_app.map(|values| Column { field: Field::AppBytes, values });
    let columns = of_app.into_iter().chain(of_kernel).collect();
    Some(StreamSamples { stream: 1, heading, end, whose: Whose::Peer, at_us, columns })
}

/// Fewer say nothing about what happened between them.
const LEAST_ROWS: usize = 2;

fn cadence(at_us: &[i64], whose: Whose, wanted: Duration) -> Option<Cadence> {
    let mut spacings: Vec<u64> = at_us.windows(2).map(|pair| (pair[1] - pair[0]).unsigned_abs()).collect();
    spacings.sort_unstable();
    let wanted_us = units::duration::micros(wanted);
    Some(Cadence {
        whose,
        wanted_us,
        achieved_us: *spacings.get(spacings.len() / 2)?,
        samples: at_us.len() as u64,
        gaps: spacings.iter().filter(|spacing| **spacing > wanted_us.saturating_mul(2)).count() as u64,
        longest_gap_us: *spacings.last()?,
        at_most_us: None,
        thinned: 0,
    })
}

fn cpu_since(before: CpuTimes, elapsed: Duration) -> CpuUse {
    let after = clock::process_cpu_times().unwrap_or(before);
    let seconds = elapsed.as_secs_f64();
    let share = |after: Duration, before: Duration| {
        if seconds > 0.0 { after.saturating_sub(before).as_secs_f64() / seconds } else { 0.0 }
    };
    CpuUse { user: share(after.user, before.user), system: share(after.system, before.system) }
}
