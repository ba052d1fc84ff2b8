//! Everything put together: a test that is over, however it ended.

use linux::clock;
use model::host::HostIdentity;
use model::run::{Outcome, Peer};
use model::series::RunSamples;

use super::handshake::{Session, local, refusal};
use super::{Event, Finished, Request, run, setup, teardown};
use crate::engine::datagram::CounterWidth;
use crate::engine::streams::{Amount, Closing, Conduct};
use crate::identity;
use crate::latency::latency;
use crate::session::assemble::{Gathered, assemble};
use crate::session::failure::SessionError;
use crate::session::part::{self, Ready};
use crate::stamp::prober::Prober;
use crate::stop::Stop;
use report::clock::{Exchange, relate};
use wire::client::ServerMessage;
use wire::signal::Signal;

/// What was found on the way to the end.
#[derive(Debug, Default)]
struct Findings {
    clocks_before: Vec<Exchange>,
    clocks_after: Vec<Exchange>,
    gathered: Gathered,
}

/// The end of a test whose peer was never reached.
pub(super) fn unreached(request: &Request, local: HostIdentity, error: &SessionError) -> Finished {
    Finished {
        local,
        peer: Peer { target: request.host.clone(), address: None, host: HostIdentity::default() },
        outcome: Outcome::Failed(error.failure()),
        measurement: None,
        samples: RunSamples::default(),
    }
}

/// Runs the test with a peer that waits for the data connections, and puts together what was found.
pub(super) fn of(request: &Request, mut session: Session, stop: &Stop, watch: &mut dyn FnMut(Event)) -> Finished {
    let mut findings = Findings::default();
    let result = test(&mut session, stop, watch, &mut findings);
    if result.is_err() {
        // A peer that is still there learns that this is the end.
        let _ = session.control.send_signal(Signal::ClientTerminate);
    }
    let local_ip = session.control.stream().local_addr().ok().map(|address| address.ip());
    let software = match (&session.hello, &findings.gathered.peer) {
        (None, Some(_)) => Some("iperf3".to_owned()),
        _ => None,
    };
    let host = session.hello.as_ref().map_or(HostIdentity { software, ..HostIdentity::default() }, |h| h.host.clone());
    let peer = Peer { target: request.host.clone(), address: Some(session.route.remote.to_string()), host };
    let Findings { mut clocks_before, clocks_after, mut gathered } = findings;
    gathered.stamp_minus_mono_ns = session.hello.as_ref().map(|hello| hello.stamp_minus_mono_ns);
    if let Some(ahead_ns) = gathered.stamp_minus_mono_ns {
        let idle = gathered.probes.iter().filter(|probe| probe.idle);
        clocks_before.extend(idle.filter_map(|probe| probe.exchange(ahead_ns)));
    }
    gathered.clock = relate(&clocks_before, &clocks_after);
    gathered.round_trip = Some(session.round_trip);
    let (measurement, samples) = assemble(&mut gathered, &session.spec);
    Finished {
        local: identity::local(local_ip),
        peer,
        outcome: result.map_or_else(|error| Outcome::Failed(error.failure()), |()| Outcome::Complete),
        measurement,
        samples,
    }
}

fn test(
    session: &mut Session,
    stop: &Stop,
    watch: &mut dyn FnMut(Event),
    findings: &mut Findings,
) -> Result<(), SessionError> {
    let prober = baseline(session, watch, findings)?;
    // What was probed is kept also where the test ends before it begins.
    findings.gathered.probes = prober.as_ref().map_or_else(Vec::new, |prober| prober.probes().to_vec());
    findings.gathered.packet_times = prober.as_ref().and_then(Prober::packet_times);
    let endpoints = setup::open(session, stop)?;
    await_signal(session, |heard| matches!(heard, ServerMessage::Start), "the start of the test")?;
    let conduct = conduct(session);
    let ready = Ready::new(endpoints, &session.spec, &conduct).map_err(cannot_start)?;
    await_signal(session, |heard| matches!(heard, ServerMessage::Running), "the running of the test")?;
    let running = ready.start(prober).map_err(cannot_start)?;
    watch(Event::Started);
    if let Err(error) = run::watch_over(&mut session.control, &running, &session.spec, stop, watch) {
        teardown::abandon(running, &mut findings.gathered);
        return Err(error);
    }
    watch(Event::Draining);
    findings.clocks_after = teardown::close(session, running, &mut findings.gathered)?;
    Ok(())
}

/// The path without load, and the peer's clock: one round trip and three milliseconds. It is over before the first data
/// connection is opened, so that no answer of it can come over a path with load.
fn baseline(
    session: &mut Session,
    watch: &mut dyn FnMut(Event),
    findings: &mut Findings,
) -> Result<Option<Prober>, SessionError> {
    let Some(hello) = session.hello.clone() else { return Ok(None) };
    let mut prober = setup::prober(&session.route, &hello, session.spec.probe_every);
    if let Some(prober) = &mut prober {
        prober.send_baseline().map_err(|source| local("a pause", source))?;
    }
    // Their answers come while the clocks are compared.
    findings.clocks_before = setup::exchange_clocks(&mut session.control)?;
    if let Some(prober) = &mut prober {
        prober.await_answers(clock::now() + Prober::baseline_time(session.round_trip));
        if let Some(idle) = latency(prober.probes()).and_then(|latency| latency.idle) {
            watch(Event::Idle(idle));
        }
    }
    Ok(prober)
}

fn await_signal(
    session: &mut Session,
    due: fn(&ServerMessage) -> bool,
    awaited: &'static str,
) -> Result<(), SessionError> {
    match session.control.await_turn(awaited)? {
        heard if due(&heard) => Ok(()),
        other => Err(refusal(other)),
    }
}

fn conduct(session: &Session) -> Conduct {
    let extended = session.hello.is_some();
    Conduct {
        length: if extended { part::fixed_length(&session.spec) } else { part::iperf3_length(&session.spec) },
        amount: if extended { Amount::Exact } else { part::iperf3_amount(&session.spec) },
        counter_width: CounterWidth::Bits64,
        closing: if extended { Closing::EndOfStream } else { Closing::LeaveOpen },
        waker: session.control.waker(),
    }
}

fn cannot_start(source: std::io::Error) -> SessionError {
    SessionError::Local { what: "the threads of the test cannot be started".to_owned(), source }
}
