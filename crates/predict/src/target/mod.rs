//! What each flow of a round should reach: one yardstick for grid, diagnosis and alarms.
//!
//! * [`Targets`]: of all flows of a round, in the order of [`TargetSource`]
//! * [`flow`]: the flows of a round, as far as their rates matter
//! * `peers`: what other pairs of the round reach
//!
//! A flow of which nothing is known is not judged, and says what would make it known: it is neither slow nor well.

pub mod flow;
mod peers;

use std::collections::BTreeMap;

use model::measurement::Heading;
use model::round::{Endpoint, Round, Tested};
use model::run::Run;
use model::target::{TargetRate, TargetSource};
use units::DataRate;

use flow::{Nics, RatedFlow};
use peers::Peers;

/// The targets of all flows of a round.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    of: BTreeMap<(usize, Heading), Result<TargetRate, NotJudged>>,
}

/// Why a flow cannot be judged, and what would change that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotJudged {
    /// What is not known, in a sentence without a full stop.
    pub reason: String,
}

/// What pairs reached in earlier rounds of the same plan, by sender and receiver.
pub type Baselines = BTreeMap<(Endpoint, Endpoint), DataRate>;

impl Targets {
    /// Those of a round of which no earlier one is known.
    #[must_use]
    pub fn of(round: &Round) -> Self {
        Self::with(round, &Baselines::new())
    }

    /// Those of a round, beside what earlier ones reached.
    #[must_use]
    pub fn with(round: &Round, baselines: &Baselines) -> Self {
        let flows = flow::all(round);
        let peers = Peers::of(round, &flows);
        let of = flows.iter().enumerate().map(|(number, flow)| {
            let target = target(round, number, flow, baselines, &peers);
            ((flow.test, flow.heading), target)
        });
        Self { of: of.collect() }
    }

    /// The target of one direction of a test, or why there is none.
    ///
    /// # Errors
    /// If nothing is known that the flow can be held against.
    pub fn get(&self, test: usize, heading: Heading) -> Result<&TargetRate, NotJudged> {
        match self.of.get(&(test, heading)) {
            Some(Ok(target)) => Ok(target),
            Some(Err(why)) => Err(why.clone()),
            None => Err(NotJudged { reason: "no rate was measured".to_owned() }),
        }
    }
}

fn target(
    round: &Round,
    number: usize,
    flow: &RatedFlow<'_>,
    baselines: &Baselines,
    peers: &Peers<'_, '_>,
) -> Result<TargetRate, NotJudged> {
    let tested = &round.tests[flow.test];
    let known = declared(round, tested, flow)
        .or_else(|| baseline(baselines, flow))
        .or_else(|| peers.target(number))
        .or_else(|| link_speed(flow));
    let known = known.map(|known| capped(known, flow));
    with_request(known, flow.requested).ok_or_else(|| NotJudged { reason: why_not(flow.silent_device.as_deref()) })
}

/// The target of a run that stands alone: no other pair is known that it could be compared with.
///
/// # Errors
/// If nothing is known that it can be held against.
pub fn of_run(run: &Run) -> Result<TargetRate, NotJudged> {
    let nics = Nics::of(run);
    let declared = run
        .declared
        .expected
        .or(run.declared_line_rate)
        .filter(|rate| !rate.is_zero())
        .map(|rate| TargetRate { rate, source: TargetSource::Declared, from: "as declared for the test".to_owned() });
    let link = nics.slower.map(|(rate, from)| TargetRate { rate, source: TargetSource::LinkSpeed, from });
    with_request(declared.or(link), flow::requested(&run.spec))
        .ok_or_else(|| NotJudged { reason: why_not(nics.silent.as_deref()) })
}

/// Who asks for less than the path has should get that.
fn with_request(known: Option<TargetRate>, requested: Option<DataRate>) -> Option<TargetRate> {
    let asked = requested.map(|rate| TargetRate {
        rate,
        source: TargetSource::Requested,
        from: "the options of the test".to_owned(),
    });
    match (known, asked) {
        (Some(known), Some(asked)) if asked.rate < known.rate => Some(asked),
        (known, asked) => known.or(asked),
    }
}

/// What the plan or the user says: of the flow, or of a link that it passes.
fn declared(round: &Round, tested: &Tested, flow: &RatedFlow<'_>) -> Option<TargetRate> {
    let target = |rate: DataRate, from: String| {
        (!rate.is_zero()).then_some(TargetRate { rate, source: TargetSource::Declared, from })
    };
    let of_test = tested.expected.and_then(|rate| target(rate, "the plan".to_owned()));
    let of_run = || flow.declared.and_then(|rate| target(rate, "as declared for the test".to_owned()));
    let of_links = || {
        let way = if flow.heading == Heading::Inbound && !tested.way_back.is_empty() {
            &tested.way_back
        } else {
            &tested.way
        };
        let links = round.segments.iter().filter(|link| way.iter().any(|passed| passed.segment == link.name));
        let slowest = links.filter_map(|link| Some((link.rate?, &link.name))).min()?;
        target(slowest.0, format!("the link {}", slowest.1))
    };
    of_test.or_else(of_run).or_else(of_links)
}

fn baseline(baselines: &Baselines, flow: &RatedFlow<'_>) -> Option<TargetRate> {
    let rate = *baselines.get(&(flow.from.clone(), flow.to.clone()))?;
    let from = "the median of earlier rounds".to_owned();
    (!rate.is_zero()).then_some(TargetRate { rate, source: TargetSource::Baseline, from })
}

fn link_speed(flow: &RatedFlow<'_>) -> Option<TargetRate> {
    let (rate, from) = flow.link.clone()?;
    Some(TargetRate { rate, source: TargetSource::LinkSpeed, from })
}

/// No flow is faster than the slower NIC, whatever other pairs reach.
fn capped(target: TargetRate, flow: &RatedFlow<'_>) -> TargetRate {
    let slower = link_speed(flow).filter(|link| link.rate < target.rate && target.source > TargetSource::Requested);
    slower.unwrap_or(target)
}

/// Why nothing is held against a flow of which nothing else is known.
#[must_use]
pub fn nothing_known() -> String {
    why_not(None)
}

fn why_not(silent_device: Option<&str>) -> String {
    let device = silent_device.map(|device| format!("; {device} reports no link speed"));
    format!(
        "no expected rate: none is declared, and no comparable pair was tested{}; --expect RATE or a `rate` in the plan makes it known",
        device.unwrap_or_default()
    )
}
