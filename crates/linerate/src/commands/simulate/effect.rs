//! Options of a simulated transfer that made no difference: without them it goes the same way.

use sim::flow::Outcome;

use super::budget::RunCost;
use super::settings::asked;
use crate::cli::simulate::FlowArgs;

/// The options that were given and that changed nothing, each tried by itself against its default. Empty for a transfer that
/// costs so much that simulating it again with every option would be waited for.
pub fn without_effect(args: &FlowArgs, outcome: &Outcome, cost: RunCost) -> Vec<&'static str> {
    if !cost.allows(OPTIONS.len() as u64) {
        return Vec::new();
    }
    let is_idle = |take: fn(&mut FlowArgs) -> bool| {
        let mut others = args.clone();
        take(&mut others)
            && asked(&others).ok().and_then(|flow| flow.run().ok()).is_some_and(|other| same(outcome, &other))
    };
    OPTIONS.into_iter().filter(|(_, take)| is_idle(*take)).map(|(option, _)| option).collect()
}

fn same(one: &Outcome, other: &Outcome) -> bool {
    let course =
        |of: &Outcome| (of.duration, of.delivered, of.sent, of.retransmits, of.max_outstanding, of.limits.clone());
    course(one) == course(other)
}

/// Takes an option away; says whether it was given.
type Take = fn(&mut FlowArgs) -> bool;

const OPTIONS: [(&str, Take); 15] = [
    ("--queue", |args| args.path.queue.take().is_some()),
    ("--loss", |args| args.path.loss.take().is_some()),
    ("--initial-window", |args| args.hosts.initial_window.take().is_some()),
    ("--receiver-initial-window", |args| args.hosts.receiver_initial_window.take().is_some()),
    ("--wmem", |args| args.hosts.wmem.take().is_some()),
    ("--rmem", |args| args.hosts.rmem.take().is_some()),
    ("--rmem-default", |args| args.hosts.rmem_default.take().is_some()),
    ("--kernel", |args| args.hosts.kernel.take().is_some()),
    ("--writer", |args| args.hosts.writer.take().is_some()),
    ("--application-rate", |args| args.hosts.application_rate.take().is_some()),
    ("--cpu-rate", |args| args.hosts.processor_rate.take().is_some()),
    ("--nic-rate", |args| args.hosts.adapter_rate.take().is_some()),
    ("--fq", |args| std::mem::take(&mut args.hosts.fq)),
    ("--pace", |args| args.hosts.pace.take().is_some()),
    ("--ecn", |args| std::mem::take(&mut args.hosts.ecn)),
];
