//! Which owner an interval has.

use std::ops::Range;

use super::Direction;
use super::clock::{Release, Since};
use super::owner::Owner;
use super::paced::PacedFrames;
use super::pause::{Burst, Pause};
use super::recall::{Accounts, Activity, Interval, Reach, part_of};
use super::refill::{RefillPart, RefillStart, Writing};
use super::room::WakeLevel;
use super::wake::{LEAST_UNANSWERED, SentBytes};

/// A sender that answers acknowledgments with data does so within this; later is a pause.
const ANSWER_NS: i64 = 1_000_000;
/// Of the flight before, what is left when it drains: a writer that waits until a third of the send buffer is free leaves more.
const DRAINED: f64 = 0.6;

impl Direction {
    /// Whether so many bytes are the segments of the largest frame that a kernel makes (`tcp_size_goal`), and no number that programs write.
    fn is_largest_frame(&self, bytes: u64) -> bool {
        let mss = u64::from(self.mss());
        let is_largest = bytes <= LARGEST_PACKET && bytes + mss + HEADERS > LARGEST_PACKET;
        is_largest
            && bytes > mss
            && bytes.is_multiple_of(mss)
            && !bytes.is_multiple_of(512)
            && !bytes.is_multiple_of(1_000)
    }

    /// What has limited the sender since the last packet, by the state that this packet left. In order of precedence.
    pub(crate) fn owner_before(&self, time_ns: i64) -> Owner {
        owner(self, time_ns)
    }
}

fn owner(direction: &Direction, time_ns: i64) -> Owner {
    if direction.counts.acks == 0 {
        // Neither of the window nor of what has arrived.
        return Owner::Unknown;
    }
    if direction.recovery.is_some() {
        return Owner::Recovery;
    }
    let outstanding = direction.outstanding();
    let room = direction.window.sender_right.saturating_sub(direction.numbers.next);
    if direction.window.last == 0 && outstanding == 0 {
        return Owner::ZeroWindow;
    }
    if outstanding > 0 && room < least_room(direction) {
        return if direction.window.last == 0 { Owner::ZeroWindow } else { Owner::ReceiverWindow };
    }
    let is_woken = direction.waits_for_room();
    // A writer that has been woken and does not come is no full buffer.
    let is_late = direction.wakes.level().is_some_and(|level| outstanding * 8 < level * 7);
    let pause_ns = time_ns - direction.recent.data_ns;
    // What is written leaves as one rate has it.
    let is_paced = direction.is_paced(pause_ns);
    if outstanding == 0 || is_late || direction.recent.ended_short && !is_woken {
        return if is_paced { Owner::CongestionWindow } else { Owner::Application };
    }
    let release = direction.clock.release();
    // The flight reaches the window in each round: between two acknowledgments there is room for a moment.
    if pause_ns < direction.path_rtt_ns()
        && direction.rounds.recent_peak() + least_room(direction) > direction.window.last
        && (release != Release::OwnClock || direction.rounds.has_plateau())
    {
        return Owner::ReceiverWindow;
    }
    if is_paced && !direction.rounds.is_slow_start() {
        return Owner::CongestionWindow;
    }
    if direction.stands_on_plateau() {
        // After a loss a congestion window may stand still for as long (RFC 9438 §4.1); acknowledgments release it.
        if direction.rounds.had_loss
            && !is_woken
            && !direction.clock.is_refilled()
            && (release != Release::OwnClock || !direction.rounds.has_long_plateau())
        {
            return Owner::CongestionWindow;
        }
        // What is sent at first may be more than an application goes on with; a buffer has one size.
        let is_most = direction.rounds.is_highest_plateau();
        let is_released = is_woken
            || direction.clock.is_refilled()
            || release == Release::Acknowledgments
            || release == Release::Unknown && is_most;
        // A writer that waits until the buffer has room lets it drain for less than an RTT.
        let is_buffer = is_released && pause_ns < 2 * direction.path_rtt_ns().max(direction.rtt.smoothed_ns);
        return match (is_buffer, direction.filled.is_reached()) {
            // Nobody waits for room: the flight is that of a pacing rate or of a window that is clamped.
            (true, _) if !is_woken && direction.shows_no_woken_writer() => Owner::CongestionWindow,
            (true, _) => Owner::SendBuffer,
            // Paced at what the bottleneck has.
            (false, true) => Owner::CongestionWindow,
            (false, false) => Owner::ApplicationOrSendBuffer,
        };
    }
    if pause_ns > ANSWER_NS
        && has_drained(direction)
        && !(release == Release::OwnClock && direction.filled.is_reached())
    {
        return Owner::ApplicationOrSendBuffer;
    }
    if direction.rounds.is_slow_start() { Owner::SlowStart } else { Owner::CongestionWindow }
}

