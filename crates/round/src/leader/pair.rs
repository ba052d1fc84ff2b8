//! One test of a plan between its two hosts.

use std::time::Duration;

use measure::stop::Stop;
use model::played::Finding;
use model::round::Tested;
use model::series::RunSamples;
use plan::Plan;
use plan::schedule::Slot;
use plan::task::Task;
use wire::limits::Patience;

use super::Lead;
use crate::carrier::Voice;
use crate::task::{self, Done, End, Errand, Side};

/// Runs it.
pub(super) fn run(lead: &Lead<'_>, slot: &Slot, halt: &Stop) -> Done {
    let plan = lead.plan;
    let test = &plan.tests[slot.test];
    let network = plan.groups[test.group].network;
    let (from, to) = (slot.pair.from, slot.pair.to);
    let ends = end(lead, from, network).and_then(|from| Ok((from, end(lead, to, network)?)));
    let (from_end, to_end) = match ends {
        Ok(ends) => ends,
        Err(detail) => {
            let finding = Finding::Nothing { detail };
            return Done { finding, samples: None, asked: Side::From, trouble: None };
        }
    };
    // What the plan knows of the path, a run is to know as well.
    let task = test.task.expecting(plan.line_rate(from, to, network));
    task::run(&Errand {
        task: &task,
        from: from_end,
        to: to_end,
        family: test.family,
        archive: None,
        ticket: None,
        voice: Voice::Silent,
        limit: slot.lasts.saturating_add(lead.patience).saturating_add(behind(&test.task)),
        stop: halt,
    })
}

/// How long a flow may take behind its own time, until all that was sent has come: over a path that crawls, that is what
/// its test is about.
pub(super) fn behind(task: &Task) -> Duration {
    match task {
        Task::Tcp(flow) | Task::Udp(flow) => Patience::default().drain_and_turn(flow.spec.limit),
        Task::Ping(_) | Task::Mtu | Task::Hops | Task::Http(_) => Duration::ZERO,
    }
}

/// A host with the address by which it is reached in a network, or why it has none.
pub(super) fn end<'a>(lead: &Lead<'a>, host: usize, network: Option<usize>) -> Result<End<'a>, String> {
    let address = lead.plan.address(host, network).ok_or_else(|| nowhere(lead.plan, host, network))?;
    Ok(End { site: lead.roster.site(lead.plan, host), address })
}

fn nowhere(plan: &Plan, host: usize, network: Option<usize>) -> String {
    let name = &plan.hosts[host].name;
    match network {
        Some(network) => format!("{name} has no address in the network {}", plan.networks[network].name),
        None => format!("{name} has no address in the plan"),
    }
}

/// A test as a round has it. Where the other end has asked, it stands first.
pub(super) fn tested(
    plan: &Plan,
    slot: &Slot,
    began: Duration,
    asked: Side,
    finding: Finding,
    samples: Option<Box<RunSamples>>,
) -> Tested {
    let test = &plan.tests[slot.test];
    let network = plan.groups[test.group].network;
    let (from, to) = match asked {
        Side::From => (slot.pair.from, slot.pair.to),
        Side::To => (slot.pair.to, slot.pair.from),
    };
    Tested {
        label: test.label.clone(),
        from: plan.endpoint(from, network),
        to: plan.endpoint(to, network),
        began,
        expected: plan.expected_rate(slot.test, slot.pair.from, slot.pair.to),
        way: plan.passages(from, to, network),
        way_back: plan.passages(to, from, network),
        emulator: None,
        attempt: None,
        finding,
        samples,
    }
}

#[cfg(test)]
mod tests {
    use model::spec::{Limit, TestSpec};
    use plan::task::Flow;
    use units::ByteCount;

    use super::*;

    #[test]
    fn a_short_test_is_waited_for_shortly_and_an_amount_to_its_end() {
        let behind_of = |limit| {
            let spec = TestSpec { limit, ..TestSpec::default() };
            behind(&Task::Tcp(Flow { spec, expect: None }))
        };
        assert_eq!(behind_of(Limit::Time(Duration::from_secs(3))), Duration::from_millis(11_500));
        assert_eq!(behind_of(Limit::Bytes(ByteCount::new(1))), Duration::from_secs(40));
        assert_eq!(behind(&Task::Mtu), Duration::ZERO);
    }
}
