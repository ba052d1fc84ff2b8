//! The same transfers in ns-3 and here, both by the simplest rules that ns-3 has: a window that never changes, no buffer at
//! the sender that could be full, an acknowledgement for each segment, slow start until a loss.
//!
//! Segments are large, since what ns-3 does for each grows with what is in flight: those of 9 kB do not come to an end at
//! this rate. For the same reason losses are on a short path.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use anyhow::ensure;
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::{ElementSpec, PathElement, Seed};
use sim::congestion::SlowStart;
use sim::flow::Flow;
use sim::receiver::{Acknowledging, ReceiverSpec};
use sim::sender::{Amount, HEADERS, SenderSpec, Writer};
use sim::{Algorithm, Outcome};
use units::{ByteCount, DataRate, Mtu};

use crate::contests::effort::{Cases, Effort};
use crate::ns3::{Asked, Ns3};
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

/// One transfer.
#[derive(Debug, Clone, Copy)]
struct Case {
    algorithm: Algorithm,
    path: Way,
}

/// Path without other traffic, of [`RATE`].
#[derive(Debug, Clone, Copy)]
struct Way {
    rtt: Duration,
    /// What the receiver allows at any time.
    window: ByteCount,
    /// Every which packet is lost; none where it is [`None`].
    loses: Option<NonZeroU64>,
}

const RATE: DataRate = DataRate::from_bps(10_000_000_000);
const BYTES: ByteCount = ByteCount::new(1_300_000_000);
const SEGMENT: u32 = 62_000;
/// More than any window here: nothing is lost in it.
const QUEUE: ByteCount = ByteCount::new(300_000_000);
const PATHS: [Way; 2] = [
    Way { rtt: Duration::from_millis(100), window: ByteCount::new(200_000_000), loses: None },
    Way { rtt: Duration::from_millis(10), window: ByteCount::new(25_000_000), loses: NonZeroU64::new(1_000) },
];
const ALGORITHMS: [Algorithm; 4] = [Algorithm::Reno, Algorithm::Cubic, Algorithm::Htcp, Algorithm::Bbr];
/// Processor time that ns-3 may take for one.
const LIMIT_S: u64 = 60;

pub(super) fn run(effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
    let ns3 = Ns3::find()?;
    let (mut rows, mut speeds) = (Vec::new(), [Vec::new(), Vec::new()]);
    for path in PATHS {
        for algorithm in effort.choose(&ALGORITHMS[..2], &ALGORITHMS[..]) {
            let case = Case { algorithm: *algorithm, path };
            if !cases.have(&case.name()) {
                continue;
            }
            eprintln!("    {} …", case.name());
            match case.compare(&ns3) {
                Ok((row, [ours, peer])) => {
                    rows.push(row);
                    speeds[0].push(ours);
                    speeds[1].push(peer);
                }
                Err(error) => rows.push(Row::failed(case.name(), &error)),
            }
        }
    }
    let [ours, peer] = speeds;
    let ratio = Spread::of_ratios(&ours, &peer);
    let speed = Row::new("reckoned a second, 1000 segments", Spread::of(ours).median, "");
    rows.push(speed.against(Spread::of(peer).median, ratio).note("of real time, without compiling or starting"));
    Ok(rows)
}

impl Case {
    fn name(&self) -> String {
        let loss = self.path.loses.map_or(String::new(), |every| format!(", 1 of {every} lost"));
        format!("{} over {} ms{loss}", self.algorithm.name(), self.path.rtt.as_millis())
    }

    /// How long it takes, and how many thousand segments a second both reckon.
    fn compare(&self, ns3: &Ns3) -> anyhow::Result<(Row, [f64; 2])> {
        let (ours, speed) = self.simulate()?;
        let found = ns3.transfer(&self.asked())?;
        let took = ours.duration.as_secs_f64();
        let row = Row::new(format!("{}: time", self.name()), took, "s")
            .against(found.took_s, Spread::of([took / found.took_s]))
            .target(Target::RatioWithinPercent(5.0))
            .note(format!("{} retransmitted here, {} in ns-3", ours.retransmits, found.again));
        Ok((row, [speed, thousands(found.segments) / found.wall_s]))
    }

    /// The transfer here, several times for its speed.
    fn simulate(&self) -> anyhow::Result<(Outcome, f64)> {
        let flow = self.flow()?;
        let mut times = Vec::new();
        let mut last = flow.run()?;
        for _ in 0..5 {
            let began = Instant::now();
            last = flow.run()?;
            times.push(began.elapsed().as_secs_f64());
        }
        ensure!(last.finished, "the transfer does not come to its end");
        let segments = last.sent.get() + last.retransmits.get();
        Ok((last, thousands(segments) / Spread::of(times).median))
    }

    fn flow(&self) -> anyhow::Result<Flow> {
        let delay = || {
            let time = self.path.rtt / 2;
            PathElement::from(ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept }))
        };
        let queue = BufferSpec { bytes: Some(QUEUE), ..BufferSpec::default() };
        let mut forward = vec![ElementSpec::Port(PortSpec { rate: RATE, queue, cross: CrossSpec::default() }).into()];
        forward.extend(self.path.loses.map(|every| PathElement::from(ElementSpec::Loss(LossSpec::EveryNth(every)))));
        forward.push(delay());
        Ok(Flow {
            forward,
            reverse: vec![delay()],
            sender: SenderSpec {
                slow_start: SlowStart::UntilLoss,
                buffer: ByteCount::new(u64::MAX >> 8),
                writer: Writer::Blocks,
                offload: ByteCount::new(1),
                small_queue: ByteCount::new(u64::MAX >> 8),
                restarts_after_idle: false,
                ..SenderSpec::linux(self.algorithm, Mtu::new(SEGMENT + HEADERS)?)
            },
            receiver: ReceiverSpec {
                acknowledging: Acknowledging::Each,
                ..ReceiverSpec::fixed_window(self.path.window)
            },
            amount: Amount::Bytes(BYTES),
            seed: Seed(1),
            time_limit: Duration::from_secs(3_600),
            sample_every: Duration::from_secs(3_600),
        })
    }

    fn asked(&self) -> Asked {
        Asked {
            algorithm: self.algorithm.name(),
            bytes: BYTES.get(),
            segment: SEGMENT,
            rate_bps: RATE.bps(),
            rtt_us: units::duration::micros(self.path.rtt),
            window: self.path.window.get(),
            queue: QUEUE.get(),
            loses: self.path.loses.map_or(0, NonZeroU64::get),
            limit_s: LIMIT_S,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a speed is shown")]
fn thousands(segments: u64) -> f64 {
    segments as f64 * 1e-3
}
