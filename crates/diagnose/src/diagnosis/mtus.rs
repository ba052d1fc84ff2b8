//! How large packets may be: what the MTUs of the interfaces at the ends of a segment say of links whose ends are said to disagree,
//! and what the largest packet says that a path takes.

use super::candidate::Candidate;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::says::Says;
use crate::signs::Flow;

/// What MTUs say of a candidate.
pub(super) fn weigh<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow], ground: &Ground<'a>) -> Vec<Part<'a>> {
    if !candidate.cause.by_mtu {
        return Vec::new();
    }
    [of_interfaces(candidate, ground), of_largest(suffering)].into_iter().flatten().collect()
}

fn of_interfaces<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Option<Part<'a>> {
    let FaultLocation::Segment { name, .. } = &candidate.place else { return None };
    let (segment, ends) = ground.wires.mtus.get_key_value(name)?;
    let weight = if ends[0] == ends[1] { -ALIKE } else { DIFFERENT };
    Some(Part { weight, says: Says::Mtus(segment, *ends) })
}

/// No interface of an Ethernet takes less than 1500 bytes unless somebody told it so: such a path has a tunnel in it.
fn of_largest<'a>(suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let (flow, largest) = suffering.iter().find_map(|flow| Some((*flow, flow.path_mtu?)))?;
    (largest < ETHERNET).then_some(Part { weight: -OF_TUNNEL, says: Says::Tunnel(flow, largest) })
}

/// The weight of two ends that have different MTUs: there is hardly another reason for that.
const DIFFERENT: f64 = 3.5;
/// Against ends that have the same: a switch between them may have another.
const ALIKE: f64 = 0.3;
/// Against neighbours that disagree, where packets have to be smaller than any Ethernet asks for.
const OF_TUNNEL: f64 = 2.5;
/// The MTU of Ethernet, in bytes.
const ETHERNET: u32 = 1_500;
