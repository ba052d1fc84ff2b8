//! What the numbers of a test say, with the numbers. No verdict: that takes more evidence than one output.

mod pairs;
mod show;

use std::time::Duration;

use model::measurement::{DirectionTotal, Heading, Measurement};
use units::{DataRate, PacketCount};

use super::parsed::ParsedTest;
use super::segments::{self, SegmentSize};
use super::totals::Ends;

pub use pairs::between;
pub use segments::{Packet, Stamps};

/// A statement about a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// The congestion windows betray the segment size.
    Segments(SegmentSize),
    /// How much was retransmitted.
    Retransmission(Retransmission),
    /// Datagrams did not arrive.
    DatagramsLost {
        /// Those that did not arrive.
        lost: PacketCount,
        /// Those that were sent.
        sent: PacketCount,
        /// At which rate.
        rate: DataRate,
    },
    /// What loss alone lets TCP reach.
    LossLimit {
        /// What was retransmitted.
        again: Retransmission,
        /// The RTT of the handshake.
        rtt: Duration,
        /// Highest rate that the loss allows TCP at this RTT.
        limit: DataRate,
        /// What was reached.
        goodput: DataRate,
    },
    /// The rate was still low for a part of the run.
    RampUp {
        /// Until the first interval that had at least half of the fastest one's rate.
        until: Duration,
        /// The rate of the fastest interval.
        fastest: DataRate,
        /// Over the whole run.
        goodput: DataRate,
    },
    /// The receiver ended later than the sender.
    ReceiverLater {
        /// By so much.
        by: Duration,
    },
    /// Two tests with one peer in opposite directions differ.
    Asymmetry {
        /// Towards the peer.
        out: DataRate,
        /// From the peer.
        back: DataRate,
        /// Segments retransmitted towards the peer and from it, where both are printed.
        retransmits: Option<(PacketCount, PacketCount)>,
        /// RTT of both handshakes, where both are printed.
        rtt: Option<(Duration, Duration)>,
        /// Name or address of the peer, as the log has it.
        peer: String,
    },
}

/// How much of a stream was retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retransmission {
    /// Segments retransmitted.
    pub again: PacketCount,
    /// Segments that the payload fills.
    pub segments: PacketCount,
    /// Payload of a segment.
    pub mss: u32,
    /// Whether the segment size is printed or assumed.
    pub mss_is: SizeSource,
    /// The rate at which it happened.
    pub rate: DataRate,
}

/// Where a number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeSource {
    /// The output prints it, or leaves no doubt.
    Printed,
    /// It is what most paths have.
    Assumed,
}

/// What a test says.
pub(crate) fn of(
    parsed: &ParsedTest,
    measurement: Option<&Measurement>,
    segment_size: Option<SegmentSize>,
) -> Vec<Observation> {
    let mut observations: Vec<Observation> = segment_size.map(Observation::Segments).into_iter().collect();
    let Some(measurement) = measurement else { return observations };
    let mss = segment_size.map(|size| size.mss).or(parsed.mss);
    for total in &measurement.totals {
        if let Some(again) = retransmission(total, mss) {
            observations.push(Observation::Retransmission(again));
            if let Some(rtt) = parsed.handshake
                && let Some(limit) = loss_limit(again, rtt)
            {
                observations.push(Observation::LossLimit { again, rtt, limit, goodput: total.goodput });
            }
        }
        if let Some(datagrams) = total.datagrams.filter(|datagrams| datagrams.lost > PacketCount::ZERO) {
            let rate = Ends::of_all(parsed, total.heading).sender.and_then(|row| row.rate).unwrap_or(total.goodput);
            observations.push(Observation::DatagramsLost { lost: datagrams.lost, sent: datagrams.sent, rate });
        }
        observations.extend(ramp_up(measurement, total));
        observations.extend(receiver_later(parsed, total.heading));
    }
    observations
}

fn retransmission(total: &DirectionTotal, mss: Option<u32>) -> Option<Retransmission> {
    let again = total.retransmits.filter(|again| *again > PacketCount::ZERO)?;
    let bytes = total.sent.or(total.received)?;
    let (mss, mss_is) = mss.map_or((USUAL_MSS, SizeSource::Assumed), |mss| (mss, SizeSource::Printed));
    let segments = PacketCount::new(bytes.get().div_ceil(u64::from(mss.max(1))));
    (segments > PacketCount::ZERO).then_some(Retransmission { again, segments, mss, mss_is, rate: total.goodput })
}

/// Model: Mathis, Semke, Mahdavi, Ott 1997 (CCR 27(3)): rate = MSS / RTT * sqrt(3/2) / sqrt(p), with each segment sent
/// again taken as one loss event. Losses that come together are fewer events, so the true limit is rather higher; a
/// stream that reaches it is limited by loss.
fn loss_limit(again: Retransmission, rtt: Duration) -> Option<DataRate> {
    let share = again.again.share_of(again.segments)?;
    let bits = f64::from(again.mss) * 8.0 * 1.5_f64.sqrt() / (rtt.as_secs_f64() * share.sqrt());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (bits.is_finite() && (1.0..1e15).contains(&bits)).then(|| DataRate::from_bps(bits.round() as u64))
}

/// Where at least a tenth of the run passed before the rate came to half of its fastest.
fn ramp_up(measurement: &Measurement, total: &DirectionTotal) -> Option<Observation> {
    let intervals = || measurement.intervals.iter().filter(|interval| interval.heading == total.heading);
    let fastest = intervals().map(|interval| interval.rate).max()?;
    let fast = intervals().find(|interval| interval.rate.bps() >= fastest.bps() / 2)?;
    let parsed = fast.start * 10 >= total.elapsed && !fast.start.is_zero();
    parsed.then_some(Observation::RampUp { until: fast.start, fastest, goodput: total.goodput })
}

/// Where it is more than the two last digits of iperf3's times.
fn receiver_later(parsed: &ParsedTest, heading: Heading) -> Option<Observation> {
    const LEAST: Duration = Duration::from_millis(50);
    let ends = Ends::of_all(parsed, heading);
    let by = ends.receiver?.end.checked_sub(ends.sender?.end)?;
    (by >= LEAST).then_some(Observation::ReceiverLater { by })
}

/// Ethernet's 1500 bytes without the headers of IPv4 and TCP with time stamps.
const USUAL_MSS: u32 = 1448;
