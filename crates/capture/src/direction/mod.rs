//! One direction of a connection: the data of one host, and what the other says of it.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the state, and what is derived from it |
//! | `send` | a segment with data |
//! | `acknowledge` | an acknowledgment: numbers, SACK, DSACK, window |
//! | `ranges` | sets of sequence numbers |
//! | `rtt` | RTT samples |
//! | `clock` | whether acknowledgments release what is sent |
//! | `rounds` | RTT rounds: growth, plateaus |
//! | `floor` | the least RTT over time |
//! | `owner` | the budget of time |
//! | `owning` | which owner an interval has |
//! | `recall` | time whose owner is known later |
//! | `wake` | the level at which a writer that waits for room is woken |
//! | `refill` | the level that a writer fills to which does not wait |
//! | `room` | pauses in which a writer waited for room, each by itself |
//! | `pause` | a pause of the sender, and the burst that ends it |
//! | `drains` | bursts of any size that begin with as little outstanding |
//! | `steady` | the level at which a writer is woken whose flight hardly drains |
//! | `event` | what happened, with frames |
//! | `cost` | what each event cost |
//! | `steadiness` | whether data arrives at one rate |
//! | `usual` | the payload of full segments, where no handshake was captured |
//! | `filled` | the rate at which data arrives behind a queue of its own |
//! | `paced` | whether frames leave at a pacing rate |
//! | `waited` | packets that waited in the sending host |
//! | `losses` | lost and passed segments, for the policer test |
//!
//! Sequence numbers are unwrapped to 64 bits: at 10 Gbit/s the field of the header wraps every 3.4 s.

mod acknowledge;
pub(crate) mod changes;
mod clock;
pub(crate) mod cost;
mod drains;
pub(crate) mod event;
mod filled;
pub(crate) mod floor;
pub(crate) mod losses;
pub(crate) mod owner;
mod owning;
mod paced;
mod pause;
pub(crate) mod ranges;
mod recall;
mod refill;
mod room;
mod rounds;
pub(crate) mod rtt;
mod saved;
mod send;
pub(crate) mod series;
mod steadiness;
mod steady;
mod usual;
mod waited;
mod wake;

use std::collections::VecDeque;

pub(crate) use acknowledge::Acknowledgment;
use clock::SendClock;
use cost::CostMeter;
use event::Events;
use filled::{FilledRate, QueueSeen, TickEnd};
use floor::RttFloor;
use losses::LossRecord;
use owner::Budget;
use paced::PacedFrames;
use ranges::Ranges;
use recall::{Accounts, Recall};
use refill::Refills;
use room::RoomWaits;
use rounds::Rounds;
use rtt::{RttMeter, StampEchoes};
use series::Series;
pub(crate) use usual::UsualSegment;
use waited::WaitedPackets;
use wake::WakeLevels;

use crate::sequence;

/// The state of one direction. See the module.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) numbers: Numbers,
    pub(crate) window: Window,
    pub(crate) counts: Counts,
    /// Data to acknowledgment: from the capture to the receiver and back.
    pub(crate) rtt: RttMeter,
    /// From the capture to the sender and back: how much later the sender hears an acknowledgment, and acts on it.
    pub(crate) sender_lag_ns: i64,
    /// From the capture to the sender and back, by time stamps: at the receiver's end queues show here.
    pub(crate) lag: RttMeter,
    /// Whether that was measured, by the handshake or by time stamps.
    pub(crate) has_sender_lag: bool,
    /// The least that time stamps have shown of it.
    pub(crate) least_lag_ns: Option<i64>,
    /// Stamps of the data's receiver, until the sender of the data echoes them.
    pub(crate) stamps: StampEchoes,
    pieces: VecDeque<Piece>,
    sacked: Ranges,
    /// Retransmitted and neither acknowledged nor selectively acknowledged.
    resent: Ranges,
    recovery: Option<Recovery>,
    recent: Recent,
    pub(crate) budget: Budget,
    pub(crate) rounds: Rounds,
    pub(crate) floor: RttFloor,
    pub(crate) hops: Hops,
    pub(crate) clock: SendClock,
    wakes: WakeLevels,
    pub(crate) refills: Refills,
    waits: RoomWaits,
    pub(crate) waited: WaitedPackets,
    frames: Option<Box<PacedFrames>>,
    recall: Recall,
    pub(crate) events: Events,
    pub(crate) cost: CostMeter,
    filled: FilledRate,
    pub(crate) losses: LossRecord,
    pub(crate) series: Option<Box<Series>>,
    /// Sum of the outstanding bytes after each data packet.
    pub(crate) outstanding_total: u128,
    pub(crate) max_outstanding: u64,
    pub(crate) span: Span,
}

