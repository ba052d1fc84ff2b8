//! Recoveries and timeouts, which the rules on losses and on late packets both count.

use super::cause::Verdict;
use super::judged::Judged;
use crate::direction::event::{Event, EventType};

/// Fewer losses say nothing of their pattern.
pub(super) const FEW: usize = 3;

/// Recoveries and timeouts, the costliest first.
pub(super) fn repairs<'a>(judged: &'a Judged) -> Vec<&'a Event> {
    let is_repair = |event: &&Event| matches!(event.event_type, EventType::Recovery | EventType::Timeout);
    let mut repairs: Vec<&Event> = judged.direction.events.list.iter().filter(is_repair).collect();
    repairs.sort_by(|one, other| other.cost_bytes.total_cmp(&one.cost_bytes));
    repairs
}

/// The frames of the first few events, and the cost of all.
pub(super) fn with_events(mut verdict: Verdict, events: &[&Event]) -> Verdict {
    verdict.frames = events.iter().take(5).map(|event| event.first_frame).collect();
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "costs are not negative, and casts saturate"
    )]
    let cost = events.iter().map(|event| event.cost_bytes).sum::<f64>() as u64;
    verdict.cost_bytes = cost;
    verdict
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
pub(super) fn repair_share_of(judged: &Judged, events: &[&Event]) -> f64 {
    let spent: i64 = events.iter().map(|event| event.to_ns - event.from_ns).sum();
    spent as f64 / judged.total_ns.max(1) as f64
}
