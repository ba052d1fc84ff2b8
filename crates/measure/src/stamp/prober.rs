//! Sending probes before and beside a test, and keeping what came back.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use linux::clock;
use linux::sockets::{Switch, set_receive_time};
use model::measurement::PacketTimes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::{MonoTime, WallTime};

use super::packet::{Answer, ErrorEstimate, LARGE_LEN, NtpTime, PACKET_LEN, Question};
use super::reflector::StampClock;
use report::clock::Exchange;

/// Probes of one test: a short idle baseline, then one every so often, whenever whoever owns it looks after it.
///
/// It owns no thread. The kernel stamps each answer when it arrives, so answers may lie in the socket until the next
/// probe is due and are then read in one call: a probe costs one wake, and a host that is busy delays none of them.
pub struct Prober {
    socket: UdpSocket,
    clock: StampClock,
    spacing: Duration,
    probes: Vec<Probe>,
    /// Those of the baseline that are large, each with its answer's length.
    large: Vec<(Probe, usize)>,
    batch: ReceiveBatch,
    phase: Phase,
    /// When the next probe is due, once the test runs.
    due: MonoTime,
}

/// Where a test stands, for its probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The path is idle.
    Idle,
    /// Data flows.
    Loaded,
}

/// One probe and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Whether it belongs to the baseline.
    pub idle: bool,
    /// When it was sent, our clock.
    pub sent: MonoTime,
    /// What came back for it; [`None`] where it or its answer was lost, or has not come yet.
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
    pub fn rtt(&self) -> Option<Duration> {
        let answer = self.answer?;
        let away = answer.heard.since(self.sent);
        Some(away.saturating_sub(Duration::from_nanos(answer.held_ns.unsigned_abs())))
    }
}

/// Probes of the baseline: enough for a least round trip, over before a person notices.
const BASELINE_PROBES: usize = 10;
/// Their spacing: the whole baseline delays the first byte by 3 ms.
const BASELINE_SPACING: Duration = Duration::from_micros(300);
/// Most probes kept, five hours at 10 ms; then probing ends.
const MAX_PROBES: usize = 2_000_000;
/// How long the last answers may take.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// Answers that are read with one call.
const BATCH: BatchShape = BatchShape { messages: 4, message_bytes: LARGE_LEN };
/// Large probes after the baseline: the first of them that meets no queue tells, and over a slow link those after it queue behind it.
const LARGE_PROBES: usize = 5;
/// Their spacing.
const LARGE_SPACING: Duration = Duration::from_micros(100);
/// How long the answers to them may take longer than the others'.
const LARGE_ANSWERS: Duration = Duration::from_millis(40);
/// From this sequence number on probes are large.
const LARGE_FROM: u32 = 1 << 31;
/// Fewer answers of a size do not show its least time.
const FEWEST_ANSWERS: usize = 3;

impl Prober {
    /// Probes over `socket`, which is connected to the reflector, `spacing` apart once the test runs.
    #[must_use]
    pub fn new(socket: UdpSocket, spacing: Duration) -> Self {
        // Without the kernel's stamp an answer counts from when it was read.
        let _ = set_receive_time(&socket, Switch::On);
        Self {
            socket,
            clock: StampClock::new(clock::wall_now(), clock::now()),
            spacing,
            probes: Vec::new(),
            large: Vec::new(),
            batch: ReceiveBatch::new(BATCH),
            phase: Phase::Idle,
            due: MonoTime::default(),
        }
    }

    /// Sends the probes of the baseline. Their answers come later.
    ///
    /// # Errors
    /// If the thread cannot sleep.
    pub fn send_baseline(&mut self) -> io::Result<()> {
        let mut due = clock::now();
        for _ in 0..BASELINE_PROBES {
            clock::sleep_until(due)?;
            self.send();
            due = due + BASELINE_SPACING;
        }
        for _ in 0..LARGE_PROBES {
            clock::sleep_until(due)?;
            self.send_large();
            due = due + LARGE_SPACING;
        }
        Ok(())
    }

