//! The test itself, as its partner sees it.

use std::time::Duration;

use linux::clock;
use model::measurement::Heading;
use units::DataRate;

use super::{Partner, ServerSession};
use crate::control::Wake;
use crate::session::failure::SessionError;
use crate::session::part::Running;
use wire::extension::{Refusal, RefusalKind};
use wire::server::ClientMessage;

/// How often limits are checked.
const WATCH: Duration = Duration::from_millis(500);

impl ServerSession {
    /// Watches the test until the client ends it, and returns the datagrams that it says it has sent.
    pub(super) fn watch_over(&mut self, running: &Running, partner: &Partner) -> Result<Option<u64>, SessionError> {
        let longest = partner.policy.longest(&self.spec);
        let end = running.start + longest;
        let mut meter = Meter { bytes: 0, at: running.start };
        let mut datagrams = None;
        loop {
            let now = clock::now();
            if partner.stop.is_stopped() {
                return Err(SessionError::Interrupted);
            }
            if now >= end {
                return Err(SessionError::Overran(longest));
            }
            if let Some(limit) = partner.policy.rate_limit(self.spec.protocol) {
                meter.check(running, limit)?;
            }
            match self.control.hear(end.min(now + WATCH))? {
                Wake::Nothing => {}
                Wake::Message(ClientMessage::Sent { datagrams: sent }) => datagrams = Some(sent.iter().sum()),
                Wake::Message(ClientMessage::End) => return Ok(datagrams),
                Wake::Message(ClientMessage::ClockRequest { seq }) => self.tell_clock(seq)?,
                Wake::Message(_) => return Err(SessionError::Terminated),
            }
        }
    }
}

/// Holds a client to the rate that it promised.
struct Meter {
    bytes: u64,
    at: units::MonoTime,
}

impl Meter {
    fn check(&mut self, running: &Running, limit: DataRate) -> Result<(), SessionError> {
        let now = clock::now();
        let elapsed = now.since(self.at);
        if elapsed < WATCH {
            return Ok(());
        }
        let bytes = running.streams.bytes(Heading::Inbound) + running.streams.bytes(Heading::Outbound);
        let moved = units::ByteCount::new(bytes.saturating_sub(self.bytes));
        // What lay in buffers may come at once; a quarter more over half a second is no such thing.
        let allowed = limit * (elapsed + elapsed / 4);
        (self.bytes, self.at) = (bytes, now);
        if moved > allowed + BUFFERED {
            let rate = DataRate::of(moved, elapsed).unwrap_or_default();
            let detail = format!("it moved {rate}, and the limit is {limit}");
            return Err(SessionError::NotAllowed(Refusal { kind: RefusalKind::Limit, detail }));
        }
        Ok(())
    }
}

/// What socket buffers may give at once.
const BUFFERED: units::ByteCount = units::ByteCount::new(8 << 20);
