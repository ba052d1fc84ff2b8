//! One transfer: its path and hosts, and what is predicted.

use std::num::NonZeroU64;
use std::time::Duration;

use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::{ElementSpec, PathElement, Seed};
use sim::Algorithm;
use sim::flow::Flow;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, SenderSpec, Writer};
use units::{ByteCount, DataRate, Mtu};

use super::shape::{Seen, Shape};
use crate::contests::wire::BUFFERS;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) algorithm: Algorithm,
    pub(super) rtt_ms: u64,
    /// Every which packet is lost; none where it is [`None`].
    pub(super) loses: Option<NonZeroU64>,
    /// The most the send buffer grows to.
    pub(super) send_buffer: ByteCount,
    pub(super) writer: Writer,
}

const RATE: DataRate = DataRate::from_bps(100_000_000);
/// What is sent is what the prediction sends in this time.
const LASTS: Duration = Duration::from_secs(8);
/// How often bytes are counted.
pub(super) const EVERY: Duration = Duration::from_millis(5);
/// A transfer that takes longer is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

impl Transfer {
    pub(super) fn name(&self) -> String {
        let loss = self.loses.map_or(String::new(), |every| format!(", 1 of {every} lost"));
        let buffer = match (self.send_buffer.get() < BUFFERS.1, self.writer) {
            (false, _) => String::new(),
            (true, Writer::Polls) => format!(", {} to send from, polls", self.send_buffer),
            (true, Writer::Blocks) => format!(", {} to send from, blocks", self.send_buffer),
        };
        format!("{} over {} ms{loss}{buffer}", self.algorithm.name(), self.rtt_ms)
    }

    /// What is sent, and what comes of it.
    pub(super) fn predict(&self) -> anyhow::Result<(ByteCount, Shape)> {
        let bytes = self.flow(Amount::Time(LASTS))?.run()?.delivered;
        let outcome = self.flow(Amount::Bytes(bytes))?.run()?;
        let seen = outcome.samples.iter().map(|sample| Seen::new(sample.at, sample.acked, sample.in_flight));
        Ok((bytes, Shape::of(&seen.collect::<Vec<_>>())))
    }

    /// The path there and back.
    pub(super) fn elements(&self) -> [Vec<ElementSpec>; 2] {
        let time = Duration::from_micros(self.rtt_ms * 500);
        let delay = || ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept });
        let bytes = Some(RATE * Duration::from_millis(self.rtt_ms));
        let queue = BufferSpec { bytes, ..BufferSpec::default() };
        let mut there = vec![ElementSpec::Port(PortSpec { rate: RATE, queue, cross: CrossSpec::default() })];
        there.extend(self.loses.map(|every| ElementSpec::Loss(LossSpec::EveryNth(every))));
        there.push(delay());
        [there, vec![delay()]]
    }

    fn flow(&self, amount: Amount) -> anyhow::Result<Flow> {
        let [forward, reverse] = self.elements().map(|chain| chain.into_iter().map(PathElement::from).collect());
        Ok(Flow {
            forward,
            reverse,
            sender: SenderSpec {
                buffer: self.send_buffer,
                writer: self.writer,
                ..SenderSpec::linux(self.algorithm, Mtu::new(1_500)?)
            },
            receiver: ReceiverSpec {
                buffer_default: ByteCount::new(BUFFERS.0),
                buffer: ByteCount::new(BUFFERS.1),
                ..ReceiverSpec::linux()
            },
            amount,
            seed: Seed(1),
            time_limit: PATIENCE,
            sample_every: EVERY,
        })
    }
}
