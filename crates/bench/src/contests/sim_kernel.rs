//! Whether a prediction is what the kernel does: one transfer over the same path, once between two namespaces in real time,
//! once in virtual time.
//!
//! The rate is low enough that the machine is never the limit. Losses are periodic, so that both meet the same ones.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use lab::relay::Options;
use linux::netns::{NetnsRef, with_netns};
use linux::sockets::set_congestion_control;
use linux::tcp_info::TcpInfo;
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::{ElementSpec, Seed, Stage};
use sim::Algorithm;
use sim::flow::Flow;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use units::{ByteCount, DataRate, Mtu};

use super::far::{FAR, Far};
use super::wire::{self, BUFFERS};
use crate::contests::Effort;
use crate::outcome::{Row, Target};

/// One transfer.
#[derive(Debug, Clone, Copy)]
struct Case {
    algorithm: Algorithm,
    rtt_ms: u64,
    /// Every which packet is lost; none where it is [`None`].
    loses: Option<NonZeroU64>,
}

/// Bytes that were acknowledged by an instant, in seconds after the connection stood.
type Series = Vec<(f64, f64)>;

/// What is compared: seconds until everything was acknowledged, Mbit/s in the second half of that, and seconds until half
/// of that rate was reached.
#[derive(Debug, Clone, Copy)]
struct Shape {
    took_s: f64,
    rate_mbps: f64,
    ramp_s: f64,
}

const RATE: DataRate = DataRate::from_bps(100_000_000);
/// What is sent is what the prediction sends in this time.
const LASTS: Duration = Duration::from_secs(10);
/// How often bytes are counted.
const EVERY: Duration = Duration::from_millis(5);
/// A connection that stands still for so long is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The part inside a namespace of its own.
pub(super) fn inside(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for rtt_ms in effort.choose(&[100][..], &[20, 100, 209][..]) {
        for algorithm in [Algorithm::Cubic, Algorithm::Reno, Algorithm::Bbr] {
            for loses in [None, NonZeroU64::new(5_000)] {
                let case = Case { algorithm, rtt_ms: *rtt_ms, loses };
                let compared = case.compare();
                rows.extend(compared.unwrap_or_else(|error| vec![Row::failed(case.name(), &error)]));
            }
        }
    }
    Ok(rows)
}

impl Case {
    fn name(&self) -> String {
        let loss = self.loses.map_or(String::new(), |every| format!(", 1 of {every} lost"));
        format!("{} over {} ms{loss}", self.algorithm.name(), self.rtt_ms)
    }

    fn compare(&self) -> anyhow::Result<Vec<Row>> {
        let timed = self.flow(Amount::Time(LASTS))?.run()?;
        let bytes = timed.delivered;
        let outcome = self.flow(Amount::Bytes(bytes))?.run()?;
        let predicted = outcome.samples.iter().map(|sample| (sample.at.as_secs_f64(), float(sample.acked)));
        let predicted = shape(&predicted.collect::<Series>());
        let (measured, report) = wire::over(self.elements(), &Options::default(), |far| self.measure(far, bytes))?;
        let measured = shape(&measured);
        let limited = report.limited.map(|limited| format!("not to be trusted: {}", limited.worst().join("; ")));
        let row = |what: &str, ours: f64, kernel: f64, percent: f64| {
            let mut row = Row::new(format!("{}: {what}, off by", self.name()), (ours / kernel - 1.0) * 100.0, "%");
            row.note =
                Some(limited.clone().unwrap_or_else(|| format!("{ours:.2} predicted, {kernel:.2} by the kernel")));
            row.target(Target::Within(percent))
        };
        let mut rows = vec![
            row("time, s", predicted.took_s, measured.took_s, 10.0),
            row("steady rate, Mbit/s", predicted.rate_mbps, measured.rate_mbps, 5.0),
        ];
        if self.loses.is_none() {
            rows.push(row("ramp-up, s", predicted.ramp_s, measured.ramp_s, 10.0));
        }
        Ok(rows)
    }

