//! Simulated transfers whose limit is known, as captures: what `linerate trace` is judged by.
//!
//! A case is drawn from a seed: its limit in turn, everything else (rate, RTT, queue, host, where the capture is taken) at
//! random. The limit is planted so that nothing else comes first: a window of a part of the path's BDP, say.

use std::time::Duration;

use capture::verdict::Cause;
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, MtuSpec, Order, PolicerSpec, PortSpec, Report};
use path::random::SeededRng;
use path::{ElementSpec, PathElement, Seed};
use sim::flow::{Flow, Run};
use sim::pcap::PcapWriter;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, SenderSpec};
use sim::tap::TapPoint;
use sim::{Algorithm, Turns};
use units::{ByteCount, DataRate, Mtu};

/// A limit that is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Label {
    ReceiverWindow,
    SendBuffer,
    SlowApplication,
    Pauses,
    Bottleneck,
    DeepBuffer,
    ShallowBuffer,
    Policer,
    RandomLoss,
    LargePacketsLost,
}

/// A transfer with a planted limit.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) label: Label,
    pub(crate) flow: Flow,
    pub(crate) point: TapPoint,
}

impl Label {
    pub(crate) const ALL: [Self; 10] = [
        Self::ReceiverWindow,
        Self::SendBuffer,
        Self::SlowApplication,
        Self::Pauses,
        Self::Bottleneck,
        Self::DeepBuffer,
        Self::ShallowBuffer,
        Self::Policer,
        Self::RandomLoss,
        Self::LargePacketsLost,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ReceiverWindow => "window cap",
            Self::SendBuffer => "small send buffer",
            Self::SlowApplication => "slow application",
            Self::Pauses => "application pauses",
            Self::Bottleneck => "bottleneck alone",
            Self::DeepBuffer => "deep buffer",
            Self::ShallowBuffer => "shallow buffer",
            Self::Policer => "token bucket",
            Self::RandomLoss => "random loss",
            Self::LargePacketsLost => "large packets lost",
        }
    }

    /// The verdict that is right.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            Self::ReceiverWindow => Cause::ReceiverWindow,
            Self::SendBuffer => Cause::SendBuffer,
            Self::SlowApplication | Self::Pauses => Cause::Application,
            Self::Bottleneck => Cause::Bottleneck,
            Self::DeepBuffer => Cause::DeepBuffer,
            Self::ShallowBuffer => Cause::ShallowBuffer,
            Self::Policer => Cause::Policer,
            Self::RandomLoss => Cause::RandomLoss,
            Self::LargePacketsLost => Cause::MtuBlackHole,
        }
    }
}

/// What a path and its hosts are drawn from.
struct Draw {
    rng: SeededRng,
}

impl Draw {
    /// Evenly in the logarithm.
    fn between(&mut self, range: std::ops::Range<f64>) -> f64 {
        (range.start.ln() + self.rng.unit() * (range.end / range.start).ln()).exp()
    }
}

const MSS: f64 = 1_448.0;
/// Packets of a transfer, about: enough for every rule, and 10,000 of them in minutes.
const PACKETS: f64 = 12_000.0;

/// What is drawn of a case: a path in bytes a second, seconds and bytes, and its hosts.
struct Plan {
    rate: f64,
    rtt_s: f64,
    bdp: f64,
    queue: f64,
    /// What the transfer carries by its limit, in bytes a second.
    carried: f64,
    sender: SenderSpec,
    receiver: ReceiverSpec,
    /// What stands before the bottleneck.
    before: Vec<ElementSpec>,
}

impl Plan {
    /// A path and hosts that limit nothing but by the bottleneck.
    fn new(draw: &mut Draw) -> Self {
        let rate = draw.between(5e6..50e6);
        let rtt_s = draw.between(0.02..0.12);
        let bdp = (rate * rtt_s).max(30.0 * MSS);
        let mut sender = SenderSpec::linux(Algorithm::Cubic, Mtu::new(1_500).unwrap_or(Mtu::MIN));
        sender.buffer = ByteCount::new(1 << 28);
        sender.adapter_rate = DataRate::from_bps(10_000_000_000);
        if draw.rng.hits(0.5) {
            sender.offload = ByteCount::new(1);
        }
        let receiver = ReceiverSpec { buffer: ByteCount::new(1 << 28), ..ReceiverSpec::linux() };
        let queue = bdp * draw.between(0.45..0.8);
        Self { rate, rtt_s, bdp, queue, carried: rate, sender, receiver, before: Vec::new() }
    }

