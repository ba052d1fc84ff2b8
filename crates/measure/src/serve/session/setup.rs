//! What a client wants, whether it may, and when its turn comes.

use std::time::Duration;

use linux::clock;

use super::{Partner, ServerSession};
use crate::control::{Control, ControlError, Wake};
use crate::identity;
use crate::serve::Event;
use crate::serve::listener::Client;
use crate::serve::queue::{QueueSlot, Standing};
use crate::session::failure::SessionError;
use wire::extension::{Hello, Message, Offer, Refusal, RefusalKind};
use wire::params::Params;
use wire::server::{ClientMessage, ServerDialogue};
use wire::signal::Signal;

/// How often a client that waits is told where it stands, and is looked after: one that has gone gives up its place.
const NEWS: Duration = Duration::from_secs(2);

/// How long an iperf3, which knows of no queue, is kept waiting before it is sent away: the next of a row of tests
/// comes while the last one says goodbye.
const COURTESY: Duration = Duration::from_millis(500);

/// iperf3's number for parameters that it cannot make sense of (src/iperf_api.h, 3.21: `IERECVPARAMS`).
const BAD_PARAMS: i32 = 114;

pub(super) fn receive(
    client: Client,
    partner: &Partner,
    report: &dyn Fn(Event),
) -> Result<ServerSession, SessionError> {
    let mut control = Control::<ServerDialogue>::new(client.stream, partner.patience).map_err(ControlError::Broken)?;
    control.feed(client.cookie.as_bytes());
    control.await_turn("the name of its test")?;
    control.send_signal(Signal::ParamExchange)?;
    let params = match control.await_turn("its parameters")? {
        ClientMessage::Params(params) => *params,
        _ => return Err(SessionError::Terminated),
    };
    let mut desk = Front { control, offer: params.linerate.clone() };
    let spec = match check(&params, partner) {
        Ok(spec) => spec,
        Err((refusal, code)) => return Err(desk.refuse(refusal, code)),
    };
    let place = desk.await_turn(partner, partner.policy.longest(&spec), &|ahead| {
        report(Event::Queued { peer: client.peer, ahead });
    })?;
    let mut visit = ServerSession {
        control: desk.control,
        peer: client.peer,
        local: client.local,
        cookie: client.cookie,
        spec,
        offer: params.linerate,
        client_version: params.client_version,
        wants_output: params.get_server_output,
        wide_counters: params.udp_counters_64bit,
        place: Some(place),
    };
    visit.spec.place.cpus.clone_from(&partner.cpus);
    visit.greet(partner)?;
    Ok(visit)
}

/// The specification, where it is one and is allowed; else the refusal, and iperf3's number for it.
fn check(params: &Params, partner: &Partner) -> Result<model::spec::TestSpec, (Refusal, i32)> {
    let refuse = |kind, detail: String| Refusal { kind, detail };
    let spec = params.to_spec().map_err(|error| (refuse(RefusalKind::Unable, error.to_string()), BAD_PARAMS))?;
    if let Some(offer) = &params.linerate
        && offer.version().is_none()
    {
        let detail =
            format!("no version of the extension in common: the client speaks {} to {}", offer.oldest, offer.newest);
        return Err((refuse(RefusalKind::Version, detail), BAD_PARAMS));
    }
    if let Some(check) = &partner.policy.ticket {
        let shown = params.linerate.as_ref().and_then(|offer| offer.ticket.as_deref());
        (check.0)(shown, &spec).map_err(|why| (refuse(RefusalKind::Limit, why), BAD_PARAMS))?;
    }
    match partner.policy.check(&spec) {
        Ok(()) => Ok(spec),
        Err(breach) => Err((refuse(RefusalKind::Limit, breach.to_string()), breach.iperf3_code())),
    }
}

/// A client whose turn has not come.
struct Front {
    control: Control<ServerDialogue>,
    offer: Option<Offer>,
}

impl Front {
    /// Waits for the client's turn. An iperf3 cannot wait, and is sent away.
    fn await_turn(
        &mut self,
        partner: &Partner,
        time: Duration,
        queued: &dyn Fn(u32),
    ) -> Result<QueueSlot, SessionError> {
        let place = match partner.queue.join(time, self.control.waker()) {
            Ok(place) => place,
            Err(full) => return Err(self.refuse(busy(full.to_string()), 0)),
        };
        let patience = self.offer.as_ref().map_or(COURTESY, |offer| Duration::from_millis(offer.wait_ms));
        let deadline = clock::now() + patience;
        let mut told = None;
        loop {
            let Standing::Behind { ahead, wait } = place.standing() else { return Ok(place) };
            if clock::now() >= deadline || partner.stop.is_stopped() {
                let tests = if ahead == 1 { "1 test is" } else { &format!("{ahead} tests are") };
                return Err(self.refuse(busy(format!("it is busy, {tests} before this one")), 0));
            }
            if told != Some(ahead) {
                told = Some(ahead);
                queued(ahead);
            }
            if self.offer.is_some() {
                let wait_ms = units::duration::millis(wait);
                self.control.send_extension(&Message::Queued { ahead, wait_ms })?;
            }
            match self.control.hear(deadline.min(clock::now() + NEWS))? {
                Wake::Nothing => {}
                Wake::Message(_) => return Err(SessionError::Terminated),
            }
        }
    }

    /// Tells the client why not, in the words that it understands.
    fn refuse(&mut self, refusal: Refusal, iperf3_code: i32) -> SessionError {
        let told = match (&self.offer, refusal.kind) {
            (Some(_), _) => self.control.send_extension(&Message::Refused(refusal.clone())),
            (None, RefusalKind::Busy) => self.control.send_signal(Signal::AccessDenied),
            (None, _) => {
                let mut bytes = vec![Signal::ServerError.byte()];
                bytes.extend(iperf3_code.to_be_bytes());
                bytes.extend(0_i32.to_be_bytes());
                self.control.send(&bytes)
            }
        };
        // A client that does not listen to its refusal is refused all the same.
        drop(told);
        SessionError::NotAllowed(refusal)
    }
}

fn busy(detail: String) -> Refusal {
    Refusal { kind: RefusalKind::Busy, detail }
}

impl ServerSession {
    /// Shows a linerate that we are one too.
    fn greet(&mut self, partner: &Partner) -> Result<(), SessionError> {
        let Some(version) = self.offer.as_ref().and_then(Offer::version) else { return Ok(()) };
        let hello = Hello {
            version,
            host: identity::local(Some(self.local.ip())),
            probe_port: Some(self.local.port()),
            stamp_minus_mono_ns: partner.stamp_minus_mono_ns,
        };
        self.control.send_extension(&Message::Hello(Box::new(hello)))?;
        Ok(())
    }
}