    /// How much longer large probes were under way than small ones, so far.
    #[must_use]
    pub fn packet_times(&self) -> Option<PacketTimes> {
        let small = || self.probes.iter().filter(|probe| probe.idle).filter_map(|probe| Some((probe, probe.answer?)));
        let large = || self.large.iter().filter_map(|(probe, length)| Some((probe, probe.answer?, *length)));
        // The clocks of both ends are apart by an unknown offset, the same one for both sizes.
        let there = |probe: &Probe, answer: ProbeAnswer| answer.received.nanos_since(self.clock.stamp(probe.sent));
        let back = |answer: ProbeAnswer| {
            self.clock.stamp(answer.heard).nanos_since(answer.received).saturating_sub(answer.held_ns)
        };
        let small_there = small().map(|(probe, answer)| there(probe, answer));
        let there_ns = longer(small_there, large().map(|(probe, answer, _)| there(probe, answer)));
        let reflected = large().filter(|(.., length)| *length == LARGE_LEN);
        let back_ns = longer(small().map(|(_, answer)| back(answer)), reflected.map(|(_, answer, _)| back(answer)));
        #[expect(clippy::cast_possible_truncation, reason = "a length of a packet")]
        let more_bytes = (LARGE_LEN - PACKET_LEN) as u32;
        (there_ns.is_some() || back_ns.is_some()).then_some(PacketTimes { more_bytes, there_ns, back_ns })
    }

    /// How long to wait for the baseline over a path of this round trip: beyond what it takes, for a busy host.
    #[must_use]
    pub fn baseline_time(round_trip: Duration) -> Duration {
        round_trip + Duration::from_millis(100)
    }

    /// Takes answers until all have come, or `deadline`. Those to large probes are not waited for much longer than those to small ones:
    /// where the path swallows large packets, they never come.
    pub fn await_answers(&mut self, deadline: MonoTime) {
        self.await_while(Self::waits, deadline);
        if self.phase == Phase::Idle {
            self.await_while(Self::waits_for_large, deadline.min(clock::now() + LARGE_ANSWERS));
        }
    }

    fn await_while(&mut self, waits: fn(&Self) -> bool, deadline: MonoTime) {
        self.take_answers();
        while waits(self) {
            let left = deadline.since(clock::now());
            if left.is_zero() || !self.readable_within(left) {
                return;
            }
            self.take_answers();
        }
    }

    /// The probes and the answers so far.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The test begins: the first probe beside it is due at `first`. A probe of the baseline that is answered from here on
    /// counts as lost, since its answer came over a path with load.
    pub fn test_runs(&mut self, first: MonoTime) {
        self.take_answers();
        self.phase = Phase::Loaded;
        self.due = first;
    }

    /// When it wants to be looked after next; never once it keeps as many probes as it may.
    #[must_use]
    pub fn due(&self) -> MonoTime {
        if self.probes.len() < MAX_PROBES { self.due } else { MonoTime::from_nanos(u64::MAX) }
    }

    /// Sends a probe if one is due at `now`, and takes the answers to those before it.
    pub fn look_after(&mut self, now: MonoTime) {
        if now < self.due() {
            return;
        }
        self.take_answers();
        self.send();
        // Late: probes that were missed are not made up for in a burst, which would measure itself.
        self.due = (self.due + self.spacing).max(now + self.spacing / 2);
    }

    /// The test is over: what came back?
    #[must_use]
    pub fn finish(mut self) -> Vec<Probe> {
        self.await_answers(clock::now() + LAST_ANSWERS);
        self.probes
    }

    /// Whether an answer to a probe of this phase is still to come. Of a long test the last ones count.
    fn waits(&self) -> bool {
        let idle = self.phase == Phase::Idle;
        self.probes.iter().rev().take(64).any(|probe| probe.idle == idle && probe.answer.is_none())
    }

