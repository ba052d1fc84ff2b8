//! Tests with the real iperf3, both ways. Each case is one row: what is asked for, and what must have come of it.
//!
//! Bytes are compared exactly wherever both sides speak of one count: what a sender or receiver counted is exchanged in
//! the results, so both reports must hold the very same number. Sent and received are the same only where the protocol
//! lets the receiver read to the end: an iperf3 receiver stops reading when the client says that the test is over, and
//! loses what is still on the way.

mod from_iperf3;
mod to_iperf3;
mod uiperf3;

use model::measurement::Heading;
use model::run::{Outcome, Role, Run};
use model::spec::{Direction, Limit, Protocol};
use units::ByteCount;

use crate::actors::iperf3::Report;
use crate::actors::linerate::{measured, total};

/// What must agree between the two sides' reports whatever was tested.
fn agree(iperf3: &Report, run: &Run) {
    assert_eq!(iperf3.code, Some(0), "iperf3: {:#}", iperf3.json);
    assert!(iperf3.json.get("error").is_none(), "iperf3: {:#}", iperf3.json);
    assert_eq!(run.outcome, Outcome::Complete);
    assert_eq!(measured(run).anomalies, [""; 0]);
    let streams = usize::from(run.spec.streams) * ways(run).len();
    assert_eq!(measured(run).flows.len(), streams);
    assert_eq!(iperf3.list("/start/connected").len(), streams);
    assert_eq!(iperf3.list("/end/streams").len(), streams);
    for (heading, suffix) in ways(run) {
        let total = total(run, heading);
        for (count, end) in [(total.sent, "sent"), (total.received, "received")] {
            if tells(run, heading, end) {
                let place = format!("/end/sum_{end}{suffix}/bytes");
                assert_eq!(count.map(ByteCount::get), Some(iperf3.count(&place)), "{heading:?}, {place}");
            }
        }
        assert!(
            total.received > Some(ByteCount::ZERO) || may_miss_all(run, heading),
            "nothing came {heading:?}: {total:?}"
        );
        // Where the start is left out, each side leaves out what it had counted at a moment of its own.
        assert!(total.received <= total.sent || !run.spec.omit.is_zero(), "more was received than sent: {total:?}");
    }
    for (flow, stream) in measured(run).flows.iter().zip(iperf3.list("/end/streams")) {
        let tcp = run.spec.protocol == Protocol::Tcp;
        for (count, end, name) in [(flow.sent, "sent", "sender"), (flow.received, "received", "receiver")] {
            if tcp && tells(run, flow.heading, end) {
                assert_eq!(count.map(ByteCount::get), stream[name]["bytes"].as_u64(), "stream {}, {end}", flow.stream);
            }
        }
    }
}

/// Whether all may still lie in the socket of an iperf3 when it is told that the client has sent everything.
fn may_miss_all(run: &Run, heading: Heading) -> bool {
    run.role == Role::Client && heading == Heading::Outbound && !matches!(run.spec.limit, Limit::Time(_))
}

/// Whether the iperf3 tells this count. As a server it reports only its own, and zero for ours.
fn tells(run: &Run, heading: Heading, end: &str) -> bool {
    run.role == Role::Server || (heading == Heading::Outbound) == (end == "received")
}

/// The directions of a run, each with what iperf3 adds to the names of its sums.
fn ways(run: &Run) -> Vec<(Heading, &'static str)> {
    let (forward, back) = match run.role {
        Role::Client => (Heading::Outbound, Heading::Inbound),
        Role::Server => (Heading::Inbound, Heading::Outbound),
    };
    match run.spec.direction {
        Direction::Forward => vec![(forward, "")],
        Direction::Reverse => vec![(back, "")],
        Direction::Bidirectional => vec![(forward, ""), (back, "_bidir_reverse")],
    }
}

/// Asserts that `found` is `wanted` give or take a half: a busy machine sends and counts late, and what was asked for is
/// still told from what is the default of either program.
#[track_caller]
fn about(found: u64, wanted: u64) {
    assert!((wanted / 2..=wanted * 3 / 2).contains(&found), "{found} is not about {wanted}");
}
