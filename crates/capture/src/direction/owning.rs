//! Which owner an interval has.

use super::Direction;
use super::clock::Release;
use super::owner::Owner;
use super::rounds::PlateauOwned;

/// A sender that answers acknowledgments with data does so within this; later is a pause.
const ANSWER_NS: i64 = 1_000_000;
/// Of the flight before, what is left when it drains: a writer that waits until a third of the send buffer is free leaves more.
const DRAINED: f64 = 0.6;

impl Direction {
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
    if outstanding == 0 || direction.recent.ended_short {
        return Owner::Application;
    }
    let pause_ns = time_ns - direction.recent.data_ns;
    let release = direction.clock.release();
    // The flight reaches the window in each round: between two acknowledgments there is room for a moment.
    if pause_ns < direction.path_rtt_ns()
        && direction.rounds.recent_peak() + least_room(direction) > direction.window.last
        && (release != Release::OwnClock || direction.rounds.has_plateau())
    {
        return Owner::ReceiverWindow;
    }
    if direction.stands_on_plateau() {
        // After a loss a congestion window may stand still for as long (RFC 9438 §4.1); acknowledgments release it.
        if direction.rounds.had_loss
            && !direction.clock.is_refilled()
            && (release != Release::OwnClock || !direction.rounds.has_long_plateau())
        {
            return Owner::CongestionWindow;
        }
        // What is sent at first may be more than an application goes on with; a buffer has one size.
        let is_most = direction.rounds.is_highest_plateau();
        let is_released = direction.clock.is_refilled()
            || release == Release::Acknowledgments
            || release == Release::Unknown && is_most;
        // A writer that waits until the buffer has room lets it drain for less than an RTT.
        let is_buffer = is_released && pause_ns < 2 * direction.path_rtt_ns().max(direction.rtt.smoothed_ns);
        return match (is_buffer, direction.filled.is_reached()) {
            // Nobody waits for room: the flight is that of a pacing rate or of a window that is clamped.
            (true, _) if direction.shows_no_woken_writer() => Owner::CongestionWindow,
            (true, _) => Owner::SendBuffer,
            // Paced at what the bottleneck has.
            (false, true) => Owner::CongestionWindow,
            (false, false) => Owner::Application,
        };
    }
    if pause_ns > ANSWER_NS
        && has_drained(direction)
        && !(release == Release::OwnClock && direction.filled.is_reached())
    {
        return Owner::Application;
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

impl Direction {
    /// A quarter and more of the greatest flight has been acknowledged, and nothing was sent in its place.
    pub(super) fn has_quarter_drained(&self) -> bool {
        self.flight() * 4 < self.rounds.recent_peak() * 3
    }

    /// A writer that waits for room in a buffer of the size of the plateau makes pauses that the capture shows, and there are none.
    pub(super) fn shows_no_woken_writer(&self) -> bool {
        let is_shown =
            self.sender_lag_ns == 0 && self.rounds.plateau_peak() >= 3 * UNANSWERED * 2 * u64::from(self.mss());
        is_shown && self.clock.is_never_woken() && self.clock.release() != Release::OwnClock
    }

    /// Gives the time of the whole plateau to the owner that it has by now.
    pub(super) fn own_plateau(&mut self, owner: Owner, span_ns: i64) {
        // The rounds in which the plateau was not yet known to be one.
        let unowned_ns = std::mem::take(&mut self.rounds.plateau_unowned_ns);
        self.budget.reassign(Owner::CongestionWindow, owner, unowned_ns);
        let paused_ns = std::mem::take(&mut self.rounds.plateau_paused_ns);
        self.budget.reassign(Owner::Application, owner, paused_ns);
        let before = self.rounds.plateau_owned.unwrap_or(PlateauOwned { owner, time_ns: 0 });
        if before.owner != owner {
            self.budget.reassign(before.owner, owner, before.time_ns);
        }
        self.rounds.plateau_owned =
            Some(PlateauOwned { owner, time_ns: before.time_ns + unowned_ns + paused_ns + span_ns });
    }

    /// The flight stays the same though the window is open, data is outstanding and the queue of the bottleneck empties.
    pub(super) fn stands_on_plateau(&self) -> bool {
        let has_data = self.outstanding() > 0 && !self.recent.ended_short;
        has_data && self.rounds.has_plateau() && self.is_queue_emptied()
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
