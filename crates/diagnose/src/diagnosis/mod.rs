//! What is wrong: causes ranked by how well they explain a round.
//!
//! Each [cause](crate::causes) at each place where it could be is weighed against what was seen of the flows that pass the
//! place and of those that do not, and against the audit of the host. The best one explains some of the flows that suffer;
//! what it leaves is weighed again, since networks have several faults at once. "Unknown" stands in the list as well: it is
//! better than a wrong name. `docs/diagnosis.md` has the formulas.
//!
//! * [`diagnose`]: from a round to a [`Diagnosis`]
//! * [`weigh`]: the same with every cause at every place, for whoever chooses the next test
//! * [`findings`]: what the audit says of each host
//! * [`own`]: what is asked of hosts besides
//! * [`mod@alike`]: causes that the evidence does not tell from each other
//! * `allowance`: what a flow that suffers was allowed by its path and by the settings of its hosts
//! * `place`: where a cause may be
//! * `problem`: what is said of one
//! * `candidate`: causes at places
//! * `excluded`: what a cause is out for
//! * `ground`: what one is weighed on
//! * `weigh.rs`: what speaks for and against one
//! * `says.rs`: one such thing, and how it is told
//! * `mtus`: what the MTUs of interfaces say of a link
//! * `speeds`: what the speed of interfaces says of a link
//! * `vanished`: what counters at both ends of segments say of a place
//! * `severity`: how much worse affected flows are than the background of the round
//! * `comparable`, `spared`: flows that do well
//! * `rank`: probabilities
//! * `together`: problems at one place that one cause explains
//! * `roles`: what a host has as sender and as receiver
//! * `explained_signs`: what earlier problems explain of a flow
//! * [`traced`]: what limited the transfers of a packet capture
//! * `verdict`: the answer in one sentence

pub mod alike;
mod allowance;
pub(crate) mod candidate;
pub(crate) mod comparable;
mod excluded;
pub(crate) mod explained_signs;
pub mod findings;
pub(crate) mod ground;
mod mtus;
pub mod own;
mod place;
mod problem;
pub(crate) mod rank;
mod roles;
pub(crate) mod says;
pub(crate) mod severity;
mod spared;
mod speeds;
mod together;
pub mod traced;
mod vanished;
mod verdict;
pub(crate) mod weigh;

use std::collections::BTreeMap;

use audit::Rules;
use model::played::Finding;
use model::round::Round;
use model::run::Outcome;
use predict::of_round::Expectations;

use crate::causes::Catalogue;
use crate::locate::explanation::Located;
use crate::locate::round::layers;
use crate::locate::{Topology, locate};
use crate::signs::flow::{Complaint, FlowKind};
use crate::signs::{Coverage, Flow, SignState, allowed, flows};
use findings::Findings;

pub use place::FaultLocation;
pub use problem::{Diagnosis, Hypothesis, LikelyPlace, Problem, Ranked, Standing, Symptom, UnjudgedFlow};

/// A round weighed: all that a [`Diagnosis`] tells, before it is cut to what people read.
#[derive(Debug, Clone)]
pub struct Weighing<'c> {
    /// The flows of the round.
    pub flows: Vec<Flow>,
    /// What explains those that suffer, the one that explains most first.
    pub standings: Vec<Standing<'c>>,
}

impl Weighing<'_> {
    /// The problems as they are told.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.standings.into_iter().map(|standing| standing.problem).collect()
    }
}

/// Weighs what a round tested.
#[must_use]
pub fn weigh<'c>(round: &Round, catalogue: &'c Catalogue, rules: &Rules) -> Weighing<'c> {
    let flows = flows(round);
    // All incidents that were learnt from have some of what is missing there, and how often a loss or a rate is seen in them is a
    // matter of how faults were drawn; what is left are the mechanisms.
    let coverage = Coverage::of(round, &flows);
    let is_unlike_incidents = coverage == Coverage::RatesAlone && catalogue.weights().are_learnt();
    let catalogue = if is_unlike_incidents { Catalogue::of_mechanisms() } else { catalogue };
    let findings = Findings::of(round, &flows, rules);
    let standings = rank::standings(round, &flows, &findings, coverage, catalogue);
    Weighing { flows, standings }
}

/// What each of the affected flows among `flows` shows that pass the place of a cause, by their numbers, as the cause sees it there: what
/// is learnt from incidents whose cause is known.
#[must_use]
pub fn shown_by_affected_flows(
    round: &Round,
    flows: &[Flow],
    (cause, place): (&str, &FaultLocation),
    catalogue: &Catalogue,
) -> BTreeMap<usize, Vec<SignState>> {
    let candidates = candidate::candidates(round, flows, catalogue);
    let mut there = BTreeMap::new();
    for candidate in candidates.iter().filter(|other| other.cause.id == cause && other.place.is_at(place)) {
        for number in candidate.covers.iter().copied().filter(|number| flows[*number].is_bad()) {
            there.entry(number).or_insert_with(|| {
                let seen = flows[number].observations.iter();
                seen.map(|observation| candidate.sees(&flows[number], observation.seen)).collect()
            });
        }
    }
    there
}

