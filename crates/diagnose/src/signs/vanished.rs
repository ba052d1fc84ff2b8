//! Between which hosts the packets of a flow vanished, by what both ends of every segment counted.

use std::collections::BTreeMap;

use model::round::{Passage, Round};

use super::Observation;
use super::flow::{Complaint, Flow, FlowKind};
use super::percent::percent;
use crate::wires::{Missing, Wires};

/// Adds to each flow that lost or repeated packets on how many segments of its way some are missing.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    let wires = Wires::of(round);
    for flow in flows {
        let on_way: Option<Vec<Missing>> = flow.way.iter().map(|passage| wires.missing.get(passage).copied()).collect();
        let Some(on_way) = on_way.filter(|on_way| !on_way.is_empty()) else { continue };
        let back = back(flow, &on_way, &wires.missing);
        flow.observations.extend(vanished(flow, &on_way));
        flow.observations.extend(back);
        let found = lost_where(flow, &on_way, &wires);
        flow.observations.extend(found);
    }
}

fn vanished(flow: &Flow, on_way: &[Missing]) -> Option<Observation> {
    // A handful of packets hides behind those that were under way while the counters were read.
    flow.lost.filter(|lost| *lost >= LOST)?;
    // What others lost in their own queues is missing on the way as well, and is a small part.
    let most = on_way.iter().filter(|missing| missing.is_some()).map(|missing| missing.ratio()).fold(0.0, f64::max);
    let some = on_way.iter().filter(|missing| missing.is_some() && missing.ratio() * ASIDE >= most).count();
    let (state, says) = match some {
        0 if on_way.iter().all(|missing| missing.is_none()) => {
            ("none", "what one end of each segment sent arrived at the other".to_owned())
        }
        0 => return None,
        1 => ("one", "packets vanished on one segment of its way, by the counters of its ends".to_owned()),
        several => ("several", format!("packets vanished on {several} segments of its way")),
    };
    Observation::of("vanished", state, says)
}

/// Whether the segment where most vanished loses as many packets in the other direction.
fn back(flow: &Flow, on_way: &[Missing], missing: &BTreeMap<Passage, Missing>) -> Option<Observation> {
    flow.lost.filter(|lost| *lost >= LOST)?;
    let most = where_most_vanish(on_way)?;
    let (passage, here) = (flow.way.get(most)?, on_way.get(most)?);
    let is_back = |of: &&Passage| of.segment == passage.segment && of.towards != passage.towards;
    let other = missing.iter().find(|(of, _)| is_back(of)).map(|(_, missing)| *missing)?;
    let is_alike = other.is_some() && other.ratio() * ASIDE >= here.ratio();
    match (is_alike, other.is_none() || other.most <= other.sent * here.ratio() / ASIDE) {
        (true, _) => Observation::of("vanished-back", "yes", format!("packets vanish on {passage} and back")),
        (_, true) => Observation::of(
            "vanished-back",
            "no",
            format!("packets vanish on {passage}, and hardly any in the other direction"),
        ),
        _ => None,
    }
}

/// The place on the way where the largest part vanished.
fn where_most_vanish(on_way: &[Missing]) -> Option<usize> {
    let some = on_way.iter().enumerate().filter(|(_, missing)| missing.is_some());
    some.max_by(|one, other| one.1.ratio().total_cmp(&other.1.ratio())).map(|(at, _)| at)
}

/// Whether a place on the way is a link that is slower than all before it: a queue is filled there by what one test sends.
fn is_slower_link(flow: &Flow, most: usize, wires: &Wires) -> bool {
    let speed = |passage: &Passage| wires.speeds.get(&passage.segment).copied();
    let before = flow.way[..most].iter().filter_map(speed).min();
    before.is_none_or(|before| speed(&flow.way[most]).is_some_and(|speed| speed < before))
}

/// Whether what a flow should do is far below the speeds of all interfaces on its way: a circuit of 200 Mbit/s on interfaces of a
/// gigabit has a queue somewhere that no interface tells of.
fn is_slower_inside(flow: &Flow, wires: &Wires) -> bool {
    let slowest = flow.way.iter().filter_map(|passage| wires.speeds.get(&passage.segment)).min();
    let target = flow.target.as_ref().map(|target| target.rate);
    slowest.zip(target).is_some_and(|(slowest, target)| target.share_of(*slowest).is_some_and(|part| part < INSIDE))
}

/// Whether packets vanished where no queue can have dropped them. Who is fast enough complains of that, since a longer path would pay for
/// it.
fn lost_where(flow: &mut Flow, on_way: &[Missing], wires: &Wires) -> Option<Observation> {
    let lost = flow.lost.filter(|lost| *lost > 0.0)?;
    let elsewhere = flow.way.iter().filter_map(|passage| Some((passage, *wires.unqueued.get(passage)?)));
    let Some((passage, part)) = elsewhere.max_by(|one, other| one.1.total_cmp(&other.1)) else {
        let is_known = flow.way.iter().all(|passage| wires.speeds.contains_key(&passage.segment));
        let most = where_most_vanish(on_way).filter(|_| lost >= LOST && is_known)?;
        if is_slower_inside(flow, wires) {
            return None;
        }
        let (state, says) = if is_slower_link(flow, most, wires) {
            ("at-a-slower-link", "packets vanished where they arrive faster than the link takes them")
        } else {
            ("at-a-queue", "packets vanished where only what others send as well can have filled a queue")
        };
        return Observation::of("lost-where", state, says);
    };
    if lost * ASIDE < part {
        return None;
    }
    if flow.complaint.is_none() && matches!(flow.kind, FlowKind::Tcp | FlowKind::Udp) {
        flow.complaint = Some(Complaint::Losing);
    }
    let says = format!("{} of what was sent on {passage} vanished, where no queue can build", percent(part));
    Observation::of("lost-where", "elsewhere", says)
}

/// From this part on what was sent again is asked after.
const LOST: f64 = 1e-4;
/// Payload is more of what an interface carries.
const INSIDE: f64 = 0.8;
/// So many times less than where most vanish is something else.
const ASIDE: f64 = 3.0;
