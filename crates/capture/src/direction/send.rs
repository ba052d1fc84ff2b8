//! A segment with data.

use std::ops::Range;

use super::clock::Since;
use super::event::{Event, EventType};
use super::losses::Loss;
use super::owner::Owner;
use super::paced::PacedPacket;
use super::{Direction, MAX_PIECES, Piece, PieceState, Recovery};
use crate::decode::{Segment, flag};

/// Linux's least retransmission timeout, less what a timer may be early.
const MIN_TIMEOUT_NS: i64 = 190_000_000;
/// A sender that pauses for less is not worth an event.
const MIN_PAUSE_NS: i64 = 100_000_000;
/// A number further ahead than any window allows (RFC 7323 §2.3) is damage.
const MAX_JUMP: u64 = 1 << 30;

/// Pieces that are moved for one that is cut, at most: more would cost time that whoever writes a file can choose.
const MAX_CUT_DEPTH: usize = 4_096;

/// How a segment that fills something below the highest number came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lateness {
    Retransmitted,
    /// Sent once, and overtaken before the capture.
    Reordered,
}

/// What was sent in vain before a retransmission.
#[derive(Debug, Clone, Copy)]
struct Lost {
    sent_ns: i64,
    sent_before: u64,
    was_unseen: bool,
}

impl Direction {
    /// A segment with data of this direction.
    pub(crate) fn sent(&mut self, segment: &Segment) {
        let time_ns = segment.time_ns;
        if !self.numbers.has_started {
            self.start(segment.seq);
        }
        let from = self.unwrap(segment.seq);
        let to = from + u64::from(segment.payload);
        if from > self.numbers.next + MAX_JUMP || self.numbers.next > from + MAX_JUMP {
            return;
        }
        self.sender_hears(time_ns);
        if segment.payload == 1 && to == self.numbers.next && self.outstanding() == 0 {
            // A byte that was acknowledged long ago asks whether the peer is still there.
            self.counts.keep_alives += 1;
            return;
        }
        if self.counts.data_packets == 0 {
            (self.span.first_data_ns, self.span.owned_until_ns) = (time_ns, time_ns);
            if let Some(series) = &mut self.series {
                series.start(time_ns);
            }
        }
        let mss = self.mss();
        // Most are full: no division for them.
        let segments = if segment.payload <= mss { 1 } else { u64::from(segment.payload.div_ceil(mss)) };
        if from < self.numbers.next {
            self.late(segment, from, to.min(self.numbers.next));
        } else {
            let has_waited = self.has_waited(segment);
            let held_ns = if has_waited { time_ns - self.recent.data_ns } else { 0 };
            self.recent.held_ns = u32::try_from(held_ns).unwrap_or(u32::MAX);
            if !has_waited {
                self.note_pause(segment);
            }
            self.own(time_ns, None);
        }
        // What a qdisc lets go is no burst of a writer, whatever its distances are.
        if to > self.numbers.next && self.recovery.is_none() && self.recent.held_ns == 0 {
            let since = self.since(time_ns);
            let bytes = to - from.max(self.numbers.next);
            self.note_frame(time_ns, bytes);
            if self.outstanding() > 0 {
                self.clock.sent(since, segments);
                self.note_burst(time_ns, since, bytes);
            }
            if self.counts.data_packets > 0 {
                self.note_refill(time_ns, since, bytes);
            }
        }
        if to > self.numbers.next {
            self.new_data(segment, from.max(self.numbers.next), from, to);
        }
        self.count(segment, mss, segments);
        self.recent.wire_bytes += u64::from(segment.payload);
        self.recent.data_ns = time_ns;
        self.recent.behind_data = self.outstanding();
        (self.recent.heard, self.recent.roomy, self.recent.is_asked) = (0, 0, false);
        self.note_filled();
        self.recent.ended_short = segment.payload != mss && !segment.payload.is_multiple_of(self.mss());
        self.span.last_data_ns = time_ns;
        let flight = self.flight();
        self.counts.max_flight = self.counts.max_flight.max(flight);
        self.rounds.flight(flight);
        if let Some(series) = &mut self.series {
            series.sent(time_ns, from - self.numbers.first.min(from), to.saturating_sub(self.numbers.first), flight);
        }
    }

