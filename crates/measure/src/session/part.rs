//! What both sides of a test do alike: prepare the streams, watch them, gather what they did.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use linux::clock;
use model::counters::CounterReadings;
use model::measurement::{Cadence, CpuUse, End, Heading};
use model::quality::CpuContention;
use model::series::{RunSamples, StreamSamples, packed};
use model::spec::{Limit, Protocol, TestSpec};
use units::{ByteCount, MonoTime};

use super::failure::SessionError;
use crate::contention::ContentionBefore;
use crate::counting::CountersBefore;
use crate::engine::sampler::{SampleLog, Sampler};
use crate::engine::streams::{Amount, Conduct, Endpoint, Finish, Stream, StreamEnd, StreamSet, end_of};
use crate::options;
use crate::stamp::prober::Prober;
use crate::telemetry;
use wire::extension::{FlowReport, Report};
use wire::limits::DEFAULT_TCP_LENGTH;
use wire::params::announced_length;
use wire::results::{Results, StreamResult, stream_id};

/// This host's part of a running test.
#[derive(Debug)]
pub struct Running {
    /// Data connections of the test, each with its thread.
    pub streams: StreamSet,
    /// When it started.
    pub start: MonoTime,
    sampler: Sampler,
    before: Before,
    protocol: Protocol,
    spacing: Duration,
}

/// This host's part of a test, ready to start.
#[derive(Debug)]
pub struct Ready {
    streams: StreamSet,
    before: Before,
    protocol: Protocol,
    spacing: Duration,
}

#[derive(Debug)]
struct Before {
    counters: CountersBefore,
    contention: ContentionBefore,
    cpu: clock::CpuTimes,
    short_buffers: Vec<String>,
}

/// What this host did and counted.
#[derive(Debug)]
pub struct LocalResult {
    /// When it started.
    pub start: MonoTime,
    /// How long it took.
    pub time: Duration,
    /// Each stream.
    pub flows: Vec<LocalFlow>,
    /// Samples of each stream.
    pub samples: Vec<StreamSamples>,
    /// How well sampling kept its pace.
    pub cadence: Option<Cadence>,
    /// The host's counters.
    pub counters: CounterReadings,
    /// CPU time of this process.
    pub cpu: CpuUse,
    /// What the host's CPUs did beside it.
    pub contention: CpuContention,
    /// What was odd.
    pub anomalies: Vec<String>,
    /// The first stream that broke.
    pub broken: Option<SessionError>,
}

/// One stream as this host saw it.
#[derive(Debug)]
pub struct LocalFlow {
    /// Number of the stream, from 1.
    pub number: u32,
    /// Which way its payload goes.
    pub heading: Heading,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// What was counted.
    pub report: FlowReport,
    /// Datagrams of the start that was left out, which the counts still hold.
    pub omitted: Option<Omitted>,
}

/// Datagrams of the start of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omitted {
    /// Sent, as far as the numbers tell.
    pub datagrams: u64,
    /// Of those, missing.
    pub lost: u64,
}

impl Ready {
    /// Prepares the streams; nothing moves yet.
    ///
    /// # Errors
    /// If a thread cannot be made.
    pub fn new(endpoints: Vec<Endpoint>, spec: &TestSpec, conduct: &Conduct) -> io::Result<Self> {
        let short = |endpoint: &Endpoint| options::short_buffer(&endpoint.socket, spec, end_of(endpoint.heading));
        let mut short_buffers: Vec<String> = endpoints.iter().filter_map(short).collect();
        short_buffers.sort_unstable();
        short_buffers.dedup();
        // Each stream makes its payload meanwhile.
        let streams = StreamSet::prepare(endpoints, spec, conduct)?;
        let before = Before {
            counters: CountersBefore::read(),
            contention: ContentionBefore::read(),
            cpu: clock::process_cpu_times()?,
            short_buffers,
        };
        Ok(Self { streams, before, protocol: spec.protocol, spacing: spec.sample_every })
    }

    /// Starts everything, and probes beside it with `prober`.
    ///
    /// # Errors
    /// If the sampler's thread cannot be made.
    pub fn start(self, prober: Option<Prober>) -> io::Result<Running> {
        let Self { streams, before, protocol, spacing } = self;
        let sampler = Sampler::start(&streams, protocol, spacing, prober)?;
        let start = clock::now();
        streams.start(start);
        Ok(Running { streams, start, sampler, before, protocol, spacing })
    }
}

