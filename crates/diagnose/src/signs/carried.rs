//! How much the path of a flow has carried since it suffers, whatever carried it: paced or of many streams, TCP or datagrams.
//!
//! What limits a rate limits it for all. A path that carries nearly all it should, paced or as datagrams, has no policer or slow link that
//! explains a slow stream, however that stream fares.

use super::Observation;
use super::flow::{Flow, FlowKind};
use super::percent::percent;

/// The most that flows of the same pair carried of the target, where there are others than the flow itself.
pub(super) fn carried(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let wanted = flow.wanted().filter(|_| flow.kind == FlowKind::Tcp)?;
    let of_pair = || flows.iter().copied().filter(|other| other.is_same_pair(flow));
    // A fault may have begun after what was carried before.
    let since = of_pair().filter(|other| other.is_bad()).map(|other| other.began).min()?;
    let carries = |other: &&Flow| match other.kind {
        FlowKind::Tcp | FlowKind::Http => true,
        FlowKind::Udp => other.lost.is_some_and(|lost| lost < THROUGH),
        FlowKind::Echo => false,
    };
    let others = of_pair().filter(|other| !std::ptr::eq(*other, flow) && other.began >= since).filter(carries);
    let best = others.max_by_key(|other| other.goodput)?;
    let part = best.goodput.max(flow.goodput).share_of(wanted)?;
    let state = match part {
        part if part >= ALL => "all",
        part if part >= MOST => "most",
        part if part >= PART => "part",
        _ => "little",
    };
    let says = format!("the pair carried {} of what it should ({})", percent(part), best.label);
    Observation::of("carried", state, says)
}

/// Datagrams of which more are lost did not get through.
const THROUGH: f64 = 0.01;
/// In parts of the target.
const ALL: f64 = 0.75;
const MOST: f64 = 0.45;
const PART: f64 = 0.15;
