//! Signs of echoes, path MTU, traces and downloads.

use std::collections::{BTreeMap, BTreeSet};

use model::measurement::Heading;
use model::played::Finding;
use model::probe::download::Download;
use model::probe::echo::{EchoFate, EchoSeries};
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::round::{Endpoint, Passage, Round, Tested};
use model::run::Outcome;
use model::target::{TargetRate, TargetSource};
use units::{DataRate, Mtu, PacketCount};

use super::Observation;
use super::flow::{Complaint, Flow, FlowEnds, FlowKind};
use super::packet_time;
use super::percent::percent;
use super::relations::judge_download;
use crate::wires::way::reversed;

/// Adds to each flow what probes between the same ends saw.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    let pairs = Pairs::of(round);
    for flow in flows {
        let between = pairs.between(&flow.sender, &flow.receiver);
        let series = series(between);
        let by_size = if flow.state("packet-time").is_none() { packet_time::of_echoes(flow, &series) } else { None };
        let of_echoes = if flow.state("echoes").is_none() { echoes(&series) } else { None };
        let searched = search(between);
        if let Some(PathMtu { path_mtu, limit: Some(MtuLimit::Silent), .. }) = searched {
            flow.path_mtu = path_mtu.map(Mtu::get);
        }
        let found = [of_echoes, searched.and_then(of_search), routes(round, between, flow), by_size];
        flow.observations.extend(found.into_iter().flatten());
        if flow.complaint.is_none() {
            judge(flow);
        }
    }
}

/// Probes between ends that no data went between stand for themselves: those towards a hop say where packets vanish.
pub(super) fn alone(round: &Round, flows: &[Flow]) -> Vec<Flow> {
    let mut joined: BTreeSet<Pair<'_>> = flows.iter().map(|flow| pair(&flow.sender, &flow.receiver)).collect();
    let mut found: Vec<Flow> = Vec::new();
    for (number, tested) in round.tests.iter().enumerate() {
        let is_probe = matches!(tested.finding, Finding::Echo(_) | Finding::PathMtu(_));
        if is_probe && joined.insert(pair(&tested.from, &tested.to)) {
            found.push(of_probe(number, tested));
        }
    }
    found
}

/// Two ends, in whichever direction.
type Pair<'a> = (&'a Endpoint, &'a Endpoint);

fn pair<'a>(one: &'a Endpoint, other: &'a Endpoint) -> Pair<'a> {
    if one <= other { (one, other) } else { (other, one) }
}

/// The tests of a round by their ends.
struct Pairs<'a>(BTreeMap<Pair<'a>, Vec<&'a Tested>>);

impl<'a> Pairs<'a> {
    fn of(round: &'a Round) -> Self {
        let mut pairs: BTreeMap<Pair<'a>, Vec<&'a Tested>> = BTreeMap::new();
        for tested in &round.tests {
            pairs.entry(pair(&tested.from, &tested.to)).or_default().push(tested);
        }
        Self(pairs)
    }

    fn between<'s>(&'s self, one: &'s Endpoint, other: &'s Endpoint) -> &'s [&'s Tested] {
        self.0.get(&pair(one, other)).map(Vec::as_slice).unwrap_or_default()
    }
}

fn of_probe(test: usize, tested: &Tested) -> Flow {
    let ends = FlowEnds {
        sender: tested.from.clone(),
        receiver: tested.to.clone(),
        // What is lost of an echo may be its answer.
        way: tested.way.iter().chain(&tested.way_back).cloned().collect(),
        way_back: Vec::new(),
    };
    Flow::unobserved(test, tested, ends, FlowKind::Echo)
}

/// What probes complain of. Data may flow all the same where its sender tries smaller segments: large packets vanish still.
fn judge(flow: &mut Flow) {
    let is_probe = flow.kind == FlowKind::Echo;
    flow.complaint = match (flow.state("echoes"), flow.state("mtu")) {
        (Some("no-large-one"), _) | (_, Some("less-and-silent")) => Some(Complaint::Clipped),
        (Some("large-ones-lost"), _) if is_probe => Some(Complaint::Clipped),
        (Some("many-lost"), _) if is_probe => Some(Complaint::Lossy),
        _ => None,
    };
}