    /// Packets of new data are frames of a pacing rate, or not, as the sender's own end sees them.
    fn note_frame(&mut self, at_ns: i64, bytes: u64) {
        if self.sender_lag_ns > 0 || self.counts.data_packets == 0 {
            return;
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let (before_ns, mss, rtt_ns) = (self.recent.data_ns, self.mss(), self.path_rtt_ns());
        self.frames.get_or_insert_default().take(PacedPacket { at_ns, before_ns, bytes, mss, rtt_ns });
    }

    /// Whether new data was waiting in the sending host since what was sent before it left.
    fn has_waited(&mut self, segment: &Segment) -> bool {
        let stamps = segment.options.timestamps.filter(|_| self.sender_lag_ns == 0);
        stamps.is_some_and(|(stamp, _)| self.waited.take(stamp, self.recent.data_ns..segment.time_ns))
            && self.counts.data_packets > 0
    }

    /// The owner of the time up to a packet, where packets wait in the sending host: what stands there is a queue, of the first bottleneck. What
    /// comes between two packets of the queue changes nothing, until none has followed for twice as long as before.
    fn holder(&self, time_ns: i64) -> Option<Owner> {
        if self.recent.held_ns == 0 || time_ns - self.recent.data_ns > 2 * i64::from(self.recent.held_ns) {
            return None;
        }
        // Whoever has no more to write meanwhile, and whatever buffer is full of what stands there: the queue is what limits.
        let has_nothing =
            |owner| matches!(owner, Owner::Application | Owner::ApplicationOrSendBuffer | Owner::SendBuffer);
        has_nothing(self.owner_before(time_ns)).then_some(Owner::CongestionWindow)
    }

    /// What the sender did and heard last. At the receiver's end it hears an acknowledgment when a time stamp would be back:
    /// right to what these differ by.
    fn since(&self, time_ns: i64) -> Since {
        let data_ns = time_ns - self.recent.data_ns;
        if self.sender_lag_ns == 0 {
            return Since {
                data_ns,
                ack_ns: time_ns - self.recent.heard_ns,
                doubt_ns: 0,
                has_drained: self.has_quarter_drained(),
                acks: self.recent.heard,
            };
        }
        let doubt_ns = (self.lag.smoothed_ns - self.lag.min_ns).max(self.lag.variation_ns);
        let hears_now = self.window.late.front().is_some_and(|late| late.0 <= time_ns + doubt_ns);
        let ack_ns = if hears_now { 0 } else { time_ns - self.recent.heard_ns };
        Since { data_ns, ack_ns, doubt_ns, has_drained: false, acks: self.recent.heard }
    }

    fn count(&mut self, segment: &Segment, mss: u32, segments: u64) {
        let counts = &mut self.counts;
        if counts.mss == 0 {
            counts.usual.take(segment.payload);
        }
        counts.data_packets += 1;
        counts.payload_bytes += u64::from(segment.payload);
        counts.segments += segments;
        counts.largest_payload = counts.largest_payload.max(segment.payload);
        if segment.payload > mss {
            counts.super_packets += 1;
        }
        self.outstanding_total += u128::from(self.numbers.next.saturating_sub(self.numbers.sender_una));
        self.max_outstanding = self.max_outstanding.max(self.numbers.next.saturating_sub(self.numbers.sender_una));
    }

    fn new_data(&mut self, segment: &Segment, from: u64, stated_from: u64, to: u64) {
        if stated_from > self.numbers.next {
            self.hole(segment, stated_from);
        }
        self.append(segment, from.max(stated_from)..to, PieceState::Sent);
    }

    /// Bytes before `to` were not captured: they come later, or never.
    pub(super) fn hole(&mut self, segment: &Segment, to: u64) {
        self.append(segment, self.numbers.next..to, PieceState::Unseen);
    }

    /// The piece behind the last one, as of the time of a segment.
    fn append(&mut self, segment: &Segment, bytes: Range<u64>, state: PieceState) {
        // What was lost before the capture belongs to the burst before it rather than to the one that shows the hole.
        let is_unseen = state == PieceState::Unseen && self.recent.data_ns > 0;
        let last_ns = if is_unseen { self.recent.data_ns } else { segment.time_ns };
        self.push(Piece {
            from: bytes.start,
            bytes: u32::try_from(bytes.end - bytes.start).unwrap_or(u32::MAX),
            tsval: segment.options.timestamps.map_or(0, |stamps| stamps.0),
            first_ns: segment.time_ns,
            last_ns,
            sent_before: self.recent.wire_bytes,
            times: u16::from(state == PieceState::Sent),
            ip_id: segment.ip_id,
            state,
        });
        self.numbers.next = bytes.end;
    }

    fn push(&mut self, piece: Piece) {
        if self.pieces.len() >= MAX_PIECES {
            // Acknowledgments were not captured: the oldest are given up.
            self.pieces.pop_front();
        }
        self.pieces.push_back(piece);
    }

    /// A segment below the highest number.
    fn late(&mut self, segment: &Segment, from: u64, to: u64) {
        let first = self.pieces.partition_point(|piece| piece.to() <= from);
        let fills =
            self.pieces.get(first).filter(|piece| piece.state == PieceState::Unseen && piece.from < to).copied();
        let Some(hole) = fills else {
            self.retransmitted(segment, from, to, first);
            return;
        };
        let lateness = self.lateness(segment, &hole);
        self.own(segment.time_ns, None);
        self.fill(first, segment, from, to.min(hole.to()));
        match lateness {
            Lateness::Reordered => self.counts.reordered += 1,
            Lateness::Retransmitted => {
                // The first copy was lost before the capture.
                self.enter_recovery(segment, EventType::Recovery);
                self.note_retransmit(
                    segment,
                    from,
                    to,
                    Lost { sent_ns: hole.last_ns, sent_before: hole.sent_before, was_unseen: true },
                );
            }
        }
    }

    /// Whether a hole is filled by what was overtaken, or by a second copy: the sender counts packets (IP ID) and time.
    fn lateness(&self, segment: &Segment, hole: &Piece) -> Lateness {
        if segment.ip_id != 0 && hole.ip_id != 0 {
            let distance = segment.ip_id.wrapping_sub(hole.ip_id).cast_signed();
            return if distance < 0 { Lateness::Reordered } else { Lateness::Retransmitted };
        }
        let stamps = segment.options.timestamps.filter(|_| hole.tsval != 0);
        match stamps.map(|stamps| stamps.0.wrapping_sub(hole.tsval).cast_signed()) {
            Some(..0) => return Lateness::Reordered,
            Some(10..) => return Lateness::Retransmitted,
            _ => {}
        }
        let half_rtt_ns = (self.path_rtt_ns() / 2).max(3_000_000);
        if segment.time_ns - hole.first_ns < half_rtt_ns { Lateness::Reordered } else { Lateness::Retransmitted }
    }

    /// Puts a segment into the hole at `index`.
    fn fill(&mut self, index: usize, segment: &Segment, from: u64, to: u64) {
        let Some(hole) = self.pieces.get_mut(index) else { return };
        let whole = *hole;
        let (from, to) = (from.max(whole.from), to.min(whole.to()));
        let piece = |from: u64, to: u64, model: Piece| Piece {
            from,
            bytes: u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX),
            ..model
        };
        // Times of 2: it gives no RTT, as nobody saw when it was sent first.
        let filled = Piece {
            state: PieceState::Sent,
            times: 2,
            tsval: segment.options.timestamps.map_or(0, |stamps| stamps.0),
            last_ns: segment.time_ns,
            sent_before: self.recent.wire_bytes,
            ..whole
        };
        *hole = piece(from, to, filled);
        if to < whole.to() {
            self.pieces.insert(index + 1, piece(to, whole.to(), whole));
        }
        if whole.from < from {
            self.pieces.insert(index, piece(whole.from, from, whole));
        }
    }