/// Says what is wrong with what a round tested.
#[must_use]
pub fn diagnose(round: &Round, catalogue: &Catalogue, rules: &Rules) -> Diagnosis {
    conclude(round, weigh(round, catalogue, rules))
}

/// The same of a round that was weighed.
#[must_use]
pub fn conclude(round: &Round, weighing: Weighing<'_>) -> Diagnosis {
    let (judged, not_judged) = judged(&weighing.flows);
    let is_echo = |flow: &Flow| flow.kind == FlowKind::Echo;
    let measured =
        if weighing.flows.iter().all(is_echo) { verdict::Measured::Echoes } else { verdict::Measured::Transfers };
    let mut diagnosis = Diagnosis {
        verdict: String::new(),
        symptoms: symptoms(round, &weighing.flows),
        located: located(round),
        judged,
        not_judged,
        problems: weighing.into_problems(),
        notes: notes(round),
    };
    diagnosis.verdict = verdict::verdict(&diagnosis, measured);
    diagnosis
}

/// The schema of a diagnosis, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![("diagnosis.schema.json", schemars::schema_for!(Diagnosis))]
}

/// How many flows were judged, and which were not.
fn judged(flows: &[Flow]) -> (usize, Vec<UnjudgedFlow>) {
    let judged = flows.iter().filter(|flow| flow.is_bad() || flow.is_good()).count();
    let not_judged = flows.iter().filter(|flow| !flow.is_bad() && !flow.is_good()).map(|flow| UnjudgedFlow {
        test: flow.label.clone(),
        from: flow.sender.to_string(),
        to: flow.receiver.to_string(),
        goodput: flow.goodput,
        reason: flow.why_not_judged(),
        loss_allows: flow.loss_allows.clone(),
    });
    (judged, not_judged.collect())
}

/// Which part of the network explains the bad pairs, by each thing that was measured.
fn located(round: &Round) -> Vec<Located> {
    let topology = Topology { members: &round.members, segments: &round.segments };
    let found = layers(round).into_iter().map(|layer| locate(&layer, topology));
    found.filter(|located| located.bad > 0 && located.known >= FEWEST_CELLS).collect()
}

/// Of fewer pairs than this no part of a network can be told from another.
const FEWEST_CELLS: usize = 3;

/// What suffers, and of the first of those what was to be expected of it.
fn symptoms(round: &Round, flows: &[Flow]) -> Vec<Symptom> {
    let mut expectations = Expectations::of(round);
    let suffering = flows.iter().filter_map(|flow| Some((flow, symptom(flow)?))).enumerate();
    suffering
        .map(
            |(number, (flow, symptom))| {
                if number < allowed::MOST { allowance::add(symptom, round, flow, &mut expectations) } else { symptom }
            },
        )
        .collect()
}

fn symptom(flow: &Flow) -> Option<Symptom> {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let says = match flow.complaint? {
        Complaint::Slow => {
            let attained = flow.attained.map(percent).unwrap_or_default();
            match &flow.target {
                Some(target) => {
                    format!("{}, {attained} of {}: {}", flow.goodput, target.rate, target.source.words())
                }
                None => format!("{}, {attained} of what it should reach", flow.goodput),
            }
        }
        Complaint::Short => {
            let asked = flow.shape.paced.map(|asked| format!(" of the {asked} asked for")).unwrap_or_default();
            format!("its sender handed over {}{asked}", flow.attained.map(percent).unwrap_or_default())
        }
        Complaint::Lossy => match flow.lost {
            Some(lost) if flow.kind == FlowKind::Tcp => {
                format!("{}, with {} of its segments retransmitted", flow.goodput, percent(lost))
            }
            Some(lost) => format!("{} of its datagrams lost at {}", percent(lost), flow.goodput),
            None => "many of its echoes were lost".to_owned(),
        },
        Complaint::WindowLimited => format!("{}, limited by a window on a path that has room for more", flow.goodput),
        Complaint::Clipped => "its large packets vanish".to_owned(),
        Complaint::Uneven => "some of its streams crawl beside others that do not".to_owned(),
        Complaint::Delaying => "it makes the RTTs of all flows long".to_owned(),
        Complaint::Losing => {
            format!("{}, and packets vanish where no queue can have dropped them", flow.goodput)
        }
        Complaint::Stalled => format!("{}, and the program of an end waits at times", flow.goodput),
        Complaint::CutOff => format!("{}, and nothing got through for a time", flow.goodput),
    };
    let (from, to) = (flow.sender.to_string(), flow.receiver.to_string());
    Some(Symptom {
        test: flow.label.clone(),
        from,
        to,
        says,
        predicted: None,
        allowed: None,
        loss_allows: flow.loss_allows.clone(),
    })
}

fn notes(round: &Round) -> Vec<String> {
    let silent = round.members.iter().filter_map(|member| {
        let why = member.why_absent()?;
        Some(format!("{}: {why}", member.name))
    });
    let failed = round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Nothing { detail } => Some(format!("{}: {detail}", tested.label)),
        Finding::Run(run) => match &run.outcome {
            Outcome::Failed(failure) => Some(format!("{}: {}", tested.label, failure.detail)),
            Outcome::Complete => None,
        },
        _ => None,
    });
    silent.chain(failed).collect()
}
