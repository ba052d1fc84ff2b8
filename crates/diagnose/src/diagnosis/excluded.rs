//! What a cause is out for: an observation that it always brings was made and is absent, or one that it never brings was made; and what
//! speaks against a cause that says more than anything shows.

use super::candidate::Candidate;
use super::findings::Findings;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::says::{EXCLUDED, Says};
use super::vanished;
use crate::causes::Cause;
use crate::signs::Flow;
use crate::signs::flow::Complaint;

/// All that excludes a candidate, or speaks against it for what nothing shows.
pub(super) fn weigh<'a>(candidate: &'a Candidate<'_>, suffering: &[&'a Flow], ground: &Ground<'a>) -> Vec<Part<'a>> {
    let one_way = vanished::one_way(candidate, ground);
    let parts = [
        of_required(candidate, suffering),
        of_never(candidate, suffering),
        of_needed(candidate, suffering, ground.findings),
        of_unfired(candidate, ground.findings),
        of_role(candidate, suffering),
        of_device(candidate, ground.findings),
        of_complaint(candidate, suffering),
        of_rate(candidate, ground),
        one_way.map(|place| Part { weight: -EXCLUDED, says: Says::OneWay(place) }),
    ];
    parts.into_iter().flatten().collect()
}

/// A cause whose direct observation was made and is absent is out.
fn of_required<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let primary = candidate.cause.requires.first()?.sign;
    let seen = || suffering.iter().flat_map(|flow| flow.observations.iter().map(move |seen| (*flow, seen)));
    if seen().any(|(_, seen)| candidate.cause.requires.contains(&seen.seen)) {
        return None;
    }
    let Some((flow, looked_at)) = seen().find(|(_, seen)| seen.seen.sign == primary) else {
        // Of a path of which nothing is known nobody says that it differs from another one.
        let is_told = !matches!(candidate.place, FaultLocation::Path { .. }) || !candidate.cause.needs.is_empty();
        let says = Says::Needed(*candidate.cause.requires.first()?);
        return (!is_told).then_some(Part { weight: -NEEDED, says });
    };
    Some(Part { weight: -EXCLUDED, says: Says::Absent(flow, looked_at) })
}

/// A cause is out where a flow shows what it never brings.
fn of_never<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let never = &candidate.cause.never;
    let mut seen = suffering.iter().flat_map(|flow| flow.observations.iter().map(move |seen| (*flow, seen)));
    let (flow, seen) = seen.find(|(_, seen)| never.contains(&seen.seen))?;
    Some(Part { weight: -EXCLUDED, says: Says::Absent(flow, seen) })
}

/// A cause that is another one at a time or on a path of its own is not named where nothing shows the time or the path.
fn of_needed<'a>(candidate: &Candidate<'_>, suffering: &[&Flow], findings: &Findings) -> Option<Part<'a>> {
    let Cause { needs, needs_on_whole_paths, needs_of_host, .. } = candidate.cause;
    let is_whole_path = matches!(candidate.place, FaultLocation::Path { .. });
    let needs = if needs.is_empty() && is_whole_path { needs_on_whole_paths } else { needs };
    let is_said = |host: &String| needs_of_host.iter().any(|fact| findings.fired(host, fact) == Some(true));
    if candidate.host.as_ref().is_some_and(is_said) {
        return None;
    }
    let seen = || suffering.iter().flat_map(|flow| &flow.observations);
    let is_met = seen().any(|seen| needs.contains(&seen.seen));
    let is_asked = || seen().any(|seen| needs.iter().any(|needed| needed.sign == seen.seen.sign));
    let first = needs.first().filter(|_| !is_met)?;
    let weight = if candidate.cause.of_answers {
        // What happens to acknowledgments nothing else shows.
        -EXCLUDED
    } else if is_asked() {
        -NEEDED
    } else {
        // Of what nobody looked at everything could be said.
        -NEEDED * 2.0
    };
    Some(Part { weight, says: Says::Needed(*first) })
}

/// What only the audit of a host tells is not named where it finds nothing, and less where nothing is known of the host at all.
fn of_unfired<'a>(candidate: &'a Candidate<'_>, findings: &Findings) -> Option<Part<'a>> {
    let host = candidate.host.as_ref().filter(|_| candidate.cause.by_rules)?;
    let mut rules = candidate.cause.rules.keys().chain(&candidate.cause.requires_of_host);
    let fires = rules.any(|rule| findings.fired(host, rule) == Some(true));
    let weight = if findings.knows(host) { -NEEDED } else { -NEEDED * 2.0 };
    (!fires).then_some(Part { weight, says: Says::NoRule(host) })
}

/// A cause of senders is not named at a host that receives all that suffers.
fn of_role<'a>(candidate: &'a Candidate<'_>, suffering: &[&Flow]) -> Option<Part<'a>> {
    let host = candidate.host.as_ref().filter(|_| candidate.cause.of_sender)?;
    let sends = suffering.iter().any(|flow| flow.sender.host == *host);
    (!sends).then_some(Part { weight: -EXCLUDED, says: Says::SendsNone(host) })
}

/// A fault of a card is hardly at a host whose tests leave by no card: the one below may have it, which is another host.
fn of_device<'a>(candidate: &'a Candidate<'_>, findings: &Findings) -> Option<Part<'a>> {
    let host = candidate.host.as_ref().filter(|host| candidate.cause.of_nic && findings.has_no_nic(host))?;
    Some(Part { weight: -NEEDED, says: Says::NoNic(host) })
}

/// A small window makes nobody lose packets: it is out where all flows are as fast as they should be and complain of something else.
fn of_complaint<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let first = suffering.first().filter(|_| candidate.cause.only_slows)?;
    let is_slow = |flow: &&Flow| {
        matches!(flow.complaint, None | Some(Complaint::Slow | Complaint::Short | Complaint::WindowLimited))
    };
    (!suffering.iter().any(is_slow)).then_some(Part { weight: -EXCLUDED, says: Says::Fast(first) })
}

/// A cause of slow links is out where a flow carried more than such a link can.
fn of_rate<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Option<Part<'a>> {
    let fastest = candidate.cause.fastest_link?;
    let covered = candidate.covers.iter().map(|number| &ground.flows[*number]);
    let flow = covered.filter(|flow| flow.goodput > fastest).max_by_key(|flow| flow.goodput)?;
    Some(Part { weight: -EXCLUDED, says: Says::Carried(flow, fastest) })
}

/// What it weighs against a cause that nothing shows what it is more than another one for.
const NEEDED: f64 = 2.5;