    fn plant(&mut self, label: Label, draw: &mut Draw) {
        match label {
            Label::ReceiverWindow => {
                let window = self.bdp * draw.between(0.1..0.7);
                self.receiver = ReceiverSpec::fixed_window(bytes(window.max(12.0 * MSS)));
                self.carried = window / self.rtt_s;
            }
            Label::SendBuffer => {
                // The memory of frames counts (`sk_wmem`), and a third is free before a writer goes on: less payload than this.
                let payload = self.bdp * draw.between(0.15..0.6);
                self.sender.buffer = bytes(payload.max(24.0 * MSS));
                self.carried = payload / self.rtt_s;
            }
            Label::SlowApplication | Label::Pauses => self.plant_application(label, draw),
            Label::Bottleneck => {}
            Label::DeepBuffer => self.queue = self.bdp * draw.between(3.0..6.0),
            Label::ShallowBuffer => self.queue = (self.bdp * draw.between(0.01..0.06)).max(8.0 * MSS),
            Label::Policer => {
                self.carried = self.rate * draw.between(0.1..0.5);
                let burst = bytes((self.carried * draw.between(0.005..0.1)).max(10.0 * MSS));
                let spec = PolicerSpec { rate: byte_rate(self.carried), burst, remark: None };
                self.before.push(ElementSpec::Policer(spec));
            }
            Label::RandomLoss => {
                // Mathis et al.: the window that a loss probability leaves, a part of the path's.
                let window = (self.bdp / MSS * draw.between(0.1..0.4)).clamp(6.0, 40.0);
                self.before.push(ElementSpec::Loss(LossSpec::Random((1.22 / window).powi(2))));
                self.carried = window * MSS / self.rtt_s;
            }
            Label::LargePacketsLost => {
                let limit = Mtu::new(1_000 + u32::try_from(draw.rng.below(450)).unwrap_or_default());
                let spec = MtuSpec { bytes: limit.unwrap_or(Mtu::MIN), report: Report::Silent };
                self.before.push(ElementSpec::Mtu(spec));
            }
        }
    }

    fn plant_application(&mut self, label: Label, draw: &mut Draw) {
        if label == Label::SlowApplication {
            self.carried = self.rate * draw.between(0.1..0.6);
            self.sender.application_rate = Some(byte_rate(self.carried));
            // Model: with offload, a frame that is not full waits for an acknowledgment, and goes with it.
            self.sender.offload = ByteCount::new(1);
            return;
        }
        let period = draw.between(0.5..2.0);
        let on = period * draw.between(0.1..0.4);
        self.sender.turns = Some(Turns { on: seconds(on), period: seconds(period) });
        // What was written is sent when the program stands still: little enough to run out.
        self.sender.buffer = bytes(self.bdp * 2.0);
        self.carried = self.rate * on / period;
    }

    fn flow(self, seed: Seed) -> Flow {
        let half = seconds(self.rtt_s / 2.0);
        let delay = ElementSpec::Delay(DelaySpec { time: half, jitter: Duration::ZERO, order: Order::Kept });
        let port = PortSpec {
            rate: byte_rate(self.rate),
            queue: BufferSpec { bytes: Some(bytes(self.queue)), ..BufferSpec::default() },
            cross: CrossSpec::default(),
        };
        let forward = self.before.into_iter().chain([ElementSpec::Port(port), delay.clone()]);
        Flow {
            forward: forward.map(PathElement::from).collect(),
            reverse: vec![PathElement::from(delay)],
            sender: self.sender,
            receiver: self.receiver,
            amount: Amount::Time(seconds((PACKETS * MSS / self.carried).clamp(8.0, 40.0))),
            seed,
            time_limit: Duration::from_secs(120),
            sample_every: Duration::from_secs(1),
        }
    }
}

/// The case of a number.
pub(crate) fn case(seed: Seed, number: usize) -> Case {
    let label = Label::ALL[number % Label::ALL.len()];
    let seed = seed.part(number as u64);
    let mut draw = Draw { rng: SeededRng::new(seed) };
    let mut plan = Plan::new(&mut draw);
    plan.plant(label, &mut draw);
    // Of packets that are lost before it, a receiver captures nothing.
    let is_at_sender = label == Label::LargePacketsLost || draw.rng.hits(0.5);
    let point = if is_at_sender { TapPoint::Sender } else { TapPoint::Receiver };
    Case { label, flow: plan.flow(seed), point }
}

/// The packets of a case as a pcap file.
pub(crate) fn captured(case: &Case) -> anyhow::Result<Vec<u8>> {
    let mut run = Run::new(&case.flow)?;
    let mut writer = PcapWriter::new(&run.tap_flows());
    run.go_on_tapped(case.point, |event| writer.take(event));
    Ok(writer.drain())
}

fn bytes(value: f64) -> ByteCount {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
    let value = value as u64;
    ByteCount::new(value)
}

fn byte_rate(value: f64) -> DataRate {
    DataRate::from_bytes_per_second(bytes(value).get())
}

fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{Trace, TraceOptions};

    fn named(case: &Case) -> anyhow::Result<Option<Cause>> {
        let capture = captured(case)?;
        let mut trace = Trace::new(TraceOptions::default());
        let used = trace.read(&capture)?;
        let report = trace.end(&capture[used..]);
        Ok(report.connections[0].transfers[0].verdicts.first().map(|verdict| verdict.cause))
    }

    /// Limits that no other looks like, one of each: the bench judges hundreds.
    #[test]
    fn plain_limits_are_named() -> anyhow::Result<()> {
        for label in [Label::Bottleneck, Label::DeepBuffer, Label::LargePacketsLost] {
            let number = Label::ALL.iter().position(|each| *each == label).unwrap_or_default();
            assert_eq!(named(&case(Seed(7), number))?, Some(label.cause()), "{}", label.name());
        }
        Ok(())
    }

    /// At the receiver behind a queue of twice the policer's rate (207), with a bucket that only a full one at the start tells from a
    /// larger one (1117), and with 57 losses in 3 recoveries of a transfer that reaches half of the rate (617).
    #[test]
    fn policers_are_named_behind_queues_and_by_few_losses() -> anyhow::Result<()> {
        for number in [207, 617, 1_117] {
            let case = case(Seed(0x51), number);
            assert_eq!((case.label, named(&case)?), (Label::Policer, Some(Cause::Policer)), "{number}");
        }
        Ok(())
    }
}
