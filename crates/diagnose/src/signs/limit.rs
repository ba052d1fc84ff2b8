//! What took most of the line rate, and all that took much of it.

use model::run::Run;

use super::Observation;
use super::flow::Flow;
use super::percent::percent;
use crate::waterfall::cause::Cause;
use crate::waterfall::{Share, Waterfall};

/// What took most, headers and start-up aside.
pub(super) fn largest(fall: &Waterfall, run: &Run) -> Option<Observation> {
    let share = shares(fall).next()?;
    if share.part_of_line_rate < NOTHING {
        let start_up = fall.shares.iter().find(|share| share.cause == Cause::StartUp);
        let start_up = start_up.map_or(0.0, |share| share.part_of_line_rate);
        let state = if start_up >= 2.0 * NOTHING { "start-up" } else { "nothing" };
        return Observation::of("limit", state, "nothing took much of the line rate once it had started");
    }
    let state = state(share.cause)?;
    // A window that the test asked for is the test's own, and no setting of a host.
    if let (Some(window), "receive-window" | "send-buffer") = (run.spec.window, state) {
        let part = percent(share.part_of_line_rate);
        let says = format!("the window that the test asked for, {window}, took {part} of the line rate");
        return Observation::of("limit", "configured", says);
    }
    took(share)
}

/// All that took much of it, the most first, of what a fault by itself would be: a window that is small beside an outage, losses beside a
/// program that is slow.
pub(super) fn all(fall: &Waterfall, run: &Run) -> Vec<Observation> {
    let large = shares(fall).filter(|share| share.part_of_line_rate >= MUCH);
    let of_window = |share: &&Share| matches!(share.cause, Cause::ReceiveWindow | Cause::SendBuffer);
    let large = large.filter(|share| !(of_window(share) && run.spec.window.is_some()));
    large.filter(|share| BY_ITSELF.contains(&share.cause)).filter_map(took).collect()
}

fn took(share: &Share) -> Option<Observation> {
    let part = percent(share.part_of_line_rate);
    Observation::of("limit", state(share.cause)?, format!("{} took {part} of the line rate", share.cause.label()))
}

/// Forgets it where several pairs were tested: what else ails a host or segment is judged there by all flows that pass it.
pub(super) fn keep_those_of_one_pair(flows: &mut [Flow]) {
    let Some(first) = flows.first().map(|flow| [flow.sender.clone(), flow.receiver.clone()]) else { return };
    if !flows.iter().all(|flow| first.contains(&flow.sender) && first.contains(&flow.receiver)) {
        flows.iter_mut().for_each(|flow| flow.limits.clear());
    }
}

fn shares(fall: &Waterfall) -> impl Iterator<Item = &Share> {
    fall.shares.iter().filter(|share| !matches!(share.cause, Cause::ProtocolOverhead | Cause::StartUp))
}

fn state(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::ReceiveWindow => "receive-window",
        Cause::SendBuffer => "send-buffer",
        Cause::SenderApplication => "sending-program",
        Cause::ReceiverApplication => "receiving-program",
        Cause::LossRecovery => "loss",
        Cause::ConfiguredCap => "configured",
        Cause::CongestionWindow => "congestion-window",
        Cause::PathCapacity => "path-capacity",
        Cause::ProtocolOverhead | Cause::StartUp | Cause::Idle | Cause::Unknown => return None,
    })
}

/// What is always a fault of its own: a window of congestion control that is small may be what losses left.
const BY_ITSELF: [Cause; 5] = [
    Cause::ReceiveWindow,
    Cause::SendBuffer,
    Cause::SenderApplication,
    Cause::ReceiverApplication,
    Cause::LossRecovery,
];
/// A share below this part of the line rate is not what ails a flow.
const NOTHING: f64 = 0.08;
/// A smaller part of the line rate is nobody's complaint.
const MUCH: f64 = 0.1;
