//! Between which hosts the packets of a flow vanished, by what both ends of every segment counted.

use model::round::Round;

use super::Observation;
use super::flow::Flow;
use crate::wires::{Missing, Wires};

/// Adds to each flow that lost or repeated packets on how many segments of its way some are missing.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    let missing = Wires::of(round).missing;
    for flow in flows {
        let on_way: Option<Vec<Missing>> = flow.way.iter().map(|passage| missing.get(passage).copied()).collect();
        let seen = on_way.filter(|on_way| !on_way.is_empty()).and_then(|on_way| vanished(flow, &on_way));
        flow.observations.extend(seen);
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

/// From this part on what was sent again is asked after.
const LOST: f64 = 1e-4;
