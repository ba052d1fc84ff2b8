//! What the numbers of a test say, with the numbers. No verdict: that takes more evidence than one output.

mod pairs;
mod show;

use std::time::Duration;

use model::measurement::{DirectionTotal, Heading, Measurement};
use units::{DataRate, PacketCount};

use super::segments::{self, SegmentSize};
use super::told::Told;
use super::totals::Ends;

pub use pairs::between;
pub use segments::{Packet, Stamps};

/// A statement about a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// The congestion windows betray the segment size.
    Segments(SegmentSize),
    /// How much was sent again.
    SentAgain(SentAgain),
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
        /// What was sent again.
        again: SentAgain,
        /// The round trip of the handshake.
        rtt: Duration,
        /// The limit.
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
        /// Segments sent again towards the peer and from it, where both are told.
        retransmits: Option<(PacketCount, PacketCount)>,
        /// Both round trips of the handshakes, where both are told.
        rtt: Option<(Duration, Duration)>,
        /// The peer.
        peer: String,
    },
}

/// How much of a stream was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentAgain {
    /// Segments sent again.
    pub again: PacketCount,
    /// Segments that the payload fills.
    pub segments: PacketCount,
    /// Payload of a segment.
    pub mss: u32,
    /// Whether the segment size is told or taken for granted.
    pub mss_is: Known,
    /// The rate at which it happened.
    pub rate: DataRate,
}

/// Where a number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The output tells it, or leaves no doubt.
    Told,
    /// It is what most paths have.
    Assumed,
}

/// What a test says.
pub(crate) fn of(told: &Told, measurement: Option<&Measurement>, segment_size: Option<SegmentSize>) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = segment_size.map(Remark::Segments).into_iter().collect();
    let Some(measurement) = measurement else { return remarks };
    let mss = segment_size.map(|size| size.mss).or(told.mss);
    for total in &measurement.totals {
        if let Some(again) = sent_again(total, mss) {
            remarks.push(Remark::SentAgain(again));
            if let Some(rtt) = told.handshake
                && let Some(limit) = loss_limit(again, rtt)
            {
                remarks.push(Remark::LossLimit { again, rtt, limit, goodput: total.goodput });
            }
        }
        if let Some(datagrams) = total.datagrams.filter(|datagrams| datagrams.lost > PacketCount::ZERO) {
            let rate = Ends::of_all(told, total.heading).sender.and_then(|row| row.rate).unwrap_or(total.goodput);
            remarks.push(Remark::DatagramsLost { lost: datagrams.lost, sent: datagrams.sent, rate });
        }
        remarks.extend(ramp_up(measurement, total));
        remarks.extend(receiver_later(told, total.heading));
    }
    remarks
}

fn sent_again(total: &DirectionTotal, mss: Option<u32>) -> Option<SentAgain> {
    let again = total.retransmits.filter(|again| *again > PacketCount::ZERO)?;
    let bytes = total.sent.or(total.received)?;
    let (mss, mss_is) = mss.map_or((USUAL_MSS, Known::Assumed), |mss| (mss, Known::Told));
    let segments = PacketCount::new(bytes.get().div_ceil(u64::from(mss.max(1))));
    (segments > PacketCount::ZERO).then_some(SentAgain { again, segments, mss, mss_is, rate: total.goodput })
}

/// Model: Mathis, Semke, Mahdavi, Ott 1997 (CCR 27(3)): rate = MSS / RTT * sqrt(3/2) / sqrt(p), with each segment sent
/// again taken as one loss event. Losses that come together are fewer events, so the true limit is rather higher; a
/// stream that reaches it is limited by loss.
fn loss_limit(again: SentAgain, rtt: Duration) -> Option<DataRate> {
    let share = again.again.share_of(again.segments)?;
    let bits = f64::from(again.mss) * 8.0 * 1.5_f64.sqrt() / (rtt.as_secs_f64() * share.sqrt());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (bits.is_finite() && (1.0..1e15).contains(&bits)).then(|| DataRate::from_bps(bits.round() as u64))
}

/// Told where at least a tenth of the run passed before the rate came to half of its fastest.
fn ramp_up(measurement: &Measurement, total: &DirectionTotal) -> Option<Remark> {
    let intervals = || measurement.intervals.iter().filter(|interval| interval.heading == total.heading);
    let fastest = intervals().map(|interval| interval.rate).max()?;
    let fast = intervals().find(|interval| interval.rate.bps() >= fastest.bps() / 2)?;
    let told = fast.start * 10 >= total.elapsed && !fast.start.is_zero();
    told.then_some(Remark::RampUp { until: fast.start, fastest, goodput: total.goodput })
}

/// Told where it is more than the two last digits of iperf3's times.
fn receiver_later(told: &Told, heading: Heading) -> Option<Remark> {
    const LEAST: Duration = Duration::from_millis(50);
    let ends = Ends::of_all(told, heading);
    let by = ends.receiver?.end.checked_sub(ends.sender?.end)?;
    (by >= LEAST).then_some(Remark::ReceiverLater { by })
}

/// Ethernet's 1500 bytes without the headers of IPv4 and TCP with time stamps.
const USUAL_MSS: u32 = 1448;
