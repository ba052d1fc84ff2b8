//! An incident as far as it is learnt from.

use audit::Rules;
use model::played;
use model::round::Round;

use crate::causes::learn::PlantedCause;
use crate::diagnosis::FaultLocation;
use crate::diagnosis::findings::Findings;
use crate::diagnosis::severity::Severity;
use crate::signs::{Flow, flows};
use crate::wires::Wires;

/// Flows, hosts and truth of one incident. What was measured is gone: thousands of them are held at once.
#[derive(Debug)]
pub struct LearningCase {
    /// Members by name, segments and tests without what they found.
    pub(crate) round: Round,
    pub(crate) flows: Vec<Flow>,
    pub(crate) findings: Findings,
    pub(crate) wires: Wires,
    pub(crate) severity: Severity,
    pub(crate) planted: Vec<PlantedCause>,
}

impl LearningCase {
    /// What a round and its truth teach.
    #[must_use]
    pub fn of(mut round: Round, truth: &[played::PlantedCause], rules: &Rules) -> Self {
        let flows = flows(&round);
        let findings = Findings::of(&round, &flows, rules);
        let wires = Wires::of(&round);
        let severity = Severity::of(&flows);
        let planted = truth.iter().map(|cause| location(&round, cause)).collect();
        for member in &mut round.members {
            (member.before, member.after) = (None, None);
        }
        round.tests.clear();
        Self { round, flows, findings, wires, severity, planted }
    }

    /// Whether a diagnosis has anything to explain.
    #[must_use]
    pub fn complains(&self) -> bool {
        self.flows.iter().any(Flow::is_bad)
    }
}

fn location(round: &Round, planted: &played::PlantedCause) -> PlantedCause {
    let is_host = round.members.iter().any(|member| member.name == planted.place);
    let name = planted.place.clone();
    let place = if is_host {
        FaultLocation::Host { name }
    } else {
        FaultLocation::Segment { name, towards: planted.towards.clone() }
    };
    PlantedCause { cause: planted.cause.clone(), place }
}
