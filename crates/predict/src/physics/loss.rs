//! The rate that TCP reaches where a share of the packets is lost.

use std::time::Duration;

use units::DataRate;

use super::facts::TcpFacts;

/// From the least to the most of several models, over what is not known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateRange {
    /// Least payload a second of all models.
    pub low: DataRate,
    /// Most payload a second of all models.
    pub high: DataRate,
}

/// What the losses leave, all streams together; `None` without a loss, and for algorithms that do not yield to it.
#[must_use]
pub fn allowed(facts: &TcpFacts) -> Option<RateRange> {
    if facts.retransmits == 0 || facts.segments == 0 {
        return None;
    }
    let control = facts.congestion_control.as_deref().unwrap_or("cubic");
    // BBR keeps its rate up to losses of 2 % (version 2 and 3) or 15 % (version 1).
    if control.starts_with("bbr") {
        return None;
    }
    let spread = count(facts.retransmits).sqrt();
    let of = |lost: f64| (lost / count(facts.segments)).clamp(1e-9, 0.9);
    let (least, most) = (of((count(facts.retransmits) - spread).max(0.5)), of(count(facts.retransmits) + spread));
    let streams = f64::from(facts.streams.max(1));
    let bits = f64::from(facts.segment_bytes) * 8.0;
    // Several losses within one RTT are one event.
    let events = least / LOSSES_AN_EVENT;
    let reno = mathis(facts.rtt.low, events);
    let high = if control == "reno" { reno } else { reno.max(cubic(facts.rtt.low, events) * ABOVE_THE_MEAN) };
    let low = pftk(facts.rtt.high, most);
    Some(RateRange { low: rate(low * bits * streams), high: rate(high * bits * streams) })
}

/// Segments a second of Reno: √(3/2) over RTT √p (Mathis, Semke, Mahdavi and Ott 1997), every segment acknowledged.
fn mathis(rtt: Duration, loss: f64) -> f64 {
    1.5_f64.sqrt() / (rtt.as_secs_f64() * loss.sqrt())
}

/// Segments a second of CUBIC outside of its Reno-friendly region (RFC 9438 section 5.1, C = 0.4, β = 0.7): a mean window of
/// 1.054 (RTT / p)^¾.
fn cubic(rtt: Duration, loss: f64) -> f64 {
    let rtt = rtt.as_secs_f64();
    1.054 * (rtt / loss).powf(0.75) / rtt
}

/// Segments a second of Reno with delayed acknowledgements and timeouts (Padhye, Firoiu, Towsley and Kurose 1998, equation 32).
fn pftk(rtt: Duration, loss: f64) -> f64 {
    let rtt = rtt.as_secs_f64();
    // Linux waits an RTT and its variation, of at least 200 ms (`tcp_rto_min`).
    let timeout = rtt + 0.2;
    let acked = 2.0;
    let fast = rtt * (2.0 * acked * loss / 3.0).sqrt();
    let slow = timeout * (3.0 * (3.0 * acked * loss / 8.0).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    1.0 / (fast + slow).max(f64::MIN_POSITIVE)
}

#[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
fn count(packets: u64) -> f64 {
    packets as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates, and rates are positive"
)]
fn rate(bps: f64) -> DataRate {
    // Two digits are all that the models are good for.
    let digit = 10_f64.powf((bps.max(1.0).log10().floor() - 1.0).max(0.0));
    DataRate::from_bps(((bps / digit).round() * digit) as u64)
}

/// Losses that share one reduction of the window, at random losses of a few hundredths.
const LOSSES_AN_EVENT: f64 = 1.3;
/// CUBIC over paths whose losses are uneven.
const ABOVE_THE_MEAN: f64 = 1.2;
