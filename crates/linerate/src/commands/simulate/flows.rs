//! Several transfers over one path.

use std::time::Duration;

use sim::flow::{Flow, Run};
use sim::shared::{Shared, Transfer};
use sim::spread::Total;
use sim::{Algorithm, Outcome, Report};

use super::budget::RunCost;
use super::flow::{RealRuns, complaint, hints};
use super::{print, seeds};
use crate::cli::Common;
use crate::cli::simulate::{FlowArgs, OtherArgs};
use crate::exit::Exit;
use crate::show;

/// The transfer with all that are beside it; [`None`] where it is alone.
pub fn shared(flow: &Flow, others: &OtherArgs) -> Option<Shared> {
    let flows = others.flows.unwrap_or(1);
    if flows == 1 && others.cross_flow.is_empty() {
        return None;
    }
    let transfer = |algorithm: Algorithm, start, amount| {
        let mut sender = flow.sender.clone();
        sender.algorithm = algorithm;
        Transfer { sender, receiver: flow.receiver.clone(), amount, start }
    };
    let alike = (0..u32::from(flows)).map(|number| {
        transfer(flow.sender.algorithm, others.apart.checked_mul(number).unwrap_or(Duration::MAX), flow.amount)
    });
    let cross = others
        .cross_flow
        .iter()
        .map(|other| transfer(other.algorithm, other.start, other.amount.unwrap_or(flow.amount)));
    Some(Shared {
        forward: flow.forward.clone(),
        reverse: flow.reverse.clone(),
        transfers: alike.chain(cross).collect(),
        seed: flow.seed,
        time_limit: flow.time_limit,
        sample_every: flow.sample_every,
    })
}

pub fn run(common: &Common, args: &FlowArgs, runs: &RealRuns, flow: &Flow, shared: &Shared) -> anyhow::Result<Exit> {
    let mut together = Run::shared(shared).map_err(|error| complaint(&error))?;
    super::pcap::go_on(&mut together, args)?;
    let outcomes = together.outcomes();
    if let Some(first) = outcomes.first() {
        runs.plot(args, flow, first)?;
    }
    let starts = || shared.transfers.iter().map(|transfer| transfer.start);
    let total = |outcomes: &[Outcome]| Total::of_all(starts().zip(outcomes));
    let with_seed = |seed| Shared { seed, ..shared.clone() }.run().map(|outcomes| total(&outcomes));
    let over_seeds = seeds::over(common, args, total(&outcomes), RunCost::of(&outcomes), with_seed)?;
    if let Some(report) = Report::shared(shared, &outcomes).filter(|_| common.json) {
        return print(&show::json::document(&runs.document(Report { over_seeds, ..report }))?);
    }
    let mut text = show::shared::text(shared, &outcomes);
    text.extend(over_seeds.iter().map(show::simulate::over_seeds));
    print((text + &runs.text(&outcomes)).as_bytes())?;
    if !common.quiet {
        let hint = outcomes.iter().find_map(|outcome| hints(outcome).into_iter().next());
        hint.iter().for_each(|hint| eprintln!("hint: {hint}"));
    }
    Ok(Exit::Success)
}
