//! Every cause at every place where it could be, with the flows that it would hit.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::round::{Member, Passage, Round};
use units::DataRate;

use super::own;
use super::place::FaultLocation;
use crate::causes::weights::Weights;
use crate::causes::{Catalogue, Cause, PlaceKind, Usually};
use crate::signs::flow::FlowKind;
use crate::signs::{Flow, SignState};

/// A cause at a place.
#[derive(Debug, Clone)]
pub(crate) struct Candidate<'a> {
    /// Entry of the catalogue.
    pub(crate) cause: &'a Cause,
    /// Where.
    pub(crate) place: FaultLocation,
    /// The host whose settings speak for or against it.
    pub(crate) host: Option<String>,
    /// The flows that it would hit, by number, in order.
    pub(crate) covers: Rc<[usize]>,
    /// How likely this place is among those of its cause, before any flow is looked at.
    pub(crate) weight: f64,
}

impl Candidate<'_> {
    /// What an answer says of the candidate: of a host that may be either end of a flow, it is of its own end as if it sent.
    pub(crate) fn sees(&self, flow: &Flow, seen: SignState) -> SignState {
        let receives = |host: &String| flow.receiver.host == *host && flow.sender.host != *host;
        let is_other_end = self.cause.place == PlaceKind::Host && self.host.as_ref().is_some_and(receives);
        if is_other_end { seen.of_other_end() } else { seen }
    }

    /// How much likelier it makes an answer of a flow.
    pub(crate) fn brings(&self, flow: &Flow, seen: SignState, weights: &Weights) -> f64 {
        let seen = self.sees(flow, seen);
        self.cause.likelihood_among(seen, |seen| weights.usual(seen)) / weights.usual(seen)
    }

    /// Whether the cause is what an answer shows outright: it cannot be without it, or makes it far likelier.
    pub(crate) fn answers(&self, flow: &Flow, seen: SignState, weights: &Weights) -> bool {
        self.cause.requires.contains(&self.sees(flow, seen)) || self.brings(flow, seen, weights) > BROUGHT
    }
}

/// All of them.
pub(crate) fn candidates<'a>(round: &Round, flows: &[Flow], catalogue: &'a Catalogue) -> Vec<Candidate<'a>> {
    let places = Places::of(round, flows);
    let mut found: Vec<Candidate<'a>> =
        catalogue.all().iter().flat_map(Cause::ways).flat_map(|cause| of_cause(cause, round, flows, &places)).collect();
    found.retain(|candidate| candidate.cause.alone || !candidate.covers.is_empty());
    found
}

/// Who sends no more than this writes now and then, and pauses.
const SELDOM: DataRate = DataRate::from_bps(1_000_000);

/// Flows that pass a place, and those of each kind among them.
#[derive(Debug, Default)]
struct Cover {
    all: Rc<[usize]>,
    of_kind: BTreeMap<FlowKind, Rc<[usize]>>,
    with_load: Rc<[usize]>,
    in_overlays: Rc<[usize]>,
    with_pauses: Rc<[usize]>,
    /// Flows whose acknowledgments pass.
    answered: Rc<[usize]>,
}

impl Cover {
    fn of(Passing { data: numbers, answers }: Passing, flows: &[Flow]) -> Self {
        let some = |wanted: &dyn Fn(&Flow) -> bool| -> Rc<[usize]> {
            numbers.iter().copied().filter(|number| wanted(&flows[*number])).collect()
        };
        let kinds = [FlowKind::Tcp, FlowKind::Udp, FlowKind::Http, FlowKind::Echo];
        Self {
            of_kind: kinds.map(|kind| (kind, some(&|flow| flow.kind == kind))).into(),
            with_load: some(&|flow| flow.kind != FlowKind::Echo),
            in_overlays: some(&|flow| flow.sender.network.is_some()),
            with_pauses: some(&|flow| flow.shape.paced.is_some_and(|rate| rate <= SELDOM)),
            answered: answers.into(),
            all: numbers.into(),
        }
    }

