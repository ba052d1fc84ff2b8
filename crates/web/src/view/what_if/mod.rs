//! What if: a transfer simulated with other settings, beside what was measured and what the settings as they are give.
//!
//! * `basis`: the run that is varied, with what is known of its hosts and its path
//! * `parameter`: what can be varied, as people write it
//! * `transfer`: what was measured and what is predicted, over time
//!
//! An address holds what is varied, so that a form is a link. The work that an answer may cost is bounded: by the range of
//! each parameter, by steps of the simulator, and by answers that are worked out at a time.

mod basis;
mod parameter;
mod transfer;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::expectation::Inputs;
use model::measurement::Heading;
use model::run::RunId;
use predict::case::{Case, Unpredictable};
use predict::untested::untested;
use serde::{Deserialize, Serialize};
use units::{DataRate, WallTime};

use crate::query::Query;
use crate::source::{Source, SourceError};
use basis::{Basis, VariedCase};
use transfer::{MeasuredTransfer, PredictedTransfer};

pub use parameter::Parameter;

/// A transfer as it was measured, and as it is predicted with other settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhatIfView {
    /// The run that is varied; absent where none was named or the pair has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<VariedRun>,
    /// All that can be varied, with its values.
    pub parameters: Vec<Parameter>,
    /// Why nothing is predicted yet, and which parameters are missing; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What the run measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredTransfer>,
    /// What its own settings give; absent where they are not all known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_it_was: Option<PredictedTransfer>,
    /// What the varied settings give; absent where nothing is varied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied: Option<PredictedTransfer>,
    /// The same on a command line, where nothing bounds the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The run whose settings are varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariedRun {
    /// Name of the run in the archive.
    pub run: RunId,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
    /// Which direction of the run.
    pub heading: Heading,
}

/// How many answers are worked out at this moment.
#[derive(Debug, Default)]
pub(crate) struct Simulations(AtomicUsize);

/// One of them, until it is dropped.
struct Simulation<'a>(&'a AtomicUsize);

impl Drop for Simulation<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Simulations {
    fn begin(&self) -> Result<Simulation<'_>, SourceError> {
        let under_way = self.0.fetch_add(1, Ordering::Relaxed);
        let simulation = Simulation(&self.0);
        if under_way < AT_A_TIME { Ok(simulation) } else { Err(SourceError::Busy) }
    }
}

impl WhatIfView {
    pub(crate) fn of(source: &dyn Source, query: &Query, simulations: &Simulations) -> Result<Self, SourceError> {
        let wished = parameter::wished(query)?;
        let Some(basis) = Basis::of(source, query)? else {
            let path = (wished.rate().unwrap_or(EXAMPLE_RATE), wished.rtt().unwrap_or(EXAMPLE_RTT));
            let inputs = wished.applied(untested(path.0, path.1))?;
            let simulation = simulations.begin()?;
            let varied = PredictedTransfer::of(&inputs)?;
            drop(simulation);
            return Ok(Self {
                basis: None,
                parameters: parameter::all(&inputs, None, &wished),
                missing: None,
                measured: None,
                as_it_was: None,
                command: Some(parameter::command(&inputs)),
                varied: Some(varied),
            });
        };
        basis.with_case(|of| varied(&basis, of, &wished, simulations))
    }
}

fn varied(
    basis: &Basis,
    of: &VariedCase<'_>,
    wished: &parameter::Wished,
    simulations: &Simulations,
) -> Result<WhatIfView, SourceError> {
    let VariedCase { case, from, to } = of;
    let own = case.inputs();
    let (inputs, missing) = known_inputs(case, wished)?;
    let own = own.ok();
    let mut parameters = parameter::all(&inputs, own.as_ref(), wished);
    if let Some(missing) = &missing {
        parameter::blank(&mut parameters, &missing.names, wished);
    }
    let simulation = simulations.begin()?;
    let as_it_was = own.as_ref().map(PredictedTransfer::of).transpose()?;
    let is_varied = missing.is_none() && !wished.is_empty();
    let varied = is_varied.then(|| PredictedTransfer::of(&inputs)).transpose()?;
    drop(simulation);
    Ok(WhatIfView {
        basis: Some(VariedRun {
            run: case.run.id,
            started: case.run.started,
            from: from.clone(),
            to: to.clone(),
            heading: case.total.heading,
        }),
        parameters,
        command: missing.is_none().then(|| parameter::command(&inputs)),
        missing: missing.map(|missing| missing.why),
        measured: Some(MeasuredTransfer::of(case, basis.samples())),
        as_it_was,
        varied,
    })
}

/// What nobody has said and nothing measured.
struct MissingInputs {
    why: String,
    names: Vec<&'static str>,
}

/// What is predicted from, and what of it is a placeholder still.
fn known_inputs(case: &Case<'_>, wished: &parameter::Wished) -> Result<(Inputs, Option<MissingInputs>), SourceError> {
    let mut case = case.clone();
    case.path.said = wished.rate().map(parameter::typed).or(case.path.said);
    case.path.rtt = wished.rtt().map(units::duration::micros).map(parameter::typed).or(case.path.rtt);
    let (mut why, mut names) = (Vec::new(), Vec::new());
    let inputs = loop {
        let error = match case.inputs() {
            Ok(inputs) => break inputs,
            Err(error) => error,
        };
        match error {
            Unpredictable::NoRate(from) if case.path.said.is_none() => {
                case.path.said = Some(parameter::typed(EXAMPLE_RATE));
                why.push(format!("no rate of the path is known: {from}"));
                names.extend(["rate", "queue", "nic-rate"]);
            }
            Unpredictable::NoRoundTrip if case.path.rtt.is_none() => {
                case.path.rtt = Some(parameter::typed(units::duration::micros(EXAMPLE_RTT)));
                why.push("no RTT was measured before the test".to_owned());
                names.extend(["rtt", "queue"]);
            }
            error => return Err(basis::unpredictable(&error)),
        }
    };
    let missing = (!names.is_empty()).then(|| MissingInputs { why: why.join("; "), names });
    Ok((wished.applied(inputs)?, missing))
}

/// Answers that are worked out at a time: as many as the smallest hub has cores.
const AT_A_TIME: usize = 2;
/// What a form begins with that varies no run.
const EXAMPLE_RATE: DataRate = DataRate::from_bps(10_000_000_000);
const EXAMPLE_RTT: Duration = Duration::from_millis(100);
