//! Whether a TCP flow that is fast enough loses packets as no path should, so that a longer path would pay for it. What it lost says
//! nothing by itself: TCP that fills its queue again and again loses as much. What it was seen to lose it to does.

use super::Flow;
use super::queue_at_loss::LongestQueue;

/// By what was seen of the flow, and the longest queue that probes beside it saw.
pub(super) fn is_lossy(flow: &Flow, queue: Option<LongestQueue>) -> bool {
    is_reordered(flow) || loses_without_queue(flow) || overflows_shallow_queue(flow, queue)
}

/// Whether its packets overtake each other: what it retransmitted had arrived all the same.
fn is_reordered(flow: &Flow) -> bool {
    flow.state("order") == Some("broken") || lost(flow) >= LOSSY && flow.state("spurious") == Some("most")
}

/// Whether it lost packets again and again to something else than a queue that it filled: RTTs were short then, or recovery from losses
/// took what is missing of the line rate.
fn loses_without_queue(flow: &Flow) -> bool {
    let is_unqueued = matches!(flow.state("queue-at-loss"), Some("empty" | "no-queue"));
    loses_again(flow) && (is_unqueued || flow.state("limit") == Some("loss")) || loses_a_burst(flow)
}

/// Whether it lost a great many packets in one moment, and had built no queue: what others sent filled it.
fn loses_a_burst(flow: &Flow) -> bool {
    let is_unqueued = matches!(flow.state("queue-at-loss"), Some("empty" | "no-queue"));
    lost(flow) >= BURST && is_unqueued && flow.state("limit") != Some("nothing")
}

/// Whether it lost packets again and again to a queue that holds next to nothing.
fn overflows_shallow_queue(flow: &Flow, queue: Option<LongestQueue>) -> bool {
    loses_again(flow) && lost(flow) >= LOST_TO_QUEUE && queue.is_some_and(LongestQueue::is_shallow)
}

fn loses_again(flow: &Flow) -> bool {
    // What was retransmitted and had arrived all the same was not lost.
    flow.state("episodes") == Some("again-and-again") && flow.state("spurious") != Some("most")
}

fn lost(flow: &Flow) -> f64 {
    flow.lost.unwrap_or_default()
}

/// From this part on what was retransmitted costs a longer path its rate: one in five hundred halves that of a path of a few
/// milliseconds.
const LOSSY: f64 = 2e-3;
/// From this part on what was lost in one moment was not lost to the flow's own start.
const BURST: f64 = 2e-2;
/// Below this part TCP loses to any queue that it fills.
const LOST_TO_QUEUE: f64 = 1e-3;
