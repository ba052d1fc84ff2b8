//! What was watched in many intervals, as one.

use crate::evidence::HostFact;

/// A fact with the host that it is of, where that is known.
type OfHost = (Option<String>, HostFact);

/// Keeps a fact. Intervals of one queue, and of one host's drops, add up.
pub(super) fn keep(facts: &mut Vec<OfHost>, host: Option<&str>, fact: &HostFact) {
    let is_added = facts.iter_mut().any(|(_, kept)| match (kept, fact) {
        (HostFact::SwitchQueue(kept), HostFact::SwitchQueue(later)) => kept.add(later),
        (HostFact::Dropped(kept), HostFact::Dropped(later)) => kept.add(later),
        _ => false,
    });
    if !is_added {
        facts.push((host.map(str::to_owned), fact.clone()));
    }
}