/// The echoes between two ends, as far as they could be sent.
fn series<'a>(between: &[&'a Tested]) -> Vec<&'a EchoSeries> {
    let complete = between.iter().filter_map(|tested| match &tested.finding {
        Finding::Echo(series) if series.outcome == Outcome::Complete => Some(series),
        _ => None,
    });
    complete.collect()
}

fn echoes(series: &[&EchoSeries]) -> Option<Observation> {
    let lost = |of: &dyn Fn(&EchoSeries) -> bool| {
        let chosen = series.iter().filter(|series| of(series));
        let (sent, lost) = chosen.fold((0_u64, 0_u64), |(sent, lost), series| {
            (sent.saturating_add(series.summary.rtt.sent.get()), lost.saturating_add(series.summary.rtt.lost.get()))
        });
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        (sent > 0).then(|| lost as f64 / sent as f64)
    };
    let all = lost(&|_| true)?;
    // Sizes are compared with each other: what is large depends on the devices.
    let sizes = series.iter().map(|series| series.spec.payload_bytes);
    let (least, most) = (sizes.clone().min()?, sizes.max()?);
    let differ = most > least;
    let large = lost(&|series| differ && series.spec.payload_bytes == most);
    let small = lost(&|series| differ && series.spec.payload_bytes == least);
    let (state, says) = match (small, large) {
        (Some(small), Some(large)) if large >= 0.99 && small < 0.5 => {
            ("no-large-one", "small echoes came back, large ones never".to_owned())
        }
        (Some(small), Some(large)) if large > 0.03 && small < large / 4.0 => {
            let says =
                format!("{} of the large echoes were lost, {} of the small ones", percent(large), percent(small));
            ("large-ones-lost", says)
        }
        _ if all <= 0.0 && most < SMALL => ("all-of-small-ones", "every echo came back, all of them small".to_owned()),
        _ if all <= 0.0 => ("all", "every echo came back".to_owned()),
        _ if all < 0.05 => ("few-lost", format!("{} of the echoes were lost", percent(all))),
        // The first may be lost while the address of the next hop is asked for (ARP).
        _ if is_first_alone(series) => ("few-lost", "the first echo was lost and no other".to_owned()),
        _ => ("many-lost", format!("{} of the echoes were lost", percent(all))),
    };
    Observation::of("echoes", state, says)
}

/// Whether all series together lost one echo, the first of one of them.
fn is_first_alone(series: &[&EchoSeries]) -> bool {
    let lossy: Vec<&EchoSeries> =
        series.iter().copied().filter(|series| series.summary.rtt.lost > PacketCount::ZERO).collect();
    let [only] = lossy.as_slice() else { return false };
    let is_first = only.probes.first().is_some_and(|probe| probe.fate == EchoFate::Lost);
    is_first && only.probes.len() > 1 && only.summary.rtt.lost == PacketCount::new(1)
}

/// The first search for the largest packet that found what limits it.
fn search<'a>(between: &[&'a Tested]) -> Option<&'a PathMtu> {
    between.iter().find_map(|tested| match &tested.finding {
        Finding::PathMtu(search) if search.outcome == Outcome::Complete => {
            Some(search).filter(|search| search.path_mtu.is_some() && search.limit.is_some())
        }
        _ => None,
    })
}

fn of_search(search: &PathMtu) -> Option<Observation> {
    let largest = search.path_mtu?;
    let (state, says) = match search.limit.as_ref()? {
        MtuLimit::Interface => ("as-the-device", format!("packets of {largest} arrive, as the device has it")),
        MtuLimit::Told { .. } => {
            ("less-and-reported", format!("packets of {largest} arrive; larger ones are sent back"))
        }
        MtuLimit::Silent => {
            ("less-and-silent", format!("packets of {largest} arrive; larger ones vanish without a word"))
        }
    };
    Observation::of("mtu", state, says)
}