/// A sender does not send less than this: three segments, or a frame for segmentation offload, which waits until a
/// quarter of the window can be sent at once (`tcp_tso_should_defer`).
fn least_room(direction: &Direction) -> u64 {
    let frame = u64::from(direction.counts.largest_payload).min(direction.window.last / 4);
    // At the receiver's end, when the sender hears of room is known to a few percent of an RTT.
    let doubt = if direction.sender_lag_ns > 0 { direction.window.last / 32 } else { 0 };
    frame.max(3 * u64::from(direction.mss())) + doubt
}

/// Acknowledgments have come and were not answered with data, though the window is open.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn has_drained(direction: &Direction) -> bool {
    (direction.flight() as f64) < direction.rounds.recent_peak() as f64 * DRAINED
}

/// Acknowledgments, of two segments each, that a writer leaves unanswered until a third of its buffer is free: twice as many as make
/// a pause.
const UNANSWERED: u64 = 8;
/// So many acknowledgments with the window open that are not answered show that no window limits.
const LEAST_ROOMY: u32 = 4;
/// A kernel answers an acknowledgment within this, where nobody has to be woken.
const AT_ONCE_NS: i64 = 30_000;
/// Bytes of a packet and its headers at most, without BIG TCP, and what Linux leaves of them for headers (`MAX_TCP_HEADER`).
const LARGEST_PACKET: u64 = 65_535;
const HEADERS: u64 = 320;

impl Direction {
    /// The receiver takes more.
    pub(super) fn has_window(&self) -> bool {
        self.window.sender_right.saturating_sub(self.numbers.next) >= least_room(self)
    }

    /// A quarter and more of the greatest flight has been acknowledged, and nothing was sent in its place.
    pub(super) fn has_quarter_drained(&self) -> bool {
        self.flight() * 4 < self.rounds.recent_peak() * 3
    }

    /// A writer that waits for room in a buffer of the size of the plateau makes pauses that the capture shows, and there are none.
    pub(super) fn shows_no_woken_writer(&self) -> bool {
        let is_shown =
            self.sender_lag_ns == 0 && self.rounds.plateau_peak() >= 3 * UNANSWERED * 2 * u64::from(self.mss());
        is_shown && !self.waits_for_room() && self.clock.is_never_woken() && self.clock.release() != Release::OwnClock
    }

    /// Gives an interval to its owner, and with it the time of the plateau that it belongs to.
    pub(super) fn give(&mut self, span: Range<i64>, owner: Owner) {
        let Range { start: from_ns, end: to_ns } = span;
        let activity = self.activity(to_ns);
        let (is_recalled, known) = match owner {
            // A bottleneck at its rate keeps its time, whatever the plateau turns out to be; so do a queue in the sending host and a pacing rate.
            Owner::CongestionWindow if self.filled.is_reached() || self.recent.held_ns > 0 => (false, None),
            Owner::CongestionWindow if activity == Activity::Sending && self.is_paced(to_ns - self.recent.data_ns) => {
                (false, None)
            }
            Owner::CongestionWindow if self.shows_no_woken_writer() => (true, Some(owner)),
            Owner::CongestionWindow | Owner::SlowStart | Owner::ReceiverWindow => (true, None),
            // A writer that comes late once is the same one.
            Owner::Application | Owner::ApplicationOrSendBuffer if self.waits_for_room() => (false, None),
            Owner::SendBuffer | Owner::Application | Owner::ApplicationOrSendBuffer if self.stands_on_plateau() => {
                (true, Some(owner))
            }
            Owner::Application | Owner::ApplicationOrSendBuffer if !self.rounds.has_plateau() => (true, None),
            // An end of the data says nothing of the rounds before it.
            _ => (false, None),
        };
        let owner = part_of(owner, activity);
        self.budget.add(owner, to_ns - from_ns);
        if let Some(series) = &mut self.series {
            series.owned(from_ns, to_ns, owner);
        }
        if !is_recalled {
            return;
        }
        let Self { recall, wakes, refills, budget, series, recent, .. } = self;
        if activity == Activity::Waiting {
            recall.waited_since(recent.data_ns, Accounts { budget, series: series.as_deref_mut() });
        }
        recall.push(
            Interval { from_ns, to_ns, owner, activity, begun: recent.begun.into(), filled: recent.behind_data },
            known,
        );
        if let Some(known) = known {
            // A writer may have filled its buffer before it was first woken, or the other way round: it is one buffer.
            let since_ns = wakes.since_ns().into_iter().chain(refills.level().map(|(_, since_ns)| since_ns)).min();
            let since_ns = since_ns.filter(|_| known == Owner::SendBuffer);
            let early_above = refills.early_above().unwrap_or(u64::MAX);
            let held = refills.level().map_or(u64::MAX, |(level, _)| level / 16 * 15);
            let reach = since_ns.map_or(Reach::Plateau, |since_ns| Reach::Writer { since_ns, early_above, held });
            recall.settle(known, reach, Accounts { budget, series: series.as_deref_mut() });
        }
    }

