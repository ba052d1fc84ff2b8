//! `linerate simulate flow`: one transfer, or several over one path.

use serde::Serialize;
use sim::flow::{Flow, FlowError, Run};
use sim::spread::Total;
use sim::{Outcome, Report};
use units::DataRate;

use super::beside::{self, Measured};
use super::budget::RunCost;
use super::settings::asked;
use super::source::Source;
use super::{effect, flows, from_run, pcap, seeds};
use crate::cli::Common;
use crate::cli::simulate::FlowArgs;
use crate::commands::{file, plot, print};
use crate::exit::{Complaint, Exit};
use crate::show;
use chart::Form;

pub fn run(common: &Common, args: &FlowArgs) -> anyhow::Result<Exit> {
    if let Some(file) = &args.plot {
        plot::check(file)?;
    }
    let runs = RealRuns::of(common, args)?;
    let typed = runs.taken.as_ref().map(|taken| taken.typed(args));
    let args = typed.as_ref().unwrap_or(args);
    let flow = asked(args)?;
    match flows::shared(&flow, &args.others) {
        Some(shared) => flows::run(common, args, &runs, &flow, &shared),
        None => alone(common, args, &runs, &flow),
    }
}

fn alone(common: &Common, args: &FlowArgs, runs: &RealRuns, flow: &Flow) -> anyhow::Result<Exit> {
    let mut run = Run::new(flow).map_err(|error| complaint(&error))?;
    pcap::go_on(&mut run, args)?;
    let outcome = run.outcome();
    let with_seed = |seed| Flow { seed, ..flow.clone() }.run().map(|outcome| Total::of(&outcome));
    let cost = RunCost::of(std::slice::from_ref(&outcome));
    let over_seeds = seeds::over(common, args, Total::of(&outcome), cost, with_seed)?;
    runs.plot(args, flow, &outcome)?;
    if common.json {
        let report = Report { over_seeds, ..Report::new(flow, &outcome) };
        return print(&show::json::document(&runs.document(report))?);
    }
    let mut text = show::simulate::text(flow, &outcome);
    text.extend(over_seeds.iter().map(show::simulate::over_seeds));
    print((text + &runs.text(std::slice::from_ref(&outcome))).as_bytes())?;
    if !common.quiet {
        hints(&outcome).iter().for_each(|hint| eprintln!("hint: {hint}"));
        // What a run knew was not typed, and needs no effect.
        let idle = if runs.taken.is_none() { effect::without_effect(args, &outcome, cost) } else { Vec::new() };
        if !idle.is_empty() {
            eprintln!("hint: without effect here: {}; the transfer is the same without", idle.join(", "));
        }
    }
    Ok(Exit::Success)
}

/// What real runs say of a simulated transfer.
pub struct RealRuns {
    /// The run whose path and settings it has.
    pub taken: Option<from_run::Taken>,
    /// The run that it is laid beside.
    measured: Option<Measured>,
}

/// A simulated transfer, with the run that it was taken from and the one that it is laid beside.
#[derive(Serialize)]
pub struct Document<'a> {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_run: Option<&'a from_run::Taken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a Measured>,
}

impl RealRuns {
    fn of(common: &Common, args: &FlowArgs) -> anyhow::Result<Self> {
        let says_path = args.path.rate.is_some() || args.path.from_path.is_some();
        let from = args.from_run.as_ref().or(args.beside.as_ref().filter(|_| !says_path));
        if from.or(args.beside.as_ref()).is_none() && args.test.is_some() {
            let what = "--test names a test of the round given by --from-run or --beside";
            return Err(Complaint::new(Exit::Usage, what).into());
        }
        let read = |name: &String| Source::read(common, name);
        let source = from.map(read).transpose()?;
        // One name is read once: `last` may be another run a moment later.
        let another = args.beside.as_ref().filter(|name| Some(*name) != from).map(read).transpose()?;
        let taken = from.zip(source.as_ref()).map(|(name, source)| from_run::taken(source, name, args));
        let beside = args.beside.as_ref().zip(another.as_ref().or(source.as_ref()));
        let measured = beside.map(|(name, source)| beside::measured(source, name, args.test.as_deref()));
        Ok(Self { taken: taken.transpose()?, measured: measured.transpose()? })
    }

    /// Draws the chart that was asked for.
    pub fn plot(&self, args: &FlowArgs, flow: &Flow, outcome: &Outcome) -> anyhow::Result<()> {
        let Some(path) = &args.plot else { return Ok(()) };
        let measured = self.measured.as_ref().map_or(&[][..], |measured| &measured.intervals);
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &chart::simulated::picture(flow, outcome, measured, form)?)
    }

    pub fn document(&self, report: Report) -> Document<'_> {
        Document { report, from_run: self.taken.as_ref(), measured: self.measured.as_ref() }
    }

    /// What runs measured, beneath the simulated transfer of which they are told.
    pub fn text(&self, outcomes: &[Outcome]) -> String {
        let sum: u64 = outcomes.iter().filter_map(Outcome::goodput).map(DataRate::bps).fold(0, u64::saturating_add);
        let goodput = (sum > 0).then(|| DataRate::from_bps(sum));
        let mut text = String::new();
        text.extend(self.measured.iter().map(|measured| show::beside::text(&measured.intervals, outcomes)));
        let of = |taken: &from_run::Taken| show::expectation::beside_run(&taken.inputs, taken.measured, goodput);
        text.extend(self.taken.iter().map(of));
        text
    }
}

/// Why a transfer cannot be simulated.
pub fn complaint(error: &FlowError) -> anyhow::Error {
    Complaint::new(Exit::Usage, format!("this cannot be simulated: {error}")).into()
}

/// What else a user may want to know.
pub fn hints(outcome: &Outcome) -> Vec<String> {
    let mut hints = Vec::new();
    if outcome.handshake.is_none() {
        hints.push("no connection: the path drops everything, or its RTT is longer than --patience".to_owned());
    } else if !outcome.finished {
        hints.push(format!(
            "given up after {}, before everything was delivered; --patience waits longer",
            units::duration::show(outcome.duration)
        ));
    }
    if outcome.refused.get() > 0 {
        hints.push(format!(
            "{} packets were larger than a link of this path carries, and the model does not make them smaller: lower --mtu",
            outcome.refused
        ));
    }
    hints
}
