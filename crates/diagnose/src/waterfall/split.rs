//! Who owns the time of one step of one stream.
//!
//! The kernel tells how long, between two samples, data was outstanding (`busy`), and how much of that the receiver's
//! window and the send buffer were the limit (net/ipv4/tcp_output.c, `tcp_chrono_set`; Linux 4.10). The rest of the
//! step is told apart by the state at its end. `docs/waterfall.md` explains the order.

use std::ops::Range;

use model::series::field::Field;
use model::spec::Limit;

use super::cause::Reason;
use super::fill::Fill;
use super::losses::Phase;
use super::stream::{Clocks, NO_PACING_LIMIT, Pacing, Processor, Setting, Stream};
use super::times::{KernelTimes, Times};
use super::track::Curve;
use super::view::View;
use super::writer::Writer;

/// The time of one step by reason, in microseconds, and which of it the kernel's own clocks told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    /// Reason and time: while nothing was outstanding, while the receiver's window was the limit, while the send buffer
    /// was, and the rest.
    pub(super) parts: [(Reason, u64); 4],
    /// Whether the sender was busy: only then can the path have been the limit.
    pub(super) busy_us: u64,
}

/// Goes through the steps of one stream in order.
pub(super) struct Splitter<'a> {
    stream: &'a Stream<'a>,
    setting: &'a Setting<'a>,
    start_end: i64,
    times: Option<KernelTimes<'a>>,
    writer: &'a Writer,
    /// The largest window that the receiver offered.
    widest: u64,
    /// How much more the receiver's kernel took than its program at the start: iperf3's cookie.
    unread_at_start: u64,
    /// Part of the receiver's samples that showed unread data, in percent.
    unread_percent: u64,
}