    fn waits_for_large(&self) -> bool {
        self.large.iter().any(|(probe, _)| probe.answer.is_none())
    }

    fn send(&mut self) {
        let Ok(sequence) = u32::try_from(self.probes.len()) else { return };
        let (question, probe) = self.question(sequence);
        // A probe that this host could not send is a lost probe: the loss is what is being measured.
        let _ = self.socket.send(&question);
        self.probes.push(probe);
    }

    fn send_large(&mut self) {
        let Ok(number) = u32::try_from(self.large.len()) else { return };
        let (question, probe) = self.question(LARGE_FROM + number);
        let mut packet = [0; LARGE_LEN];
        packet[..PACKET_LEN].copy_from_slice(&question);
        let _ = self.socket.send(&packet);
        self.large.push((probe, 0));
    }

    /// A packet of this number and the probe that it is, sent now.
    fn question(&self, sequence: u32) -> ([u8; PACKET_LEN], Probe) {
        let sent = clock::now();
        let question = Question { sequence, sent: self.clock.stamp(sent), error: ErrorEstimate::UNSYNCHRONISED };
        (question.emit::<PACKET_LEN>(), Probe { idle: self.phase == Phase::Idle, sent, answer: None })
    }

    /// Takes every answer that lies in the socket.
    fn take_answers(&mut self) {
        loop {
            // An error here is a refusal by the far host, which the missing answers will show.
            let Ok(Progress::Moved(count)) = self.batch.receive(self.socket.as_fd(), Wait::Never) else { return };
            // The wall clock first: what passes between the two reads then makes an RTT longer, never shorter.
            let (wall, now) = (clock::wall_now(), clock::now());
            let answers: Vec<(Answer, usize, MonoTime)> = self
                .batch
                .iter()
                .filter_map(|datagram| {
                    let age = datagram.report().received_at.map_or(Duration::ZERO, |at| age(at, wall));
                    let heard = MonoTime::from_nanos(now.as_nanos().saturating_sub(units::duration::nanos(age)));
                    let answer = Answer::parse(datagram.payload.get(..PACKET_LEN)?).ok()?;
                    Some((answer, datagram.payload.len(), heard))
                })
                .collect();
            for (answer, length, heard) in answers {
                self.note(answer, length, heard);
            }
            if count < BATCH.messages {
                return;
            }
        }
    }

    fn note(&mut self, answer: Answer, length: usize, heard: MonoTime) {
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let idle = self.phase == Phase::Idle;
        let waiting = |probe: &&mut Probe| probe.answer.is_none() && (idle || !probe.idle);
        let asked = match answer.sender.sequence.checked_sub(LARGE_FROM) {
            Some(number) => self.large.get_mut(index(number)).map(|(probe, answered)| {
                *answered = length;
                probe
            }),
            None => self.probes.get_mut(index(answer.sender.sequence)),
        };
        if let Some(probe) = asked.filter(waiting) {
            let held_ns = answer.sent.nanos_since(answer.received).max(0);
            // A calendar clock that was set meanwhile makes an answer no older than its question.
            probe.answer = Some(ProbeAnswer { received: answer.received, held_ns, heard: heard.max(probe.sent) });
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
}

impl std::fmt::Debug for Prober {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prober").field("probes", &self.probes.len()).field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// By how much the least time of large packets is longer than that of small ones.
fn longer(small: impl Iterator<Item = i64>, large: impl Iterator<Item = i64>) -> Option<u64> {
    let least = |times: Vec<i64>| times.iter().copied().min().filter(|_| times.len() >= FEWEST_ANSWERS);
    let longer = least(large.collect())?.saturating_sub(least(small.collect())?);
    Some(u64::try_from(longer).unwrap_or(0))
}

/// How long before `now` the kernel's stamp was; not at all where the calendar clock was set back.
fn age(stamp: WallTime, now: WallTime) -> Duration {
    Duration::from_nanos(now.unix_nanos().saturating_sub(stamp.unix_nanos()))
}
