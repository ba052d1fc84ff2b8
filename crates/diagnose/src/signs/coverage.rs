//! How much of what a round can tell is there.

use std::collections::BTreeSet;

use model::round::Round;

use super::flow::{Flow, FlowKind};

/// What a round has beside the results of its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// Results of tests and nothing else: no samples, no facts of hosts, no paths.
    RatesAlone,
    /// Some of it is missing: the facts of a host, the path or the target of a flow, samples.
    Partial,
    /// Facts of all hosts that were tested, before and after; samples, paths and targets of all flows of TCP.
    Whole,
}

impl Coverage {
    /// Of a round and its flows.
    #[must_use]
    pub fn of(round: &Round, flows: &[Flow]) -> Self {
        // Said of every flow of which somebody saw what it waited for.
        let is_watched = |flow: &Flow| flow.state("cpu").is_some();
        let has_facts = round.members.iter().any(|member| member.before.is_some() || member.after.is_some());
        if !has_facts && !flows.iter().any(|flow| is_watched(flow) || !flow.way.is_empty()) {
            return Self::RatesAlone;
        }
        let ends: BTreeSet<&str> =
            flows.iter().flat_map(|flow| [flow.sender.host.as_str(), flow.receiver.host.as_str()]).collect();
        let mut ends = round.members.iter().filter(|member| ends.contains(member.name.as_str()));
        let mut of_tcp = flows.iter().filter(|flow| flow.kind == FlowKind::Tcp);
        let is_whole = ends.all(|member| member.before.is_some() && member.after.is_some())
            && of_tcp.all(|flow| is_watched(flow) && !flow.way.is_empty() && flow.target.is_some());
        if is_whole { Self::Whole } else { Self::Partial }
    }
}