    /// What the sender has done since the last packet.
    fn activity(&self, time_ns: i64) -> Activity {
        let is_over = time_ns - self.recent.data_ns > self.clock.burst_gap_ns(self.path_rtt_ns());
        if is_over || self.recent.is_topping_up || self.recent.is_full { Activity::Waiting } else { Activity::Sending }
    }

    /// A packet has left: where as much is outstanding as a buffer would hold, all of it has, once nothing more follows. What a writer adds
    /// before a third is free leaves while the kernel's clock of the full buffer goes on.
    pub(super) fn note_filled(&mut self) {
        let outstanding = self.outstanding();
        self.recent.is_filled |= self.most_written().is_some_and(|most| outstanding * 16 >= most * 15);
    }

    /// The sender has heard an acknowledgment: a third of the buffer may be free now.
    #[inline]
    pub(super) fn note_room(&mut self) {
        if !self.recent.is_filled {
            return;
        }
        let outstanding = self.outstanding();
        self.recent.is_filled = match self.wakes.level() {
            Some(_) => self.wakes.is_early(outstanding),
            None if self.refills.level().is_some() => self.refills.is_early(outstanding),
            None => self.most_written().is_some_and(|most| outstanding * 10 > most * 7),
        };
        self.recent.is_full &= self.recent.is_filled;
    }

    /// What a send buffer would hold, if one limits.
    fn most_written(&self) -> Option<u64> {
        let refilled = || self.refills.level().map(|(level, _)| level);
        self.wakes.peak().or_else(refilled).or_else(|| self.rounds.has_plateau().then(|| self.rounds.plateau_peak()))
    }

    /// A packet of new data was sent: where it is the first behind a pause, the bytes outstanding say whether room woke its writer.
    pub(super) fn note_burst(&mut self, at_ns: i64, since: Since, bytes: u64) {
        if self.sender_lag_ns == 0 {
            if since.acks > 0 {
                self.wakes.answered(since.ack_ns);
                // Twice as much in slow start.
                self.recent.credit = 2 * self.recent.before_train.saturating_sub(self.outstanding());
            }
            let answered = bytes.min(self.recent.credit);
            self.recent.credit -= answered;
            self.wakes.sent(SentBytes { all: bytes, answered });
            if self.is_held_back(since, bytes - answered) {
                // An RTT in which nothing leaves, for most of it.
                if since.data_ns > self.clock.burst_gap_ns(self.path_rtt_ns()).max(self.path_rtt_ns() / 4) {
                    let Self { recall, budget, series, recent, .. } = self;
                    recall.held_since(recent.data_ns, Accounts { budget, series: series.as_deref_mut() });
                }
                return;
            }
        }
        // The first packet of a train follows the first acknowledgment of the train before: nobody was waited for.
        if since.data_ns <= self.clock.burst_gap_ns(self.path_rtt_ns()) || self.sender_lag_ns > 0 || since.acks < 2 {
            return;
        }
        let after = self.outstanding();
        let (before, train, peak) = (self.recent.before_ack, self.recent.before_train, self.recent.behind_data);
        if after >= peak {
            return;
        }
        let Since { data_ns, ack_ns, .. } = since;
        let burst = Burst {
            before,
            train,
            after,
            peak,
            at_ns,
            data_ns,
            ack_ns,
            acks: self.recent.heard,
            roomy: self.recent.roomy,
        };
        let was_known = self.wakes.level().is_some();
        let is_released = self.wakes.burst(burst);
        if !was_known && self.wakes.level().is_some() {
            self.recall.reopen();
        }
        // What was acknowledged with the window open was not answered: it is not what limited.
        if self.recent.roomy >= LEAST_ROOMY && !self.recent.is_asked {
            let before = before.max(train);
            self.note_wait(Pause { from_ns: self.recent.data_ns, to_ns: at_ns, peak, before, after, is_released });
        }
        // Who tries again before that is told of no room, and the kernel's clock of the full buffer goes on.
        self.recent.is_topping_up = self.wakes.is_early(after);
    }

