//! `linerate simulate`: what a path should do.

mod flows;
mod from_run;
mod merge;
mod path_file;
mod result;
mod sweep;
mod tune;
mod work;

use std::num::NonZeroU32;
use std::time::Duration;

use ::sweep::narrowest::{BurstQueue, narrowest};
use anyhow::Context;
use path::elements::{DelaySpec, LossSpec, Order};
use path::{ElementSpec, Seed, Stage};
use serde::Serialize;
use sim::flow::{Flow, FlowError};
use sim::hosts::OFFLOAD;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use sim::{Algorithm, Outcome, Report};
use units::{ByteCount, DataRate, Mtu};

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
    let taken = args.from_run.as_ref().map(|name| from_run::taken(common, name, args)).transpose()?;
    let typed = taken.as_ref().map(|taken| taken.typed(args));
    let (args, taken) = (typed.as_ref().unwrap_or(args), taken.as_ref());
    let flow = asked(args)?;
    if let Some(shared) = flows::shared(&flow, &args.others) {
        return flows::run((common, args), taken, &flow, &shared);
    }
    let outcome = flow.run().map_err(|error| complaint(&error))?;
    if let Some(path) = &args.plot {
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &show::plot::simulated(&flow, &outcome, form)?)?;
    }
    if common.json {
        return print(&show::json::document(&Told { report: Report::new(&flow, &outcome), from_run: taken })?);
    }
    let goodput = outcome.goodput();
    print((show::simulate::text(&flow, &outcome) + &beside(taken, goodput)).as_bytes())?;
    if !common.quiet {
        hints(&outcome).iter().for_each(|hint| eprintln!("hint: {hint}"));
    }
    Ok(Exit::Success)
}

/// A simulated transfer, and the run that it was taken from.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_run: Option<&'a from_run::Taken>,
}

/// What the run measured from which a transfer was taken, and where each setting is from.
fn beside(taken: Option<&from_run::Taken>, simulated: Option<DataRate>) -> String {
    taken.map_or_else(String::new, |taken| show::expectation::beside_run(&taken.inputs, taken.measured, simulated))
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
    let usual = ReceiverSpec::linux();
    let patience = if let Amount::Time(time) = amount { args.patience.max(time) } else { args.patience };
    Ok(Flow {
        there,
        back,
        sender: sender(&args.hosts, args.path.rate)?,
        receiver: ReceiverSpec {
            buffer_default: args.hosts.rmem_default.unwrap_or(usual.buffer_default),
            buffer: args.hosts.rmem.unwrap_or(usual.buffer),
            initial_window: args.hosts.receiver_initial_window.map(NonZeroU32::get),
            ..usual
        },
        amount,
        seed: Seed(args.seed),
        patience,
        sample_every: args.sample,
    })
}

/// How long is sent where nothing is said: long enough for what a bulk transfer does in the mean.
const USUAL_TIME: Duration = Duration::from_secs(60);
/// The largest packet where nothing is said: that of Ethernet.
const USUAL_MTU: u32 = 1_500;
/// The adapter where nothing tells its rate.
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
        adapter_rate: hosts.adapter_rate.or(path_rate).unwrap_or(FAST),
        pacing: match (hosts.pace, hosts.fq) {
            (Some(rate), _) => Pacing::Capped(rate),
            (None, true) => Pacing::Fq,
            (None, false) => Pacing::Algorithm,
        },
        offload: if hosts.no_offload { ByteCount::new(1) } else { OFFLOAD },
        ecn: hosts.ecn,
        ..usual
    })
}

/// The elements on the way there and back.
fn ways(args: &PathArgs) -> anyhow::Result<(Vec<Stage>, Vec<Stage>)> {
    if let Some(file) = &args.from_path {
        return path_file::read(file);
    }
    let rate = args.rate.context("the argument parser asks for a rate")?;
    let rtt = args.rtt.context("the argument parser asks for a round trip")?;
    let queue = args.queue.unwrap_or_else(|| path::buffer::usual(rate));
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
