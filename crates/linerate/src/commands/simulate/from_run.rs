//! A transfer between the hosts and over the path of a test that was run.

use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::Context;
use model::expectation::{self, How, Inputs, KnownValue};
use model::run::RunId;
use predict::case::Case;
use predict::of_round::Expectations;
use serde::Serialize;
use sim::Kernel;
use sim::sender::HEADERS;
use units::duration::micros;
use units::{ByteCount, DataRate, Mtu};

use super::source::{Source, chosen};
use crate::cli::simulate::{FlowArgs, HostArgs, WriterChoice};
use crate::exit::{Complaint, Exit};

/// What a run gives to a simulation, and what it measured.
#[derive(Debug, Serialize)]
pub struct Taken {
    pub run: RunId,
    #[serde(rename = "measured_bps")]
    pub measured: DataRate,
    pub inputs: Inputs,
}

/// What the run that was named says, with what was typed above it.
pub fn taken(source: &Source, name: &str, args: &FlowArgs) -> anyhow::Result<Taken> {
    match source {
        Source::Round(round) => {
            let tested = chosen(round, args.test.as_deref())?;
            let case = Expectations::of(round).cases_of(tested).into_iter().next();
            of_case(&case.with_context(|| no_transfer(&tested.label))?, args)
        }
        Source::Run { run, facts, .. } => {
            if let Some(label) = &args.test {
                let what = format!("--test {label} names a test of a round, and {name} is a run");
                return Err(Complaint::new(Exit::Usage, what).hint("leave --test out").into());
            }
            let case = facts.cases(run).into_iter().next();
            of_case(&case.with_context(|| no_transfer(name))?, args)
        }
    }
}

fn no_transfer(name: &str) -> Complaint {
    Complaint::new(Exit::NotFound, format!("{name} measured no transfer over TCP"))
        .hint("`linerate runs list` shows what was measured")
}

fn of_case(case: &Case<'_>, args: &FlowArgs) -> anyhow::Result<Taken> {
    let mut case = case.clone();
    if let Some(rate) = args.path.rate {
        case.path.said = Some(given(rate, "--rate"));
    }
    if let Some(rtt) = args.path.rtt {
        case.path.rtt = Some(given(micros(rtt), "--rtt"));
    }
    let refused = "it cannot be simulated from this run";
    let inputs = case.inputs().map_err(|why| {
        let hint = "--rate and --rtt say what the run does not";
        anyhow::Error::new(why).context(Complaint::new(Exit::Usage, refused).hint(hint))
    })?;
    let inputs = typed(inputs, args)?;
    Ok(Taken { run: case.run.id, measured: case.total.goodput, inputs })
}

fn given<T>(value: T, flag: &str) -> KnownValue<T> {
    KnownValue::new(value, How::Given, flag)
}

