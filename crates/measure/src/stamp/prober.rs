//! Sending probes beside a test, and keeping what came back.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::MonoTime;

use super::packet::{Answer, NtpTime, PACKET_LEN, Question, UNSYNCHRONISED};
use super::reflector::StampClock;
use crate::clock::Exchange;

/// A thread that probes: a short idle baseline, then silence until the test runs, then one probe every so often.
#[derive(Debug)]
pub struct Prober {
    thread: JoinHandle<Vec<Probe>>,
    phase: Arc<AtomicU8>,
    baseline: Arc<Mutex<Vec<Probe>>>,
}

/// One probe and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Whether it belongs to the baseline.
    pub idle: bool,
    /// When it was sent, our clock.
    pub sent: MonoTime,
    /// Its answer.
    pub answer: Option<ProbeAnswer>,
}

/// The answer to a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// When the probe arrived, the peer's stamp.
    pub received: NtpTime,
    /// How long the peer held it.
    pub held_ns: i64,
    /// When the answer was heard, our clock.
    pub heard: MonoTime,
}

impl Probe {
    /// The probe as an exchange of clocks, with a peer whose stamps run `ahead_ns` before its monotonic clock.
    #[must_use]
    pub fn exchange(&self, ahead_ns: i64) -> Option<Exchange> {
        let answer = self.answer?;
        let received = answer.received.to_mono(ahead_ns)?;
        let answered = received + Duration::from_nanos(answer.held_ns.unsigned_abs());
        Some(Exchange { asked: self.sent, received, answered, heard: answer.heard })
    }

    /// The round trip without the time the peer held it.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let answer = self.answer?;
        let away = answer.heard.since(self.sent);
        Some(away.saturating_sub(Duration::from_nanos(answer.held_ns.unsigned_abs())))
    }
}

/// Probes of the baseline: enough for a least round trip, over before a person notices.
const BASELINE_PROBES: usize = 10;
/// Their spacing.
const BASELINE_SPACING: Duration = Duration::from_millis(1);
/// Most probes kept, five hours at 10 ms; then probing ends.
const MAX_PROBES: usize = 2_000_000;
/// How long the last answers may take.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// How soon a change of phase is seen.
const GLANCE: Duration = Duration::from_millis(2);

const IDLE: u8 = 0;
const LOADED: u8 = 1;
const STOPPED: u8 = 2;

impl Prober {
    /// Starts the baseline over `socket`, which is connected to the reflector.
    ///
    /// # Errors
    /// If the thread cannot be made.
    pub fn start(socket: UdpSocket, spacing: Duration) -> io::Result<Self> {
        let phase = Arc::new(AtomicU8::new(IDLE));
        let seen = Arc::clone(&phase);
        let baseline = Arc::<Mutex<Vec<Probe>>>::default();
        let shown = Arc::clone(&baseline);
        let thread = thread::Builder::new().name("prober".to_owned()).spawn(move || {
            let mut log = Log { socket, clock: StampClock::new(clock::wall_now(), clock::now()), probes: Vec::new() };
            log.baseline();
            log.wait_for_the_test(&seen, &shown);
            log.beside_the_test(&seen, spacing);
            log.probes
        })?;
        Ok(Self { thread, phase, baseline })
    }

    /// How long to wait for the baseline over a path of this round trip: beyond what it takes, for a busy host.
    #[must_use]
    pub fn baseline_time(round_trip: Duration) -> Duration {
        BASELINE_SPACING * 10 + round_trip + Duration::from_millis(100)
    }

    /// The probes of the baseline with the answers so far; none before the last of them was sent.
    #[must_use]
    pub fn baseline(&self) -> Vec<Probe> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether every probe of the baseline has been answered.
    #[must_use]
    pub fn has_baseline(&self) -> bool {
        let probes = self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        !probes.is_empty() && probes.iter().all(|probe| probe.answer.is_some())
    }

    /// The test runs: probe beside it.
    pub fn test_runs(&self) {
        self.phase.store(LOADED, Ordering::Release);
    }

    /// The test is over: what came back?
    #[must_use]
    pub fn finish(self) -> Vec<Probe> {
        self.phase.store(STOPPED, Ordering::Release);
        self.thread.join().unwrap_or_default()
    }
}

struct Log {
    socket: UdpSocket,
    clock: StampClock,
    probes: Vec<Probe>,
}

impl Log {
    fn baseline(&mut self) {
        let start = clock::now();
        for number in 0..BASELINE_PROBES {
            self.send(true);
            let next = start + BASELINE_SPACING * u32::try_from(number + 1).unwrap_or(u32::MAX);
            self.listen_until(next);
        }
    }

    fn wait_for_the_test(&mut self, phase: &AtomicU8, shown: &Mutex<Vec<Probe>>) {
        while phase.load(Ordering::Acquire) == IDLE {
            shown.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.probes);
            self.listen_until(clock::now() + GLANCE);
        }
    }

    fn beside_the_test(&mut self, phase: &AtomicU8, spacing: Duration) {
        let mut next = clock::now();
        while phase.load(Ordering::Acquire) == LOADED && self.probes.len() < MAX_PROBES {
            if clock::now() >= next {
                self.send(false);
                next = (next + spacing).max(clock::now());
            }
            self.listen_until(next.min(clock::now() + GLANCE));
        }
        let end = clock::now() + LAST_ANSWERS;
        while clock::now() < end && self.probes.iter().rev().take(64).any(|probe| probe.answer.is_none()) {
            self.listen_until(clock::now() + GLANCE);
        }
    }

    fn send(&mut self, idle: bool) {
        let Ok(sequence) = u32::try_from(self.probes.len()) else { return };
        let sent = clock::now();
        let question = Question { sequence, sent: self.clock.stamp(sent), error_estimate: UNSYNCHRONISED };
        // A probe that this host could not send is a lost probe: the loss is what is being measured.
        let _ = self.socket.send(&question.emit());
        self.probes.push(Probe { idle, sent, answer: None });
    }

    /// Takes answers until `deadline`.
    fn listen_until(&mut self, deadline: MonoTime) {
        loop {
            let left = deadline.since(clock::now());
            if left.is_zero() || !self.readable_within(left) {
                return;
            }
            let mut datagram = [0; PACKET_LEN];
            // An error here is a refusal by the far host, which the missing answers will show.
            if let Ok(length) = self.socket.recv(&mut datagram) {
                self.note(&datagram[..length], clock::now());
            }
        }
    }

    fn readable_within(&self, time: Duration) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        matches!(poll(&mut fds, Some(&timeout)), Ok(ready) if ready > 0)
    }

    fn note(&mut self, datagram: &[u8], heard: MonoTime) {
        let Ok(answer) = Answer::parse(datagram) else { return };
        let index = usize::try_from(answer.question.sequence).unwrap_or(usize::MAX);
        if let Some(probe) = self.probes.get_mut(index).filter(|probe| probe.answer.is_none()) {
            let held_ns = answer.sent.nanos_since(answer.received).max(0);
            probe.answer = Some(ProbeAnswer { received: answer.received, held_ns, heard });
        }
    }
}
