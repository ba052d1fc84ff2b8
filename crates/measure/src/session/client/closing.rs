//! After the test: stop, drain, exchange results.

use linux::clock;
use model::measurement::Heading;
use model::spec::{Limit, Protocol};
use units::MonoTime;

use super::greeting::{Greeted, refusal};
use super::opening::exchange_clocks;
use crate::clock::Exchange;
use crate::session::assemble::Gathered;
use crate::session::drain::{Until, deliver, drain};
use crate::session::failure::SessionError;
use crate::session::omit::leave_out;
use crate::session::part::{Part, Running};
use crate::wire::client::Heard;
use crate::wire::extension::Message;
use crate::wire::limits::DATAGRAM_QUIET;
use crate::wire::results::Results;
use crate::wire::signal::Signal;

/// Ends the test in good order and exchanges results. What this side did is gathered also where the peer fails us.
pub(super) fn close(
    greeted: &mut Greeted,
    running: Running,
    gathered: &mut Gathered,
) -> Result<Vec<Exchange>, SessionError> {
    let last = match end_test(greeted, &running) {
        Ok(last) => last,
        Err(error) => {
            gathered.part = Some(running.abandon());
            return Err(error);
        }
    };
    let part = gathered.part.insert(running.gather(last));
    if greeted.hello.is_none() {
        leave_out(part, greeted.spec.omit);
    }
    let (peer, clocks) = exchange(greeted, part)?;
    let broken = part.broken.take();
    gathered.peer = Some(peer);
    broken.map_or(Ok(clocks), Err)
}

/// Stops both sides. Until then bytes on the way still count; returns when the last of them had come.
fn end_test(greeted: &mut Greeted, running: &Running) -> Result<MonoTime, SessionError> {
    running.streams.stop_sending();
    let extended = greeted.hello.is_some();
    let longest = greeted.control.patience().drain_of(greeted.spec.limit);
    if !extended && greeted.spec.protocol == Protocol::Tcp && !matches!(greeted.spec.limit, Limit::Time(_)) {
        deliver(running, longest);
    }
    let stopped = clock::now();
    announce_end(greeted, running, extended)?;
    if !extended {
        // An iperf3 counts no more from here on, and neither do we.
        running.streams.stop_receiving();
    }
    match greeted.control.await_drained("its word that the test has ended")? {
        Heard::ResultsWanted if !extended => Ok(stopped),
        Heard::ResultsWanted if greeted.spec.protocol == Protocol::Udp => {
            Ok(drain(running, Until::Quiet(DATAGRAM_QUIET), longest))
        }
        Heard::ResultsWanted => Ok(drain(running, Until::EndOfStream, longest)),
        other => Err(refusal(other)),
    }
}

fn announce_end(greeted: &mut Greeted, running: &Running, extended: bool) -> Result<(), SessionError> {
    if extended && greeted.spec.protocol == Protocol::Udp {
        let datagrams = running
            .streams
            .streams()
            .iter()
            .map(|stream| if stream.heading == Heading::Outbound { stream.counters.read().packets } else { 0 })
            .collect();
        greeted.control.send_extension(&Message::Sent { datagrams })?;
    }
    greeted.control.send_signal(Signal::TestEnd)?;
    Ok(())
}

fn exchange(greeted: &mut Greeted, part: &Part) -> Result<(Results, Vec<Exchange>), SessionError> {
    let mut results = part.results();
    if greeted.hello.is_some() {
        results.linerate = Some(Box::new(part.report()));
    }
    greeted.control.send_blob(&results)?;
    let peer = match greeted.control.await_turn("its results")? {
        Heard::Results(results) => *results,
        other => return Err(refusal(other)),
    };
    match greeted.control.await_turn("the end")? {
        Heard::Finished => {}
        other => return Err(refusal(other)),
    }
    let clocks = match greeted.hello {
        // Clocks are compared again on the quiet path; that the results are here already makes it no loss to fail.
        Some(_) => exchange_clocks(&mut greeted.control).unwrap_or_default(),
        None => Vec::new(),
    };
    // The peer has said everything; whether it hears our goodbye changes nothing.
    let _ = greeted.control.send_signal(Signal::Done);
    Ok((peer, clocks))
}
