//! Tracing the way to a host: echoes with small hop limits, a few for each, several hops at once.

use std::time::Duration;

use linux::clock;
use model::probe::echo::Fragments;
use model::probe::hops::{Hop, HopAnswer, HopsSpec, Trace, TraceEnd};
use model::probe::{Report, ReportKind};
use model::run::{Failure, FailureKind, Outcome};
use units::MonoTime;

use super::pinger::{Asking, Pinger, Response, What};
use super::{ended, subject};
use crate::stop::Stop;

/// Traces the way to `target`.
#[must_use]
pub fn trace(target: &str, spec: &HopsSpec, stop: &Stop) -> Trace {
    let mut trace = Trace {
        subject: subject(target),
        spec: spec.clone(),
        outcome: Outcome::Complete,
        access: None,
        end: TraceEnd::Stopped,
        hops: Vec::new(),
    };
    match Log::open(target, spec) {
        Ok(mut log) => {
            trace.subject.address = Some(log.pinger.address());
            trace.access = Some(log.pinger.access());
            match log.run(spec, stop) {
                Ok(()) => trace.outcome = ended(stop),
                Err(failure) => trace.outcome = Outcome::Failed(failure),
            }
            (trace.end, trace.hops) = log.finish(stop);
        }
        Err(failure) => trace.outcome = Outcome::Failed(failure),
    }
    trace
}

/// Hops that are asked at once.
const WIDTH: usize = 8;
/// Most probes for each hop.
const MAX_PROBES: u8 = 16;
/// Payload of each probe.
const PAYLOAD_BYTES: usize = 32;
/// Time between two probes of one hop, unless both answers come sooner: routers answer few errors at once.
const SPACING: Duration = Duration::from_millis(20);

struct Log {
    pinger: Pinger,
    timeout: Duration,
    probes: usize,
    /// For each hop its probes, as far as they were sent.
    hops: Vec<Vec<Asked>>,
}

struct Asked {
    at: MonoTime,
    answer: Option<HopAnswer>,
}

impl Log {
    fn open(target: &str, spec: &HopsSpec) -> Result<Self, Failure> {
        if spec.limit == 0 || !(1..=MAX_PROBES).contains(&spec.probes) {
            let detail = format!(
                "a trace has 1 to 255 hops and 1 to {MAX_PROBES} probes for each, not {} and {}",
                spec.limit, spec.probes
            );
            return Err(Failure { kind: FailureKind::Local, detail });
        }
        let fragments = Fragments::Allowed;
        let pinger = Pinger::open(Asking { target, family: spec.family, bind: spec.bind, dscp: spec.dscp, fragments })?;
        Ok(Self { pinger, timeout: spec.timeout, probes: usize::from(spec.probes), hops: Vec::new() })
    }

    fn run(&mut self, spec: &HopsSpec, stop: &Stop) -> Result<(), Failure> {
        let limit = usize::from(spec.limit);
        while self.hops.len() < limit && self.end().is_none() && !stop.is_stopped() {
            let first = self.hops.len();
            let last = (first + WIDTH).min(limit);
            self.hops.resize_with(last, Vec::new);
            for _ in 0..self.probes {
                for hop in first..last {
                    self.ask(hop)?;
                }
                self.hear_until(clock::now() + SPACING, stop);
            }
            self.hear_until(clock::now() + self.timeout, stop);
        }
        Ok(())
    }

    /// Sends the next probe of a hop, counted from 0.
    fn ask(&mut self, hop: usize) -> Result<(), Failure> {
        let refused = |detail| Failure { kind: FailureKind::Local, detail };
        let limit = u8::try_from(hop + 1).unwrap_or(u8::MAX);
        self.pinger.set_hop_limit(limit).map_err(|error| refused(format!("hop limit {limit}: {error}")))?;
        let number = hop * self.probes + self.hops[hop].len();
        let sequence = u16::try_from(number).map_err(|error| refused(error.to_string()))?;
        let at = self.pinger.send(sequence, PAYLOAD_BYTES);
        let at = at.map_err(|error| refused(format!("this host does not send the probe: {error}")))?;
        self.hops[hop].push(Asked { at, answer: None });
        Ok(())
    }

    /// Takes what comes back until all is answered that can still tell something, and at most until `deadline`.
    fn hear_until(&mut self, deadline: MonoTime, stop: &Stop) {
        while self.is_waiting()
            && let Some(heard) = self.pinger.hear(deadline, stop)
        {
            self.note(&heard);
        }
    }

    fn is_waiting(&self) -> bool {
        let until = self.end().map_or(self.hops.len(), |(last, _)| last + 1);
        self.hops[..until].iter().flatten().any(|asked| asked.answer.is_none())
    }

    fn note(&mut self, heard: &Response) {
        let (hop, probe) = (usize::from(heard.sequence) / self.probes, usize::from(heard.sequence) % self.probes);
        let Some(asked) = self.hops.get_mut(hop).and_then(|hop| hop.get_mut(probe)) else { return };
        let (address, report) = match &heard.what {
            What::Answer { source, .. } => (*source, None),
            What::Report(Report { kind, reporter }) => (*reporter, Some(*kind)),
        };
        let at = if heard.at < asked.at { clock::now() } else { heard.at };
        asked.answer.get_or_insert(HopAnswer { address, rtt: at.since(asked.at), report });
    }

    /// The first hop beyond which there is nothing, and why.
    fn end(&self) -> Option<(usize, TraceEnd)> {
        self.hops.iter().enumerate().find_map(|(number, hop)| {
            let end = hop.iter().filter_map(|asked| asked.answer.as_ref()).find_map(|answer| match answer.report {
                None => Some(TraceEnd::Destination),
                Some(ReportKind::Unreachable { .. }) => Some(TraceEnd::Unreachable),
                Some(_) => None,
            });
            end.map(|end| (number, end))
        })
    }

    fn finish(mut self, stop: &Stop) -> (TraceEnd, Vec<Hop>) {
        let end = self.end();
        if let Some((last, _)) = end {
            self.hops.truncate(last + 1);
        }
        let unended = if stop.is_stopped() { TraceEnd::Stopped } else { TraceEnd::Limit };
        let hop = |(number, hop): (u8, Vec<Asked>)| Hop {
            number,
            sent: u8::try_from(hop.len()).unwrap_or(u8::MAX),
            answers: hop.into_iter().filter_map(|asked| asked.answer).collect(),
        };
        (end.map_or(unended, |(_, end)| end), (1..).zip(self.hops).map(hop).collect())
    }
}
