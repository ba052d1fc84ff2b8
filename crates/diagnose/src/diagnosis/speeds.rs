//! At which speed the interfaces of a segment run: what that says of links that are said to be too slow.

use model::round::Passage;

use super::candidate::Candidate;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::says::{EXCLUDED, Says};
use crate::signs::Flow;

/// What speeds say of a candidate that would have to explain flows by a link: its own, or that of its host.
pub(super) fn weigh<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow], ground: &Ground<'a>) -> Option<Part<'a>> {
    if !candidate.cause.by_speed {
        return None;
    }
    let flow = suffering.iter().max_by_key(|flow| flow.goodput)?;
    let name = &passage(candidate, flow)?.segment;
    let on_way = flow.way.iter().filter_map(|passage| ground.wires.speeds.get_key_value(&passage.segment));
    let (fastest, (segment, here)) =
        (on_way.clone().map(|(_, speed)| *speed).max()?, on_way.clone().find(|(segment, _)| *segment == name)?);
    let is_slowest = on_way.clone().all(|(_, speed)| speed >= here) && *here < fastest;
    // Headers and the gaps between packets take a tenth at the most.
    let is_full = flow.goodput.bps() * 10 >= here.bps() * 7;
    let wants_more = |flow: &&Flow| flow.wanted().is_none_or(|wanted| wanted.bps() * 10 > here.bps() * 12);
    let is_wanted = suffering.iter().any(wants_more);
    let is_host = matches!(candidate.place, FaultLocation::Host { .. });
    let weight = match (is_slowest, is_full) {
        // A host's link is too slow for what is wanted, and full, or it is not at fault.
        _ if is_host && !(is_full && is_wanted) => -EXCLUDED,
        (true, true) => FILLED,
        (false, true) => return None,
        (_, false) => -FASTER,
    };
    Some(Part { weight, says: Says::Speed(segment, *here) })
}

/// Where a flow passes the link of a candidate.
fn passage<'a>(candidate: &Candidate<'_>, flow: &'a Flow) -> Option<&'a Passage> {
    match &candidate.place {
        FaultLocation::Segment { name, .. } => flow.way.iter().find(|passage| passage.segment == *name),
        FaultLocation::Host { name } if flow.sender.host == *name => flow.way.first(),
        FaultLocation::Host { name } if flow.receiver.host == *name => flow.way.last(),
        FaultLocation::Host { .. } | FaultLocation::Path { .. } | FaultLocation::Balancer => None,
    }
}

/// The weight of a link that is slower than all others on the way, and full.
const FILLED: f64 = 3.5;
/// Against a link whose interfaces are faster than the flow: something behind them may be slower.
const FASTER: f64 = 0.5;