    /// Whether a cause may be where what it hits passes.
    fn has_what(&self, cause: &Cause) -> bool {
        cause.of_answers || !self.all.is_empty()
    }

    /// The same of a place that is one segment of a known way.
    fn has_on_way(&self, cause: &Cause) -> bool {
        !cause.of_whole_paths && self.has_what(cause)
    }

    /// Those that a cause would hit.
    fn hit_by(&self, cause: &Cause) -> Rc<[usize]> {
        if cause.of_answers {
            return Rc::clone(&self.answered);
        }
        let any_kind = if cause.by_load { &self.with_load } else { &self.all };
        let of_kind = cause.carries.and_then(|kind| self.of_kind.get(&kind)).unwrap_or(any_kind);
        let only = match (cause.only_overlays, cause.only_idle) {
            (true, _) => &self.in_overlays,
            (_, true) => &self.with_pauses,
            (false, false) => return Rc::clone(of_kind),
        };
        only.iter().copied().filter(|number| of_kind.binary_search(number).is_ok()).collect()
    }
}

/// Flows by what of them passes a place, by number, in order.
#[derive(Debug, Default)]
struct Passing {
    data: Vec<usize>,
    answers: Vec<usize>,
}

/// All places, each with the flows that pass it.
struct Places {
    /// By host: flows that it sends, that it receives, and both.
    hosts: BTreeMap<String, [Cover; 3]>,
    passages: BTreeMap<Passage, Cover>,
    links: BTreeMap<String, Cover>,
    /// Where no way is known, the path between two hosts is the segment.
    pairs: BTreeMap<(String, String), Cover>,
    /// Hosts where flows begin or end and none passes.
    ends: BTreeSet<String>,
    /// Members in which others live, and those that pass packets on and merge them before.
    machines: BTreeSet<String>,
}

const SENDS: usize = 0;
const RECEIVES: usize = 1;
const EITHER: usize = 2;

impl Places {
    fn of(round: &Round, flows: &[Flow]) -> Self {
        let mut hosts: BTreeMap<String, [Passing; 3]> = BTreeMap::new();
        let mut passages: BTreeMap<Passage, Passing> = BTreeMap::new();
        let mut links: BTreeMap<String, Passing> = BTreeMap::new();
        let mut pairs: BTreeMap<(String, String), Passing> = BTreeMap::new();
        for member in &round.members {
            hosts.entry(member.name.clone()).or_default();
        }
        for (number, flow) in flows.iter().enumerate() {
            for (role, host) in [(SENDS, &flow.sender.host), (RECEIVES, &flow.receiver.host)] {
                let of_host = hosts.entry(host.clone()).or_default();
                add(&mut of_host[role].data, number);
                add(&mut of_host[EITHER].data, number);
            }
            for (role, machine) in machines_passed(round, flow) {
                let of_machine = hosts.entry(machine.to_owned()).or_default();
                add(&mut of_machine[role].data, number);
                add(&mut of_machine[EITHER].data, number);
            }
            for passage in &flow.way {
                add(&mut passages.entry(passage.clone()).or_default().data, number);
                add(&mut links.entry(passage.segment.clone()).or_default().data, number);
            }
            for passage in &flow.way_back {
                add(&mut passages.entry(passage.clone()).or_default().answers, number);
                add(&mut links.entry(passage.segment.clone()).or_default().answers, number);
            }
            if flow.way.is_empty() {
                let (sender, receiver) = (flow.sender.to_string(), flow.receiver.to_string());
                add(&mut pairs.entry((receiver.clone(), sender.clone())).or_default().answers, number);
                add(&mut pairs.entry((sender, receiver)).or_default().data, number);
            }
        }
        let cover = |passing: Passing| Cover::of(passing, flows);
        let members = round.members.iter();
        let inside = members.flat_map(|member| member.attributes.values()).cloned().collect::<BTreeSet<String>>();
        let ends = ends(flows);
        let is_machine = |member: &&Member| {
            inside.contains(&member.name) || !ends.contains(&member.name) && own::merges(member) == Some(true)
        };
        let machines = round.members.iter().filter(is_machine).map(|member| member.name.clone()).collect();
        Self {
            ends,
            machines,
            hosts: hosts.into_iter().map(|(host, numbers)| (host, numbers.map(cover))).collect(),
            passages: passages.into_iter().map(|(passage, numbers)| (passage, cover(numbers))).collect(),
            links: links.into_iter().map(|(link, numbers)| (link, cover(numbers))).collect(),
            pairs: pairs.into_iter().map(|(pair, numbers)| (pair, cover(numbers))).collect(),
        }
    }
}

