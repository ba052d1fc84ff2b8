//! An acknowledgment of the data of a direction.

use super::event::{Event, EventType};
use super::floor::RoundSeen;
use super::losses::Pass;
use super::{Direction, Piece, PieceState};
use crate::decode::{Segment, flag};

/// Acknowledgments that the sender has not heard yet, at most.
const MAX_LATE: usize = 1 << 16;
/// A busy host runs a writer so much later than the acknowledgment that woke it. Longer, and bursts of an application over 20 ms were at one level.
const TRAIN_NS: i64 = 500_000;
/// A number further ahead than any window allows is damage.
const MAX_JUMP: u64 = 1 << 30;
/// An RTT above the one before by so much, and by half of the least one, is a spike: no queue grows as fast.
const SPIKE_NS: i64 = 100_000_000;

/// What an acknowledgment brings that the caller has read from its segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledgment<'a> {
    pub(crate) segment: &'a Segment,
    /// The receiver sent no data with it.
    pub(crate) is_pure: bool,
}

/// What the pieces that were acknowledged say.
#[derive(Debug, Clone, Copy, Default)]
struct News {
    newest_ns: Option<i64>,
    oldest_ns: Option<i64>,
    retransmitted: bool,
}

impl Piece {
    /// That it has arrived, sent once; no RTT is known.
    fn passed(&self) -> Pass {
        let stamp = Some(self.tsval).filter(|tsval| *tsval != 0);
        Pass { sent_ns: self.first_ns, sent_before: self.sent_before, rtt_ns: None, stamp }
    }

    /// That a retransmission of it has arrived; of when, nothing is known.
    fn repaired(&self) -> Pass {
        Pass { sent_ns: self.last_ns, rtt_ns: None, ..self.passed() }
    }
}

impl Direction {
    /// A segment of the other direction acknowledges data of this one.
    pub(crate) fn acknowledged(&mut self, acknowledgment: Acknowledgment) {
        let segment = acknowledgment.segment;
        if !self.numbers.has_started {
            self.start(segment.ack);
        }
        let time_ns = segment.time_ns;
        let ack = self.unwrap(segment.ack);
        if ack > self.numbers.next + MAX_JUMP || self.numbers.una > ack + MAX_JUMP {
            return;
        }
        self.sender_hears(time_ns);
        let window = self.read_window(segment);
        let right = ack + window;
        if self.outstanding() > 0 && (ack > self.numbers.una || right > self.window.right || !self.sacked.is_empty()) {
            self.own(time_ns, None);
        }
        self.counts.acks += 1;
        self.recent.is_asked |= !acknowledgment.is_pure;
        if segment.has(flag::ECE) && !segment.has(flag::SYN) {
            self.note_mark(ack);
        }
        let highest = self.sacked.end();
        if ack > self.numbers.next {
            self.counts.unseen_bytes += ack - self.numbers.next;
            self.numbers.next = ack;
        }
        self.selective(segment, ack);
        if ack > self.numbers.una {
            self.advance(ack, time_ns, highest);
        } else if ack == self.numbers.una && acknowledgment.is_pure && self.numbers.next > ack {
            self.note_duplicate(segment, right);
        }
        self.keep_window(time_ns, ack, window, right);
        let flight = if self.series.is_some() { self.flight() } else { 0 };
        if let Some(series) = &mut self.series {
            let first = self.numbers.first;
            series.acknowledged(time_ns, self.numbers.una - first, right.saturating_sub(first), flight);
        }
        (self.recent.ack_ns, self.recent.ack_frame) = (time_ns, segment.frame);
    }

    fn read_window(&mut self, segment: &Segment) -> u64 {
        let field = u64::from(segment.window);
        if segment.has(flag::SYN) {
            return field;
        }
        match self.window.scale {
            Some(scale) => field << scale,
            // Without the handshake: the smallest scale with which nothing was sent beyond the window.
            None => {
                while self.window.guess < 14 && self.outstanding() > field << self.window.guess && field > 0 {
                    self.window.guess += 1;
                }
                field << self.window.guess
            }
        }
    }