    fn retransmitted(&mut self, segment: &Segment, from: u64, to: u64, first: usize) {
        let time_ns = segment.time_ns;
        let silent_ns = time_ns - self.recent.data_ns.max(self.recent.ack_advance_ns);
        let is_head = from <= self.numbers.sender_una.max(self.numbers.una);
        let is_tail = to >= self.numbers.next;
        let rtt_ns = self.rtt.smoothed_ns + self.sender_lag_ns;
        let is_timeout =
            is_head && silent_ns >= self.rtt.timeout_ns().min(rtt_ns + 4 * MIN_TIMEOUT_NS / 5).max(MIN_TIMEOUT_NS);
        let is_probe = !is_timeout && is_tail && self.sacked.is_empty() && silent_ns > rtt_ns * 3 / 2;
        self.own(time_ns, is_timeout.then_some(Owner::Timeout));
        let below_una = to <= self.numbers.una;
        if is_probe {
            self.counts.tail_probes += 1;
        } else if !below_una {
            self.enter_recovery(segment, if is_timeout { EventType::Timeout } else { EventType::Recovery });
        }
        self.cut(from);
        self.cut(to);
        let first = self.pieces.partition_point(|piece| piece.to() <= from).max(first);
        let oldest = self.pieces.get(first).copied();
        let wire_bytes = self.recent.wire_bytes;
        let mut index = first;
        while let Some(piece) = self.pieces.get_mut(index)
            && piece.from < to
        {
            piece.times = piece.times.saturating_add(1);
            self.counts.most_times_sent = self.counts.most_times_sent.max(piece.times);
            piece.last_ns = time_ns;
            piece.sent_before = wire_bytes;
            piece.tsval = segment.options.timestamps.map_or(0, |stamps| stamps.0);
            index += 1;
        }
        let lost =
            oldest.map_or(Lost { sent_ns: time_ns, sent_before: self.recent.wire_bytes, was_unseen: false }, |piece| {
                Lost { sent_ns: piece.last_ns, sent_before: piece.sent_before, was_unseen: false }
            });
        self.note_retransmit(segment, from, to, lost);
        if below_una {
            // The receiver has said that it has all of it.
            self.counts.spurious += 1;
            if let Some(loss) = self.losses.losses.last_mut() {
                loss.is_spurious = true;
            }
            self.events.spurious(time_ns);
        } else {
            self.resent.add(from.max(self.numbers.una), to, |_, _| {});
        }
    }

