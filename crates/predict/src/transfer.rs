//! From what is known to transfers that can be simulated.

use std::time::Duration;

use model::expectation::{self, Inputs};
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::{ElementSpec, PathElement, Seed};
use sim::Algorithm;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, HEADERS, Pacing, SenderSpec, Writer};
use sim::shared::{Shared, Transfer};
use units::{ByteCount, DataRate, Mtu};

use crate::case::Unpredictable;

/// Transfers that stand for the streams of a test.
#[derive(Debug, Clone)]
pub struct Transfers {
    /// They, over their part of the path.
    pub shared: Shared,
    /// How many streams each of them stands for.
    pub each_is: u32,
}

/// The transfers of a test.
///
/// Model: more than [`MOST_SIMULATED`] streams are simulated by few of them over their part of the path. Streams of one test
/// have the same settings and share alike.
///
/// # Errors
/// An algorithm of which there is no model, or segments that cannot be.
pub fn transfers(inputs: &Inputs) -> Result<Transfers, Unpredictable> {
    let streams = u32::from(inputs.streams.value.max(1));
    let each_is = streams.div_ceil(MOST_SIMULATED);
    let count = streams.div_ceil(each_is);
    // Where they do not come out even, the last stands for fewer: the path is cut by what there really is.
    let part = |whole: u64| whole.saturating_mul(count.into()) / u64::from(streams);
    let rate = DataRate::from_bps(part(inputs.path_rate.value.bps()));
    let queue = ByteCount::new(part(inputs.queue.value.get()));
    let (forward, reverse) = ways(inputs, rate, queue);
    let sender = sender(inputs, DataRate::from_bps(part(inputs.adapter_rate.value.bps())))?;
    let receiver = ReceiverSpec {
        buffer_default: inputs.first_receive_buffer.value,
        buffer: inputs.receive_buffer.value,
        window_percent: inputs.window_percent.value,
        ..ReceiverSpec::linux()
    };
    let amount = match inputs.bytes {
        Some(bytes) => Amount::Bytes(ByteCount::new(bytes.get().div_ceil(u64::from(streams)))),
        None => Amount::Time(inputs.time),
    };
    let transfer = Transfer { sender, receiver, amount, start: Duration::ZERO };
    let time_limit = if inputs.bytes.is_some() { PATIENCE } else { inputs.time };
    let shared = Shared {
        forward,
        reverse,
        transfers: vec![transfer; usize::try_from(count).unwrap_or(1)],
        seed: SEED,
        time_limit,
        sample_every: sample_every(inputs, time_limit),
    };
    Ok(Transfers { shared, each_is })
}

/// The elements on the way there and back.
fn ways(inputs: &Inputs, rate: DataRate, queue: ByteCount) -> (Vec<PathElement>, Vec<PathElement>) {
    let rtt = Duration::from_micros(inputs.rtt_us.value);
    let delay = |time| ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept });
    let queue = BufferSpec { bytes: Some(queue), ..Default::default() };
    let mut forward = vec![ElementSpec::Port(PortSpec { rate, queue, cross: CrossSpec::default() })];
    let loss = inputs.loss.as_ref().map(|loss| loss.value.clamp(0.0, 1.0)).filter(|loss| *loss > 0.0);
    forward.extend(loss.map(|loss| ElementSpec::Loss(LossSpec::Random(loss))));
    forward.push(delay(rtt / 2));
    (forward.into_iter().map(PathElement::from).collect(), vec![PathElement::from(delay(rtt - rtt / 2))])
}

fn sender(inputs: &Inputs, adapter_rate: DataRate) -> Result<SenderSpec, Unpredictable> {
    let name = &inputs.congestion_control.value;
    let algorithm: Algorithm = name.parse().map_err(|_| Unpredictable::Algorithm(name.clone()))?;
    let segment = inputs.segment_bytes.value;
    let mtu = Mtu::new(segment.saturating_add(HEADERS)).map_err(|_| Unpredictable::Segment(segment))?;
    let pacing = match (&inputs.pace, inputs.pacing.value) {
        (Some(pace), _) => Pacing::Capped(pace.value),
        (None, expectation::Pacing::Fq) => Pacing::Fq,
        (None, expectation::Pacing::Algorithm) => Pacing::Algorithm,
    };
    Ok(SenderSpec {
        initial_window: inputs.initial_window_segments.value,
        buffer: inputs.send_buffer.value,
        writer: match inputs.writer.value {
            expectation::Writer::Polls => Writer::Polls,
            expectation::Writer::Blocks => Writer::Blocks,
        },
        application_rate: inputs.application_rate.as_ref().map(|rate| rate.value),
        adapter_rate,
        pacing,
        ..SenderSpec::linux(algorithm, mtu)
    })
}

/// Often enough to see round trips, and not so often that it costs more than the transfer.
fn sample_every(inputs: &Inputs, time_limit: Duration) -> Duration {
    let rtt = Duration::from_micros(inputs.rtt_us.value);
    rtt.max(inputs.time / 500).max(time_limit / 500_000).max(Duration::from_millis(1))
}

/// More streams are simulated by this many.
pub const MOST_SIMULATED: u32 = 8;
/// One seed: an expectation is to be the same each time that it is asked for.
const SEED: Seed = Seed(1);
/// After this a transfer of bytes is given up; it has been cut short by what it costs long before.
const PATIENCE: Duration = Duration::from_secs(3_600);