    fn keep_window(&mut self, time_ns: i64, ack: u64, window: u64, right: u64) {
        if window == 0 && self.window.last > 0 {
            self.counts.zero_windows += 1;
        }
        self.window.last = window;
        self.window.max = self.window.max.max(window);
        self.window.min = Some(self.window.min.map_or(window, |least| least.min(window)));
        self.window.right = self.window.right.max(right);
        let una = self.numbers.una.max(ack);
        if self.sender_lag_ns == 0 {
            self.numbers.sender_una = self.numbers.sender_una.max(una);
            self.window.sender_right = self.window.sender_right.max(right);
            self.note_room();
            self.hears(time_ns);
        } else if self.window.late.len() < MAX_LATE {
            // What comes back has waited in the queues of the path: as long as the last time stamps did.
            let lag_ns = if self.lag.samples > 0 { self.lag.smoothed_ns } else { self.sender_lag_ns };
            self.window.late.push_back((time_ns + lag_ns.max(self.sender_lag_ns), una, right));
        }
    }

    /// The sender hears an acknowledgment.
    #[inline]
    fn hears(&mut self, at_ns: i64) {
        self.clock.heard(at_ns - self.recent.heard_ns);
        self.recent.heard_ns = at_ns;
        self.recent.heard = self.recent.heard.saturating_add(1);
        if self.window.last > 0 && self.has_window() {
            self.recent.roomy = self.recent.roomy.saturating_add(1);
        }
    }

    /// The way to the sender is shorter by this than it seemed: what is under way is there sooner, and no sooner than what was before it.
    pub(crate) fn hears_sooner(&mut self, by_ns: i64) {
        let heard_ns = self.recent.heard_ns;
        for (at_ns, ..) in &mut self.window.late {
            *at_ns = at_ns.saturating_sub(by_ns).max(heard_ns);
        }
    }

    /// What the sender has heard by now.
    #[inline]
    pub(super) fn sender_hears(&mut self, time_ns: i64) {
        while let Some((at_ns, una, right)) = self.window.late.front().copied()
            && at_ns <= time_ns
        {
            // Until then the sender did not know of it.
            if self.outstanding() > 0 {
                self.own(at_ns, None);
            }
            self.window.late.pop_front();
            self.hears(at_ns);
            self.numbers.sender_una = self.numbers.sender_una.max(una);
            self.note_round(una);
            self.window.sender_right = self.window.sender_right.max(right);
        }
    }

    /// The receiver reports a mark. A sender reduces its window for the first of an RTT (RFC 3168 section 6.1.2).
    fn note_mark(&mut self, ack: u64) {
        self.counts.ece_acks += 1;
        if ack >= self.numbers.marked_until {
            self.numbers.marked_until = self.numbers.next + 1;
            self.counts.mark_reductions += 1;
            self.rounds.reduced();
            self.restart_clocks();
        }
    }

    /// The sender has heard that everything before `acked` has arrived.
    #[inline]
    fn note_round(&mut self, acked: u64) {
        let packet = u64::from(self.counts.largest_payload.max(2 * self.mss()));
        let flight = self.rounds.recent_peak();
        if self.rounds.acknowledged(acked, self.numbers.next, packet) {
            self.clock.round(self.rounds.plateau_rounds());
            if self.rounds.is_growing() {
                // The congestion window limits, and grows.
                self.wakes.restart();
                self.refills.restart();
            }
            self.wakes.round();
            if self.rounds.plateau_rounds() == 0 {
                self.recall.start_plateau(self.span.owned_until_ns);
            }
            let at_sender = self.rtt.end_round();
            let at_receiver = self.lag.end_round();
            let least = if self.sender_lag_ns > self.rtt.min_ns { at_receiver } else { at_sender };
            if let Some(least_rtt_ns) = least {
                let (at_ns, frame) = (self.recent.ack_ns, self.recent.ack_frame);
                self.floor.take(RoundSeen { at_ns, frame, least_rtt_ns, flight });
            }
        }
    }

    fn note_duplicate(&mut self, segment: &Segment, right: u64) {
        if segment.payload == 0 && right <= self.window.right {
            self.counts.duplicate_acks += 1;
            self.recent.duplicate_acks += 1;
        }
    }

