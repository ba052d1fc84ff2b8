//! Tests besides those of the scenario, while its network is up: whoever listens asks for them, one after the other.

use model::round::Endpoint;

use super::Proposal;
use crate::scenario::{Point, Scenario, Test};

/// As the scenario would have it; none where it has no such host.
pub(super) fn as_tests(scenario: &Scenario, proposal: &Proposal) -> Vec<Test> {
    let (Some(from), Some(to)) = (point(scenario, &proposal.from), point(scenario, &proposal.to)) else {
        return Vec::new();
    };
    let tasks = proposal.tasks.iter().map(|task| task.expecting(proposal.expected));
    tasks.map(|kind| Test { label: proposal.label.clone(), from, to, start: None, family: None, kind }).collect()
}

fn point(scenario: &Scenario, end: &Endpoint) -> Option<Point> {
    let host = scenario.hosts.iter().position(|host| host.name == end.host)?;
    let overlay = match &end.network {
        None => None,
        Some(name) => Some(scenario.overlays.iter().position(|overlay| overlay.name == *name)?),
    };
    Some(Point { host, overlay })
}
