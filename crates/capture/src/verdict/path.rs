//! Marks, thinned acknowledgments, packets that are too large, another path, and what the capture lacks.

use super::bottleneck;
use super::cause::{Cause, Verdict};
use super::judged::Judged;
use super::text::{bytes, percent, time};
use crate::direction::floor::FloorStep;
use crate::direction::owner::Owner;

/// Acknowledgments of more than four segments, of all, from which on the sender's clock is coarse.
const THINNED: f64 = 0.2;
/// A segment that was sent so often without arriving is too large rather than unlucky.
const TIMES: u16 = 4;

pub(super) fn verdicts(judged: &Judged, missing: f64) -> Vec<Verdict> {
    [marks(judged), thinning(judged), too_large(judged), changed(judged), capture_loss(judged, missing)]
        .into_iter()
        .flatten()
        .collect()
}

fn marks(judged: &Judged) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    if counts.ce_marks == 0 && counts.ece_acks == 0 {
        return None;
    }
    let evidence = format!(
        "{} packets of {} carry CE, {} acknowledgments ECE, in {} windows of data; the sender answered {} times with CWR",
        counts.ce_marks, counts.ect_packets, counts.ece_acks, counts.mark_reductions, counts.cwr
    );
    // Where the bottleneck is always busy, its marks take nothing; else the window is what they leave of it.
    let halves = counts.mark_reductions > 0 && counts.retransmits == 0 && bottleneck::verdict(judged).is_none();
    let share = if halves { judged.share(Owner::CongestionWindow) } else { 0.0 };
    Some(Verdict::new(Cause::EcnMarking, 0.95, evidence).share(share).next_test(
        "test without ECN (net.ipv4.tcp_ecn = 0): where the rate is higher, the queue marks below its capacity",
    ))
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn thinning(judged: &Judged) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    let advances = counts.advances.max(1) as f64;
    let (stretched, compressed) = (counts.stretch_acks as f64 / advances, counts.compressed_acks as f64 / advances);
    if counts.advances < 50 || (stretched < THINNED && compressed < THINNED) {
        return None;
    }
    let evidence = format!(
        "{} of the acknowledgments cover more than 4 segments, {} come in bursts",
        percent(stretched),
        percent(compressed)
    );
    Some(
        Verdict::new(Cause::AckThinning, 0.6, evidence)
            .share(0.0)
            .rival("GRO at the receiver, which is usual and harmless")
            .rival("a link that sends in slots, as wireless ones do"),
    )
}

fn too_large(judged: &Judged) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    let is_stuck = counts.most_times_sent >= TIMES && counts.timeouts >= 2;
    if !is_stuck || counts.super_packets > 0 || counts.largest_passed >= counts.largest_payload {
        return None;
    }
    let evidence = format!(
        "a segment was sent {} times; the largest that was ever acknowledged has {}, the largest that was sent {}",
        counts.most_times_sent,
        bytes(u64::from(counts.largest_passed)),
        bytes(u64::from(counts.largest_payload))
    );
    Some(
        Verdict::new(Cause::MtuBlackHole, 0.85, evidence)
            .share(judged.repair_share())
            .next_test("linerate probe mtu to the same host: the path MTU, and who answers"),
    )
}

/// The least RTT moved for good, and the TTL with it where the number of hops differs.
fn changed(judged: &Judged) -> Option<Verdict> {
    let steps = judged.direction.floor.steps();
    let step = steps.iter().max_by_key(|step| (step.after_ns - step.before_ns).abs())?;
    let near_ns = TTL_NEAR_NS.max(TTL_NEAR_RTTS * step.before_ns.max(step.after_ns));
    let hops = &judged.direction.hops;
    let ttl = hops.own.iter().chain(&hops.peer).find(|change| (change.at_ns - step.at_ns).abs() < near_ns);
    let others = if steps.len() > 1 { format!(", the largest of {} steps", steps.len()) } else { String::new() };
    let evidence = format!(
        "the least RTT went from {} to {} at {} (frame {}) and stayed there for {} RTTs{others}{}",
        time(step.before_ns),
        time(step.after_ns),
        time(step.at_ns - judged.direction.span.first_data_ns),
        step.frame,
        step.rounds,
        ttl.map_or_else(String::new, |ttl| format!(
            "; the TTL of packets went from {} to {} with it",
            ttl.from, ttl.to
        )),
    );
    let verdict = Verdict::new(Cause::PathChange, if ttl.is_some() { 0.95 } else { 0.7 }, evidence)
        .share(longer_share(judged, step))
        .next_test("linerate probe hops, now and from a time before; routing changes of that moment");
    Some(if ttl.is_some() { verdict } else { verdict.rival("other traffic that keeps a queue at one length") })
}

/// The share of the time that a longer path took: what is released by acknowledgments comes at a rate of a window an RTT.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn longer_share(judged: &Judged, step: &FloorStep) -> f64 {
    if step.after_ns <= step.before_ns || bottleneck::verdict(judged).is_some() {
        return 0.0;
    }
    let since_ns = (judged.direction.span.last_data_ns - step.at_ns).max(0) as f64;
    since_ns / judged.total_ns.max(1) as f64 * (1.0 - step.before_ns as f64 / step.after_ns as f64)
}

/// The TTL changes with the path, but for what the blocks of the least RTT are uncertain by.
const TTL_NEAR_NS: i64 = 1_000_000_000;
const TTL_NEAR_RTTS: i64 = 40;

fn capture_loss(judged: &Judged, missing: f64) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    if counts.acks == 0 && counts.data_packets > 0 {
        let evidence = format!(
            "no acknowledgment of these {} is in the capture: what arrived, what was lost and what the sender waited for is not known",
            bytes(counts.payload_bytes)
        );
        return Some(
            Verdict::new(Cause::CaptureLoss, 0.95, evidence)
                .share(0.0)
                .rival("a path back that the capture does not see")
                .next_test("capture both directions: at one of the hosts, or on each path"),
        );
    }
    if counts.unseen_bytes < judged.mss {
        return None;
    }
    let withheld = if judged.lacks_packets { "; nothing is said of losses" } else { "" };
    let evidence = format!(
        "{} ({:.3} %) were acknowledged and are not in the capture{withheld}",
        bytes(counts.unseen_bytes),
        missing * 100.0
    );
    Some(
        Verdict::new(Cause::CaptureLoss, 0.95, evidence)
            .share(0.0)
            .rival("a path that the capture sees one of several of")
            .next_test("capture with a larger buffer (tcpdump -B) and less of each packet (-s 100)"),
    )
}
