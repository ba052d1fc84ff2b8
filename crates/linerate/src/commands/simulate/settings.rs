//! What was typed of a transfer, as the simulator's settings.

use std::num::NonZeroU32;
use std::time::Duration;

use ::sweep::bottleneck::{BurstQueue, bottleneck};
use anyhow::Context;
use path::elements::{DelaySpec, LossSpec, Order};
use path::{ElementSpec, PathElement, Seed};
use sim::Algorithm;
use sim::flow::Flow;
use sim::hosts::{OFFLOAD, usual_nic_rate};
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use units::{ByteCount, DataRate, Mtu};

use super::path_file;
use crate::cli::simulate::{BurstQueueChoice, FlowArgs, HostArgs, PathArgs, WriterChoice};

pub fn asked(args: &FlowArgs) -> anyhow::Result<Flow> {
    let (forward, reverse) = paths(&args.path)?;
    let amount = match (args.bytes, args.time) {
        (Some(bytes), _) => Amount::Bytes(bytes),
        (None, time) => Amount::Time(time.unwrap_or(USUAL_TIME)),
    };
    let usual = ReceiverSpec::linux();
    let time_limit = if let Amount::Time(time) = amount { args.patience.max(time) } else { args.patience };
    Ok(Flow {
        forward,
        reverse,
        sender: sender(&args.hosts, args.path.rate)?,
        receiver: ReceiverSpec {
            buffer_default: args.hosts.rmem_default.unwrap_or(usual.buffer_default),
            buffer: args.hosts.rmem.unwrap_or(usual.buffer),
            window_percent: args.hosts.kernel.unwrap_or_default().window_percent(),
            initial_window: args.hosts.receiver_initial_window.map(NonZeroU32::get),
            ..usual
        },
        amount,
        seed: Seed(args.seed),
        time_limit,
        sample_every: args.sample,
    })
}

/// How long is sent where nothing is said: long enough for what a bulk transfer does in the mean.
const USUAL_TIME: Duration = Duration::from_secs(60);
/// The largest packet where nothing is said: that of Ethernet.
const USUAL_MTU: u32 = 1_500;
/// The NIC where nothing tells its rate: that of a path of a file.
const FAST: DataRate = DataRate::from_bps(100_000_000_000);

fn sender(hosts: &HostArgs, path_rate: Option<DataRate>) -> anyhow::Result<SenderSpec> {
    let mtu = hosts.mtu.map_or_else(|| Mtu::new(USUAL_MTU), Ok)?;
    let usual = SenderSpec::linux(hosts.congestion.unwrap_or(Algorithm::Cubic), mtu);
    Ok(SenderSpec {
        initial_window: hosts.initial_window.map_or(usual.initial_window, NonZeroU32::get),
        buffer: hosts.wmem.unwrap_or(usual.buffer),
        writer: match hosts.writer {
            Some(WriterChoice::Polls) | None => Writer::Polls,
            Some(WriterChoice::Blocks) => Writer::Blocks,
        },
        application_rate: hosts.application_rate,
        processor_rate: hosts.processor_rate,
        adapter_rate: hosts.adapter_rate.or(path_rate.map(usual_nic_rate)).unwrap_or(FAST),
        pacing: match (hosts.pace, hosts.fq) {
            (Some(rate), _) => Pacing::Capped(rate),
            (None, true) => Pacing::Fq,
            (None, false) => Pacing::Algorithm,
        },
        offload: if hosts.no_offload { ByteCount::new(1) } else { OFFLOAD },
        ecn: hosts.ecn,
        kernel: hosts.kernel.unwrap_or_default(),
        ..usual
    })
}

/// The elements of the forward and of the reverse path.
fn paths(args: &PathArgs) -> anyhow::Result<(Vec<PathElement>, Vec<PathElement>)> {
    if let Some(file) = &args.from_path {
        return path_file::read(file);
    }
    let rate = args.rate.context("the argument parser asks for a rate")?;
    let rtt = args.rtt.context("the argument parser asks for an RTT")?;
    let queue = args.queue.unwrap_or_else(|| path::buffer::usual(rate));
    let bursts_wait = match args.burst_queue {
        BurstQueueChoice::Shared => BurstQueue::Shared,
        BurstQueueChoice::Own => args.burst_share,
    };
    let mut forward = vec![bottleneck(rate, queue, args.burst.clone(), bursts_wait)];
    forward.extend(args.loss.filter(|loss| *loss > 0.0).map(|loss| ElementSpec::Loss(LossSpec::Random(loss))));
    let delay = |time| ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept });
    forward.push(delay(rtt / 2));
    Ok((forward.into_iter().map(PathElement::from).collect(), vec![PathElement::from(delay(rtt - rtt / 2))]))
}
