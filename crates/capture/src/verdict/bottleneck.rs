//! A bottleneck that is always busy: the transfer has what the path has.

use super::cause::{Cause, Verdict};
use super::judged::Judged;
use super::text::{percent, rate, time};
use crate::direction::owner::Owner;

/// Share of the time at the full rate from which on the bottleneck is the limit.
const MOSTLY: f64 = 0.75;
/// Shares of the time of the congestion window below which something else limits.
const LEAST_SHARE: f64 = 0.3;
/// Share of the time of a send buffer from which on it sets the rate of what is paced meanwhile.
const LEAST_WAITING: f64 = 0.1;

/// The verdict, where acknowledgments come at one rate most of the time.
pub(super) fn verdict(judged: &Judged) -> Option<Verdict> {
    let share = judged.repair_share() + judged.share(Owner::CongestionWindow) + judged.share(Owner::SlowStart);
    let full = judged.direction.cost.full_rate().filter(|full| full.share >= MOSTLY)?;
    let queue_ns = judged.direction.queue_quantile_ns(0.5)?;
    if share < LEAST_SHARE {
        return None;
    }
    // Without a queue it may as well be the sender that keeps to a rate.
    let has_queue = judged.has_queue(queue_ns) || judged.direction.counts.retransmits > 0;
    // The capture is behind the qdisc of the sending host: its queue shows in time stamps only.
    let queued = &judged.direction.waited;
    let is_held = u64::from(queued.packets) * 2 >= judged.direction.counts.data_packets;
    let has_queue = has_queue || is_held;
    // What a full send buffer lets leave arrives at one rate too, and a congestion control that paces goes no faster than it has measured.
    let waits = judged.direction.woken_at().is_some() && judged.share(Owner::SendBuffer) >= LEAST_WAITING;
    if !has_queue && (waits || judged.is_paced()) {
        return None;
    }
    let waited = if is_held {
        format!(", after up to {} in the sending host, by the time stamps", time(queued.most_ns))
    } else {
        String::new()
    };
    let evidence = format!(
        "data arrived within 6 % of {} for {} of the time, with a median queueing delay of {} (least RTT {}){waited}: the transfer \
         has what its bottleneck gives",
        rate(full.bytes_per_second),
        percent(full.share),
        time(queue_ns),
        time(judged.rtt_ns),
    );
    let verdict = Verdict::new(Cause::Bottleneck, if has_queue { 0.9 } else { 0.6 }, evidence).share(share);
    Some(if is_held {
        verdict
            .rival("a sending host that is short of CPU, whose packets wait for it")
            .next_test("tc -s qdisc show at the sender: backlog, dropped and the rate of its shaper")
    } else if has_queue && judged.direction.knows_full_buffer() {
        verdict
            .rival("a send buffer that lets the bottleneck run empty between bursts")
            .next_test("ss -tmi at the sender: sndbuf_limited, and the size of the send buffer (net.ipv4.tcp_wmem)")
    } else if has_queue {
        verdict.rival("a shaper, or other traffic that leaves so much")
    } else {
        verdict.rival("a sender that paces").next_test("ss -ti at the sender: pacing_rate and cwnd")
    })
}
