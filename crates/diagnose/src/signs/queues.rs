//! By how much flows make RTTs longer, and whether that is more than any path of the round needs.
//!
//! A queue needs one BDP (RFC 3439 section 2.3), has two or three in many routers, and the longest path decides: what is
//! deep for a path inside a site is usual where the same port feeds a path over an ocean.

use std::time::Duration;

use units::duration::show;

use super::Observation;
use super::flow::{Complaint, Flow, FlowKind};
use super::percent::percent;

/// Adds it to all flows that were probed.
pub(super) fn add(flows: &mut [Flow]) {
    let longest = flows.iter().filter_map(|flow| flow.rtt).max().unwrap_or_default();
    for flow in flows {
        let Some((idle, loaded)) = flow.rtt.zip(flow.loaded_rtt) else { continue };
        let grown = loaded.saturating_sub(idle);
        let state = match grown {
            _ if is_deep(grown, longest, flow) => "deep",
            grown if grown >= STANDING && grown * 6 >= idle => "standing",
            _ => "none",
        };
        let says = format!("RTTs of {}, {} under load", show(idle), show(loaded));
        flow.observations.extend(Observation::of("queue", state, says));
        flow.observations.extend(while_lost(flow));
        if state == "deep" && flow.complaint.is_none() {
            flow.complaint = Some(Complaint::Delaying);
        }
    }
}

/// Whether a queue stood while datagrams were lost: they come evenly, so that most RTTs are those of the losses.
fn while_lost(flow: &Flow) -> Option<Observation> {
    let lost = flow.lost.filter(|lost| *lost >= MANY_LOST && flow.kind == FlowKind::Udp)?;
    let (idle, loaded) = flow.rtt.zip(flow.loaded_rtt)?;
    if flow.state("datagrams") != Some("path") || flow.state("queue-at-loss").is_some() {
        return None;
    }
    let state = match loaded.saturating_sub(idle) {
        _ if flow.state("queue") != Some("none") => "full",
        grown if grown < NO_QUEUE => "no-queue",
        _ => return None,
    };
    let says = format!(
        "most RTTs were {} while {} of its datagrams were lost, {} without load",
        show(loaded),
        percent(lost),
        show(idle)
    );
    Observation::of("queue-at-loss", state, says)
}

/// Whether a queue makes everybody's RTT long: by much in itself, and by more than a queue does that the longest path needs.
/// Ports that feed long paths hold 70 ms and more, also where a round tests no long path: such a queue is a complaint only where the
/// flow lacks something of its rate. The queue of a flow that is slow is as long as its link is slow.
fn is_deep(grown: Duration, longest: Duration, flow: &Flow) -> bool {
    let lacks_a_little = flow.complaint.is_none() && flow.attained.is_some_and(|attained| attained < ALL_OF_IT);
    let least = if lacks_a_little { DEEP_BELOW_FULL_RATE } else { DEEP };
    grown >= least && grown * 2 >= longest * 7
}

/// From this part on the loss of datagrams goes on all the time.
const MANY_LOST: f64 = 0.01;
/// RTTs that grow by less have no queue behind them.
const NO_QUEUE: Duration = Duration::from_millis(1);
const STANDING: Duration = Duration::from_millis(3);
/// Below, nobody notices: calls break from about 150 ms on.
const DEEP: Duration = Duration::from_millis(100);
/// The same of a flow that is well, and short of what it should attain.
const DEEP_BELOW_FULL_RATE: Duration = Duration::from_millis(60);
/// From this part on nothing is missing: rounding and headers.
const ALL_OF_IT: f64 = 0.96;
