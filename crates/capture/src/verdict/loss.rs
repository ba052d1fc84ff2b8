//! Losses and what looks like them.

use super::cause::{Cause, Verdict};
use super::judged::{Judged, LEAST_SHARE};
use super::microburst::BeforeLosses;
use super::repairs::{FEW, repair_share_of, repairs, with_events};
use super::scatter::Scatter;
use super::text::{bytes, percent, time};
use super::{bottleneck, delayed, policer};
use crate::direction::event::{Event, EventType};
use crate::direction::losses::Loss;
use crate::direction::owner::Owner;

pub(super) fn verdicts(judged: &Judged) -> Vec<Verdict> {
    let losses: Vec<&Loss> = judged.direction.losses.losses.iter().filter(|loss| !loss.is_spurious).collect();
    let delayed = delayed::verdict(judged, losses.len());
    let mut verdicts: Vec<Verdict> =
        [overshoot(judged), spurious(judged), reordering(judged), timeouts(judged)].into_iter().flatten().collect();
    let pattern = match policer::lone(judged) {
        Some(verdict) => Some(with_events(verdict, &repairs(judged))),
        // What was only late was not lost.
        None if delayed.is_some() => None,
        None => queue(judged, &losses),
    };
    let has_delay = delayed.is_some();
    verdicts.extend(delayed.or_else(|| delayed::held_packets(judged, losses.len())));
    match pattern {
        Some(pattern) if matches!(pattern.cause, Cause::Policer | Cause::DeepBuffer) => verdicts.push(pattern),
        _ if has_delay => {}
        pattern => {
            let busy = standing_queue(judged).or_else(|| bottleneck::verdict(judged));
            // Behind a bottleneck that is always busy, losses cost no more than their repair.
            verdicts.extend(pattern.map(|loss| if busy.is_some() { loss.share(judged.repair_share()) } else { loss }));
            verdicts.extend(busy);
        }
    }
    verdicts
}

fn overshoot(judged: &Judged) -> Option<Verdict> {
    let first = judged.direction.events.list.iter().find(|event| event.event_type == EventType::Recovery)?;
    let lost = first.retransmits - first.spurious.min(first.retransmits);
    if !first.in_slow_start || lost < 10 || lost * judged.mss * 10 < first.flight {
        return None;
    }
    let evidence = format!(
        "the first loss came while the flight doubled each RTT, at {} in flight: {lost} segments had to be retransmitted, \
         {} from frame {} on",
        bytes(first.flight),
        time(first.to_ns - first.from_ns),
        first.first_frame,
    );
    let verdict = Verdict::new(Cause::SlowStartOvershoot, 0.9, evidence)
        .share(repair_share_of(judged, &[first]))
        .next_test("pace the sender (fq with maxrate) below the bottleneck, or let HyStart end slow start");
    Some(with_events(verdict, &[first]))
}

/// What kind of queue, if any, the losses come from.
fn queue(judged: &Judged, losses: &[&Loss]) -> Option<Verdict> {
    let repairs = repairs(judged);
    if losses.is_empty() || repairs.is_empty() {
        return None;
    }
    let mut queues: Vec<i64> = repairs.iter().map(|event| event.queue_ns).collect();
    queues.sort_unstable();
    let median_ns = queues[queues.len() / 2];
    // A queue shows as delay: a fifth of the RTT, and more than a host's own jitter.
    let seen_ns = (judged.rtt_ns / 5).max(1_000_000);
    let deep_ns = deep_ns(judged);
    let share = judged.repair_share();
    let total = judged.direction.counts.segments.max(1);
    // A packet that segmentation offload has not cut yet is several segments.
    let count: u64 = losses.iter().map(|loss| u64::from(loss.bytes).div_ceil(judged.mss)).sum();
    let told = |what: &str| {
        format!(
            "{count} of {total} segments lost in {} {}, {} of the time: {what}",
            repairs.len(),
            if repairs.len() == 1 { "recovery" } else { "recoveries" },
            percent(share)
        )
    };
    if median_ns > deep_ns {
        let what =
            format!("the queueing delay was {} when losses began (least RTT {})", time(median_ns), time(judged.rtt_ns));
        let verdict = Verdict::new(Cause::DeepBuffer, 0.85, told(&what))
            .share(share + judged.share(Owner::CongestionWindow))
            .rival("cross traffic that fills the same queue");
        return Some(with_events(verdict, &repairs));
    }
    let mut flights: Vec<u64> = repairs.iter().map(|event| event.flight).collect();
    flights.sort_unstable();
    let (low, high) = (flights[flights.len() / 10], flights[flights.len() - 1 - flights.len() / 10]);
    let per_event = count as f64 / repairs.len() as f64;
    let quiet = format!("the queueing delay was {} when losses began", time(median_ns));
    // A queue overflows at one flight.
    let differ = low * 5 < high * 4;
    let is_scattered = differ && Scatter::of(losses, judged).is_random();
    if median_ns <= seen_ns && (is_scattered || are_single(&repairs)) {
        let what = format!("{quiet}, at {} to {} in flight, as far apart as chance has them", bytes(low), bytes(high));
        let verdict = Verdict::new(Cause::RandomLoss, if repairs.len() >= MANY { 0.85 } else { 0.7 }, told(&what))
            .share(share + judged.share(Owner::CongestionWindow))
            .rival("a shared queue that others fill")
            .next_test("counters of errors on each link of the path: optics, CRC, discards");
        return Some(with_events(verdict, &repairs));
    }
    let before = BeforeLosses::at_sender(losses, judged);
    let bursts = before.map_or_else(String::new, |before| before.evidence());
    let each = if repairs.len() == 1 { String::new() } else { format!(", {per_event:.1} segments in each") };
    let what = format!(
        "{quiet} (least RTT {}){each}, at {} in flight{bursts}",
        time(judged.rtt_ns),
        bytes(flights[flights.len() / 2])
    );
    let is_seen = median_ns > seen_ns;
    let confidence = match (losses.len(), is_seen) {
        (..FEW, _) => 0.5,
        (_, true) => 0.85,
        (_, false) => 0.7,
    };
    let mut verdict = Verdict::new(Cause::ShallowBuffer, confidence, told(&what))
        .share(share + judged.share(Owner::CongestionWindow))
        .next_test("pace the sender below the bottleneck's rate: losses of a shallow buffer go away");
    if before.is_some_and(|before| before.are_even()) {
        verdict = verdict.rival("microbursts of other traffic: this sender had sent evenly before its losses");
    }
    if !is_seen {
        verdict = verdict.rival("a policer").rival("random loss");
    }
    Some(with_events(verdict, &repairs))
}

