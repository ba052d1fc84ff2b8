//! The test itself.

use std::time::Duration;

use linux::clock;
use model::measurement::Heading;
use model::spec::{Direction, Limit, TestSpec};
use units::MonoTime;

use super::{Event, GLANCE};
use crate::control::{Control, Wake};
use crate::session::failure::SessionError;
use crate::session::live::Live;
use crate::session::part::Running;
use crate::stop::Stop;
use wire::client::{ClientDialogue, ServerMessage};

/// Watches the test until its limit, or until something ends it early.
pub(super) fn watch_over(
    control: &mut Control<ClientDialogue>,
    running: &Running,
    spec: &TestSpec,
    stop: &Stop,
    watch: &mut dyn FnMut(Event),
) -> Result<(), SessionError> {
    let mut live = Live::new(running, spec.protocol, spec.interval);
    let end = match spec.limit {
        Limit::Time(time) => running.start + time + spec.omit,
        Limit::Bytes(_) | Limit::Blocks(_) => MonoTime::from_nanos(u64::MAX),
    };
    loop {
        let now = clock::now();
        if now >= end || is_complete(running, spec) {
            // The last interval is worth showing where it is not just a rest.
            if live.due() <= now + spec.interval / 10 {
                watch(Event::Progress(live.cut(&running.streams, now)));
            }
            return Ok(());
        }
        if stop.is_stopped() {
            return Err(SessionError::Interrupted);
        }
        if now >= live.due() {
            watch(Event::Progress(live.cut(&running.streams, now)));
        }
        match control.hear(end.min(live.due()).min(now + GLANCE).max(now + SHORTEST_WAIT))? {
            Wake::Nothing => {}
            // A server with a limit of its own ends the test by asking for results.
            Wake::Message(ServerMessage::ResultsWanted) => return Err(SessionError::Terminated),
            Wake::Message(other) => return Err(super::handshake::refusal(other)),
        }
    }
}

/// A wait shorter than this would only turn in circles.
const SHORTEST_WAIT: Duration = Duration::from_micros(50);

/// Whether everything that was to be moved has been.
fn is_complete(running: &Running, spec: &TestSpec) -> bool {
    let target = match spec.limit {
        Limit::Time(_) => return false,
        Limit::Bytes(bytes) => bytes.get(),
        Limit::Blocks(blocks) => {
            let block = spec.length.map_or(wire::limits::DEFAULT_TCP_LENGTH, units::ByteCount::get);
            blocks.saturating_mul(block)
        }
    };
    let sent = || running.streams.is_done(Heading::Outbound);
    let received = || running.streams.is_done(Heading::Inbound) || running.streams.bytes(Heading::Inbound) >= target;
    match spec.direction {
        Direction::Forward => sent(),
        Direction::Reverse => received(),
        Direction::Bidirectional => sent() && received(),
    }
}