fn routes(round: &Round, between: &[&Tested], flow: &Flow) -> Option<Observation> {
    let tested = &round.tests[flow.test];
    if tested.way.is_empty() || tested.way_back.is_empty() {
        return None;
    }
    if let Some(other) = between.iter().find(|other| took_another_way(tested, other)) {
        let when = if other.began < tested.began { "earlier" } else { "later" };
        let says = format!("the path is another one than {when} ({})", other.label);
        return Observation::of("routes", "changed", says);
    }
    let same = reversed(&tested.way, &round.segments) == tested.way_back;
    let (state, says) = if same {
        ("same", "both directions take the same path")
    } else {
        ("differ", "the reverse path is another one")
    };
    Observation::of("routes", state, says)
}

/// Whether another test of the pair went over another path in the same direction.
fn took_another_way(tested: &Tested, other: &Tested) -> bool {
    let there = if other.from == tested.from { &other.way } else { &other.way_back };
    !there.is_empty() && *there != tested.way
}

/// Downloads of one test as one flow, from the host that was asked to the one that asked.
pub(super) fn of_downloads(
    round: &Round,
    (test, tested): (usize, &Tested),
    downloads: &[Download],
    target: Option<&TargetRate>,
) -> Option<Flow> {
    let mut ends = FlowEnds::of(round, tested, Heading::Inbound);
    ends.way.splice(0..0, fetched(round, &ends.sender, downloads));
    let mut rates: Vec<DataRate> = downloads.iter().filter_map(|download| download.goodput).collect();
    rates.sort_unstable();
    let goodput = *rates.get(rates.len() / 2)?;
    let target = target.filter(|target| target.source == TargetSource::Declared).cloned();
    let mut flow = Flow { goodput, target, ..Flow::unobserved(test, tested, ends, FlowKind::Http) };
    flow.observations.extend(served_by(downloads));
    // What somebody expects of this download, where no plan with its links says what others carry.
    if let Some(expected) = tested.expected.filter(|_| round.segments.is_empty()) {
        judge_download(&mut flow, expected);
    }
    Some(flow)
}

/// The way on which the one that was asked fetched what it served, where all of it came from one other host.
fn fetched(round: &Round, server: &Endpoint, downloads: &[Download]) -> Vec<Passage> {
    let answers = downloads.iter().filter_map(|download| download.answer.as_ref());
    let origins: BTreeSet<&str> = answers
        .filter(|answer| answer.via.len() == 2)
        // `1.1 host`: the protocol, and who passed it on (RFC 9110 section 7.6.3).
        .filter_map(|answer| answer.via.first()?.split_whitespace().last())
        .collect();
    let (Some(origin), 1) = (origins.first(), origins.len()) else { return Vec::new() };
    let known = round.tests.iter().find_map(|tested| {
        let is_there = tested.from.host == *origin && tested.to.host == server.host;
        let is_back = tested.to.host == *origin && tested.from.host == server.host;
        match (is_there, is_back) {
            (true, _) if !tested.way.is_empty() => Some(tested.way.clone()),
            (_, true) if !tested.way.is_empty() => Some(FlowEnds::of(round, tested, Heading::Inbound).way),
            _ => None,
        }
    });
    known.unwrap_or_default()
}

fn served_by(downloads: &[Download]) -> Option<Observation> {
    let answers: Vec<_> = downloads.iter().filter_map(|download| download.answer.as_ref()).collect();
    // The one that was asked may fetch it from where it lies. Who asks another one that has to ask as well takes a detour.
    let passed_on = answers.iter().filter(|answer| answer.via.len() > 2).count();
    if answers.is_empty() {
        return None;
    }
    let through: BTreeSet<&str> = answers.iter().flat_map(|answer| &answer.via).map(String::as_str).collect();
    let says = format!("{passed_on} of {} downloads were passed on twice and more ({})", answers.len(), join(&through));
    let state = if passed_on * 2 > answers.len() { "somebody-else" } else { "who-was-asked" };
    Observation::of("served-by", state, says)
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Echoes with less payload say nothing of what large packets meet.
const SMALL: u16 = 1_000;
