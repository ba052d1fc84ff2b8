//! Tests besides those of the scenario, while its network is up: whoever listens asks for them, one after the other.

use model::played::Tested;
use model::round::{Endpoint, Round};
use plan::task::{Flow, Task};

use super::{Audience, PlayError, Proposal, Setting, run_one};
use crate::live::Live;
use crate::scenario::{Point, Scenario, Test};

/// Whether anything was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// Tests were run.
    On,
    /// None was.
    Nowhere,
}

/// Runs what is asked for until nothing is, or the wish to stop comes.
pub(super) fn all(
    setting: &Setting<'_>,
    live: Live<'_>,
    round: &mut Round,
    tests: &mut Vec<Tested>,
    audience: &mut dyn Audience,
) -> Result<Went, PlayError> {
    let mut went = Went::Nowhere;
    while !setting.stop.is_stopped() {
        let Some(proposal) = audience.wants(round) else { break };
        let wanted = as_tests(setting.scenario, &proposal);
        if wanted.is_empty() {
            break;
        }
        for test in &wanted {
            tests.push(run_one(test, setting, live, round, audience)?);
        }
        went = Went::On;
    }
    Ok(went)
}

/// As the scenario would have it; none where it has no such host.
fn as_tests(scenario: &Scenario, proposal: &Proposal) -> Vec<Test> {
    let (Some(from), Some(to)) = (point(scenario, &proposal.from), point(scenario, &proposal.to)) else {
        return Vec::new();
    };
    let expecting = |flow: &Flow| Flow { expect: proposal.expected, ..flow.clone() };
    let tasks = proposal.tasks.iter().map(|task| match task {
        Task::Tcp(flow) => Task::Tcp(expecting(flow)),
        Task::Udp(flow) => Task::Udp(expecting(flow)),
        Task::Ping(_) | Task::Mtu | Task::Http(_) | Task::Hops => task.clone(),
    });
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