/// Whether losses come one at a time, and at flights that have nothing in common: a queue overflows at one flight, and a bucket
/// loses the rest of a burst. What slow start overflowed says nothing of what comes after.
fn are_single(repairs: &[&Event]) -> bool {
    let after_start = || repairs.iter().filter(|event| !event.in_slow_start);
    let (mut flights, mut counts): (Vec<u64>, Vec<u64>) =
        after_start().map(|event| (event.flight, event.retransmits)).unzip();
    if flights.len() < LEAST_SINGLE {
        return false;
    }
    flights.sort_unstable();
    counts.sort_unstable();
    let (fifth, last) = (flights.len() / 5, flights.len() - 1);
    counts[last - fifth] <= 2 && flights[last - fifth] * 2 >= flights[fifth] * 3
}

/// Recoveries below which their flights may differ by chance.
const LEAST_SINGLE: usize = 6;
/// Recoveries from which on chance is a good explanation.
const MANY: usize = 12;

/// A queue of more than the RTT is more than any flow needs to keep a bottleneck busy.
fn deep_ns(judged: &Judged) -> i64 {
    judged.rtt_ns.max(LEAST_DEEP_NS)
}

/// A queueing delay that nobody minds.
const LEAST_DEEP_NS: i64 = 10_000_000;

/// A queue that never overflows: the RTT has grown and the acknowledgments come at a steady rate.
fn standing_queue(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::CongestionWindow) + judged.share(Owner::SlowStart);
    let queue_ns = judged.direction.queue_quantile_ns(0.75)?;
    if share < LEAST_SHARE || queue_ns < deep_ns(judged) {
        return None;
    }
    let evidence = format!(
        "a quarter of the RTTs is {} or more above the least one ({}): the transfer fills a queue at the bottleneck, and takes what it has",
        time(queue_ns),
        time(judged.rtt_ns)
    );
    Some(Verdict::new(Cause::DeepBuffer, 0.6, evidence).share(share).rival("a host that processes packets in batches"))
}

fn spurious(judged: &Judged) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    if counts.spurious < FEW as u64 {
        return None;
    }
    let evidence = format!(
        "{} of {} retransmitted segments had arrived already ({} DSACKs)",
        counts.spurious, counts.retransmits, counts.dsacks
    );
    let events = needless(judged);
    let verdict = Verdict::new(Cause::SpuriousRetransmission, 0.95, evidence)
        .share(repair_share_of(judged, &events))
        .rival("a network that duplicates packets");
    Some(with_events(verdict, &events))
}

fn reordering(judged: &Judged) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = counts.reordered as f64 / counts.segments.max(1) as f64;
    if counts.reordered < FEW as u64 {
        return None;
    }
    let evidence = format!(
        "{} of {} segments ({:.2} %) arrived behind later ones and were not retransmitted before",
        counts.reordered,
        counts.segments,
        share * 100.0
    );
    // It costs what the sender did because of it.
    let events = needless(judged);
    let verdict = Verdict::new(Cause::Reordering, 0.9, evidence)
        .share(repair_share_of(judged, &events))
        .next_test("look for links in parallel (LAG, ECMP by packet) and for hosts that spread one flow over CPUs");
    Some(with_events(verdict, &events))
}

/// Recoveries from what had arrived.
fn needless<'a>(judged: &'a Judged) -> Vec<&'a Event> {
    repairs(judged).into_iter().filter(|event| event.spurious > 0).collect()
}

fn timeouts(judged: &Judged) -> Option<Verdict> {
    let share = judged.share(Owner::Timeout);
    let count = judged.direction.counts.timeouts;
    if count == 0 {
        return None;
    }
    let events: Vec<&Event> =
        repairs(judged).into_iter().filter(|event| event.event_type == EventType::Timeout).collect();
    let evidence = format!(
        "the sender was silent until its retransmission timer fired, {}, {} of the time",
        if count == 1 { "once".to_owned() } else { format!("{count} times") },
        percent(share)
    );
    let verdict = Verdict::new(Cause::Timeout, 0.9, evidence).share(share);
    Some(with_events(verdict, &events))
}