/// Sequence numbers, unwrapped.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub(crate) has_started: bool,
    /// The first byte of data.
    pub(crate) first: u64,
    /// After the highest byte that was sent.
    pub(crate) next: u64,
    /// The lowest byte that is not acknowledged.
    pub(crate) una: u64,
    /// The same as the sender knows it: at the receiver's end of a path an acknowledgment is seen before the sender has it.
    pub(crate) sender_una: u64,
    /// What had been sent when a mark reduced the window: marks of what was sent before it do not reduce it again.
    pub(crate) marked_until: u64,
    pub(crate) saw_syn: bool,
    pub(crate) saw_fin: bool,
}

/// The window that the receiver offers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    /// Shift of the window field, where the handshake was seen.
    pub(crate) scale: Option<u8>,
    /// Right edge, as the sender knows it.
    pub(crate) sender_right: u64,
    /// Right edge, as captured.
    pub(crate) right: u64,
    pub(crate) last: u64,
    pub(crate) max: u64,
    pub(crate) min: Option<u64>,
    /// Acknowledgments that the sender has not heard yet: when it does, up to where, and the right edge.
    late: VecDeque<(i64, u64, u64)>,
    /// The least scale that explains what was sent, where the handshake was not seen.
    pub(crate) guess: u8,
}

/// What is counted of a direction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    /// Segments of at most an MSS that the data packets stand for.
    pub(crate) segments: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) super_packets: u64,
    pub(crate) retransmits: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) spurious: u64,
    pub(crate) dsacks: u64,
    pub(crate) reordered: u64,
    pub(crate) timeouts: u64,
    pub(crate) tail_probes: u64,
    pub(crate) recoveries: u64,
    pub(crate) keep_alives: u64,
    pub(crate) acks: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) zero_windows: u64,
    /// Acknowledgments that acknowledge more than four segments.
    pub(crate) stretch_acks: u64,
    /// Acknowledgments that follow the one before in less than a quarter of the time of their data.
    pub(crate) compressed_acks: u64,
    /// Acknowledgments of new data.
    pub(crate) advances: u64,
    pub(crate) ce_marks: u64,
    pub(crate) ect_packets: u64,
    pub(crate) ece_acks: u64,
    pub(crate) cwr: u64,
    /// Windows of data in which a mark was reported.
    pub(crate) mark_reductions: u64,
    /// Acknowledged or selectively acknowledged, and never seen.
    pub(crate) unseen_bytes: u64,
    pub(crate) max_flight: u64,
    pub(crate) mss: u32,
    pub(crate) largest_payload: u32,
    /// The largest segment that was acknowledged without being retransmitted.
    pub(crate) largest_passed: u32,
    pub(crate) most_times_sent: u16,
    pub(crate) delay_spikes: u64,
    /// What most payloads are multiples of.
    pub(crate) usual: UsualSegment,
}

/// How many hops packets have passed, as their TTL shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hops {
    ttl: Option<u8>,
    /// Of this direction's packets.
    pub(crate) own: Vec<TtlChange>,
    /// Of the packets of the other direction.
    pub(crate) peer: Vec<TtlChange>,
}

/// From one packet to the next of a direction, the TTL is another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TtlChange {
    pub(crate) at_ns: i64,
    pub(crate) from: u8,
    pub(crate) to: u8,
}

/// Changes of the TTL that are kept: a path that changes more often is split over several.
const MAX_TTL_CHANGES: usize = 16;

impl Hops {
    /// The TTL of a packet.
    #[inline]
    pub(crate) fn take(&mut self, ttl: u8, at_ns: i64) {
        if self.ttl == Some(ttl) {
            return;
        }
        if let Some(from) = self.ttl.replace(ttl)
            && self.own.len() < MAX_TTL_CHANGES
        {
            self.own.push(TtlChange { at_ns, from, to: ttl });
        }
    }
}

