//! Signs of echoes, path MTU, traces and downloads.

use std::collections::BTreeSet;

use model::measurement::Heading;
use model::played::Finding;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::round::{Endpoint, Round, Tested};
use model::run::Outcome;
use units::DataRate;

use super::Observation;
use super::flow::{Complaint, Flow, Kind, Shape, ends, reversed};
use super::numbers::percent;

/// Adds to each flow what probes between the same ends saw.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    for flow in flows {
        let between: Vec<&Tested> =
            round.tests.iter().filter(|tested| is_between(tested, &flow.sender, &flow.receiver)).collect();
        let found = [echoes(&between), mtu(&between), routes(round, flow)];
        flow.observations.extend(found.into_iter().flatten());
        if flow.kind == Kind::Echo {
            judge(flow);
        }
    }
}

/// Probes between ends that no data went between stand for themselves: those towards a hop say where packets vanish.
pub(super) fn alone(round: &Round, flows: &[Flow]) -> Vec<Flow> {
    let mut found: Vec<Flow> = Vec::new();
    for (number, tested) in round.tests.iter().enumerate() {
        let is_probe = matches!(tested.finding, Finding::Echo(_) | Finding::PathMtu(_));
        let joins = |flow: &Flow| is_between(tested, &flow.sender, &flow.receiver);
        if is_probe && !flows.iter().chain(&found).any(joins) {
            found.push(of_probe(number, tested));
        }
    }
    found
}

fn of_probe(test: usize, tested: &Tested) -> Flow {
    Flow {
        test,
        label: tested.label.clone(),
        sender: tested.from.clone(),
        receiver: tested.to.clone(),
        // What is lost of an echo may be its answer.
        way: tested.way.iter().chain(&tested.way_back).cloned().collect(),
        began: tested.began,
        kind: Kind::Echo,
        goodput: DataRate::ZERO,
        wanted: None,
        attained: None,
        rtt: None,
        lost: None,
        datagrams: None,
        shape: Shape { streams: 1, ..Shape::default() },
        complaint: None,
        observations: Vec::new(),
    }
}

fn judge(flow: &mut Flow) {
    flow.complaint = match (flow.state("echoes"), flow.state("mtu")) {
        (Some("no-large-one" | "large-ones-lost"), _) | (_, Some("less-and-silent")) => Some(Complaint::Clipped),
        (Some("many-lost"), _) => Some(Complaint::Lossy),
        _ => None,
    };
}

fn is_between(tested: &Tested, one: &Endpoint, other: &Endpoint) -> bool {
    (tested.from == *one && tested.to == *other) || (tested.from == *other && tested.to == *one)
}

fn echoes(between: &[&Tested]) -> Option<Observation> {
    let series: Vec<&EchoSeries> = between
        .iter()
        .filter_map(|tested| match &tested.finding {
            Finding::Echo(series) if series.outcome == Outcome::Complete => Some(series),
            _ => None,
        })
        .collect();
    let lost = |of: &dyn Fn(&EchoSeries) -> bool| {
        let chosen = series.iter().filter(|series| of(series));
        let (sent, lost) = chosen.fold((0, 0), |(sent, lost), series| {
            (sent + series.summary.rtt.sent.get(), lost + series.summary.rtt.lost.get())
        });
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        (sent > 0).then(|| lost as f64 / sent as f64)
    };
    let all = lost(&|_| true)?;
    let large = lost(&|series| series.spec.payload_bytes >= LARGE);
    let small = lost(&|series| series.spec.payload_bytes < LARGE);
    let (state, says) = match (small, large) {
        (Some(small), Some(large)) if large >= 0.99 && small < 0.5 => {
            ("no-large-one", "small echoes came back, large ones never".to_owned())
        }
        (Some(small), Some(large)) if large > 0.03 && small < large / 4.0 => {
            let says =
                format!("{} of the large echoes were lost, {} of the small ones", percent(large), percent(small));
            ("large-ones-lost", says)
        }
        _ if all <= 0.0 => ("all", "every echo came back".to_owned()),
        _ if all < 0.05 => ("few-lost", format!("{} of the echoes were lost", percent(all))),
        _ => ("many-lost", format!("{} of the echoes were lost", percent(all))),
    };
    Observation::of("echoes", state, says)
}

fn mtu(between: &[&Tested]) -> Option<Observation> {
    let searches = between.iter().filter_map(|tested| match &tested.finding {
        Finding::PathMtu(search) if search.outcome == Outcome::Complete => Some(search),
        _ => None,
    });
    searches.into_iter().find_map(of_search)
}

fn of_search(search: &PathMtu) -> Option<Observation> {
    let largest = search.path_mtu?;
    let (state, says) = match search.limit.as_ref()? {
        MtuLimit::Interface => ("as-the-device", format!("packets of {largest} arrive, as the device has it")),
        MtuLimit::Told { .. } => ("less-and-told", format!("packets of {largest} arrive; larger ones are sent back")),
        MtuLimit::Silent => {
            ("less-and-silent", format!("packets of {largest} arrive; larger ones vanish without a word"))
        }
    };
    Observation::of("mtu", state, says)
}

fn routes(round: &Round, flow: &Flow) -> Option<Observation> {
    let tested = &round.tests[flow.test];
    if tested.way.is_empty() || tested.way_back.is_empty() {
        return None;
    }
    let same = reversed(&tested.way, &round.segments) == tested.way_back;
    let (state, says) =
        if same { ("same", "both directions take the same way") } else { ("differ", "the way back is another one") };
    Observation::of("routes", state, says)
}

/// Downloads of one test as one flow, from the host that was asked to the one that asked.
pub(super) fn of_downloads(round: &Round, test: usize, tested: &Tested, downloads: &[Download]) -> Option<Flow> {
    let (sender, receiver, way) = ends(round, tested, Heading::Inbound);
    let mut rates: Vec<DataRate> = downloads.iter().filter_map(|download| download.goodput).collect();
    rates.sort_unstable();
    let goodput = *rates.get(rates.len() / 2)?;
    let mut flow = Flow {
        test,
        label: tested.label.clone(),
        sender,
        receiver,
        way,
        began: tested.began,
        kind: Kind::Http,
        goodput,
        wanted: tested.expected,
        attained: None,
        rtt: None,
        lost: None,
        datagrams: None,
        shape: Shape { streams: 1, ..Shape::default() },
        complaint: None,
        observations: Vec::new(),
    };
    flow.observations.extend(served_by(downloads));
    Some(flow)
}

fn served_by(downloads: &[Download]) -> Option<Observation> {
    let answers: Vec<_> = downloads.iter().filter_map(|download| download.answer.as_ref()).collect();
    let passed_on = answers.iter().filter(|answer| answer.via.len() > 1).count();
    if answers.is_empty() {
        return None;
    }
    let through: BTreeSet<&str> = answers.iter().flat_map(|answer| &answer.via).map(String::as_str).collect();
    let says =
        format!("{passed_on} of {} downloads were passed on from host to host ({})", answers.len(), join(&through));
    let state = if passed_on * 2 > answers.len() { "somebody-else" } else { "who-was-asked" };
    Observation::of("served-by", state, says)
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Payload from which on an echo is a large one: more than small probes have, less than Ethernet's 1,472.
const LARGE: u16 = 1_000;
