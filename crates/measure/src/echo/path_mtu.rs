//! Searching for the largest packet that arrives, with packets that must not be cut.

use std::time::Duration;

use linux::clock;
use model::probe::echo::Fragments;
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec, SizeVerdict, TriedSize};
use model::probe::{Report, ReportKind};
use model::run::{Failure, FailureKind, Outcome};
use units::{MonoTime, Mtu};

use super::pinger::{Asking, Pinger, Response, SendError, What};
use super::{ended, subject};
use crate::stop::Stop;

/// Searches for the path MTU towards `target`.
///
/// Model: a size is judged by the echo that comes back of it, so a host that answers small echoes only, or a way back
/// that loses what the way there let pass, looks like a path that drops them. (Linux lets its answers be cut in IPv4.)
#[must_use]
pub fn path_mtu(target: &str, spec: &PathMtuSpec, stop: &Stop) -> PathMtu {
    let mut found = PathMtu {
        subject: subject(target),
        spec: spec.clone(),
        outcome: Outcome::Complete,
        access: None,
        interface_mtu: None,
        path_mtu: None,
        limit: None,
        sizes: Vec::new(),
    };
    match Search::open(target, spec, stop) {
        Ok(mut search) => {
            found.subject.address = Some(search.pinger.address());
            found.access = Some(search.pinger.access());
            match search.run() {
                Ok(limit) => found.limit = limit,
                Err(failure) => found.outcome = Outcome::Failed(failure),
            }
            if stop.is_stopped() {
                found.outcome = ended(stop);
            }
            found.interface_mtu = Mtu::new(search.interface).ok();
            found.path_mtu = Mtu::new(search.arrives).ok();
            found.sizes = search.tried;
        }
        Err(failure) => found.outcome = Outcome::Failed(failure),
    }
    found
}

fn limit(verdict: &SizeVerdict) -> MtuLimit {
    match verdict {
        SizeVerdict::Told { reporter, told } => MtuLimit::Told { reporter: *reporter, told: *told },
        SizeVerdict::BeyondInterface => MtuLimit::Interface,
        SizeVerdict::Arrives | SizeVerdict::Silent => MtuLimit::Silent,
    }
}

/// The largest packet of either family that is tried: what IPv4's length field holds.
const LARGEST: u32 = 65_535;
/// Least MTU of IPv4 (RFC 791 §3.2) and of IPv6 (RFC 8200 §5).
const LEAST: [u32; 2] = [68, 1280];
/// Most probes of one size.
const MAX_PROBES: u8 = 16;
/// Beyond four round trips an answer may take this long: queues fill, and hosts are busy.
const SLACK: Duration = Duration::from_millis(100);

struct Search<'a> {
    pinger: Pinger,
    stop: &'a Stop,
    probes: u8,
    patience: Duration,
    tried: Vec<TriedSize>,
    /// Which size each sequence number had, and when it was sent.
    asked: Vec<(usize, MonoTime)>,
    interface: u32,
    arrives: u32,
}

impl<'a> Search<'a> {
    fn open(target: &str, spec: &PathMtuSpec, stop: &'a Stop) -> Result<Self, Failure> {
        if !(1..=MAX_PROBES).contains(&spec.probes) {
            let detail = format!("1 to {MAX_PROBES} probes of each size are sent, not {}", spec.probes);
            return Err(Failure { kind: FailureKind::Local, detail });
        }
        let fragments = Fragments::Forbidden;
        let pinger = Pinger::open(Asking { target, family: spec.family, bind: spec.bind, dscp: spec.dscp, fragments })?;
        Ok(Self {
            pinger,
            stop,
            probes: spec.probes,
            patience: spec.timeout,
            tried: Vec::new(),
            asked: Vec::new(),
            interface: 0,
            arrives: 0,
        })
    }