/// What was typed counts for more than what the run says.
fn typed(mut inputs: Inputs, args: &FlowArgs) -> anyhow::Result<Inputs> {
    let FlowArgs { path, hosts, others, .. } = args;
    put(&mut inputs.queue, path.queue, "--queue");
    put(&mut inputs.adapter_rate, hosts.adapter_rate, "--nic-rate");
    put(&mut inputs.segment_bytes, hosts.mtu.map(|mtu| mtu.get().saturating_sub(HEADERS)), "--mtu");
    put(&mut inputs.congestion_control, hosts.congestion.map(|name| name.name().to_owned()), "--congestion");
    put(&mut inputs.streams, others.flows, "--flows");
    put(&mut inputs.initial_window_segments, hosts.initial_window.map(NonZeroU32::get), "--initial-window");
    put(&mut inputs.send_buffer, hosts.wmem, "--wmem");
    put(&mut inputs.receive_buffer, hosts.rmem, "--rmem");
    put(&mut inputs.first_receive_buffer, hosts.rmem_default, "--rmem-default");
    put(&mut inputs.window_percent, hosts.kernel.map(Kernel::window_percent), "--kernel");
    put(&mut inputs.writer, hosts.writer.map(WriterChoice::shared), "--writer");
    put(&mut inputs.pacing, hosts.fq.then_some(expectation::Pacing::Fq), "--fq");
    inputs.loss = path.loss.map(|loss| given(loss, "--loss")).or(inputs.loss);
    inputs.pace = hosts.pace.map(|rate| given(rate, "--pace")).or(inputs.pace);
    inputs.application_rate =
        hosts.application_rate.map(|rate| given(rate, "--application-rate")).or(inputs.application_rate);
    (inputs.time, inputs.bytes) = match (args.time, args.bytes) {
        (Some(time), _) => (time, None),
        (None, Some(bytes)) => (inputs.time, Some(bytes)),
        (None, None) => (inputs.time, inputs.bytes),
    };
    let algorithm: Result<sim::Algorithm, _> = inputs.congestion_control.value.parse();
    algorithm.map_err(|error| {
        anyhow::Error::new(error).context(
            Complaint::new(Exit::Usage, "this run cannot be simulated")
                .hint("--congestion names an algorithm that can"),
        )
    })?;
    Ok(inputs)
}

fn put<T>(known: &mut KnownValue<T>, typed: Option<T>, flag: &str) {
    if let Some(value) = typed {
        *known = given(value, flag);
    }
}

impl Taken {
    /// The transfer as if all of it had been typed.
    pub fn typed(&self, args: &FlowArgs) -> FlowArgs {
        let (mut args, inputs) = (args.clone(), &self.inputs);
        args.path.rate = Some(inputs.path_rate.value);
        args.path.rtt = Some(Duration::from_micros(inputs.rtt_us.value));
        args.path.queue = Some(inputs.queue.value);
        args.path.loss = inputs.loss.as_ref().map(|loss| loss.value);
        let streams = u64::from(inputs.streams.value.max(1));
        let each = inputs.bytes.filter(|_| args.bytes.is_none());
        args.bytes = args.bytes.or(each.map(|bytes| ByteCount::new(bytes.get().div_ceil(streams))));
        args.time = args.time.or(Some(inputs.time).filter(|_| args.bytes.is_none()));
        args.others.flows = Some(inputs.streams.value);
        args.hosts = hosts(&args.hosts, inputs);
        args
    }
}

fn hosts(typed: &HostArgs, inputs: &Inputs) -> HostArgs {
    HostArgs {
        congestion: inputs.congestion_control.value.parse().ok(),
        mtu: Mtu::new(inputs.segment_bytes.value.saturating_add(HEADERS)).ok(),
        initial_window: NonZeroU32::new(inputs.initial_window_segments.value),
        wmem: Some(inputs.send_buffer.value),
        rmem: Some(inputs.receive_buffer.value),
        kernel: typed.kernel.or(Some(kernel(inputs))),
        rmem_default: Some(inputs.first_receive_buffer.value),
        writer: Some(match inputs.writer.value {
            expectation::Writer::Polls => WriterChoice::Polls,
            expectation::Writer::Blocks => WriterChoice::Blocks,
        }),
        application_rate: inputs.application_rate.as_ref().map(|rate| rate.value),
        adapter_rate: Some(inputs.adapter_rate.value),
        fq: inputs.pacing.value == expectation::Pacing::Fq,
        pace: inputs.pace.as_ref().map(|rate| rate.value),
        ..typed.clone()
    }
}

/// The kernel of which so much of a receive buffer is window.
fn kernel(inputs: &Inputs) -> Kernel {
    let is_measured = inputs.window_percent.value == Kernel::V6_6.window_percent();
    if is_measured { Kernel::V6_6 } else { Kernel::V6_1 }
}

impl WriterChoice {
    fn shared(self) -> expectation::Writer {
        match self {
            Self::Polls => expectation::Writer::Polls,
            Self::Blocks => expectation::Writer::Blocks,
        }
    }
}
