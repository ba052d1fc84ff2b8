//! After the test: stop, drain, exchange results.

use linux::clock;
use model::measurement::Heading;
use model::spec::Protocol;

use super::Event;
use super::greeting::{Greeted, refusal};
use super::opening::exchange_clocks;
use crate::clock::Exchange;
use crate::session::drain::{Until, drain};
use crate::session::failure::SessionError;
use crate::session::part::{Part, Running};
use crate::wire::client::Heard;
use crate::wire::extension::Message;
use crate::wire::limits::{DATAGRAM_QUIET, DRAIN_TIMEOUT};
use crate::wire::results::Results;
use crate::wire::signal::Signal;

/// What a test that went to its end leaves.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) part: Part,
    pub(super) peer: Results,
    pub(super) clocks: Vec<Exchange>,
}

/// Ends the test in good order. Where the peer fails us, what this side has is in the error's place.
pub(super) fn close(
    greeted: &mut Greeted,
    running: Running,
    watch: &mut dyn FnMut(Event),
) -> Result<Closed, (SessionError, Part)> {
    watch(Event::Draining);
    let (wanted, running) = match end_test(greeted, running) {
        Ok(running) => (Ok(()), running),
        Err((error, running)) => (Err(error), running),
    };
    let part = running.gather();
    if let Err(error) = wanted {
        return Err((error, part));
    }
    match exchange(greeted, &part) {
        Ok((peer, clocks)) => Ok(Closed { part, peer, clocks }),
        Err(error) => Err((error, part)),
    }
}

/// Stops both sides. Until then bytes on the way still count.
fn end_test(greeted: &mut Greeted, running: Running) -> Result<Running, (SessionError, Running)> {
    running.streams.stop_sending();
    let extended = greeted.hello.is_some();
    if let Err(error) = announce_end(greeted, &running, extended) {
        running.streams.stop_receiving();
        return Err((error, running));
    }
    if !extended {
        // An iperf3 counts no more from here on, and neither do we.
        running.streams.stop_receiving();
    }
    let deadline = clock::now() + DRAIN_TIMEOUT;
    match greeted.control.await_until(deadline, DRAIN_TIMEOUT, "its word that the test has ended") {
        Ok(Heard::ResultsWanted) => {}
        Ok(other) => return Err((refusal(other), running)),
        Err(error) => return Err((error.into(), running)),
    }
    drain(
        &running,
        if greeted.spec.protocol == Protocol::Udp { Until::Quiet(DATAGRAM_QUIET) } else { Until::EndOfStream },
    );
    Ok(running)
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