/// The machines that a flow enters or leaves because one of its ends is a guest there. What guests of one machine send each other
/// does not leave it; where the way is known it says itself what is passed.
fn machines_passed<'r>(round: &'r Round, flow: &Flow) -> Vec<(usize, &'r str)> {
    if !flow.way.is_empty() {
        return Vec::new();
    }
    let member = |name: &str| round.members.iter().find(|member| member.name == name);
    let (sender, receiver) = (member(&flow.sender.host), member(&flow.receiver.host));
    let is_guest = |guest: Option<&Member>, machine: &Member| guest.is_some_and(|guest| guest.lives_in(&machine.name));
    let of_machine = |machine: &'r Member| match (is_guest(sender, machine), is_guest(receiver, machine)) {
        (true, false) => Some((SENDS, machine.name.as_str())),
        (false, true) => Some((RECEIVES, machine.name.as_str())),
        _ => None,
    };
    round.members.iter().filter_map(of_machine).collect()
}

/// A flow may pass a place twice, as an echo does; it is one flow all the same.
fn add(numbers: &mut Vec<usize>, number: usize) {
    if numbers.last() != Some(&number) {
        numbers.push(number);
    }
}

/// Hosts where flows begin or end, without those that others pass: a router stays one when tests end at it.
fn ends(flows: &[Flow]) -> BTreeSet<String> {
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    for flow in flows {
        // The way of an echo leads to its far end and back.
        let inner = flow.way.split_last().map_or(&[][..], |(_, inner)| inner);
        let inner = inner.iter().map(|passage| passage.towards.as_str());
        passed.extend(inner.filter(|towards| *towards != flow.receiver.host));
    }
    let ends = flows.iter().flat_map(|flow| [&flow.sender.host, &flow.receiver.host]);
    ends.filter(|host| !passed.contains(host.as_str())).cloned().collect()
}

fn of_cause<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], places: &Places) -> Vec<Candidate<'a>> {
    match cause.place {
        PlaceKind::Sender | PlaceKind::Service => at_hosts(cause, places, SENDS),
        PlaceKind::Receiver => at_hosts(cause, places, RECEIVES),
        PlaceKind::Host => at_hosts(cause, places, EITHER),
        PlaceKind::Entry => at_entries(cause, round, flows, places),
        PlaceKind::Segment => at_passages(cause, round, places),
        PlaceKind::Link => at_links(cause, round, places),
        // No flow shows them: `gateways` weighs these.
        PlaceKind::Gateway | PlaceKind::Balancer => Vec::new(),
    }
}

fn at_hosts<'a>(cause: &'a Cause, places: &Places, role: usize) -> Vec<Candidate<'a>> {
    let of_host = |(host, covers): (&String, &[Cover; 3])| Candidate {
        cause,
        place: FaultLocation::Host { name: host.clone() },
        host: Some(host.clone()),
        covers: covers[role].hit_by(cause),
        weight: 1.0,
    };
    places.hosts.iter().map(of_host).collect()
}