    /// Searches, and says what keeps larger packets from arriving; [`None`] where it was stopped.
    fn run(&mut self) -> Result<Option<MtuLimit>, Failure> {
        let least = if self.pinger.address().is_ipv4() { LEAST[0] } else { LEAST[1] };
        if self.attempt(least)? != SizeVerdict::Arrives {
            let detail = format!("{} does not answer echoes, not even of {least} bytes", self.pinger.address());
            return Err(Failure { kind: FailureKind::Unreachable, detail });
        }
        self.interface = match self.attempt(LARGEST)? {
            SizeVerdict::BeyondInterface => self.interface,
            // No interface MTU is larger than this, so it is the route's that counts.
            _ => self.pinger.route_mtu().unwrap_or(LARGEST),
        };
        if self.interface <= self.arrives {
            return Ok(Some(MtuLimit::Interface));
        }
        self.attempt(self.interface.min(LARGEST))?;
        while let Some((too_large, verdict)) = self.ceiling()
            && !self.stop.is_stopped()
        {
            let told = match verdict {
                SizeVerdict::Told { told: Some(told), .. } if told >= self.arrives && told < too_large => Some(told),
                _ => None,
            };
            // Who tells a size that arrives is believed: senders use no larger one.
            if too_large - self.arrives == 1 || told == Some(self.arrives) {
                return Ok(Some(limit(&verdict)));
            }
            self.attempt(told.unwrap_or(self.arrives.midpoint(too_large)))?;
        }
        Ok((!self.stop.is_stopped()).then_some(MtuLimit::Interface))
    }

    /// The least size that was tried in vain and is larger than what arrives, and what was found of it.
    fn ceiling(&self) -> Option<(u32, SizeVerdict)> {
        let in_vain = |tried: &&TriedSize| {
            tried.packet_bytes > self.arrives
                && matches!(tried.verdict, SizeVerdict::Told { .. } | SizeVerdict::Silent)
                && tried.sent > 0
                && tried.packet_bytes <= self.interface
        };
        let least = self.tried.iter().filter(in_vain).min_by_key(|tried| tried.packet_bytes)?;
        Some((least.packet_bytes, least.verdict.clone()))
    }

    /// Tries packets of this size.
    fn attempt(&mut self, packet_bytes: u32) -> Result<SizeVerdict, Failure> {
        let place = self.tried.len();
        self.tried.push(TriedSize { packet_bytes, sent: 0, answered: 0, verdict: SizeVerdict::Silent });
        let payload_bytes = usize::try_from(packet_bytes.saturating_sub(self.pinger.header_bytes())).unwrap_or(0);
        for _ in 0..self.probes {
            let refused = |error: String| Failure { kind: FailureKind::Local, detail: error };
            let sequence = u16::try_from(self.asked.len()).map_err(|error| refused(error.to_string()))?;
            match self.pinger.send(sequence, payload_bytes) {
                Ok(sent) => self.asked.push((place, sent)),
                Err(SendError::TooBig { interface }) => {
                    self.interface = interface.or_else(|| self.pinger.route_mtu()).unwrap_or(0);
                    self.tried[place].verdict = SizeVerdict::BeyondInterface;
                    break;
                }
                Err(error) => return Err(refused(format!("this host does not send {packet_bytes} bytes: {error}"))),
            }
            self.tried[place].sent += 1;
        }
        let deadline = clock::now() + self.patience;
        while self.tried[place].verdict == SizeVerdict::Silent
            && let Some(heard) = self.pinger.hear(deadline, self.stop)
        {
            self.note(&heard)?;
        }
        Ok(self.tried[place].verdict.clone())
    }

    /// Notes what came back; of a size tried before it may still change what is known.
    fn note(&mut self, heard: &Response) -> Result<(), Failure> {
        let Some(&(place, sent)) = self.asked.get(usize::from(heard.sequence)) else { return Ok(()) };
        let tried = &mut self.tried[place];
        match &heard.what {
            What::Answer { .. } => {
                tried.answered = tried.answered.saturating_add(1);
                tried.verdict = SizeVerdict::Arrives;
                if self.arrives == 0 {
                    self.patience = self.patience.min(heard.at.since(sent) * 4 + SLACK);
                }
                self.arrives = self.arrives.max(tried.packet_bytes);
            }
            What::Report(Report { kind: ReportKind::TooBig { mtu_bytes }, reporter }) => {
                if tried.verdict == SizeVerdict::Silent {
                    tried.verdict = SizeVerdict::Told { reporter: *reporter, told: *mtu_bytes };
                }
            }
            What::Report(Report { kind: ReportKind::Unreachable { code }, reporter }) => {
                let reporter = reporter.map_or_else(|| "somebody".to_owned(), |address| address.to_string());
                let detail = format!("{reporter} says that there is no way on (code {code})");
                return Err(Failure { kind: FailureKind::Unreachable, detail });
            }
            What::Report(_) => {}
        }
        Ok(())
    }
}
