//! Full segments of which not one got through, while small packets between the same ends came back: a size that the path swallows.

use std::fmt;
use std::time::Duration;

use model::measurement::{DirectionTotal, Heading, Measurement};
use model::run::Run;
use units::PacketCount;

/// What a TCP flow and the probes beside it show of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SwallowedSegments {
    /// Payload of a full segment, in bytes.
    segment: u32,
    /// Whether the sender told what it sent. Of one whose results do not arrive either nobody knows.
    sent: SenderTold,
    probes: AnsweredProbes,
}

/// What is known of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SenderTold {
    /// That it sent full segments, and sent them again.
    Retransmits,
    Nothing,
}

impl SwallowedSegments {
    /// Nothing where a full segment arrived, or nobody answered the probes either.
    pub(crate) fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        let measurement = run.measurement.as_ref()?;
        let flows = measurement.flows.iter().filter(|of| of.heading == total.heading);
        let segment = flows.filter_map(|of| of.mss).max()?;
        let intervals = || measurement.intervals.iter().filter(|of| of.heading == total.heading);
        let acknowledged: u64 = intervals().map(|of| of.bytes.get()).fold(0, u64::saturating_add);
        let arrived = acknowledged.max(total.received.map_or(0, |received| received.get()));
        let again = total.retransmits.map_or(0, |again| again.get());
        let lasted = intervals().map(|of| of.end).max()?;
        let sent = match total.sent {
            Some(sent) if sent.get() >= FEWEST_SEGMENTS * u64::from(segment) && again >= FEWEST_RETRANSMITS => {
                SenderTold::Retransmits
            }
            None if arrived == 0 && total.heading == Heading::Inbound => SenderTold::Nothing,
            _ => return None,
        };
        if arrived >= u64::from(segment) || lasted < SHORTEST {
            return None;
        }
        AnsweredProbes::beside(measurement).map(|probes| Self { segment, sent, probes })
    }

    /// The largest packet that the path may take all the same, in bytes.
    pub(crate) const fn below(self) -> u32 {
        packet_below(self.segment)
    }
}

/// The largest packet, in bytes, of a path that does not take a full segment of so many bytes of payload.
pub(crate) const fn packet_below(segment: u32) -> u32 {
    segment.saturating_add(HEADERS - 1)
}

/// Small probes beside a flow, at least half of which came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnsweredProbes {
    sent: PacketCount,
    answered: PacketCount,
}

impl AnsweredProbes {
    /// Nothing where there were few, or nobody answered half of them.
    pub(crate) fn beside(measurement: &Measurement) -> Option<Self> {
        let beside = measurement.latency.as_ref()?.loaded?;
        let (sent, answered) = (beside.sent, beside.sent.saturating_sub(beside.lost));
        (answered.get() >= FEWEST_PROBES && answered.get() * 2 >= sent.get()).then_some(Self { sent, answered })
    }
}

impl fmt::Display for AnsweredProbes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} small probes beside them came back", self.answered.get(), self.sent.get())
    }
}

impl fmt::Display for SwallowedSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, sent, probes } = self;
        match sent {
            SenderTold::Retransmits => write!(f, "not one full segment of {segment} bytes was acknowledged")?,
            SenderTold::Nothing => write!(f, "not one byte arrived, in segments of {segment} bytes")?,
        }
        write!(f, ", while {probes}")
    }
}

/// IPv4 20, TCP 20, timestamps 12.
const HEADERS: u32 = 52;
/// A sender that nobody answers has its first window under way.
const FEWEST_SEGMENTS: u64 = 2;
const FEWEST_RETRANSMITS: u64 = 2;
const FEWEST_PROBES: u64 = 5;
/// As long as the third retransmission of the first segments takes (RFC 6298).
const SHORTEST: Duration = Duration::from_millis(1_400);