    /// An acknowledgment lets go what the congestion window has held back since the packet before: all that was written had not left. A window
    /// that holds something back leaves few acknowledgments unanswered (`tcp_tso_should_defer`).
    fn is_held_back(&self, since: Since, beyond: u64) -> bool {
        let is_first = (1..LEAST_UNANSWERED).contains(&since.acks);
        let is_answer = is_first && since.ack_ns < 2 * AT_ONCE_NS && beyond == 0;
        is_answer && self.outstanding() * 8 > self.recent.behind_data * 7
    }

    /// A pause is over: its writer may have waited for room.
    fn note_wait(&mut self, pause: Pause) {
        let frame = u64::from(self.counts.largest_payload);
        let known = self.wakes.level().map(WakeLevel::seen).or_else(|| {
            let (held, _) = self.refills.level()?;
            Some(
                self.wakes
                    .usual()
                    .map_or_else(|| WakeLevel::of_buffer(held.saturating_sub(frame)..=held), WakeLevel::seen),
            )
        });
        let Self { waits, recall, budget, series, .. } = self;
        waits.take(pause, known, |span| {
            recall.waited_for_room(span, Accounts { budget, series: series.as_deref_mut() });
        });
    }

    /// A packet of new data was sent: the first behind a pause begins a burst.
    pub(super) fn note_refill(&mut self, at_ns: i64, since: Since, bytes: u64) {
        if self.sender_lag_ns > 0 {
            return;
        }
        let before = self.outstanding();
        if since.data_ns > self.clock.burst_gap_ns(self.path_rtt_ns()) {
            self.recent.is_full = self.recent.is_filled;
            self.recent.begun = u32::try_from(before).unwrap_or(u32::MAX);
            let (is_asked, grain) = (self.recent.is_asked, 2 * u64::from(self.mss()));
            let was_known = self.refills.level().is_some();
            self.refills.start(RefillStart { at_ns, data_ns: since.data_ns, before, is_asked, grain });
            if !was_known && self.refills.level().is_some() {
                self.recall.reopen();
            }
            if self.wakes.level().is_none() && self.refills.level().is_some() {
                self.recent.is_topping_up = self.refills.is_early(before);
            }
        }
        let is_framed = self.is_largest_frame(bytes);
        self.refills.sent(RefillPart { bytes, ack_ns: (since.acks > 0).then_some(since.ack_ns), is_framed });
    }

    /// Nobody writes any more: whoever closes a connection while its send buffer is full has waited until then.
    pub(super) fn note_end(&mut self, at_ns: i64) {
        self.own(at_ns, None);
        self.span.end_ns = Some(at_ns);
        if self.recovery.is_some() || !self.waits.is_full(self.outstanding()) || self.recent.roomy < LEAST_ROOMY {
            return;
        }
        let Self { recall, budget, series, recent, .. } = self;
        recall.waited_for_room(recent.data_ns..at_ns, Accounts { budget, series: series.as_deref_mut() });
    }

    /// Nothing is kept of bursts.
    #[cfg(test)]
    pub(crate) fn has_no_bursts(&self) -> bool {
        self.wakes.is_unused() && self.refills.is_unused() && self.waits.is_unused()
    }

