//! On which path the queue stands that makes round trips long.

use model::measurement::Heading;
use model::series::ProbeSamples;
use units::duration::show;

use super::Observation;
use crate::grown_queue::{GrownQueue, QueuePath};

/// What the probes before and beside a flow say.
pub(super) fn queue_way(probes: &ProbeSamples, heading: Heading) -> Option<Observation> {
    let queue = GrownQueue::of(probes, heading)?;
    let state = match queue.path {
        QueuePath::Forward => "forward",
        QueuePath::Reverse => "reverse",
    };
    let (grown, percent) = (show(queue.grown), queue.part * 100.0);
    let says = format!("RTTs grew by {grown} under load, {percent:.0} % of it on the {state} path");
    Observation::of("queue-way", state, says)
}