/// When a direction carried data.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) first_data_ns: i64,
    pub(crate) last_data_ns: i64,
    pub(crate) last_progress_ns: i64,
    /// When the sender closed the connection behind its last byte.
    pub(crate) end_ns: Option<i64>,
    /// Up to where time has owners.
    pub(crate) owned_until_ns: i64,
}

/// Consecutive bytes that were sent together.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: u64,
    bytes: u32,
    tsval: u32,
    first_ns: i64,
    last_ns: i64,
    /// Bytes on the wire before it, retransmissions included.
    sent_before: u64,
    times: u16,
    ip_id: u16,
    state: PieceState,
}

/// What is known of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceState {
    Sent,
    Sacked,
    /// A hole in what was captured: the piece after it came first.
    Unseen,
}

impl Piece {
    fn to(&self) -> u64 {
        self.from + u64::from(self.bytes)
    }
}

/// Lost segments are being retransmitted.
#[derive(Debug, Clone, Copy)]
struct Recovery {
    /// What had been sent when it began: acknowledging it ends it.
    point: u64,
    event: usize,
    by_timeout: bool,
}

/// The last things that happened.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    data_ns: i64,
    /// The frame of the last acknowledgment.
    ack_frame: u64,
    /// When the sender heard of an acknowledgment last.
    heard_ns: i64,
    ack_ns: i64,
    ack_advance_ns: i64,
    ack_number: u32,
    duplicate_acks: u32,
    /// The last data segment was no multiple of the MSS: the application had no more.
    ended_short: bool,
    sack: Option<(u32, u32)>,
    wire_bytes: u64,
    /// Bytes outstanding before the last acknowledgment of new data, and when the last packet had left.
    before_ack: u64,
    /// The same before the first acknowledgment of half a millisecond, and when that came.
    before_train: u64,
    train_ns: i64,
    behind_data: u64,
    /// Bytes that may leave in answer to the last acknowledgments.
    credit: u64,
    /// Acknowledgments that the sender has heard since then.
    heard: u32,
    /// Those of them with which the window was open.
    roomy: u32,
    /// The peer has sent data since then.
    is_asked: bool,
    /// The burst that is under way began before a third of the send buffer was free.
    is_topping_up: bool,
    /// Bytes outstanding when the burst that is under way began; what 32 bits hold at most.
    begun: u32,
    /// As much is outstanding as the send buffer holds, and a third of it is not free yet.
    is_filled: bool,
    /// And all that was written had left, before what leaves now.
    is_full: bool,
    /// The last packet of new data waited in the sending host since the one before it left: for so long, or what 32 bits hold of it. 0 where it did
    /// not.
    held_ns: u32,
}

/// Pieces that are remembered of one direction: 1 GiB in segments of 4 KiB.
const MAX_PIECES: usize = 1 << 18;

impl Direction {
    pub(crate) fn new() -> Self {
        Self {
            numbers: Numbers::default(),
            window: Window::default(),
            counts: Counts::default(),
            rtt: RttMeter::default(),
            sender_lag_ns: 0,
            lag: RttMeter::default(),
            has_sender_lag: false,
            least_lag_ns: None,
            stamps: StampEchoes::default(),
            pieces: VecDeque::new(),
            sacked: Ranges::default(),
            resent: Ranges::default(),
            recovery: None,
            recent: Recent::default(),
            budget: Budget::default(),
            rounds: Rounds::default(),
            floor: RttFloor::default(),
            hops: Hops::default(),
            clock: SendClock::default(),
            wakes: WakeLevels::default(),
            refills: Refills::default(),
            waits: RoomWaits::default(),
            waited: WaitedPackets::default(),
            frames: None,
            recall: Recall::default(),
            events: Events::default(),
            cost: CostMeter::new(),
            filled: FilledRate::default(),
            losses: LossRecord::default(),
            series: None,
            outstanding_total: 0,
            max_outstanding: 0,
            span: Span::default(),
        }
    }

    /// A 32-bit number as the 64-bit one that is nearest to what was sent last.
    #[inline]
    fn unwrap(&self, number: u32) -> u64 {
        sequence::nearest(self.numbers.next, number)
    }