    /// Cuts a super-packet in two, so that each part of it has times of its own.
    fn cut(&mut self, at: u64) {
        let index = self.pieces.partition_point(|piece| piece.to() <= at);
        if index.min(self.pieces.len() - index) > MAX_CUT_DEPTH || self.pieces.len() >= MAX_PIECES {
            return;
        }
        let mss = self.mss();
        let Some(piece) = self.pieces.get_mut(index).filter(|piece| piece.from < at && piece.bytes > mss) else {
            return;
        };
        let before = u32::try_from(at - piece.from).unwrap_or(u32::MAX);
        let rest = Piece {
            from: at,
            bytes: piece.bytes.saturating_sub(before),
            sent_before: piece.sent_before + u64::from(before),
            ..*piece
        };
        piece.bytes = before;
        self.pieces.insert(index + 1, rest);
    }

    fn note_retransmit(&mut self, segment: &Segment, from: u64, to: u64, lost: Lost) {
        let bytes = u32::try_from(to - from).unwrap_or(u32::MAX);
        let segments = u64::from(bytes.div_ceil(self.mss()).max(1));
        self.counts.retransmits += segments;
        self.counts.retransmitted_bytes += u64::from(bytes);
        let number = self.recovery.map(|recovery| recovery.event);
        if let Some(event) = number.and_then(|number| self.events.get_mut(number)) {
            event.retransmits += segments;
            event.last_frame = segment.frame;
            event.to_ns = segment.time_ns;
        }
        self.losses.lost(Loss {
            sent_ns: lost.sent_ns,
            sent_before: lost.sent_before,
            was_unseen: lost.was_unseen,
            from,
            bytes,
            queue_ns: self.queue_ns(),
            retransmitted_ns: segment.time_ns,
            is_spurious: false,
            late_ns: None,
        });
        if let Some(series) = &mut self.series {
            let first = self.numbers.first;
            series.retransmitted(segment.time_ns, from.saturating_sub(first), to.saturating_sub(first));
        }
    }