/// What the receiver's program did in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Prompt,
    Behind(Reason),
    NotKnown,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(view: &'a View<'a>, setting: &'a Setting<'a>) -> Self {
        let View { stream, start_end, writer } = view;
        let widest = stream.sent(Field::SndWnd).map_or(0, |window| window.max());
        let unread_at_start = stream
            .taken(Field::BytesReceived)
            .zip(stream.taken(Field::AppBytes))
            .map_or(0, |(kernel, program)| kernel.first().saturating_sub(program.first()).min(COOKIE));
        let times = KernelTimes::new(stream);
        let mut splitter =
            Self { stream, setting, start_end: *start_end, times, writer, widest, unread_at_start, unread_percent: 0 };
        splitter.unread_percent = splitter.unread_percent();
        splitter
    }

    /// Splits the step between two moments.
    pub(super) fn step(&mut self, (from, to): (i64, i64), phase: Phase) -> Split {
        let length = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let times = match &mut self.times {
            Some(times) => times.take((from, to)),
            None => Times { idle: 0, window: 0, buffer: 0, rest: length },
        };
        let reasons = self.reasons((from, to), phase);
        let amounts = [times.idle, times.window, times.buffer, times.rest];
        let mut parts = [(Reason::NotInSamples, 0); 4];
        for ((part, reason), amount) in parts.iter_mut().zip(reasons).zip(amounts) {
            *part = (reason, amount);
        }
        Split { parts, busy_us: length.saturating_sub(times.idle) }
    }

    /// A reason for each part of the step.
    fn reasons(&self, step: (i64, i64), phase: Phase) -> [Reason; 4] {
        let Some(sender) = &self.stream.sender else { return [self.without_sender(step); 4] };
        if self.setting.base_rtt.is_some_and(|rtt| i64::try_from(rtt).unwrap_or(i64::MAX) > self.setting.end) {
            return [Reason::ShorterThanRoundTrip; 4];
        }
        if self.is_over(step.0) {
            let reason = match self.reading(step) {
                Reading::Behind(reason) => reason,
                Reading::Prompt | Reading::NotKnown => Reason::AfterLastByte,
            };
            return [reason; 4];
        }
        if step.0 < self.start_end {
            return self.starting(step);
        }
        if sender.times().last().is_none_or(|last| *last <= step.0) {
            return [Reason::SampleGap; 4];
        }
        let still = sender.around(step.0).is_none_or(|(left, right)| right.saturating_sub(left) > self.setting.gap());
        let reading = self.reading(step);
        let window = match (reading, phase) {
            (Reading::Behind(reason), _) => reason,
            // Behind a hole the window does not move, however large it is.
            (_, Phase::Recovery) => Reason::Recovery,
            (Reading::Prompt, _) if self.setting.receiver_cpu == Processor::Exhausted => Reason::ReceiverCpu,
            (Reading::Prompt, _) => Reason::SmallWindow,
            (Reading::NotKnown, _) => Reason::ClockNotAligned,
        };
        let buffer = match (reading, phase) {
            // A receiver that has room for more takes what the buffer holds, whoever reads it when.
            (Reading::Behind(reason), _)
                if self.window_is_full(step.1) || self.is_silent(&self.round_trip(step.0..step.1)) =>
            {
                reason
            }
            (_, Phase::Recovery) => Reason::Recovery,
            _ if still => Reason::SenderStill,
            _ => Reason::FullSendBuffer,
        };
        let rest = match self.rest(step, phase, (still, reading)) {
            // The clock has the time in which a paced sender's program waited; what it writes when it is woken leaves at the pacing rate.
            Reason::SenderWaited | Reason::SenderCpu | Reason::NotSending
                if self.setting.pacing == Pacing::On && self.buffer_was_full(step) =>
            {
                Reason::Spread
            }
            // What is in flight is all that the buffer held.
            Reason::SenderWaited | Reason::SenderCpu if self.buffer_was_full(step) => buffer,
            // With all of a full buffer in flight no other window holds anything back.
            Reason::SenderWaited | Reason::SenderCpu | Reason::AskedRate | Reason::FullCongestionWindow
                if self.setting.pacing == Pacing::NotKnown && self.writer.waits(step.1) =>
            {
                buffer
            }
            other => other,
        };
        [self.waiting(still), window, buffer, rest]
    }

    /// Whether the send buffer was full within a round trip of the step. The kernel begins to count when it sends the last of
    /// it and a program waits, and not if the program comes to wait after that (net/ipv4/tcp_output.c of 6.18,
    /// `tcp_cwnd_validate`), so of a buffer that is full for long it counts a part.
    fn buffer_was_full(&self, (from, to): (i64, i64)) -> bool {
        let around = i64::try_from(self.setting.base_rtt.unwrap_or(0)).unwrap_or(0);
        let clock = self.stream.sent(Field::SndbufLimited);
        clock.is_some_and(|clock| clock.growth(from.saturating_sub(around), to.saturating_add(around)) > 0)
    }

    /// Of a receiver's word alone.
    fn without_sender(&self, step: (i64, i64)) -> Reason {
        match self.reading(step) {
            Reading::Behind(reason) => reason,
            _ if self.stream.receiver.is_none() => Reason::NoSamples,
            _ => Reason::NoSenderSamples,
        }
    }

    fn starting(&self, (from, to): (i64, i64)) -> [Reason; 4] {
        let silent = self.stream.delivered().is_none_or(|delivered| delivered.growth(0, to) == 0);
        let growing = if silent { Reason::FirstBytes } else { Reason::SlowStart };
        let idle = if silent { growing } else { self.waiting(false) };
        let ended = self.program_ended(from);
        [if ended { Reason::Draining } else { idle }, Reason::WindowOpening, growing, growing]
    }

    /// Nothing was outstanding.
    fn waiting(&self, still: bool) -> Reason {
        match self.setting.spec.rate {
            _ if still => Reason::SenderStill,
            Some(_) => Reason::AskedRate,
            None if self.setting.sender_cpu == Processor::Exhausted => Reason::SenderCpu,
            None => Reason::SenderWaited,
        }
    }

    /// Data was outstanding, and the kernel counted neither window nor buffer.
    fn rest(&self, (from, to): (i64, i64), phase: Phase, (still, reading): (bool, Reading)) -> Reason {
        if let Reading::Behind(reason) = reading
            && self.is_silent(&self.round_trip(from..to))
        {
            return reason;
        }
        match phase {
            Phase::Recovery => return Reason::Recovery,
            Phase::Aftermath => return Reason::Aftermath,
            Phase::Clear if still => return Reason::SampleGap,
            Phase::Clear => {}
        }
        if let Some(reason) = self.paced(to) {
            return reason;
        }
        let state = |field| self.stream.sent(field).map(|curve| curve.state(to));
        let (outstanding, cwnd) = (state(Field::Unacked), state(Field::SndCwnd));
        let (waiting, segment) = (state(Field::Notsent), state(Field::SndMss).unwrap_or(0));
        let cwnd_full =
            cwnd.zip(outstanding).is_some_and(|(cwnd, outstanding)| Fill { used: outstanding, limit: cwnd }.is_full());
        if self.window_is_full(to) && !cwnd_full {
            return self.nearly_full(reading);
        }
        if cwnd_full {
            return Reason::FullCongestionWindow;
        }
        // What does not fill a segment waits for the rest of it (Nagle, RFC 9293 section 3.7.4), or for an acknowledgment.
        if waiting.is_some_and(|unsent| unsent < segment.max(1)) {
            return if self.program_ended(to) { Reason::Draining } else { self.waiting(false) };
        }
        match (self.setting.sender_cpu, self.setting.receiver_cpu) {
            (Processor::Exhausted, _) => Reason::SenderCpu,
            (_, Processor::Exhausted) => Reason::ReceiverCpu,
            _ if self.host_is_full(to) => Reason::HostQueue,
            _ if self.times.is_none() => Reason::NoKernelTimes,
            _ if self.setting.pacing == Pacing::On => Reason::Spread,
            _ => Reason::NotSending,
        }
    }

    /// Whether the window that the receiver offers takes no other burst.
    fn window_is_full(&self, at: i64) -> bool {
        let state = |field| self.stream.sent(field).map(|curve| curve.state(at));
        let segment = state(Field::SndMss).unwrap_or(0);
        state(Field::SndWnd).zip(state(Field::Unacked)).is_some_and(|(window, outstanding)| {
            segment > 0 && Fill { used: outstanding.saturating_add(1).saturating_mul(segment), limit: window }.is_full()
        })
    }

    /// Whether the qdisc or NIC of the sending host had so much of the stream that TCP small queues let it have no more. Without pacing nothing
    /// else holds back what is ready, so any packet there shows it (net/ipv4/tcp_output.c, `tcp_small_queue_check`).
    fn host_is_full(&self, at: i64) -> bool {
        let state = |field| self.stream.sent(field).map(|curve| curve.state(at));
        let pacing_tick = || state(Field::PacingRate).unwrap_or(0) / SMALL_QUEUE_PART;
        let least = match self.setting.pacing {
            Pacing::NotKnown => state(Field::SndMss).unwrap_or(0),
            Pacing::On => pacing_tick().min(SMALL_QUEUE).max(state(Field::SndMss).unwrap_or(0).saturating_mul(2)),
        };
        state(Field::WmemAlloc).is_some_and(|below| below > least)
    }

    /// A step, and as much time before it as an acknowledgment takes.
    fn round_trip(&self, step: Range<i64>) -> Range<i64> {
        let rtt = i64::try_from(self.setting.base_rtt.unwrap_or(0)).unwrap_or(0);
        step.start.min(step.end.saturating_sub(rtt.saturating_mul(2)))..step.end
    }

    /// Whether nothing was acknowledged in a step.
    fn is_silent(&self, step: &Range<i64>) -> bool {
        self.stream.sent(Field::BytesAcked).is_some_and(|acked| acked.growth(step.start, step.end) == 0)
    }

    fn nearly_full(&self, reading: Reading) -> Reason {
        match reading {
            Reading::Behind(reason) => reason,
            _ => Reason::NearlyFullWindow,
        }
    }

    /// Who asked for the rate that the kernel paces at, where it is at that cap. A program that is no test may send less than it has its
    /// kernel pace, so of one data must wait.
    fn paced(&self, at: i64) -> Option<Reason> {
        let state = |field| self.stream.sent(field).map(|curve| curve.state(at));
        let (cap, rate) = state(Field::MaxPacingRate).zip(state(Field::PacingRate))?;
        let is_at_cap = cap < NO_PACING_LIMIT && u128::from(rate) * 100 >= u128::from(cap) * 98;
        if self.setting.spec.pace.is_some() {
            return is_at_cap.then_some(Reason::AskedPace);
        }
        let has_unsent = state(Field::Notsent).zip(state(Field::SndMss)).is_some_and(|(unsent, mss)| unsent >= mss);
        (is_at_cap && has_unsent).then_some(Reason::SocketPace)
    }

    /// Whether all data had been acknowledged for good.
    fn is_over(&self, at: i64) -> bool {
        let acknowledged = self
            .stream
            .sent(Field::BytesAcked)
            .is_some_and(|acked| acked.state(at) == acked.last() && acked.last() > 0);
        acknowledged && self.program_ended(at) && self.stream.sent(Field::Unacked).is_none_or(|now| now.state(at) == 0)
    }

    /// Whether the sending program had handed over its last byte.
    fn program_ended(&self, at: i64) -> bool {
        let is_last = |bytes: Curve<'_>| bytes.state(at) == bytes.last() && bytes.last() > 0;
        self.stream.sent(Field::AppBytes).is_some_and(is_last) && !self.would_write(at)
    }

    /// Whether a test that lasts for a time waits for room in its send buffer: it would write until the time is up, though by then nothing
    /// more may have found room.
    fn would_write(&self, at: i64) -> bool {
        let Limit::Time(time) = self.setting.spec.limit else { return false };
        i64::try_from(time.as_micros()).is_ok_and(|end| at < end) && self.writer.waits(at)
    }

    /// What the receiving program did in a step.
    fn reading(&self, (from, to): (i64, i64)) -> Reading {
        let Some(receiver) = &self.stream.receiver else { return self.reading_by_window(to) };
        if self.setting.clocks == Clocks::Unrelated && self.stream.sender.is_some() {
            return match self.unread_percent {
                0..=10 => Reading::Prompt,
                50.. => Reading::Behind(Reason::Unread),
                _ => Reading::NotKnown,
            };
        }
        let still = receiver.around(from).is_some_and(|(left, right)| right.saturating_sub(left) > self.setting.gap());
        if still {
            return Reading::Behind(Reason::ReceiverStill);
        }
        if self.is_behind((from, to)) { Reading::Behind(Reason::Unread) } else { Reading::Prompt }
    }

    /// A sender alone knows a receiver that does not read by the window that it closes.
    fn reading_by_window(&self, at: i64) -> Reading {
        let window = self.stream.sent(Field::SndWnd).map(|window| window.state(at));
        match window {
            Some(window) if window < self.widest / 8 => Reading::Behind(Reason::WindowClosed),
            _ => Reading::Prompt,
        }
    }

    /// Whether the program did not even take, throughout the step, what lay there at its start.
    fn is_behind(&self, (from, to): (i64, i64)) -> bool {
        let counts = self.stream.taken(Field::BytesReceived).zip(self.stream.taken(Field::AppBytes));
        counts.is_some_and(|(kernel, program)| {
            let unread = kernel.count(from).saturating_sub(program.count(from)).saturating_sub(self.unread_at_start);
            unread > SMALL_UNREAD && program.growth(from, to) < unread
        })
    }

    fn unread_percent(&self) -> u64 {
        let Some(receiver) = &self.stream.receiver else { return 0 };
        let steps = || receiver.times().windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
        (steps().filter(|step| self.is_behind(*step)).count() as u64 * 100)
            .checked_div(steps().count() as u64)
            .unwrap_or(0)
    }
}

/// Of a connection's pacing rate as much as passes in 1/1024 s may lie below TCP (`sk_pacing_shift`).
const SMALL_QUEUE_PART: u64 = 1_024;
/// And never more than this (`tcp_limit_output_bytes` up to Linux 6.5).
const SMALL_QUEUE: u64 = 1 << 20;
/// iperf3's cookie, which comes before the payload, is this long; so are others in its place.
const COOKIE: u64 = 64;
/// Less than one receive of 64 KiB may lie there at any moment.
const SMALL_UNREAD: u64 = 65_536;
