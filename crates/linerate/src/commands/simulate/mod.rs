//! `linerate simulate`: what a path should do.

mod flows;
mod merge;
mod path_file;
mod result;
mod sweep;
mod tune;
mod work;

use std::time::Duration;

use ::sweep::narrowest::{BurstQueue, narrowest, usual_queue};
use anyhow::Context;
use path::elements::{DelaySpec, LossSpec, Order};
use path::{ElementSpec, Seed, Stage};
use sim::flow::{Flow, FlowError};
use sim::hosts::OFFLOAD;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use sim::{Outcome, Report};
use units::{ByteCount, DataRate};

use super::{file, plot, print};
use crate::cli::Common;
use crate::cli::simulate::{BurstQueueChoice, FlowArgs, HostArgs, PathArgs, Simulate, WriterChoice};
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::plot::Form;

pub fn run(common: &Common, what: &Simulate) -> anyhow::Result<Exit> {
    match what {
        Simulate::Flow(args) => flow(common, args),
        Simulate::Sweep(args) => sweep::run(common, args),
        Simulate::Tune(args) => tune::run(common, args),
        Simulate::Merge(args) => merge::run(common, args),
        Simulate::Show(args) => result::run(common, args),
    }
}

fn flow(common: &Common, args: &FlowArgs) -> anyhow::Result<Exit> {
    if let Some(file) = &args.plot {
        plot::check(file)?;
    }
    let flow = asked(args)?;
    if let Some(shared) = flows::shared(&flow, &args.others) {
        return flows::run(common, args, &flow, &shared);
    }
    let outcome = flow.run().map_err(|error| complaint(&error))?;
    if let Some(path) = &args.plot {
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &show::plot::simulated(&flow, &outcome, form)?)?;
    }
    if common.json {
        return print(&show::json::document(&Report::new(&flow, &outcome))?);
    }
    print(show::simulate::text(&flow, &outcome).as_bytes())?;
    if !common.quiet {
        hints(&outcome).iter().for_each(|hint| eprintln!("hint: {hint}"));
    }
    Ok(Exit::Success)
}

fn complaint(error: &FlowError) -> anyhow::Error {
    Complaint::new(Exit::Usage, format!("this cannot be simulated: {error}")).into()
}

fn asked(args: &FlowArgs) -> anyhow::Result<Flow> {
    let (there, back) = ways(&args.path)?;
    let amount = match (args.bytes, args.time) {
        (Some(bytes), _) => Amount::Bytes(bytes),
        (None, time) => Amount::Time(time.unwrap_or(USUAL_TIME)),
    };
    let patience = if let Amount::Time(time) = amount { args.patience.max(time) } else { args.patience };
    Ok(Flow {
        there,
        back,
        sender: sender(&args.hosts, args.path.rate),
        receiver: ReceiverSpec {
            buffer_default: args.hosts.rmem_default,
            buffer: args.hosts.rmem,
            initial_window: args.hosts.receiver_initial_window.map(std::num::NonZeroU32::get),
            ..ReceiverSpec::linux()
        },
        amount,
        seed: Seed(args.seed),
        patience,
        sample_every: args.sample,
    })
}

/// How long is sent where nothing is said: long enough for what a bulk transfer does in the mean.
const USUAL_TIME: Duration = Duration::from_secs(60);
/// The adapter where nothing tells its rate.
const FAST: DataRate = DataRate::from_bps(100_000_000_000);

fn sender(hosts: &HostArgs, path_rate: Option<DataRate>) -> SenderSpec {
    SenderSpec {
        initial_window: hosts.initial_window.get(),
        buffer: hosts.wmem,
        writer: match hosts.writer {
            WriterChoice::Polls => Writer::Polls,
            WriterChoice::Blocks => Writer::Blocks,
        },
        application_rate: hosts.application_rate,
        processor_rate: hosts.processor_rate,
        adapter_rate: hosts.adapter_rate.or(path_rate).unwrap_or(FAST),
        pacing: match (hosts.pace, hosts.fq) {
            (Some(rate), _) => Pacing::Capped(rate),
            (None, true) => Pacing::Fq,
            (None, false) => Pacing::Algorithm,
        },
        offload: if hosts.no_offload { ByteCount::new(1) } else { OFFLOAD },
        ecn: hosts.ecn,
        ..SenderSpec::linux(hosts.congestion, hosts.mtu)
    }
}

/// The elements on the way there and back.
fn ways(args: &PathArgs) -> anyhow::Result<(Vec<Stage>, Vec<Stage>)> {
    if let Some(file) = &args.from_path {
        return path_file::read(file);
    }
    let rate = args.rate.context("the argument parser asks for a rate")?;
    let rtt = args.rtt.context("the argument parser asks for a round trip")?;
    let queue = args.queue.unwrap_or_else(|| usual_queue(rate));
    let bursts_wait = match args.burst_queue {
        BurstQueueChoice::Shared => BurstQueue::Shared,
        BurstQueueChoice::Own => args.burst_share,
    };
    let mut there = vec![narrowest(rate, queue, args.burst.clone(), bursts_wait)];
    there.extend(args.loss.filter(|loss| *loss > 0.0).map(|loss| ElementSpec::Loss(LossSpec::Random(loss))));
    let delay = |time| ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept });
    there.push(delay(rtt / 2));
    Ok((there.into_iter().map(Stage::from).collect(), vec![Stage::from(delay(rtt - rtt / 2))]))
}

/// What a user may want to know besides.
fn hints(outcome: &Outcome) -> Vec<String> {
    let mut hints = Vec::new();
    if outcome.handshake.is_none() {
        hints.push("the hosts never met: the path loses everything, or is longer than --patience".to_owned());
    } else if !outcome.finished {
        hints.push(format!("given up after {}; --patience waits longer", units::duration::show(outcome.took)));
    }
    if outcome.refused.get() > 0 {
        hints.push(format!(
            "{} packets were larger than a link of this path carries, and the model does not make them smaller: lower --mtu",
            outcome.refused
        ));
    }
    hints
}