    /// Starts the numbers at the first byte that is seen.
    fn start(&mut self, number: u32) {
        // Far from zero, so that a number before the first one is still one.
        let first = (1 << 32) + u64::from(number);
        self.numbers = Numbers { first, next: first, una: first, sender_una: first, ..self.numbers };
        self.numbers.has_started = true;
        self.window.right = first;
        self.window.sender_right = first;
    }

    /// The SYN of the data's sender.
    pub(crate) fn syn(&mut self, seq: u32) {
        if !self.numbers.has_started {
            self.start(seq.wrapping_add(1));
            self.numbers.saw_syn = true;
        }
    }

    /// Bytes delivered to the receiver, in order or not.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.numbers.una - self.numbers.first + self.sacked.total()
    }

    /// Bytes sent and not acknowledged, as the sender counts them.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.numbers.next.saturating_sub(self.numbers.sender_una)
    }

    /// Bytes in flight (RFC 6675, `pipe`): outstanding, without what has arrived or is lost, and with what was retransmitted.
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        let Some(highest) = self.sacked.end() else { return self.outstanding() };
        // A hole counts as lost once three segments beyond it have arrived.
        let lost_below = highest.saturating_sub(3 * u64::from(self.mss()));
        let holes = (highest - self.numbers.una).saturating_sub(self.sacked.total());
        let lost = if lost_below > self.numbers.una { holes } else { 0 };
        let gone = self.sacked.total() + lost;
        self.outstanding().saturating_sub(gone) + self.resent.total()
    }

    /// The payload of a full segment: what the handshake allows, or where it was not captured what payloads show.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        match (self.counts.mss, self.counts.usual.bytes()) {
            (0, None) => 1_448,
            (0, Some(usual)) => usual,
            (mss, _) => mss,
        }
    }

    /// Whether more is acknowledged than was seen.
    #[inline]
    pub(crate) fn is_behind(&self, ack: u32) -> bool {
        !self.numbers.has_started || self.unwrap(ack) > self.numbers.next
    }

    /// RTT from the sender to the receiver and back.
    pub(crate) fn path_rtt_ns(&self) -> i64 {
        if self.rtt.samples == 0 { 0 } else { self.rtt.min_ns + self.sender_lag_ns }
    }

    /// The meter that sees the queues of the path: data to acknowledgment at the sender, stamp to echo at the receiver.
    fn queue_meter(&self) -> &RttMeter {
        if self.lag.samples > 0 && self.lag.min_ns > self.rtt.min_ns { &self.lag } else { &self.rtt }
    }

    /// Queueing delay by the last RTT.
    pub(crate) fn queue_ns(&self) -> i64 {
        let meter = self.queue_meter();
        meter.last_ns - meter.min_ns
    }

    /// A quantile of the queueing delay.
    pub(crate) fn queue_quantile_ns(&self, share: f64) -> Option<i64> {
        let meter = self.queue_meter();
        Some(meter.histogram.quantile_ns(share)?.clamp(meter.min_ns, meter.max_ns) - meter.min_ns)
    }

    /// The end of the trace, or of the connection: what is open is closed. Returns when the last that matters happened.
    pub(crate) fn end(&mut self) -> i64 {
        let time_ns = self.span.last_progress_ns.max(self.span.last_data_ns);
        if let Some(end_ns) = self.span.end_ns {
            let Self { recall, budget, series, .. } = self;
            recall.ended_since(end_ns, Accounts { budget, series: series.as_deref_mut() });
        }
        if self.cost.has_started() {
            self.take_tick(time_ns.min(self.span.last_progress_ns));
        }
        if let Some(recovery) = self.recovery.take() {
            self.events.close(recovery.event, time_ns);
        }
        time_ns
    }

    /// What has happened since the last tick goes to the events that are open.
    fn take_tick(&mut self, time_ns: i64) {
        let delivered = self.delivered();
        let queue = if self.queue_ns() < self.least_queue_ns() { QueueSeen::Emptied } else { QueueSeen::Standing };
        self.filled.tick(TickEnd { time_ns, delivered, outstanding: self.outstanding(), queue });
        let events = &mut self.events;
        if self.rounds.is_slow_start() {
            self.cost.skip_start();
            self.filled.forget_start();
        }
        self.cost.tick(time_ns, delivered, |share| events.add_cost(share));
    }
}
