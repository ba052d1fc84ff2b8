//! Whether a play in virtual time tells what a live one told: the signs of both rounds, flow by flow.

use std::collections::BTreeMap;

use diagnose::signs::{Flow, flows};
use model::round::Round;

/// How often the two agree, for each sign.
#[derive(Debug, Clone, Default)]
pub struct Fidelity {
    /// By the name of the sign; `complaint` is whether something is wrong with a flow, and what.
    pub signs: BTreeMap<String, Agreement>,
    /// Where they do not agree.
    pub differences: Vec<Difference>,
}

/// How often a sign was the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Flows in which both plays have the sign, with one answer.
    pub same: usize,
    /// With different answers.
    pub different: usize,
    /// Flows in which only the live play has it.
    pub live_only: usize,
    /// Flows in which only the virtual play has it.
    pub virtual_only: usize,
}

/// A sign with two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Name of the scenario that was played twice.
    pub scenario: String,
    /// Label of the test in the plan.
    pub label: String,
    /// Name of the sign, or `complaint`.
    pub sign: String,
    /// What the live play says.
    pub live: String,
    /// What the virtual play says.
    pub simulated: String,
}

impl Fidelity {
    /// Adds the rounds of two plays of one scenario.
    pub fn add(&mut self, scenario: &str, live: &Round, simulated: &Round) {
        let (live, simulated) = (flows(live), flows(simulated));
        for flow in &live {
            if let Some(twin) = simulated.iter().find(|other| is_same(flow, other)) {
                self.add_flow(scenario, flow, twin);
            }
        }
    }

    fn add_flow(&mut self, scenario: &str, live: &Flow, simulated: &Flow) {
        let (one, other) = (answers(live), answers(simulated));
        let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for sign in names {
            let agreement = self.signs.entry(sign.clone()).or_default();
            match (one.get(sign), other.get(sign)) {
                (Some(live_says), Some(says)) if live_says.0 == says.0 => agreement.same += 1,
                (Some(live_says), Some(says)) => {
                    agreement.different += 1;
                    self.differences.push(Difference {
                        scenario: scenario.to_owned(),
                        label: live.label.clone(),
                        sign: sign.clone(),
                        live: live_says.1.clone(),
                        simulated: says.1.clone(),
                    });
                }
                (Some(_), None) => agreement.live_only += 1,
                (None, _) => agreement.virtual_only += 1,
            }
        }
    }
}

/// Both are the same test in the same direction; plays have the tests of the file in its order.
fn is_same(one: &Flow, other: &Flow) -> bool {
    (one.test, one.kind, &one.sender, &one.receiver) == (other.test, other.kind, &other.sender, &other.receiver)
}

/// The answer of each sign, and in a sentence.
fn answers(flow: &Flow) -> BTreeMap<String, (String, String)> {
    let observed = flow.observations.iter().map(|observation| {
        let state = observation.seen.state().name.to_owned();
        let says = format!("{state}: {}", observation.says);
        (observation.seen.sign().name.to_owned(), (state, says))
    });
    let complaint = flow.complaint.map_or_else(|| "none".to_owned(), |complaint| format!("{complaint:?}"));
    let says = format!("{complaint}, goodput {}", flow.goodput);
    observed.chain([("complaint".to_owned(), (complaint, says))]).collect()
}
