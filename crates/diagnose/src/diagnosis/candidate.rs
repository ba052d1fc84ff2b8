//! Every cause at every place where it could be, with the flows that it would hit.

use std::collections::BTreeMap;

use model::round::{Member, Passage, Round};

use super::Place;
use crate::causes::{Catalogue, Cause, PlaceKind, Usually};
use crate::signs::Flow;

/// A cause at a place.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    /// The cause.
    pub(super) cause: &'a Cause,
    /// Where.
    pub(super) place: Place,
    /// The host whose settings speak for or against it.
    pub(super) host: Option<String>,
    /// Which flows it would hit.
    pub(super) covers: Vec<bool>,
    /// How likely this place is among those of its cause, before any flow is looked at.
    pub(super) weight: f64,
}

/// All of them.
pub(super) fn candidates<'a>(round: &Round, flows: &[Flow], catalogue: &'a Catalogue) -> Vec<Candidate<'a>> {
    let grounds = Grounds::of(round, flows);
    catalogue.all().iter().flat_map(|cause| of_cause(cause, round, flows, &grounds)).collect()
}

/// Places by kind.
struct Grounds {
    hosts: Vec<String>,
    passages: Vec<Passage>,
}

impl Grounds {
    fn of(round: &Round, flows: &[Flow]) -> Self {
        let mut hosts: Vec<String> = round.members.iter().map(|member| member.name.clone()).collect();
        hosts.extend(flows.iter().flat_map(|flow| [flow.sender.host.clone(), flow.receiver.host.clone()]));
        hosts.sort();
        hosts.dedup();
        let mut passages: Vec<Passage> = flows.iter().flat_map(|flow| flow.way.clone()).collect();
        passages.sort();
        passages.dedup();
        Self { hosts, passages }
    }
}

fn of_cause<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], grounds: &Grounds) -> Vec<Candidate<'a>> {
    let mut found = match cause.place {
        PlaceKind::Sender => at_hosts(cause, flows, grounds, |flow, host| flow.sender.host == host),
        PlaceKind::Receiver => at_hosts(cause, flows, grounds, |flow, host| flow.receiver.host == host),
        PlaceKind::Host => at_hosts(cause, flows, grounds, touches),
        PlaceKind::Service => at_hosts(cause, flows, grounds, |flow, host| flow.sender.host == host),
        PlaceKind::Entry => at_entries(cause, round, flows, grounds),
        PlaceKind::Segment => at_passages(cause, round, flows, grounds),
        PlaceKind::Link => at_links(cause, round, flows, grounds),
    };
    for candidate in &mut found {
        for (covers, flow) in candidate.covers.iter_mut().zip(flows) {
            *covers &= !cause.only_overlays || flow.sender.network.is_some();
            *covers &= cause.carries.is_none_or(|kind| kind == flow.kind);
        }
    }
    found.retain(|candidate| cause.alone || candidate.covers.contains(&true));
    found
}

fn touches(flow: &Flow, host: &str) -> bool {
    flow.sender.host == host || flow.receiver.host == host
}

fn at_hosts<'a>(
    cause: &'a Cause,
    flows: &[Flow],
    grounds: &Grounds,
    covers: impl Fn(&Flow, &str) -> bool,
) -> Vec<Candidate<'a>> {
    let of_host = |host: &String| Candidate {
        cause,
        place: Place::Host { name: host.clone() },
        host: Some(host.clone()),
        covers: flows.iter().map(|flow| covers(flow, host)).collect(),
        weight: 1.0,
    };
    grounds.hosts.iter().map(of_host).collect()
}

/// Hosts at whose door packets come in from outside: at the end of the way, or on it where hosts live inside of a machine.
fn at_entries<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], grounds: &Grounds) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for passage in &grounds.passages {
        let host = &passage.towards;
        let ends_flows = flows.iter().any(|flow| flow.receiver.host == *host) && !is_passed(flows, host);
        let inside = |name: &str| is_inside(round, name, host);
        let is_machine = round.members.iter().any(|member| inside(&member.name));
        let from = other_end(round, passage);
        if !(ends_flows || is_machine) || from.is_some_and(inside) {
            continue;
        }
        found.push(Candidate {
            cause,
            place: Place::Host { name: host.clone() },
            host: Some(host.clone()),
            covers: flows.iter().map(|flow| flow.way.contains(passage)).collect(),
            weight: 1.0,
        });
    }
    if found.is_empty() {
        found = at_hosts(cause, flows, grounds, |flow, host| flow.receiver.host == host);
    }
    found
}