    /// Losses are repaired from here on, unless they already are.
    fn enter_recovery(&mut self, segment: &Segment, event_type: EventType) {
        let by_timeout = event_type == EventType::Timeout;
        let is_new = self.recovery.is_none_or(|recovery| by_timeout && !recovery.by_timeout);
        if by_timeout {
            self.counts.timeouts += 1;
        }
        if !is_new {
            return;
        }
        let from_ns = if by_timeout { self.recent.data_ns.max(self.recent.ack_advance_ns) } else { segment.time_ns };
        let event = self.events.add(Event {
            queue_ns: self.queue_ns(),
            flight: self.counts.max_flight.min(self.outstanding()),
            in_slow_start: self.rounds.is_slow_start(),
            ..Event::new(event_type, from_ns, segment)
        });
        self.cost.open(event);
        if by_timeout {
            self.rounds.timed_out();
        } else {
            self.counts.recoveries += 1;
            self.rounds.reduced();
        }
        self.restart_clocks();
        let recovery = Recovery { point: self.numbers.next, event, by_timeout };
        self.recovery = Some(recovery);
    }

    /// New data after nothing was sent for a while, though nothing was in the way.
    fn note_pause(&mut self, segment: &Segment) {
        let pause_ns = segment.time_ns - self.span.owned_until_ns;
        if pause_ns < MIN_PAUSE_NS.max(2 * self.path_rtt_ns()) || self.counts.data_packets == 0 {
            return;
        }
        let event_type = match self.owner_before(segment.time_ns) {
            Owner::Application | Owner::ApplicationOrSendBuffer => EventType::Pause,
            Owner::ZeroWindow => EventType::ZeroWindow,
            _ => return,
        };
        let event = self.events.add(Event::new(event_type, self.span.owned_until_ns, segment));
        self.cost.open(event);
    }

    /// Gives the time since the last packet to its owner.
    pub(super) fn own(&mut self, time_ns: i64, certain: Option<Owner>) {
        let from_ns = self.span.owned_until_ns;
        let span_ns = time_ns - from_ns;
        if span_ns <= 0 {
            return;
        }
        let owner = certain.or_else(|| self.holder(time_ns)).unwrap_or_else(|| self.owner_before(time_ns));
        self.span.owned_until_ns = time_ns;
        self.give(from_ns..time_ns, owner);
        if self.cost.is_due(time_ns) {
            self.take_tick(time_ns);
        }
    }

    /// A SYN that was answered late, or several times: that time has its owner too.
    pub(crate) fn handshake(&mut self, from_ns: i64, to_ns: i64) {
        self.budget.add(Owner::Handshake, (to_ns - from_ns).max(0));
    }

    /// The data ends.
    pub(crate) fn fin(&mut self, segment: &Segment) {
        if self.numbers.saw_fin || !segment.has(flag::FIN) || !self.numbers.has_started {
            return;
        }
        let end = self.unwrap(segment.seq) + u64::from(segment.payload);
        if end == self.numbers.next {
            self.note_end(segment.time_ns);
            self.numbers.saw_fin = true;
            self.numbers.next += 1;
        }
    }
}
