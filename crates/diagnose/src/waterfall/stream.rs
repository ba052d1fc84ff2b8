//! What is known of one stream: both ends' samples, and the constants that the rules compare with.

use model::measurement::{Cadence, End, Heading, Measurement, Whose};
use model::series::RunSamples;
use model::series::field::Field;
use model::spec::TestSpec;

use super::track::{Curve, Track};

/// One stream in one direction.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    pub(super) number: u32,
    pub(super) sender: Option<Track<'a>>,
    pub(super) receiver: Option<Track<'a>>,
}

/// What holds for all streams of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) spec: &'a TestSpec,
    /// End of the run, in microseconds from its start.
    pub(super) end: i64,
    /// Least round-trip time, in microseconds.
    pub(super) base_rtt: Option<u64>,
    /// Time between samples that was asked for, in microseconds.
    pub(super) spacing: u64,
    pub(super) sender_cpu: Processor,
    pub(super) receiver_cpu: Processor,
    pub(super) clocks: Clocks,
    pub(super) pacing: Pacing,
}

/// Whether a process used all it could of its processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    /// It did.
    Exhausted,
    /// It did not, or nobody knows.
    NotExhausted,
}

/// Whether the senders' kernel spreads what their programs have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pacing {
    /// Congestion control has it do so, or a cap of the pacing rate (`sk_pacing_status`, `SK_PACING_NEEDED`).
    On,
    /// Nothing shows that it does. A `fq` qdisc may, which the samples do not have.
    NotKnown,
}

/// Whether times of the two ends can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clocks {
    Aligned,
    Unrelated,
}

impl<'a> Stream<'a> {
    /// The streams of `heading` that anybody sampled.
    pub(super) fn all(samples: &'a RunSamples, heading: Heading) -> Vec<Self> {
        let mut numbers: Vec<u32> =
            samples.streams.iter().filter(|stream| stream.heading == heading).map(|stream| stream.stream).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let end = |number: u32, end: End| {
            let mut of_end = samples.streams.iter().filter(|s| s.heading == heading && s.end == end);
            of_end.find(|samples| samples.stream == number).and_then(Track::new)
        };
        let stream = |number| Self { number, sender: end(number, End::Sender), receiver: end(number, End::Receiver) };
        numbers.into_iter().map(stream).collect()
    }

    /// A column of the sender.
    pub(super) fn sent(&self, field: Field) -> Option<Curve<'_>> {
        self.sender.as_ref()?.column(field)
    }

    /// A column of the receiver.
    pub(super) fn taken(&self, field: Field) -> Option<Curve<'_>> {
        self.receiver.as_ref()?.column(field)
    }

    /// Payload that was sent and not acknowledged at a moment; none where the sender's kernel does not say.
    pub(super) fn outstanding(&self, at: i64) -> Option<u64> {
        let state = |field| Some(self.sent(field)?.state(at));
        let most = state(Field::Unacked)?.saturating_mul(state(Field::SndMss)?);
        let sent = state(Field::BytesSent).zip(state(Field::BytesRetrans)).zip(state(Field::BytesAcked));
        let known = sent.map(|((sent, again), acked)| sent.saturating_sub(again.saturating_add(acked)));
        // Of short segments less is outstanding than so many could hold.
        Some(known.map_or(most, |known| known.min(most)))
    }

    /// The last cap of the sender's pacing, in bytes a second; none where nobody has set one.
    pub(super) fn pacing_limit(&self) -> Option<u64> {
        Some(self.sent(Field::MaxPacingRate)?.last()).filter(|cap| *cap < NO_PACING_LIMIT)
    }

    /// The last moment that any sample tells of.
    pub(super) fn sampled_until(&self) -> i64 {
        let last = |track: &Track<'_>| track.times().last().copied();
        self.sender.iter().chain(&self.receiver).filter_map(last).max().unwrap_or(0)
    }

    /// Payload that left the path over time, as the sender's kernel learned of it; where the sender tells nothing, as
    /// the receiver's kernel took it.
    ///
    /// The sender's own count is on the same clock as its state, and is not moved by when the receiving program runs.
    pub(super) fn delivered(&self) -> Option<Curve<'_>> {
        self.sent(Field::BytesAcked)
            .or_else(|| self.taken(Field::BytesReceived))
            .or_else(|| self.taken(Field::AppBytes))
            .or_else(|| self.sent(Field::AppBytes))
    }
}

