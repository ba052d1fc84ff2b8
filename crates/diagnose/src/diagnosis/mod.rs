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
pub(crate) mod rank;
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
use serde::{Deserialize, Serialize};
use units::DataRate;

use crate::causes::{Catalogue, Cause};
use crate::locate::explanation::Located;
use crate::locate::round::layers;
use crate::locate::{Topology, locate};
use crate::signs::flow::{Complaint, FlowKind};
use crate::signs::{Coverage, Flow, SignState, allowed, flows};
use findings::Findings;

pub use place::FaultLocation;

/// What is wrong with what a round tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// The answer in one sentence: what is wrong, where and how sure that is, or what is not known.
    #[serde(default)]
    pub verdict: String,
    /// What suffers, as it was seen.
    pub symptoms: Vec<Symptom>,
    /// What explains it: a problem for each cause that is needed, the one that explains most first. None in a network that
    /// is well.
    pub problems: Vec<Problem>,
    /// Which part of the network explains the bad pairs, for each thing that was measured and is bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub located: Vec<Located>,
    /// How many flows were held against something.
    #[serde(default)]
    pub judged: usize,
    /// Flows that nothing is known of that they could be held against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<UnjudgedFlow>,
    /// What limits the answer: hosts and tests that gave nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A flow that was measured and cannot be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnjudgedFlow {
    /// Label of the test in the plan.
    pub test: String,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// What it reached.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// What is not known, and what would make it known.
    pub reason: String,
    /// What its losses allow by models of TCP, in a sentence: whether it is slow is not known, but what it would be slow by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_allows: Option<String>,
}

/// A flow that does not do what it should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symptom {
    /// Label of the test in the plan.
    pub test: String,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// What is wrong, in a sentence.
    pub says: String,
    /// What its path and the settings of both hosts allow, where that was reckoned.
    #[serde(rename = "predicted_bps", default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<DataRate>,
    /// That beside what it reached, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// What its losses allow by models of TCP, and whether they explain its rate, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_allows: Option<String>,
}

/// Something that is wrong, with what it may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Tests that the first of the ranking explains.
    pub explains: Vec<String>,
    /// What it may be, the most likely first.
    pub ranking: Vec<Ranked>,
    /// How likely it is something else.
    pub unknown: f64,
    /// The first causes of the ranking, where the evidence does not tell them from each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<alike::Alike>,
}

/// A cause at its most likely place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Its name in the catalogue.
    pub cause: String,
    /// What is wrong.
    pub title: String,
    /// Where, the most likely first.
    pub places: Vec<LikelyPlace>,
    /// How likely it is, 0 to 1, wherever it is.
    pub probability: f64,
    /// What speaks for it, the heaviest first.
    pub speaks_for: Vec<String>,
    /// What speaks against it.
    pub speaks_against: Vec<String>,
    /// The test that would decide.
    pub test: String,
    /// Rules of the host audit whose fix mends it.
    pub fix: Vec<String>,
    /// What mends it.
    pub remedy: String,
    /// How one sees that it is fixed.
    pub verify: String,
}

/// A place and how likely it is, if the cause is the right one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LikelyPlace {
    /// Host, segment or path at which the cause would be.
    pub place: FaultLocation,
    /// 0 to 1.
    pub probability: f64,
}

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

/// A problem with all that it may be.
#[derive(Debug, Clone)]
pub struct Standing<'c> {
    /// The problem as it is told.
    pub problem: Problem,
    /// Every cause at every place; with the unknown their probabilities add up to 1. Empty where no flow suffers.
    pub hypotheses: Vec<Hypothesis<'c>>,
    /// The flows that the likeliest explains, by their numbers.
    pub suffering: Vec<usize>,
}

/// A cause at a place.
#[derive(Debug, Clone)]
pub struct Hypothesis<'c> {
    /// Entry of the catalogue.
    pub cause: &'c Cause,
    /// Where.
    pub place: FaultLocation,
    /// How likely it is, 0 to 1.
    pub probability: f64,
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

impl Diagnosis {
    /// Whether nothing wrong was found. That says nothing of flows that were not judged.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.problems.is_empty()
    }
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
        Complaint::Clipped => "its large packets vanish".to_owned(),
        Complaint::Uneven => "some of its streams crawl beside others that do not".to_owned(),
        Complaint::Delaying => "it makes the RTTs of all flows long".to_owned(),
        Complaint::Losing => {
            format!("{}, and packets vanish where no queue can have dropped them", flow.goodput)
        }
        Complaint::Stalled => format!("{}, and the program of an end stands still at times", flow.goodput),
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
        let why = member.failure.as_ref()?;
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
