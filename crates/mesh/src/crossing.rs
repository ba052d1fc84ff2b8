//! What a test crosses, and how much it moves there.

use plan::Plan;
use plan::schedule::Slot;
use units::ByteCount;

use crate::run::Resource;

/// The hosts and segments that a test crosses.
pub(crate) fn passes(plan: &Plan, slot: &Slot) -> Vec<Resource> {
    let network = plan.groups[plan.tests[slot.test].group].network;
    let hosts = [slot.pair.from, slot.pair.to].map(|host| Resource::Host(plan.hosts[host].name.clone()));
    let over = plan.way(slot.pair.from, slot.pair.to, network).into_iter();
    hosts.into_iter().chain(over.map(|segment| Resource::Segment(plan.segments[segment].name.clone()))).collect()
}

/// What a run moves at most, as far as the plan says how fast its path is.
pub(crate) fn expected_bytes(plan: &Plan, slot: &Slot) -> Option<ByteCount> {
    let network = plan.groups[plan.tests[slot.test].group].network;
    let line = plan.line_rate(slot.pair.from, slot.pair.to, network);
    plan.tests[slot.test].task.most_bytes(line)
}
