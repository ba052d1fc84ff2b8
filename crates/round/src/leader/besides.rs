//! Tests that a plan does not have, between two of its hosts.

use std::thread;
use std::time::Duration;

use linux::clock;
use model::played::Finding;
use model::round::{Endpoint, Round, Tested};
use plan::Plan;
use plan::task::Task;
use units::DataRate;

use super::crew::Threads;
use super::{Lead, gather, pair};
use crate::carrier::Voice;
use crate::task::{self, Done, Errand, Side};

/// A test that somebody wants besides.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What to call it.
    pub label: &'a str,
    /// Who asks, and sends.
    pub from: &'a Endpoint,
    /// Who answers.
    pub to: &'a Endpoint,
    /// What is measured.
    pub task: &'a Task,
    /// The rate that it should reach.
    pub expected: Option<DataRate>,
    /// How long it takes.
    pub takes: Duration,
}

/// Runs a test and adds it to a round. Whatever fails is part of what it found.
pub fn add(lead: &Lead<'_>, wanted: &Wanted<'_>, began: Duration, round: &mut Round) {
    round.tests.push(tested(lead, wanted, began));
}

/// Asks all hosts for their facts once more, after such tests.
pub fn look_again(lead: &Lead<'_>, round: &mut Round) {
    thread::scope(|scope| gather::after(lead, &Threads::new(scope), &mut round.members));
}

fn tested(lead: &Lead<'_>, wanted: &Wanted<'_>, began: Duration) -> Tested {
    let plan = lead.plan;
    let (Some((from, network)), Some((to, _))) = (place(plan, wanted.from), place(plan, wanted.to)) else {
        return nothing(wanted, began, "the plan has no such host or network".to_owned());
    };
    let ends = pair::end(lead, from, network).and_then(|one| Ok((one, pair::end(lead, to, network)?)));
    let (one, other) = match ends {
        Ok(ends) => ends,
        Err(detail) => return nothing(wanted, began, detail),
    };
    let task = wanted.task.expecting(wanted.expected);
    let Done { finding, samples, asked, .. } = task::run(&Errand {
        task: &task,
        from: one,
        to: other,
        family: None,
        archive: None,
        ticket: None,
        voice: Voice::Silent,
        limit: wanted.takes.saturating_add(lead.patience).saturating_add(pair::behind(&task)),
        stop: lead.stop,
    });
    let (from, to) = if asked == Side::From { (from, to) } else { (to, from) };
    Tested {
        label: wanted.label.to_owned(),
        from: plan.endpoint(from, network),
        to: plan.endpoint(to, network),
        began,
        expected: wanted.expected,
        way: plan.passages(from, to, network),
        way_back: plan.passages(to, from, network),
        emulator: None,
        attempt: None,
        finding,
        samples,
    }
}

/// A host and its network by their names.
fn place(plan: &Plan, end: &Endpoint) -> Option<(usize, Option<usize>)> {
    let host = plan.host(&end.host)?;
    let network = match &end.network {
        None => None,
        Some(name) => Some(plan.networks.iter().position(|network| network.name == *name)?),
    };
    Some((host, network))
}

fn nothing(wanted: &Wanted<'_>, began: Duration, detail: String) -> Tested {
    Tested {
        label: wanted.label.to_owned(),
        from: wanted.from.clone(),
        to: wanted.to.clone(),
        began,
        expected: wanted.expected,
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding: Finding::Nothing { detail },
        samples: None,
    }
}

/// How long ago a round began, where its tests were led by this process.
#[must_use]
pub fn since(round: &Round) -> Duration {
    let now = clock::wall_now().unix_nanos();
    Duration::from_nanos(now.saturating_sub(round.started.unix_nanos()))
}