/// Hosts at whose door packets come in from outside: at the end of the way, or on it where hosts live inside of a machine.
fn at_entries<'a>(cause: &'a Cause, round: &Round, flows: &[Flow], places: &Places) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for (passage, cover) in places.passages.iter().filter(|(_, cover)| cover.has_what(cause)) {
        let host = &passage.towards;
        let ends_flows = places.ends.contains(host) && flows.iter().any(|flow| flow.receiver.host == *host);
        let from = other_end(round, passage);
        let is_own = |from: &str| is_inside(round, from, host) || !ends_flows && places.ends.contains(from);
        let comes_from_inside = from.is_some_and(is_own);
        if !(ends_flows || places.machines.contains(host)) || comes_from_inside {
            continue;
        }
        found.push(Candidate {
            cause,
            place: FaultLocation::Host { name: host.clone() },
            host: Some(host.clone()),
            covers: cover.hit_by(cause),
            weight: 1.0,
        });
    }
    if found.is_empty() { at_hosts(cause, places, RECEIVES) } else { found }
}

/// Whether a member lives in the machine that another one is.
fn is_inside(round: &Round, name: &str, machine: &str) -> bool {
    let member: Option<&Member> = round.members.iter().find(|member| member.name == name);
    member.is_some_and(|member| member.lives_in(machine))
}

fn other_end<'r>(round: &'r Round, passage: &Passage) -> Option<&'r str> {
    let segment = round.segments.iter().find(|segment| segment.name == passage.segment)?;
    segment.between.iter().find(|end| **end != passage.towards).map(String::as_str)
}

fn at_passages<'a>(cause: &'a Cause, round: &Round, places: &Places) -> Vec<Candidate<'a>> {
    let of_passage = |(passage, cover): (&Passage, &Cover)| Candidate {
        cause,
        place: FaultLocation::Segment { name: passage.segment.clone(), towards: Some(passage.towards.clone()) },
        host: None,
        covers: cover.hit_by(cause),
        weight: usual_place(cause, round, places, &passage.segment),
    };
    let known = || places.passages.iter().filter(|(_, cover)| cover.has_on_way(cause));
    let is_both_ways =
        |passage: &Passage| known().any(|(other, _)| other.segment == passage.segment && other != passage);
    let possible = known().filter(|(passage, _)| !(cause.only_one_way && is_both_ways(passage)));
    possible.map(of_passage).chain(between_ends(cause, places)).collect()
}

fn at_links<'a>(cause: &'a Cause, round: &Round, places: &Places) -> Vec<Candidate<'a>> {
    let of_link = |(name, cover): (&String, &Cover)| Candidate {
        cause,
        place: FaultLocation::Segment { name: name.clone(), towards: None },
        host: None,
        covers: cover.hit_by(cause),
        weight: usual_place(cause, round, places, name),
    };
    places
        .links
        .iter()
        .filter(|(_, cover)| cover.has_on_way(cause))
        .map(of_link)
        .chain(between_ends(cause, places))
        .collect()
}

fn between_ends<'a, 'p>(cause: &'a Cause, places: &'p Places) -> impl Iterator<Item = Candidate<'a>> + use<'a, 'p> {
    let of_pair = move |((from, to), cover): (&(String, String), &Cover)| Candidate {
        cause,
        place: FaultLocation::Path { from: from.clone(), to: to.clone() },
        host: None,
        covers: cover.hit_by(cause),
        weight: 1.0,
    };
    places.pairs.iter().filter(|(_, cover)| cover.has_what(cause)).map(of_pair)
}

/// Some causes are met where hosts are attached, others between routers.
fn usual_place(cause: &Cause, round: &Round, places: &Places, segment: &str) -> f64 {
    let ends = round.segments.iter().find(|known| known.name == segment).map(|known| &known.between);
    let is_edge = ends.is_some_and(|ends| ends.iter().any(|end| places.ends.contains(end)));
    match (cause.usually, is_edge) {
        (Some(Usually::Edge), true) | (Some(Usually::Core), false) if cause.hardly_elsewhere => HARDLY_ELSEWHERE,
        (Some(Usually::Edge), true) | (Some(Usually::Core), false) => 4.0,
        _ => 1.0,
    }
}

/// By so much a cause makes likelier what it brings about.
const BROUGHT: f64 = 2.0;
/// How much likelier a cause is where it is usually met, which hardly is elsewhere.
const HARDLY_ELSEWHERE: f64 = 20.0;
