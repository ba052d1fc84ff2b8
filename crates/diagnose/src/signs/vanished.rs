//! Between which hosts the packets of a flow vanished, by what both ends of every segment counted.

use std::collections::BTreeMap;

use model::round::{Passage, Round};

use super::Observation;
use super::flow::Flow;
use crate::wires::{Missing, Wires};

/// Adds to each flow that lost or repeated packets on how many segments of its way some are missing.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    let missing = Wires::of(round).missing;
    for flow in flows {
        let on_way: Option<Vec<Missing>> = flow.way.iter().map(|passage| missing.get(passage).copied()).collect();
        let back = on_way.as_ref().and_then(|on_way| back(flow, on_way, &missing));
        let seen = on_way.filter(|on_way| !on_way.is_empty()).and_then(|on_way| vanished(flow, &on_way));
        flow.observations.extend(seen);
        flow.observations.extend(back);
    }
}

fn vanished(flow: &Flow, on_way: &[Missing]) -> Option<Observation> {
    // A handful of packets hides behind those that were under way while the counters were read.
    flow.lost.filter(|lost| *lost >= LOST)?;
    let some = on_way.iter().filter(|missing| missing.is_some()).count();
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

/// Whether the segment where most vanished loses packets in the other direction as well.
fn back(flow: &Flow, on_way: &[Missing], missing: &BTreeMap<Passage, Missing>) -> Option<Observation> {
    flow.lost.filter(|lost| *lost >= LOST)?;
    let most = flow.way.iter().zip(on_way).filter(|(_, missing)| missing.is_some());
    let (passage, _) = most.max_by(|one, other| one.1.least.total_cmp(&other.1.least))?;
    let is_back = |of: &&Passage| of.segment == passage.segment && of.towards != passage.towards;
    let other = missing.iter().find(|(of, _)| is_back(of)).map(|(_, missing)| *missing)?;
    match (other.is_some(), other.is_none()) {
        (true, _) => Observation::of("vanished-back", "yes", format!("packets vanish on {passage} and back")),
        (_, true) => Observation::of(
            "vanished-back",
            "no",
            format!("packets vanish on {passage}, and none in the other direction"),
        ),
        _ => None,
    }
}

/// From this part on what was sent again is asked after.
const LOST: f64 = 1e-4;