    /// A full send buffer shows: its writer is woken at one level, or fills to one.
    fn waits_for_room(&self) -> bool {
        self.wakes.level().is_some() || self.refills.level().is_some()
    }

    /// Bytes outstanding at which a writer that waits for room is woken, where there is one.
    pub(crate) fn woken_at(&self) -> Option<u64> {
        self.wakes.level()
    }

    /// Bursts come while data is outstanding, and an application is not known by them: they may be those of a full send buffer.
    fn has_undecided_writer(&self) -> bool {
        self.refills.is_undecided() || self.wakes.is_released()
    }

    /// An application that wrote no more is not told from a full send buffer.
    pub(crate) fn is_writer_in_doubt(&self) -> bool {
        // What is written by a clock leaves in bursts, whether a program has no more or its buffer no room.
        let is_plateau = self.rounds.last_plateau.is_some() && self.refills.writing() != Writing::Blind;
        let is_buffer = self.budget.spent_ns(Owner::SendBuffer) * 20 >= self.budget.total_ns();
        is_plateau && !self.events.has_pause() || self.has_undecided_writer() || is_buffer
    }

    /// Whoever wrote no more was the application where nothing speaks for a full send buffer.
    pub(crate) fn settle_writer(&mut self) {
        if self.is_writer_in_doubt() {
            return;
        }
        let (from, to) = (Owner::ApplicationOrSendBuffer, Owner::Application);
        self.budget.reassign_all(from, to);
        if let Some(series) = &mut self.series {
            series.reassign_all(from, to);
        }
    }

    /// A writer has shown that it waits for room.
    pub(crate) fn knows_full_buffer(&self) -> bool {
        self.waits_for_room() || self.waits.drained_to().is_some()
    }

    /// Bytes outstanding behind each burst of a writer that fills its buffer and does not wait, where there is one.
    pub(crate) fn refilled_to(&self) -> Option<u64> {
        self.refills.level().map(|(level, _)| level)
    }

    /// Bytes outstanding at which bursts begin, where these are about as many each time and show nothing else.
    pub(crate) fn drained_to(&self) -> Option<u64> {
        self.waits.drained_to()
    }

    /// A loss or a mark has changed what limits.
    pub(super) fn restart_clocks(&mut self) {
        self.clock.restart();
        self.wakes.restart();
        self.refills.restart();
        self.waits.restart();
        if let Some(frames) = &mut self.frames {
            frames.restart();
        }
        self.recall.clear();
        (self.recent.is_topping_up, self.recent.is_filled, self.recent.is_full) = (false, false, false);
    }

    /// What was written leaves as one rate has it, and no buffer is known to be full.
    fn is_paced(&self, pause_ns: i64) -> bool {
        self.frames().is_some_and(|frames| frames.is_paced(pause_ns)) && !self.waits_for_room()
    }

    /// What is known of frames of a pacing rate. Nothing of a single packet.
    pub(crate) fn frames(&self) -> Option<&PacedFrames> {
        self.frames.as_deref()
    }

    /// More was sent at times, and no more arrived: data arrives at the rate of the bottleneck.
    pub(crate) fn has_filled_bottleneck(&self) -> bool {
        self.filled.is_reached()
    }

    /// The flight stays the same though the window is open, data is outstanding and the queue of the bottleneck empties.
    pub(super) fn stands_on_plateau(&self) -> bool {
        let is_woken = self.waits_for_room();
        let has_data = self.outstanding() > 0 && (is_woken || !self.recent.ended_short);
        has_data && (is_woken || self.rounds.has_plateau() && self.is_queue_emptied())
    }

    /// The queue of the bottleneck was empty in the last round: its least RTT is within 10 % of the least of all, or within a
    /// millisecond of it. A burst makes a queue for a moment; a bottleneck that limits has one always.
    pub(super) fn is_queue_emptied(&self) -> bool {
        self.queue_meter().round_min_ns - self.queue_meter().min_ns < self.least_queue_ns()
    }

    /// A shorter delay is no queue.
    pub(super) fn least_queue_ns(&self) -> i64 {
        (self.path_rtt_ns() / 10).max(ANSWER_NS)
    }
}
