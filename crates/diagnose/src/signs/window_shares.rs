//! How much of what a flow is short of its windows took: that of its receiver, and the room in its sender's buffer.
//!
//! The kernel says for how long either of them held a flow up. A flow that was never held up is not slow for a small buffer, whatever the
//! settings of the host are; one that was held up now and then may be, beside something worse.

use super::Observation;
use super::percent::percent;
use crate::waterfall::Waterfall;
use crate::waterfall::cause::Cause;

/// Of a flow that was watched closely enough to say what it waited for.
pub(super) fn window_shares(fall: &Waterfall) -> [Option<Observation>; 2] {
    let missing: f64 = fall
        .shares
        .iter()
        .filter(|share| !matches!(share.cause, Cause::ProtocolOverhead | Cause::StartUp))
        .map(|share| share.part_of_line_rate)
        .sum();
    if missing < LEAST_MISSING {
        return [None, None];
    }
    let of = |sign: &str, cause: Cause, what: &str| {
        let part = (taken(fall, cause) / missing).max(0.0);
        let state = match part {
            part if part < SOME => "nothing",
            part if part < MOST => "some",
            _ => "most",
        };
        Observation::of(sign, state, format!("{what} took {} of what is missing", percent(part)))
    };
    [
        of("window-share", Cause::ReceiveWindow, "the receiver's window"),
        of("buffer-share", Cause::SendBuffer, "the room in the send buffer"),
    ]
}

/// The part of the line rate that the windows of both ends took, 0 to 1.
pub(super) fn held_by_windows(fall: &Waterfall) -> f64 {
    taken(fall, Cause::ReceiveWindow) + taken(fall, Cause::SendBuffer)
}

/// The part of the line rate that a cause took.
fn taken(fall: &Waterfall, cause: Cause) -> f64 {
    fall.shares.iter().filter(|share| share.cause == cause).map(|share| share.part_of_line_rate).sum()
}

/// Of what is hardly slow nothing is said.
const LEAST_MISSING: f64 = 0.05;
/// In parts of what is missing, start-up and headers aside.
const SOME: f64 = 0.08;
const MOST: f64 = 0.4;