impl Running {
    /// Waits for the streams, which have been stopped or are sure to end, and gathers what they did. `last` is when
    /// everything that came had come.
    #[must_use]
    pub fn gather(self, last: MonoTime) -> (LocalResult, Option<Prober>) {
        let Self { streams, start, sampler, before, protocol, spacing } = self;
        let scheduled = streams.scheduled();
        let (streams, ends) = streams.join();
        let end = clock::now();
        let (logs, prober) = sampler.finish();
        let cpu = cpu_use(before.cpu, end.since(start));
        let broken = first_broken(&streams, &ends);
        let mut anomalies = before.short_buffers;
        anomalies.extend(ends.iter().filter_map(|end| end.anomaly.clone()));
        anomalies.dedup();
        let flows = streams
            .iter()
            .zip(ends)
            .map(|(stream, end)| LocalFlow {
                number: stream.number,
                heading: stream.heading,
                local: stream.local,
                remote: stream.remote,
                report: flow_report(stream, &end, protocol, logs.iter().find(|log| log.stream == stream.number)),
                omitted: None,
            })
            .map(|flow| flow.ended_by(last.since(start)))
            .collect();
        let cadence = telemetry::cadence(&logs, spacing);
        // One after the other, so that a stream's records are gone before the next one's are understood.
        let samples = logs.into_iter().map(|log| telemetry::samples(&log, start)).collect();
        let part = LocalResult {
            start,
            // What the threads took to end is nobody's transfer time.
            time: last.min(end).since(start),
            flows,
            samples,
            cadence,
            counters: before.counters.readings(),
            cpu,
            contention: before.contention.until_now(end.since(start), scheduled.sum()),
            anomalies,
            broken,
        };
        (part, prober)
    }
}

impl LocalFlow {
    /// Counts no time after the last byte, of a receiver that had to be told to stop.
    fn ended_by(mut self, time: Duration) -> Self {
        if is_receiver(&self) && !self.report.drained {
            let time = units::duration::micros(time);
            self.report.elapsed_us = self.report.elapsed_us.min(time);
        }
        self
    }
}

impl Running {
    /// Gathers what the streams of a test did that broke off.
    #[must_use]
    pub fn abandon(self) -> (LocalResult, Option<Prober>) {
        for stream in self.streams.streams() {
            // It fails only where the connection is gone already.
            let _ = socket2::SockRef::from(&stream.fd()).shutdown(std::net::Shutdown::Both);
        }
        self.gather(clock::now())
    }
}

impl LocalResult {
    /// What a linerate is told.
    #[must_use]
    pub fn report(&mut self) -> Report {
        // Lent and taken back: a copy of all samples would be most of what a test takes.
        let samples = RunSamples { streams: std::mem::take(&mut self.samples), ..RunSamples::default() };
        let packed = BASE64.encode(packed::pack_for_transfer(&samples));
        self.samples = samples.streams;
        Report {
            start_ns: self.start.as_nanos(),
            flows: self.flows.iter().map(|flow| flow.report.clone()).collect(),
            samples: packed,
            cadence: self.cadence,
            counters: self.counters.clone(),
            cpu: self.cpu,
            contention: Some(self.contention),
            anomalies: self.anomalies.clone(),
        }
    }

    /// What any peer is told.
    #[must_use]
    pub fn results(&self) -> Results {
        let sends = self.flows.iter().any(|flow| flow.heading == Heading::Outbound);
        let counts = self.flows.iter().any(|flow| flow.report.retransmits.is_some());
        Results {
            cpu_util_total: (self.cpu.user + self.cpu.system) * 100.0,
            cpu_util_user: self.cpu.user * 100.0,
            cpu_util_system: self.cpu.system * 100.0,
            sender_has_retransmits: if sends { i64::from(counts) } else { -1 },
            congestion_used: self.flows.iter().find_map(|flow| flow.report.congestion_control.clone()),
            streams: self.flows.iter().enumerate().map(|(index, flow)| stream_result(index, flow)).collect(),
            ..Results::default()
        }
    }
}

/// The size of a write or datagram, where the specification fixes it.
#[must_use]
pub fn fixed_length(spec: &TestSpec) -> Option<usize> {
    let blocks = matches!(spec.limit, Limit::Blocks(_));
    let default = blocks.then_some(ByteCount::new(DEFAULT_TCP_LENGTH));
    spec.length.or(default).map(|length| usize::try_from(length.get()).unwrap_or(usize::MAX))
}

