//! After the test: stop, drain, exchange results.

use std::time::Duration;

use linux::clock;
use model::measurement::Heading;
use model::spec::{Direction, Limit, Protocol};
use units::MonoTime;

use super::handshake::{Session, local, refusal};
use super::setup::exchange_clocks;
use crate::session::assemble::{Gathered, disbelieved};
use crate::session::drain::{Until, deliver, drain};
use crate::session::failure::SessionError;
use crate::session::omit::leave_out;
use crate::session::part::{LocalResult, Running};
use crate::stamp::prober::Prober;
use report::clock::Exchange;
use wire::client::ServerMessage;
use wire::extension::Message;
use wire::limits::DATAGRAM_QUIET;
use wire::results::Results;
use wire::signal::Signal;

/// Ends the test in good order and exchanges results. What this side did is gathered also where the peer fails us.
pub(super) fn close(
    session: &mut Session,
    running: Running,
    gathered: &mut Gathered,
) -> Result<Vec<Exchange>, SessionError> {
    let last = match end_test(session, &running) {
        Ok(last) => last,
        Err(error) => {
            abandon(running, gathered);
            return Err(error);
        }
    };
    let (part, prober) = running.gather(last);
    let part = gathered.part.insert(part);
    if session.hello.is_none() {
        leave_out(part, session.spec.omit);
    }
    let exchanged = exchange(session, part);
    // While results were exchanged, the last answers have come.
    gathered.probes = prober.map_or_else(Vec::new, Prober::finish);
    let (peer, clocks) = exchanged?;
    let broken = part.broken.take();
    let doubt = disbelieved(part, &peer, &session.spec).map(SessionError::Disbelieved);
    gathered.peer = Some(peer);
    broken.or(doubt).map_or(Ok(clocks), Err)
}

/// Keeps what the streams of a test did that broke off, and its probes.
pub(super) fn abandon(running: Running, gathered: &mut Gathered) {
    running.streams.stop_sending();
    running.streams.stop_receiving();
    let (part, prober) = running.abandon();
    gathered.part = Some(part);
    gathered.probes = prober.map_or_else(Vec::new, Prober::finish);
}

/// How long the senders may take for the rest of their last blocks.
const LAST_BLOCK: Duration = Duration::from_secs(1);

/// Stops both sides. Until then bytes on the way still count; returns when the last of them had come.
fn end_test(session: &mut Session, running: &Running) -> Result<MonoTime, SessionError> {
    running.streams.stop_sending();
    let extended = session.hello.is_some();
    let longest = session.control.patience().drain_of(session.spec.limit);
    let by_time = matches!(session.spec.limit, Limit::Time(_));
    if !extended && session.spec.protocol == Protocol::Tcp {
        // Each sender finishes its last block, which it does not wait for long.
        running.streams.await_done(Heading::Outbound, clock::now() + LAST_BLOCK);
        if !by_time {
            deliver(running, longest);
        }
    }
    let stopped = clock::now();
    let counts = session.spec.protocol == Protocol::Udp || !by_time;
    if !extended && counts && session.spec.direction != Direction::Reverse {
        // An iperf3 reads nothing after the word that the test is over, which another connection brings sooner.
        clock::sleep_until(stopped + session.round_trip + DATAGRAM_QUIET).map_err(|e| local("a pause", e))?;
    }
    announce_end(session, running, extended)?;
    if !extended {
        // An iperf3 counts no more from here on, and neither do we.
        running.streams.stop_receiving();
    }
    match session.control.await_drained(session.spec.limit, "its word that the test has ended")? {
        ServerMessage::ResultsWanted if !extended => Ok(stopped),
        ServerMessage::ResultsWanted if session.spec.protocol == Protocol::Udp => {
            Ok(drain(running, Until::Quiet(DATAGRAM_QUIET), longest))
        }
        ServerMessage::ResultsWanted => Ok(drain(running, Until::EndOfStream, longest)),
        other => Err(refusal(other)),
    }
}

fn announce_end(session: &mut Session, running: &Running, extended: bool) -> Result<(), SessionError> {
    if extended && session.spec.protocol == Protocol::Udp {
        let datagrams = running
            .streams
            .streams()
            .iter()
            .map(|stream| if stream.heading == Heading::Outbound { stream.counters.read().packets } else { 0 })
            .collect();
        session.control.send_extension(&Message::Sent { datagrams })?;
    }
    session.control.send_signal(Signal::TestEnd)?;
    Ok(())
}

fn exchange(session: &mut Session, part: &mut LocalResult) -> Result<(Results, Vec<Exchange>), SessionError> {
    let mut results = part.results();
    if session.hello.is_some() {
        results.linerate = Some(Box::new(part.report()));
    }
    session.control.send_blob(&results)?;
    let peer = match session.control.await_turn("its results")? {
        ServerMessage::Results(results) => *results,
        other => return Err(refusal(other)),
    };
    match session.control.await_turn("the end")? {
        ServerMessage::Finished => {}
        other => return Err(refusal(other)),
    }
    let clocks = match session.hello {
        // Clocks are compared again on the quiet path; that the results are here already makes it no loss to fail.
        Some(_) => exchange_clocks(&mut session.control).unwrap_or_default(),
        None => Vec::new(),
    };
    // The peer has said everything; whether it hears our goodbye changes nothing.
    let _ = session.control.send_signal(Signal::Done);
    Ok((peer, clocks))
}