    fn elements(&self) -> [Vec<ElementSpec>; 2] {
        let time = Duration::from_micros(self.rtt_ms * 500);
        let delay = || ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept });
        let bytes = Some(RATE * Duration::from_millis(self.rtt_ms));
        let queue = BufferSpec { bytes, ..BufferSpec::default() };
        let mut there = vec![ElementSpec::Port(PortSpec { rate: RATE, queue, cross: CrossSpec::default() })];
        there.extend(self.loses.map(|every| ElementSpec::Loss(LossSpec::EveryNth(every))));
        there.push(delay());
        [there, vec![delay()]]
    }

    /// The same for the simulator.
    fn flow(&self, amount: Amount) -> anyhow::Result<Flow> {
        let mtu = Mtu::new(1_500)?;
        let [there, back] = self.elements().map(|chain| chain.into_iter().map(Stage::from).collect());
        Ok(Flow {
            there,
            back,
            sender: SenderSpec {
                algorithm: self.algorithm,
                mtu,
                initial_window: 10,
                buffer: ByteCount::new(BUFFERS.1),
                writer: Writer::Blocks,
                application_rate: None,
                processor_rate: None,
                adapter_rate: DataRate::from_bps(100_000_000_000),
                pacing: Pacing::Algorithm,
                offload: ByteCount::new(65_536),
                small_queue: ByteCount::new(1 << 20),
                ecn: false,
                restarts_after_idle: true,
            },
            receiver: ReceiverSpec {
                buffer_default: ByteCount::new(BUFFERS.0),
                buffer: ByteCount::new(BUFFERS.1),
                initial_window: None,
            },
            amount,
            seed: Seed(1),
            patience: PATIENCE,
            sample_every: EVERY,
        })
    }

    /// Sends so many bytes to a namespace, and counts what is acknowledged.
    fn measure(&self, far: &Far, bytes: ByteCount) -> anyhow::Result<Series> {
        // One that does not pace: what paces once does so for good.
        wire::set("tcp_congestion_control", "reno")?;
        let address = (FAR.1, PORT);
        let listener = with_netns(&NetnsRef::Pid(far.id()), || TcpListener::bind(address))??;
        let reader = thread::spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            let mut buffer = vec![0; 128 << 10];
            while stream.read(&mut buffer)? > 0 {}
            Ok(())
        });
        let stream = TcpStream::connect(address).context("the other namespace does not answer")?;
        set_congestion_control(&stream, self.algorithm.name())?;
        let began = Instant::now();
        let mut sending = stream.try_clone()?;
        let writer = thread::spawn(move || write(&mut sending, bytes));
        let series = watch(&stream, bytes, began)?;
        writer.join().map_err(|_| anyhow!("the sender failed"))??;
        drop(stream);
        reader.join().map_err(|_| anyhow!("the receiver failed"))??;
        Ok(series)
    }
}

const PORT: u16 = 5_300;

fn write(stream: &mut TcpStream, bytes: ByteCount) -> std::io::Result<()> {
    let block = vec![0; 128 << 10];
    let mut left = usize::try_from(bytes.get()).unwrap_or(usize::MAX);
    while left > 0 {
        let length = left.min(block.len());
        stream.write_all(&block[..length])?;
        left -= length;
    }
    stream.shutdown(Shutdown::Write)
}

/// Counts what is acknowledged until everything is.
fn watch(stream: &TcpStream, bytes: ByteCount, began: Instant) -> anyhow::Result<Series> {
    let mut series = Series::new();
    loop {
        let info = TcpInfo::read(stream.as_fd())?;
        let acked = info.tcpi_bytes_acked().context("this kernel does not say what is acknowledged (Linux 4.1)")?;
        series.push((began.elapsed().as_secs_f64(), float(ByteCount::new(acked))));
        if acked >= bytes.get() {
            return Ok(series);
        }
        anyhow::ensure!(began.elapsed() < PATIENCE, "only {acked} of {bytes} were acknowledged in {PATIENCE:?}");
        thread::sleep(EVERY);
    }
}

fn shape(series: &[(f64, f64)]) -> Shape {
    let (took_s, all) = series.last().copied().unwrap_or_default();
    let at = |instant: f64| series.iter().rev().find(|(at, _)| *at <= instant).map_or(0.0, |(_, bytes)| *bytes);
    let half = took_s / 2.0;
    let rate = (all - at(half)) / (took_s - half);
    let window = 0.25;
    let ramp = series.iter().find(|(now, bytes)| *now >= window && (bytes - at(now - window)) / window >= rate / 2.0);
    Shape { took_s, rate_mbps: rate * 8e-6, ramp_s: ramp.map_or(f64::NAN, |(at, _)| *at) }
}

#[expect(clippy::cast_precision_loss, reason = "a count is compared")]
fn float(count: ByteCount) -> f64 {
    count.get() as f64
}
