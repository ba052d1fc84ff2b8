//! What was seen over the whole run: the numbers that the sentences are made of.

use std::time::Duration;

use model::measurement::Heading;
use model::series::ProbeSamples;
use model::series::field::Field;
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::line::{Framing, LineRate, Told};
use super::stream::{Processor, Setting, Stream};
use crate::exact::scale;
use crate::grown_queue::{GrownQueue, QueuePath};

/// Numbers of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observed {
    /// Least round-trip time.
    #[serde(
        rename = "base_rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub base_rtt: Option<Duration>,
    /// Bytes that must be in flight to fill the line: line rate times the least round-trip time.
    #[serde(rename = "needed_bytes", default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<ByteCount>,
    /// The largest windows that the receivers offered, summed over the streams.
    #[serde(rename = "window_offered_bytes", default, skip_serializing_if = "Option::is_none")]
    pub window_offered: Option<ByteCount>,
    /// The most that was in flight or waiting in the send buffers, summed over the streams.
    #[serde(rename = "send_buffer_held_bytes", default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_held: Option<ByteCount>,
    /// The most that lay unread in the receivers' sockets, summed over the streams.
    #[serde(rename = "unread_bytes", default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<ByteCount>,
    /// What the path passed while a queue stood on it, headers included.
    #[serde(rename = "path_rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub path_rate: Option<DataRate>,
    /// The most that the qdiscs and NICs of the sending host had and did not send yet, with the kernel's bookkeeping, summed over the streams.
    #[serde(rename = "host_queue_bytes", default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<ByteCount>,
    /// The least of the rates at which programs have the kernel pace the senders' sockets (`SO_MAX_PACING_RATE`).
    #[serde(rename = "pacing_limit_bps", default, skip_serializing_if = "Option::is_none")]
    pub pacing_limit: Option<DataRate>,
    /// By how much RTTs grew under load, where that was on the reverse path, on which acknowledgments come back.
    #[serde(
        rename = "reverse_queue_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub reverse_queue: Option<Duration>,
    /// Whether the sending process used up its processors.
    pub sender_cpu_exhausted: bool,
    /// Whether the receiving process used up its processors.
    pub receiver_cpu_exhausted: bool,
}

impl Observed {
    pub(super) fn new(
        streams: &[Stream<'_>],
        setting: &Setting<'_>,
        (line_rate, path): (LineRate, Option<u64>),
    ) -> Self {
        let base_rtt = setting.base_rtt.map(Duration::from_micros);
        let greatest = |of: &dyn Fn(&Stream<'_>) -> Option<u64>| -> Option<ByteCount> {
            let values: Vec<u64> = streams.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| ByteCount::new(values.into_iter().fold(0, u64::saturating_add)))
        };
        Self {
            base_rtt,
            needed: base_rtt.map(|rtt| line_rate.over(rtt)),
            window_offered: greatest(&|stream| Some(stream.sent(Field::SndWnd)?.max())),
            send_buffer_held: greatest(&held),
            unread: greatest(&unread),
            path_rate: path.map(DataRate::from_bytes_per_second),
            host_queue: greatest(&|stream| Some(stream.sent(Field::WmemAlloc)?.max())),
            pacing_limit: streams.iter().filter_map(Stream::pacing_limit).min().map(DataRate::from_bytes_per_second),
            reverse_queue: None,
            sender_cpu_exhausted: setting.sender_cpu == Processor::Exhausted,
            receiver_cpu_exhausted: setting.receiver_cpu == Processor::Exhausted,
        }
    }
}

/// By how much the reverse path made RTTs longer, where it did.
pub(super) fn reverse_queue(probes: &ProbeSamples, heading: Heading) -> Option<Duration> {
    GrownQueue::of(probes, heading).filter(|queue| queue.path == QueuePath::Reverse).map(|queue| queue.grown)
}

/// The most that a sender's socket held.
fn held(stream: &Stream<'_>) -> Option<u64> {
    let sender = stream.sender.as_ref()?;
    let (flight, segment) = (sender.column(Field::Unacked)?, sender.column(Field::SndMss)?);
    let waiting = sender.column(Field::Notsent)?;
    let at = |at: &i64| flight.state(*at).saturating_mul(segment.state(*at)).saturating_add(waiting.state(*at));
    sender.times().iter().map(at).max()
}

/// The most that a receiver's program had not taken.
fn unread(stream: &Stream<'_>) -> Option<u64> {
    let receiver = stream.receiver.as_ref()?;
    let (kernel, program) = (receiver.column(Field::BytesReceived)?, receiver.column(Field::AppBytes)?);
    receiver.times().iter().map(|at| kernel.state(*at).saturating_sub(program.state(*at))).max()
}

/// What the samples tell of how payload was framed.
pub(super) fn told(streams: &[Stream<'_>]) -> Told {
    let last = |field| streams.iter().find_map(|stream| Some(stream.sent(field)?.last()));
    let options =
        last(Field::Options).or_else(|| streams.iter().find_map(|stream| Some(stream.taken(Field::Options)?.last())));
    Told { segment: last(Field::SndMss).and_then(|mss| u32::try_from(mss).ok()), options }
}

/// The highest rate over a tenth of a second, headers included; at least the mean over the run.
pub(super) fn peak(streams: &[Stream<'_>], setting: &Setting<'_>, (framing, mean): (Framing, DataRate)) -> DataRate {
    let mut highest = framing.wire(mean.bytes_per_second());
    let step = setting.window().max(STEP_US);
    let end = streams.iter().map(Stream::sampled_until).max().unwrap_or(0).min(setting.end);
    let moments = || std::iter::successors(Some(0_i64), |at| at.checked_add(step).filter(|next| *next <= end));
    let curves: Vec<_> = streams.iter().filter_map(Stream::delivered).collect();
    let mut counts: Vec<_> = curves.iter().map(|curve| curve.counts(moments())).collect();
    let mut before: Vec<u64> = counts.iter_mut().filter_map(Iterator::next).collect();
    for _ in moments().skip(1) {
        let mut payload = 0_u64;
        for (counts, before) in counts.iter_mut().zip(&mut before) {
            let count = counts.next().unwrap_or(*before);
            payload = payload.saturating_add(count.saturating_sub(*before));
            *before = count;
        }
        highest = highest.max(framing.wire(scale(payload, 1_000_000, u64::try_from(step).unwrap_or(u64::MAX))));
    }
    DataRate::from_bytes_per_second(highest)
}

const STEP_US: i64 = 100_000;
