//! What happened to a direction, in order, with the frames that show it.

use serde::Serialize;

use super::cost::CostShare;
use crate::decode::Segment;

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventType {
    /// Segments were retransmitted on duplicate acknowledgments, SACK or RACK.
    Recovery,
    /// The retransmission timer fired.
    Timeout,
    /// The receiver offered no window.
    ZeroWindow,
    /// The application paused.
    Pause,
    /// RTTs rose far above the least without the flight having grown.
    DelaySpike,
}

impl EventType {
    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "fast recovery",
            Self::Timeout => "retransmission timeout",
            Self::ZeroWindow => "zero window",
            Self::Pause => "application pause",
            Self::DelaySpike => "delay spike",
        }
    }
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) event_type: EventType,
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    pub(crate) first_frame: u64,
    pub(crate) last_frame: u64,
    pub(crate) retransmits: u64,
    pub(crate) spurious: u64,
    /// Queueing delay before it: RTT over the least, in nanoseconds.
    pub(crate) queue_ns: i64,
    pub(crate) flight: u64,
    pub(crate) in_slow_start: bool,
    pub(crate) cost_bytes: f64,
    pub(crate) cost_ns: f64,
}

impl Event {
    /// One that a segment ends, without retransmits, queue, flight or cost.
    pub(crate) fn new(event_type: EventType, from_ns: i64, segment: &Segment) -> Self {
        Self {
            event_type,
            from_ns,
            to_ns: segment.time_ns,
            first_frame: segment.frame,
            last_frame: segment.frame,
            retransmits: 0,
            spurious: 0,
            queue_ns: 0,
            flight: 0,
            in_slow_start: false,
            cost_bytes: 0.0,
            cost_ns: 0.0,
        }
    }
}

/// The events of a direction.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) list: Vec<Event>,
    /// Events for which there was no room.
    pub(crate) left_out: u64,
}

/// Events that are kept of one direction.
const MAX_EVENTS: usize = 4_096;

impl Events {
    /// Adds an event, and returns its number.
    pub(crate) fn add(&mut self, event: Event) -> usize {
        if self.list.len() < MAX_EVENTS {
            self.list.push(event);
        } else {
            self.left_out += 1;
        }
        self.list.len() - 1
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Event> {
        self.list.get_mut(number)
    }

    /// The sender paused for long, and nothing was in its way.
    pub(crate) fn has_pause(&self) -> bool {
        self.list.iter().any(|event| event.event_type == EventType::Pause)
    }

    pub(crate) fn close(&mut self, number: usize, time_ns: i64) {
        if let Some(event) = self.list.get_mut(number) {
            event.to_ns = event.to_ns.max(time_ns);
        }
    }

    pub(crate) fn add_cost(&mut self, share: CostShare) {
        if let Some(event) = self.list.get_mut(share.event) {
            event.cost_bytes += share.bytes;
            if share.rate > 0.0 {
                event.cost_ns += share.bytes / share.rate * 1e9;
            }
        }
    }

    /// A retransmission that began at `time_ns` was needless.
    pub(crate) fn spurious(&mut self, time_ns: i64) {
        let after = self.list.partition_point(|event| event.from_ns <= time_ns);
        let earlier = self.list.get_mut(..after).unwrap_or(&mut []);
        if let Some(event) = earlier.iter_mut().rev().find(|event| event.retransmits > 0) {
            event.spurious += 1;
        }
    }
}
