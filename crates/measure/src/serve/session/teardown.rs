//! The results, and the client's goodbye.

use model::spec::Protocol;

use super::ServerSession;
use crate::control::ControlError;
use crate::serve::output;
use crate::session::assemble::{Gathered, disbelieved};
use crate::session::drain::{Until, drain};
use crate::session::failure::SessionError;
use crate::session::omit::leave_out;
use crate::session::part::{Running, announced_amount};
use wire::limits::{DATAGRAM_QUIET, STREAM_QUIET};
use wire::results::Results;
use wire::server::ClientMessage;
use wire::signal::Signal;

impl ServerSession {
    /// Stops the streams, counts what is on the way, exchanges results.
    pub(super) fn tear_down(
        &mut self,
        running: Running,
        datagrams: Option<u64>,
        gathered: &mut Gathered,
    ) -> Result<(), SessionError> {
        running.streams.stop_sending();
        let longest = self.control.patience().drain_of(self.spec.limit);
        let last = drain(&running, self.until(datagrams), longest);
        let part = gathered.part.insert(running.gather(last).0);
        if self.offer.is_none() {
            leave_out(part, self.spec.omit);
        }
        self.control.send_signal(Signal::ExchangeResults)?;
        let mut ours = part.results();
        if self.offer.is_some() {
            ours.linerate = Some(Box::new(part.report()));
        }
        if self.wants_output {
            ours.server_output_text = Some(output::text(part, &self.spec));
        }
        let broken = part.broken.take();
        // The client drains what we have sent before it speaks.
        let theirs = match self.control.await_drained(self.spec.limit, "its results")? {
            ClientMessage::Results(results) => *results,
            _ => return Err(SessionError::Terminated),
        };
        let doubt = disbelieved(part, &theirs, &self.spec).map(SessionError::Disbelieved);
        gathered.peer = Some(theirs);
        self.exchange(&ours)?;
        broken.or(doubt).map_or(Ok(()), Err)
    }

    fn exchange(&mut self, ours: &Results) -> Result<(), SessionError> {
        self.control.send_blob(ours)?;
        self.control.send_signal(Signal::DisplayResults)?;
        loop {
            match self.control.await_turn("its goodbye") {
                Ok(ClientMessage::ClockRequest { seq }) => self.tell_clock(seq)?,
                // Some versions close without a word, which is a goodbye too: both sides have everything.
                Ok(ClientMessage::Done | ClientMessage::Terminated)
                | Err(ControlError::Closed | ControlError::Broken(_)) => {
                    return Ok(());
                }
                Ok(_) => return Err(SessionError::Terminated),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn until(&self, datagrams: Option<u64>) -> Until {
        match (self.spec.protocol, self.offer.is_some(), datagrams) {
            (Protocol::Tcp, true, _) => Until::EndOfStream,
            (Protocol::Tcp, false, _) => match announced_amount(&self.spec) {
                Some(bytes) => {
                    Until::Amount { bytes, short: self.control.patience().amount_quiet, whole: STREAM_QUIET }
                }
                None => Until::Quiet(STREAM_QUIET),
            },
            (Protocol::Udp, _, Some(datagrams)) => Until::Received { datagrams, quiet: DATAGRAM_QUIET },
            (Protocol::Udp, _, None) => Until::Quiet(DATAGRAM_QUIET),
        }
    }
}
