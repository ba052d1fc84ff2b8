//! Packets that are late and not lost: held together, or each by itself while those behind it pass.

use super::cause::{Cause, Verdict};
use super::judged::{Judged, LEAST_SHARE};
use super::repairs::{FEW, repair_share_of, repairs, with_events};
use super::text::{percent, time};
use crate::direction::event::{Event, EventType};
use crate::direction::owner::Owner;

/// What makes packets late, where `lost` segments were really lost.
pub(super) fn verdict(judged: &Judged, lost: usize) -> Option<Verdict> {
    timed_out(judged, lost).or_else(|| overtaken(judged, lost))
}

/// Nothing arrives for a while, and then all of it: no loss, no retransmission, and no more in flight than before.
pub(super) fn held_packets(judged: &Judged, lost: usize) -> Option<Verdict> {
    let spikes = judged.direction.events.list.iter().filter(|event| event.event_type == EventType::DelaySpike);
    let mut spikes: Vec<&Event> = spikes.collect();
    let share = repair_share_of(judged, &spikes);
    if spikes.len() < FEW || spikes.len() < lost || share < LEAST_SHARE {
        return None;
    }
    spikes.sort_by(|one, other| other.cost_bytes.total_cmp(&one.cost_bytes));
    let longest_ns = spikes.iter().map(|event| event.queue_ns).max().unwrap_or_default();
    let evidence = format!(
        "{} times nothing arrived for up to {} on a path of {}, and then all of it, {} of the time: the delay came from one \
         segment to the next, without a larger flight before it, and nothing was lost then",
        spikes.len(),
        time(longest_ns),
        time(judged.rtt_ns),
        percent(share),
    );
    let verdict = Verdict::new(Cause::DelayedPackets, 0.75, evidence)
        .share(share)
        .rival("a host that stops for a moment: then the other direction stops with it")
        .rival("a burst of other traffic into a deep queue")
        .next_test("test the other direction, and the same path around the firewall or middlebox");
    Some(with_events(verdict, &spikes))
}

/// Packets are held and then all arrive: copies and originals both, no loss, and a delay that does not follow the flight. The
/// sender waited for its timer.
fn timed_out(judged: &Judged, lost: usize) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    let late = counts.spurious;
    let spikes = judged.direction.events.list.iter().filter(|event| event.event_type == EventType::DelaySpike);
    let spikes: Vec<&Event> = spikes.collect();
    let most_ns = judged.direction.rtt.max_ns + judged.direction.sender_lag_ns;
    let is_delayed = most_ns > judged.rtt_ns * 3 / 2 && most_ns - judged.rtt_ns > 50_000_000;
    // Reordering has copies sent an RTT after the original; here the sender waited in vain for longer.
    let spurious = judged.direction.losses.losses.iter().filter(|loss| loss.is_spurious);
    let mut waits: Vec<i64> = spurious.map(|loss| loss.retransmitted_ns - loss.sent_ns).collect();
    waits.sort_unstable();
    let median_ns = waits.get(waits.len() / 2).copied().unwrap_or_default();
    let waited = median_ns > 2 * judged.rtt_ns && median_ns > judged.rtt_ns + 50_000_000;
    if late < FEW as u64 || late < lost as u64 || !is_delayed || !waited {
        return None;
    }
    let evidence = format!(
        "RTTs of up to {} on a path of {}, {} times from one segment to the next; {late} of {} retransmitted segments \
         had arrived: they were late, not lost",
        time(most_ns),
        time(judged.rtt_ns),
        spikes.len().max(1),
        counts.retransmits,
    );
    let events = repairs(judged);
    let verdict = Verdict::new(Cause::DelayedPackets, 0.8, evidence)
        .share(judged.repair_share() + judged.share(Owner::CongestionWindow))
        .rival("a receiving host that stops for a moment: then the other direction stops with it")
        .next_test("test the other direction, and the same path around the firewall or middlebox");
    Some(with_events(verdict, &events))
}

/// Links in parallel differ by less; what looks at packets one by one may need so long for one of them.
const LEAST_LATE_NS: i64 = 10_000_000;

/// Single packets are held while those behind them pass: the sender takes each for lost, and both of its copies arrive.
fn overtaken(judged: &Judged, lost: usize) -> Option<Verdict> {
    let counts = &judged.direction.counts;
    let mut late: Vec<i64> = judged.direction.losses.losses.iter().filter_map(|loss| loss.late_ns).collect();
    late.sort_unstable();
    let median_ns = late.get(late.len() / 2).copied().filter(|median_ns| *median_ns >= LEAST_LATE_NS)?;
    if late.len() < FEW || late.len() < lost {
        return None;
    }
    let spikes = judged.direction.events.list.iter().filter(|event| event.event_type == EventType::DelaySpike);
    let spikes_ns: Vec<i64> = spikes.map(|event| event.queue_ns).collect();
    let holds = spikes_ns.iter().max().map_or_else(String::new, |longest_ns| {
        format!("; {} times nothing at all arrived, for up to {}", spikes_ns.len(), time(*longest_ns))
    });
    let timers = match counts.timeouts {
        0 => String::new(),
        1 => ", and the retransmission timer fired once".to_owned(),
        timeouts => format!(", and the retransmission timer fired {timeouts} times"),
    };
    let evidence = format!(
        "{} packets came {} late (median; least RTT {}), behind the copies that were sent in their place: {} of {} retransmitted \
         segments had arrived, so the window was reduced for packets that were late, not lost{holds}{timers}",
        late.len(),
        time(median_ns),
        time(judged.rtt_ns),
        counts.spurious,
        counts.retransmits,
    );
    let verdict = Verdict::new(Cause::DelayedPackets, 0.8, evidence)
        .share(judged.repair_share() + judged.share(Owner::CongestionWindow))
        .rival("packets of one flow spread over paths of unequal length")
        .next_test("test the other direction, and the same path around the firewall or middlebox");
    Some(with_events(verdict, &repairs(judged)))
}
