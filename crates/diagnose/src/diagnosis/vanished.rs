//! Where packets vanished, as the counters at both ends of each segment have it: what that says of a candidate's place.

use model::round::Passage;

use super::candidate::Candidate;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::says::Says;
use crate::causes::PlaceKind;
use crate::signs::Flow;
use crate::signs::flow::Complaint;
use crate::wires::{Missing, Wires};

/// What the counters say of a candidate that would have to explain flows.
pub(super) fn weigh<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow], ground: &Ground<'a>) -> Option<Part<'a>> {
    let is_of_network = matches!(candidate.cause.place, PlaceKind::Segment | PlaceKind::Link | PlaceKind::Entry);
    // A host's own link that is slow loses nothing elsewhere. That packets vanish on it says no more of the host than of its link.
    if !is_of_network && !candidate.cause.by_speed {
        return None;
    }
    let shares: Vec<Share<'a>> = suffering.iter().filter_map(|flow| share(candidate, flow, ground.wires)).collect();
    let heaviest = shares.iter().max_by(|a, b| a.here.least.total_cmp(&b.here.least))?;
    #[expect(clippy::cast_precision_loss, reason = "a count of flows")]
    let weight = shares.iter().map(Share::weight).sum::<f64>() / shares.len() as f64;
    let weight = if is_of_network { weight } else { weight.min(0.0) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of minutes")]
    let vanished = heaviest.here.is_some().then_some(heaviest.here.least as u64);
    Some(Part { weight, says: Says::Vanished(heaviest.at, vanished) })
}

/// The direction of a link in which packets vanish, where a cause takes those of both and the counters say that the others arrived.
pub(super) fn one_way<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Option<&'a Passage> {
    let FaultLocation::Segment { name, .. } = &candidate.place else { return None };
    let mut ways =
        ground.wires.missing.iter().filter(|(passage, _)| candidate.cause.both_ways && passage.segment == *name);
    let (one, other) = (ways.next()?, ways.next()?);
    let arrives = |missing: &Missing, ratio: f64| {
        let expected = missing.sent * ratio;
        missing.is_none() && expected > ENOUGH || expected > missing.most * FAR_LESS
    };
    let is_one_way = |here: &Missing, back: &Missing| here.is_some() && arrives(back, here.ratio());
    if is_one_way(one.1, other.1) {
        Some(one.0)
    } else if is_one_way(other.1, one.1) {
        Some(other.0)
    } else {
        None
    }
}

/// How much of what a flow's way lost was lost at the place.
struct Share<'a> {
    at: &'a Passage,
    part: f64,
    here: Missing,
    segments: usize,
}

impl Share<'_> {
    /// Beside a place that is as good as any other on the way.
    #[expect(clippy::cast_precision_loss, reason = "a count of segments")]
    fn weight(&self) -> f64 {
        let any = 1.0 / self.segments as f64;
        ((OTHERWISE * any + (1.0 - OTHERWISE) * self.part) / any).ln()
    }
}

/// Parts of what was sent, and not bytes: flows that are well lose some in their own queues, and send far more.
fn share<'a>(candidate: &Candidate<'_>, flow: &'a Flow, wires: &Wires) -> Option<Share<'a>> {
    // What a flow did not lose says nothing of where it suffers.
    flow.lost.filter(|lost| *lost > 0.0)?;
    let known: Vec<(&Passage, Missing)> =
        flow.way.iter().map(|passage| Some((passage, *wires.missing.get(passage)?))).collect::<Option<_>>()?;
    let part = |(passage, missing): &(&Passage, Missing)| match flow.complaint {
        // It suffers from what no queue dropped.
        Some(Complaint::Losing) => wires.unqueued.get(*passage).copied().unwrap_or_default(),
        _ => missing.ratio(),
    };
    let all: f64 = known.iter().map(part).sum();
    if !known.iter().any(|(_, missing)| missing.is_some()) || known.len() < 2 {
        return None;
    }
    let at = known.iter().find(|(passage, _)| is_there(candidate, passage)).or_else(|| {
        let is_sender = matches!(&candidate.place, FaultLocation::Host { name } if *name == flow.sender.host);
        known.first().filter(|_| is_sender && candidate.cause.by_speed)
    })?;
    let share = if all > 0.0 { part(at) / all } else { 0.0 };
    Some(Share { at: at.0, part: share, here: at.1, segments: known.len() })
}

fn is_there(candidate: &Candidate<'_>, passage: &Passage) -> bool {
    match &candidate.place {
        FaultLocation::Segment { name, towards } => {
            *name == passage.segment && towards.as_ref().is_none_or(|towards| *towards == passage.towards)
        }
        FaultLocation::Host { name } => *name == passage.towards,
        FaultLocation::Path { .. } | FaultLocation::Balancer => false,
    }
}

/// Bytes that had to vanish before it says something that none did: ten full packets.
const ENOUGH: f64 = 15_000.0;
/// So many times less than in the other direction is another kind of loss.
const FAR_LESS: f64 = 10.0;
/// How often packets vanish at another place than at the one that is at fault: a queue overflows behind it, or a counter
/// tells of something else.
const OTHERWISE: f64 = 0.04;
