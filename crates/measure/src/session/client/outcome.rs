//! Everything put together: a test that is over, however it ended.

use std::time::Duration;

use linux::clock;
use model::host::HostIdentity;
use model::run::{Outcome, Peer};
use model::series::RunSamples;

use super::greeting::{Greeted, refusal};
use super::{Event, Finished, Request, closing, course, opening};
use crate::clock::{Exchange, relate};
use crate::engine::datagram::CounterWidth;
use crate::engine::streams::{Closing, Conduct};
use crate::identity;
use crate::report::latency::latency;
use crate::session::assemble::{Gathered, assemble};
use crate::session::failure::SessionError;
use crate::session::part::{self, Ready};
use crate::stamp::prober::Prober;
use crate::stop::Stop;
use crate::wire::client::Heard;
use crate::wire::signal::Signal;

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
pub(super) fn of(request: &Request, mut greeted: Greeted, stop: &Stop, watch: &mut dyn FnMut(Event)) -> Finished {
    let mut findings = Findings::default();
    let result = test(&mut greeted, stop, watch, &mut findings);
    if result.is_err() {
        // A peer that is still there learns that this is the end.
        let _ = greeted.control.send_signal(Signal::ClientTerminate);
    }
    let local_ip = greeted.control.stream().local_addr().ok().map(|address| address.ip());
    let software = match (&greeted.hello, &findings.gathered.peer) {
        (None, Some(_)) => Some("iperf3".to_owned()),
        _ => None,
    };
    let host = greeted.hello.as_ref().map_or(HostIdentity { software, ..HostIdentity::default() }, |h| h.host.clone());
    let peer = Peer { target: request.host.clone(), address: Some(greeted.route.remote.to_string()), host };
    let Findings { mut clocks_before, clocks_after, mut gathered } = findings;
    gathered.stamp_minus_mono_ns = greeted.hello.as_ref().map(|hello| hello.stamp_minus_mono_ns);
    if let Some(ahead_ns) = gathered.stamp_minus_mono_ns {
        let idle = gathered.probes.iter().filter(|probe| probe.idle);
        clocks_before.extend(idle.filter_map(|probe| probe.exchange(ahead_ns)));
    }
    gathered.clock = relate(&clocks_before, &clocks_after);
    gathered.round_trip = Some(greeted.round_trip);
    let (measurement, samples) = assemble(&gathered, &greeted.spec);
    Finished {
        local: identity::local(local_ip),
        peer,
        outcome: result.map_or_else(|error| Outcome::Failed(error.failure()), |()| Outcome::Complete),
        measurement,
        samples,
    }
}

fn test(
    greeted: &mut Greeted,
    stop: &Stop,
    watch: &mut dyn FnMut(Event),
    findings: &mut Findings,
) -> Result<(), SessionError> {
    let prober = baseline(greeted, stop, watch, findings)?;
    let result = with_prober(greeted, stop, watch, findings, prober.as_ref());
    if let Some(prober) = prober {
        findings.gathered.probes = prober.finish();
    }
    result
}

/// The path without load, and the peer's clock: one round trip and ten milliseconds.
fn baseline(
    greeted: &mut Greeted,
    stop: &Stop,
    watch: &mut dyn FnMut(Event),
    findings: &mut Findings,
) -> Result<Option<Prober>, SessionError> {
    let Some(hello) = greeted.hello.clone() else { return Ok(None) };
    let prober = opening::start_prober(&greeted.route, &hello, greeted.spec.probe_every);
    let started = clock::now();
    findings.clocks_before = opening::exchange_clocks(&mut greeted.control)?;
    if let Some(prober) = &prober {
        let deadline = started + Prober::baseline_time(greeted.round_trip);
        while !prober.has_baseline() && clock::now() < deadline {
            opening::wait(Duration::from_millis(1), stop)?;
        }
        if let Some(idle) = latency(&prober.baseline()).and_then(|latency| latency.idle) {
            watch(Event::Idle(idle));
        }
    }
    Ok(prober)
}

fn with_prober(
    greeted: &mut Greeted,
    stop: &Stop,
    watch: &mut dyn FnMut(Event),
    findings: &mut Findings,
    prober: Option<&Prober>,
) -> Result<(), SessionError> {
    let endpoints = opening::open(greeted, stop)?;
    await_signal(greeted, |heard| matches!(heard, Heard::Start), "the start of the test")?;
    let conduct = conduct(greeted);
    let ready = Ready::new(endpoints, &greeted.spec, &conduct).map_err(cannot_start)?;
    await_signal(greeted, |heard| matches!(heard, Heard::Running), "the running of the test")?;
    let running = ready.start().map_err(cannot_start)?;
    if let Some(prober) = prober {
        prober.test_runs();
    }
    watch(Event::Started);
    if let Err(error) = course::watch_over(&mut greeted.control, &running, &greeted.spec, stop, watch) {
        running.streams.stop_sending();
        running.streams.stop_receiving();
        findings.gathered.part = Some(running.abandon());
        return Err(error);
    }
    watch(Event::Draining);
    findings.clocks_after = closing::close(greeted, running, &mut findings.gathered)?;
    Ok(())
}

fn await_signal(greeted: &mut Greeted, due: fn(&Heard) -> bool, awaited: &'static str) -> Result<(), SessionError> {
    match greeted.control.await_turn(awaited)? {
        heard if due(&heard) => Ok(()),
        other => Err(refusal(other)),
    }
}

fn conduct(greeted: &Greeted) -> Conduct {
    Conduct {
        length: part::fixed_length(&greeted.spec),
        counter_width: CounterWidth::Bits64,
        closing: if greeted.hello.is_some() { Closing::EndOfStream } else { Closing::LeaveOpen },
        waker: greeted.control.waker(),
    }
}

fn cannot_start(source: std::io::Error) -> SessionError {
    SessionError::Local { what: "the threads of the test cannot be started".to_owned(), source }
}
