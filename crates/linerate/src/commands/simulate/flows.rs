//! Several transfers over one path.

use std::time::Duration;

use sim::flow::Flow;
use sim::shared::{Shared, Transfer};
use sim::{Algorithm, Report};

use units::DataRate;

use super::from_run::Taken;
use super::{Told, beside, complaint, file, hints, print};
use crate::cli::Common;
use crate::cli::simulate::{FlowArgs, OtherArgs};
use crate::exit::Exit;
use crate::show;
use crate::show::plot::Form;

/// The transfer with all that are beside it; [`None`] where it is alone.
pub fn shared(flow: &Flow, others: &OtherArgs) -> Option<Shared> {
    let flows = others.flows.unwrap_or(1);
    if flows == 1 && others.beside.is_empty() {
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
    let beside =
        others.beside.iter().map(|other| transfer(other.algorithm, other.start, other.amount.unwrap_or(flow.amount)));
    Some(Shared {
        there: flow.there.clone(),
        back: flow.back.clone(),
        transfers: alike.chain(beside).collect(),
        seed: flow.seed,
        patience: flow.patience,
        sample_every: flow.sample_every,
    })
}

pub fn run(
    (common, args): (&Common, &FlowArgs),
    taken: Option<&Taken>,
    flow: &Flow,
    shared: &Shared,
) -> anyhow::Result<Exit> {
    let outcomes = shared.run().map_err(|error| complaint(&error))?;
    if let (Some(path), Some(first)) = (&args.plot, outcomes.first()) {
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &show::plot::simulated(flow, first, form)?)?;
    }
    if let Some(report) = Report::shared(shared, &outcomes).filter(|_| common.json) {
        return print(&show::json::document(&Told { report, from_run: taken })?);
    }
    let rates = outcomes.iter().filter_map(|outcome| outcome.goodput());
    let sum = DataRate::from_bps(rates.map(DataRate::bps).fold(0, u64::saturating_add));
    print((show::shared::text(shared, &outcomes) + &beside(taken, Some(sum))).as_bytes())?;
    if !common.quiet {
        outcomes
            .iter()
            .find_map(|outcome| hints(outcome).into_iter().next())
            .iter()
            .for_each(|hint| eprintln!("hint: {hint}"));
    }
    Ok(Exit::Success)
}
