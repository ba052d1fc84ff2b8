//! The MTUs of the interfaces at the ends of a segment: what they say of links whose ends are said to disagree.

use super::candidate::Candidate;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::says::Says;

/// What MTUs say of a candidate.
pub(super) fn weigh<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Option<Part<'a>> {
    let FaultLocation::Segment { name, .. } = &candidate.place else { return None };
    if !candidate.cause.by_mtu {
        return None;
    }
    let (segment, ends) = ground.wires.mtus.get_key_value(name)?;
    let weight = if ends[0] == ends[1] { -ALIKE } else { DIFFERENT };
    Some(Part { weight, says: Says::Mtus(segment, *ends) })
}

/// The weight of two ends that have different MTUs: there is hardly another reason for that.
const DIFFERENT: f64 = 3.5;
/// Against ends that have the same: a switch between them may have another.
const ALIKE: f64 = 0.3;