/// Whether a member lives in the machine that another one is.
fn is_inside(round: &Round, name: &str, machine: &str) -> bool {
    let member: Option<&Member> = round.members.iter().find(|member| member.name == name);
    member.is_some_and(|member| member.attributes.values().any(|value| value == machine))
}

fn other_end<'r>(round: &'r Round, passage: &Passage) -> Option<&'r str> {
    let segment = round.segments.iter().find(|segment| segment.name == passage.segment)?;
    segment.between.iter().find(|end| **end != passage.towards).map(String::as_str)
}

fn at_passages<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], grounds: &Grounds) -> Vec<Candidate<'a>> {
    let of_passage = |passage: &Passage| Candidate {
        cause,
        place: Place::Segment { name: passage.segment.clone(), towards: Some(passage.towards.clone()) },
        host: None,
        covers: flows.iter().map(|flow| flow.way.contains(passage)).collect(),
        weight: usual_place(cause, round, flows, &passage.segment),
    };
    let mut found: Vec<Candidate<'a>> = grounds.passages.iter().map(of_passage).collect();
    if found.is_empty() {
        found = between_ends(cause, flows);
    }
    found
}

fn at_links<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], grounds: &Grounds) -> Vec<Candidate<'a>> {
    let mut names: Vec<&String> = grounds.passages.iter().map(|passage| &passage.segment).collect();
    names.sort();
    names.dedup();
    let of_link = |name: &String| Candidate {
        cause,
        place: Place::Segment { name: name.clone(), towards: None },
        host: None,
        covers: flows.iter().map(|flow| flow.way.iter().any(|passage| passage.segment == *name)).collect(),
        weight: usual_place(cause, round, flows, name),
    };
    let mut found: Vec<Candidate<'a>> = names.into_iter().map(of_link).collect();
    if found.is_empty() {
        found = between_ends(cause, flows);
    }
    found
}

/// Where no way is known, the path between two hosts is the segment.
fn between_ends<'a>(cause: &'a Cause, flows: &[Flow]) -> Vec<Candidate<'a>> {
    let mut pairs: BTreeMap<(String, String), Vec<bool>> = BTreeMap::new();
    for (number, flow) in flows.iter().enumerate() {
        let pair = (flow.sender.to_string(), flow.receiver.to_string());
        pairs.entry(pair).or_insert_with(|| vec![false; flows.len()])[number] = true;
    }
    let of_pair = |((from, to), covers): ((String, String), Vec<bool>)| Candidate {
        cause,
        place: Place::Path { from, to },
        host: None,
        covers,
        weight: 1.0,
    };
    pairs.into_iter().map(of_pair).collect()
}

/// Some causes are met where hosts are attached, others between routers.
fn usual_place(cause: &Cause, round: &Round, flows: &[Flow], segment: &str) -> f64 {
    let ends = round.segments.iter().find(|known| known.name == segment).map(|known| &known.between);
    let is_end = |host: &String| flows.iter().any(|flow| touches(flow, host)) && !is_passed(flows, host);
    let is_edge = ends.is_some_and(|ends| ends.iter().any(is_end));
    match (cause.usually, is_edge) {
        (Some(Usually::Edge), true) | (Some(Usually::Core), false) => 4.0,
        _ => 1.0,
    }
}

/// Whether flows pass a host on their way to another. A router stays one when tests begin or end at it.
fn is_passed(flows: &[Flow], host: &str) -> bool {
    flows.iter().any(|flow| {
        let inner = flow.way.split_last().map_or(&[][..], |(_, inner)| inner);
        // The way of an echo leads to its far end and back.
        flow.receiver.host != host && inner.iter().any(|passage| passage.towards == host)
    })
}
