//! A series of echoes: round trips, losses, duplicates, reordering.

use std::time::Duration;

use linux::clock;
use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Stamp};
use model::run::{Failure, FailureKind, Outcome};
use units::{MonoTime, PacketCount};

use super::pinger::{Asking, Pinger, Response, What};
use super::{ended, subject};
use crate::latency::round_trips;
use crate::stop::Stop;

/// Sends a series to `target` and waits for its answers.
#[must_use]
pub fn series(target: &str, spec: &EchoSpec, stop: &Stop) -> EchoSeries {
    let mut series = EchoSeries {
        subject: subject(target),
        spec: spec.clone(),
        outcome: Outcome::Complete,
        access: None,
        summary: EchoSummary::default(),
        probes: Vec::new(),
    };
    match Log::open(target, spec) {
        Ok(mut log) => {
            series.subject.address = Some(log.pinger.address());
            series.access = Some(log.pinger.access());
            log.run(spec, stop);
            series.outcome = ended(stop);
            (series.summary, series.probes) = log.finish();
        }
        Err(failure) => series.outcome = Outcome::Failed(failure),
    }
    series
}

/// As many probes as there are sequence numbers.
const MAX_COUNT: u32 = 1 << 16;

struct Log {
    pinger: Pinger,
    timeout: Duration,
    start: MonoTime,
    sent: Vec<Sent>,
    /// The latest probe that was answered.
    front: Option<u16>,
    unsettled: usize,
    longest: Duration,
    late: u64,
    duplicated: u64,
}

/// A probe and what is known of it so far.
struct Sent {
    at: MonoTime,
    fate: EchoFate,
    /// Whether something has come back of it, in time or late.
    settled: bool,
}

impl Log {
    fn open(target: &str, spec: &EchoSpec) -> Result<Self, Failure> {
        if !(1..=MAX_COUNT).contains(&spec.count) {
            let detail = format!("a series has 1 to {MAX_COUNT} probes, not {}", spec.count);
            return Err(Failure { kind: FailureKind::Local, detail });
        }
        let asking =
            Asking { target, family: spec.family, bind: spec.bind, dscp: spec.dscp, fragments: spec.fragments };
        let pinger = Pinger::open(asking)?;
        if let Some(limit) = spec.hop_limit {
            let refused = |error| Failure { kind: FailureKind::Local, detail: format!("hop limit {limit}: {error}") };
            pinger.set_hop_limit(limit).map_err(refused)?;
        }
        Ok(Self {
            pinger,
            timeout: spec.timeout,
            start: clock::now(),
            sent: Vec::new(),
            front: None,
            unsettled: 0,
            longest: Duration::ZERO,
            late: 0,
            duplicated: 0,
        })
    }

    fn run(&mut self, spec: &EchoSpec, stop: &Stop) {
        for number in 0..spec.count {
            self.hear_until(self.start + spec.interval.saturating_mul(number), stop);
            let (false, Ok(sequence)) = (stop.is_stopped(), u16::try_from(number)) else { return };
            self.ask(sequence, usize::from(spec.payload_bytes));
        }
        let last = self.sent.last().map_or(self.start, |sent| sent.at);
        let deadline = last + spec.timeout;
        while self.unsettled > 0
            && let Some(heard) = self.pinger.hear(deadline, stop)
        {
            self.note(heard);
        }
        // A second answer to one of the last probes may still be under way.
        self.hear_until(deadline.min(clock::now() + self.longest), stop);
    }

    fn ask(&mut self, sequence: u16, payload_bytes: usize) {
        let (at, fate) = match self.pinger.send(sequence, payload_bytes) {
            Ok(at) => (at, EchoFate::Lost),
            Err(error) => (clock::now(), EchoFate::Unsent { detail: error.to_string() }),
        };
        let settled = fate != EchoFate::Lost;
        self.unsettled += usize::from(!settled);
        self.sent.push(Sent { at, fate, settled });
    }

    fn hear_until(&mut self, deadline: MonoTime, stop: &Stop) {
        while let Some(heard) = self.pinger.hear(deadline, stop) {
            self.note(heard);
        }
    }

    fn note(&mut self, heard: Response) {
        let Some(probe) = self.sent.get_mut(usize::from(heard.sequence)) else { return };
        let What::Answer { source, hop_limit, .. } = heard.what else {
            if let What::Report(report) = heard.what
                && !std::mem::replace(&mut probe.settled, true)
            {
                self.unsettled -= 1;
                probe.fate = EchoFate::Reported(report);
            }
            return;
        };
        if std::mem::replace(&mut probe.settled, true) {
            self.duplicated += 1;
            if let EchoFate::Answered(answer) = &mut probe.fate {
                answer.duplicates = answer.duplicates.saturating_add(1);
            }
            return;
        }
        self.unsettled -= 1;
        let (at, stamped_by) =
            if heard.at < probe.at { (clock::now(), Stamp::Process) } else { (heard.at, heard.stamped_by) };
        let rtt = at.since(probe.at);
        self.longest = self.longest.max(rtt);
        if rtt > self.timeout {
            self.late += 1;
            return;
        }
        probe.fate = EchoFate::Answered(EchoAnswer {
            rtt,
            stamped_by,
            hop_limit,
            other_address: source.filter(|source| *source != self.pinger.address()),
            reordered: self.front.is_some_and(|front| front > heard.sequence),
            duplicates: 0,
        });
        self.front = self.front.max(Some(heard.sequence));
    }

    fn finish(self) -> (EchoSummary, Vec<EchoProbe>) {
        let mut summary = EchoSummary {
            late: PacketCount::new(self.late),
            duplicated: PacketCount::new(self.duplicated),
            ..EchoSummary::default()
        };
        let count = |kind: fn(&EchoFate) -> bool| {
            PacketCount::new(self.sent.iter().filter(|probe| kind(&probe.fate)).count() as u64)
        };
        summary.unsent = count(|fate| matches!(fate, EchoFate::Unsent { .. }));
        summary.reported = count(|fate| matches!(fate, EchoFate::Reported(_)));
        summary.reordered = count(|fate| matches!(fate, EchoFate::Answered(answer) if answer.reordered));
        let rtt = |probe: &Sent| match &probe.fate {
            EchoFate::Answered(answer) => Some(answer.rtt),
            _ => None,
        };
        let times: Vec<Duration> = self.sent.iter().filter_map(rtt).collect();
        summary.rtt = round_trips(self.sent.len() as u64 - summary.unsent.get(), &times);
        let probe =
            |(sequence, sent): (u32, Sent)| EchoProbe { sequence, sent: sent.at.since(self.start), fate: sent.fate };
        (summary, (0..).zip(self.sent).map(probe).collect())
    }
}