    /// Everything below `ack` has arrived. Before, what was selectively acknowledged ended with `highest`.
    fn advance(&mut self, ack: u64, time_ns: i64, highest: Option<u64>) {
        let advanced = ack - self.numbers.una;
        self.recent.before_ack = self.numbers.next.saturating_sub(self.numbers.una);
        if time_ns - self.recent.train_ns > TRAIN_NS {
            (self.recent.train_ns, self.recent.before_train) = (time_ns, self.recent.before_ack);
        }
        let mut news = News::default();
        while let Some(piece) = self.pieces.front().copied()
            && piece.to() <= ack
        {
            self.pieces.pop_front();
            match piece.state {
                PieceState::Unseen => self.counts.unseen_bytes += u64::from(piece.bytes),
                PieceState::Sacked => {}
                PieceState::Sent if piece.times > 1 => {
                    news.retransmitted = true;
                    self.losses.passed(piece.repaired());
                }
                PieceState::Sent => {
                    news.oldest_ns = news.oldest_ns.or(Some(piece.first_ns));
                    news.newest_ns = Some(piece.first_ns);
                    self.counts.largest_passed = self.counts.largest_passed.max(piece.bytes);
                    // Behind a hole, it waited for what filled the hole: its time is no RTT.
                    let rtt_ns = highest.is_none().then_some(time_ns - piece.first_ns);
                    self.losses.passed(Pass { rtt_ns, ..piece.passed() });
                    // A super-packet of which one SACK after the other told a part is no hole.
                    if highest.is_some_and(|highest| piece.to() <= highest)
                        && !self.sacked.contains(piece.from..piece.to())
                    {
                        // A hole was filled, and nothing had been retransmitted.
                        self.counts.reordered += 1;
                    }
                }
            }
        }
        if let Some(piece) = self.pieces.front_mut()
            && piece.from < ack
        {
            piece.bytes = u32::try_from(piece.to() - ack).unwrap_or(u32::MAX);
            piece.from = ack;
        }
        self.numbers.una = ack;
        self.sacked.remove_below(ack);
        self.resent.remove_below(ack);
        self.recent.duplicate_acks = 0;
        if let Some(newest_ns) = news.newest_ns.filter(|_| !news.retransmitted && highest.is_none()) {
            self.take_rtt(time_ns - newest_ns, time_ns);
        }
        self.note_thinning(advanced, time_ns, &news);
        self.span.last_progress_ns = time_ns;
        self.recent.ack_advance_ns = time_ns;
        if self.sender_lag_ns == 0 {
            self.note_round(ack);
        }
        if let Some(recovery) = self.recovery
            && ack >= recovery.point
        {
            self.recovery = None;
            self.events.close(recovery.event, time_ns);
            // What was in flight before is no measure of the reduced window: the sender lets it drain on purpose.
            self.rounds.restart();
        }
    }

    fn take_rtt(&mut self, sample_ns: i64, time_ns: i64) {
        let had_samples = self.rtt.samples >= 8;
        let jump_ns = sample_ns - self.rtt.last_ns;
        self.rtt.take(sample_ns);
        if !self.cost.has_started() {
            let rtt_ns = self.path_rtt_ns();
            self.cost.start(time_ns, self.delivered(), rtt_ns);
        }
        if had_samples && jump_ns > SPIKE_NS.max(self.rtt.min_ns / 2) {
            self.counts.delay_spikes += 1;
        }
        if let Some(series) = &mut self.series {
            series.rtt(time_ns, sample_ns + self.sender_lag_ns);
        }
    }

    fn note_thinning(&mut self, advanced: u64, time_ns: i64, news: &News) {
        if advanced > 4 * u64::from(self.mss()) {
            self.counts.stretch_acks += 1;
        }
        if let (Some(oldest_ns), Some(newest_ns)) = (news.oldest_ns, news.newest_ns) {
            let (sent_ns, gap_ns) = (newest_ns - oldest_ns, time_ns - self.recent.ack_advance_ns);
            if sent_ns > 1_000_000 && gap_ns < sent_ns / 4 {
                self.counts.compressed_acks += 1;
            }
        }
        self.counts.advances += 1;
    }