impl<'a> Setting<'a> {
    /// The setting of `heading` in a run of `spec` that ended after `end` microseconds.
    pub(super) fn new(
        measurement: &Measurement,
        spec: &'a TestSpec,
        streams: &[Stream<'_>],
        (heading, end): (Heading, i64),
    ) -> Self {
        let (local_sends, threads) = (heading == Heading::Outbound, spec.streams.max(1));
        let (sender, receiver) = if local_sends {
            (measurement.local_cpu, measurement.peer_cpu)
        } else {
            (measurement.peer_cpu, measurement.local_cpu)
        };
        let processor = |cpu: Option<model::measurement::CpuUse>| match cpu {
            Some(cpu) if cpu.user + cpu.system >= EXHAUSTED * f64::from(threads) => Processor::Exhausted,
            _ => Processor::NotExhausted,
        };
        Self {
            spec,
            end: end.min(LONGEST_US),
            base_rtt: base_rtt(measurement, streams),
            spacing: spacing(&measurement.telemetry, spec),
            sender_cpu: processor(sender),
            receiver_cpu: processor(receiver),
            clocks: if measurement.clock.is_some() { Clocks::Aligned } else { Clocks::Unrelated },
            pacing: pacing(measurement, streams, heading),
        }
    }

    /// Times between two samples above this are gaps in which states are not known.
    pub(super) fn gap(&self) -> i64 {
        let gap = self.spacing.saturating_mul(5).max(SHORTEST_GAP_US);
        i64::try_from(gap).unwrap_or(i64::MAX)
    }

    /// The time over which a rate is taken: several round trips and several samples.
    pub(super) fn window(&self) -> i64 {
        let window = self.base_rtt.unwrap_or(0).saturating_mul(4).max(self.spacing.saturating_mul(5)).max(50_000);
        i64::try_from(window).unwrap_or(i64::MAX)
    }
}

fn pacing(measurement: &Measurement, streams: &[Stream<'_>], heading: Heading) -> Pacing {
    let mut flows = measurement.flows.iter().filter(|flow| flow.heading == heading);
    let is_bbr = flows.any(|flow| flow.congestion_control.as_ref().is_some_and(|name| name.starts_with("bbr")));
    if is_bbr || streams.iter().any(|stream| stream.pacing_limit().is_some()) { Pacing::On } else { Pacing::NotKnown }
}

/// Least round trip of all streams and of the probes before the test.
fn base_rtt(measurement: &Measurement, streams: &[Stream<'_>]) -> Option<u64> {
    let kernel = streams.iter().filter_map(|stream| Some(stream.sent(Field::MinRtt)?.last()));
    let probes = measurement.latency.as_ref().and_then(|latency| latency.idle?.min_us);
    // Before its first sample the kernel says the largest number.
    kernel.chain(probes).filter(|rtt| (1..u64::from(u32::MAX)).contains(rtt)).min()
}

fn spacing(telemetry: &[Cadence], spec: &TestSpec) -> u64 {
    let asked = units::duration::micros(spec.sample_every);
    let local = telemetry.iter().find(|cadence| cadence.whose == Whose::Local).or(telemetry.first());
    // Samples of a long run were thinned, and come at another pace than was asked for.
    let thinned = local.filter(|cadence| cadence.thinned > 0).map_or(0, |cadence| cadence.achieved_us);
    // Whoever takes them says how far apart they may be: gaps that were promised show no program that stands still.
    let promised = local.map_or(0, |cadence| cadence.wanted_us.max(cadence.at_most_us.unwrap_or(0)));
    asked.max(thinned).max(promised).max(1_000)
}

/// A thread that uses this much of a processor has none left: the sampling and the kernel's own work need the rest.
const EXHAUSTED: f64 = 0.85;

/// What `tcpi_max_pacing_rate` is of a socket without `SO_MAX_PACING_RATE`.
pub(super) const NO_PACING_LIMIT: u64 = u64::MAX;

/// A day: no test is longer, and a damaged record that claims so must not take a day to read.
pub(super) const LONGEST_US: i64 = 86_400_000_000;

/// Shorter pauses between samples are a busy machine's ordinary scheduling.
const SHORTEST_GAP_US: u64 = 50_000;