/// What an iperf3 counts of an amount of bytes: whole blocks of what was announced.
#[must_use]
pub fn iperf3_amount(spec: &TestSpec) -> Amount {
    match (spec.protocol, NonZeroU64::new(announced_length(spec))) {
        (Protocol::Tcp, Some(block)) => Amount::WholeBlocks(block),
        // Datagrams are whole by nature.
        (Protocol::Tcp, None) | (Protocol::Udp, _) => Amount::Exact,
    }
}

/// Bytes that a client is to send, where the limit of the test is an amount.
#[must_use]
pub fn announced_amount(spec: &TestSpec) -> Option<u64> {
    match spec.limit {
        Limit::Time(_) => None,
        Limit::Bytes(bytes) => Some(bytes.get()),
        Limit::Blocks(blocks) => Some(blocks.saturating_mul(announced_length(spec))),
    }
}

/// The size of a write or datagram to or from an iperf3, where it counts: its receivers take whole blocks of what was
/// announced, and count nothing less. A stream that ends by time may be written in any size.
#[must_use]
pub fn iperf3_length(spec: &TestSpec) -> Option<usize> {
    let announced = || usize::try_from(announced_length(spec)).unwrap_or(usize::MAX);
    match (spec.protocol, spec.limit) {
        (Protocol::Tcp, Limit::Bytes(_) | Limit::Blocks(_)) => Some(announced()),
        (Protocol::Udp, _) | (Protocol::Tcp, Limit::Time(_)) => fixed_length(spec),
    }
}

fn stream_result(index: usize, flow: &LocalFlow) -> StreamResult {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let datagrams = flow.report.datagrams.unwrap_or_default();
    StreamResult {
        id: stream_id(index),
        bytes: signed(flow.report.bytes),
        retransmits: flow.report.retransmits.filter(|_| flow.heading == Heading::Outbound).map_or(-1, signed),
        jitter: datagrams.jitter.as_secs_f64(),
        // On the wire the tail is not lost: `packets` is the highest number seen.
        errors: signed(datagrams.sent.saturating_sub(datagrams.received).get()) * i64::from(is_receiver(flow)),
        packets: signed(datagrams.sent.get()),
        omitted_errors: flow.omitted.map(|omitted| omitted.lost),
        omitted_packets: flow.omitted.map(|omitted| omitted.datagrams),
        end_time: Duration::from_micros(flow.report.elapsed_us).as_secs_f64(),
        ..StreamResult::default()
    }
}

fn is_receiver(flow: &LocalFlow) -> bool {
    end_of(flow.heading) == End::Receiver
}

fn flow_report(stream: &Stream, end: &StreamEnd, protocol: Protocol, log: Option<&SampleLog>) -> FlowReport {
    let sender = stream.end() == End::Sender;
    let last = log.and_then(|log| log.info(log.at.len().checked_sub(1)?));
    let mss = last.as_ref().and_then(|info| if sender { info.tcpi_snd_mss() } else { info.tcpi_advmss() });
    FlowReport {
        bytes: stream.counters.read().bytes,
        elapsed_us: units::duration::micros(end.elapsed),
        drained: matches!(end.finish, Finish::EndOfStream),
        retransmits: last.as_ref().filter(|_| sender).and_then(|info| info.tcpi_total_retrans()).map(u64::from),
        mss,
        congestion_control: (sender && protocol == Protocol::Tcp)
            .then(|| linux::sockets::congestion_control(stream.fd()).ok())
            .flatten(),
        sent_by: end.sent_by,
        copy_fallback: end.copy_fallback,
        received_by: end.received_by,
        datagrams: end.datagrams,
    }
}

fn first_broken(streams: &[Stream], ends: &[StreamEnd]) -> Option<SessionError> {
    streams.iter().zip(ends).find_map(|(stream, end)| match &end.finish {
        Finish::Failed(error) => {
            let source = io::Error::new(error.kind(), error.to_string());
            Some(SessionError::StreamBroke { stream: stream.number, source })
        }
        Finish::Done | Finish::EndOfStream => None,
    })
}

fn cpu_use(before: clock::CpuTimes, time: Duration) -> CpuUse {
    let Ok(after) = clock::process_cpu_times() else { return CpuUse::default() };
    let share = |after: Duration, before: Duration| {
        let seconds = time.as_secs_f64();
        if seconds > 0.0 { after.saturating_sub(before).as_secs_f64() / seconds } else { 0.0 }
    };
    CpuUse { user: share(after.user, before.user), system: share(after.system, before.system) }
}