    /// SACK blocks (RFC 2018), the first of which may be a DSACK (RFC 2883).
    fn selective(&mut self, segment: &Segment, ack: u64) {
        let blocks = segment.options.sack.as_slice();
        let Some(first) = blocks.first().copied() else { return };
        let unwrapped = (self.unwrap(first.0), self.unwrap(first.1));
        // Against the number of the packet itself: an acknowledgment that was overtaken says what was true when it left.
        let is_below = unwrapped.1 <= ack;
        let is_within = blocks.get(1).is_some_and(|second| {
            let second = (self.unwrap(second.0), self.unwrap(second.1));
            second.0 <= unwrapped.0 && unwrapped.1 <= second.1
        });
        let is_duplicate = unwrapped.0 < unwrapped.1 && (is_below || is_within);
        if is_duplicate {
            self.counts.dsacks += 1;
            let left_ns = segment.time_ns - self.rtt.smoothed_ns.max(self.rtt.min_ns);
            for retransmitted_ns in self.losses.arrived_twice(unwrapped.0..unwrapped.1, left_ns) {
                self.counts.spurious += 1;
                self.events.spurious(retransmitted_ns);
            }
        }
        if self.recent.sack == Some(first) && self.recent.ack_number == segment.ack && !is_duplicate {
            return;
        }
        (self.recent.sack, self.recent.ack_number) = (Some(first), segment.ack);
        for block in blocks.iter().skip(usize::from(is_duplicate)) {
            let (from, to) = (self.unwrap(block.0), self.unwrap(block.1));
            if self.numbers.una < to && ack <= from && from < to && to <= self.numbers.next + MAX_JUMP {
                self.mark(segment, from.max(self.numbers.una), to);
            }
        }
    }

    fn mark(&mut self, segment: &Segment, from: u64, to: u64) {
        if to > self.numbers.next {
            self.hole(segment, to);
        }
        let highest = self.sacked.end().unwrap_or_default();
        let Self { sacked, resent, pieces, counts, losses, .. } = self;
        let mut sample_ns = None;
        sacked.add(from, to, |from, to| {
            resent.remove(from, to);
            let mut index = pieces.partition_point(|piece| piece.from < from);
            while let Some(piece) = pieces.get_mut(index)
                && piece.to() <= to
            {
                match piece.state {
                    PieceState::Unseen => counts.unseen_bytes += u64::from(piece.bytes),
                    PieceState::Sent if piece.times == 1 => {
                        if piece.to() <= highest {
                            counts.reordered += 1;
                        } else {
                            sample_ns = Some(segment.time_ns - piece.first_ns);
                        }
                        let rtt_ns = Some(segment.time_ns - piece.first_ns).filter(|_| piece.to() > highest);
                        losses.passed(Pass { rtt_ns, ..piece.passed() });
                    }
                    PieceState::Sent => losses.passed(piece.repaired()),
                    PieceState::Sacked => {}
                }
                piece.state = PieceState::Sacked;
                index += 1;
            }
        });
        if let Some(sample_ns) = sample_ns {
            self.take_rtt(sample_ns, segment.time_ns);
        }
        self.span.last_progress_ns = segment.time_ns;
        if let Some(series) = &mut self.series {
            let first = self.numbers.first;
            series.sacked(segment.time_ns, from.saturating_sub(first), to.saturating_sub(first));
        }
    }

    /// RTTs have risen far above the least without the flight having grown.
    pub(crate) fn note_spike(&mut self, segment: &Segment, before: u64) {
        if self.counts.delay_spikes == before {
            return;
        }
        let from_ns = segment.time_ns - self.rtt.last_ns;
        let is_same = self.events.list.last().is_some_and(|last| from_ns <= last.to_ns);
        if is_same {
            return;
        }
        let held_ns = self.rtt.last_ns - self.rtt.smoothed_before_ns.max(self.rtt.min_ns);
        // What is retransmitted meanwhile answers for the time by itself.
        let cost_ns = if self.recovery.is_none() { held_ns.max(0) } else { 0 };
        #[expect(clippy::cast_precision_loss, reason = "a cost is an estimate")]
        self.events.add(Event {
            queue_ns: self.rtt.last_ns - self.rtt.min_ns,
            flight: self.outstanding(),
            cost_bytes: self.cost.missed_in(cost_ns),
            cost_ns: cost_ns as f64,
            ..Event::new(EventType::DelaySpike, from_ns, segment)
        });
    }
}
