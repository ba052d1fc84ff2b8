//! A rate that the path does not go beyond: round trips grow, and the rate stays flat.

use model::series::field::Field;
use units::ByteCount;

use super::stream::{Processor, Setting, Stream};
use super::view::View;

/// Payload that the path passes within a second, over all streams of the direction; `None` without evidence of a
/// bottleneck.
///
/// The evidence: over steps of a tenth of a second the round-trip time stood a quarter and a millisecond above the least
/// one while as much was outstanding as the path holds at that rate, the middle 80 % of these steps' rates lie within a
/// quarter of their median, and no other step was faster by more than a tenth. A processor that is used up
/// lets round trips grow as well, so then there is none.
pub(super) fn payload_per_second(views: &[View<'_>], setting: &Setting<'_>) -> Option<u64> {
    if setting.sender_cpu == Processor::Exhausted || setting.receiver_cpu == Processor::Exhausted {
        return None;
    }
    let base_rtt = setting.base_rtt?;
    let window = setting.window().max(STEP_US);
    let end = views.iter().map(|view| view.stream.sampled_until()).max()?.min(setting.end);
    let start = views.iter().map(|view| view.start_end).max()?;
    let (mut from, mut steps, mut rates, mut fastest) = (start, 0_usize, Vec::new(), 0);
    while let Some(to) = from.checked_add(window).filter(|to| *to <= end) {
        steps += 1;
        let payload = views.iter().map(|view| passed(view.stream, (from, to))).fold(0, u64::saturating_add);
        let rate = crate::exact::scale(payload, 1_000_000, u64::try_from(window).unwrap_or(u64::MAX));
        fastest = fastest.max(rate);
        let queue = Queue {
            rtt_us: base_rtt.saturating_mul(5) / 4 + LEAST_QUEUE_US,
            path: ByteCount::new(crate::exact::scale(rate, base_rtt, 1_000_000)),
            payload,
        };
        if queue.stands(views, (from, to)) {
            rates.push(rate);
        }
        from = to;
    }
    // A full send buffer whose path has a queue for less than three fifths of the time lets it run empty for the rest: it limits.
    let looks = || (0..).map(|look| start.saturating_add(window / LOOKS * look)).take_while(|at| *at <= from);
    let full = looks().filter(|at| views.iter().all(|view| view.writer.has_no_room(*at))).count();
    if full * 2 >= looks().count() && rates.len() * 5 < steps * 3 {
        return None;
    }
    flat(rates, steps).filter(|rate| u128::from(fastest) * 10 <= u128::from(*rate) * 11)
}

/// Payload that came through the path between two moments. What was acknowledged in order stands still behind a hole and
/// leaps when it is filled, which no path does; so where the kernel counts segments as they come, these count
/// (`tcpi_delivered`, Linux 4.18).
fn passed(stream: &Stream<'_>, (from, to): (i64, i64)) -> u64 {
    let segments = stream.sent(Field::Delivered).map(|count| count.growth(from, to)).filter(|segments| *segments > 0);
    let size = stream.sent(Field::SndMss).map(|size| size.state(to));
    let in_order = || stream.delivered().map_or(0, |delivered| delivered.growth(from, to));
    segments.zip(size).map_or_else(in_order, |(segments, size)| segments.saturating_mul(size))
}

/// What shows at a moment that a queue stands on the path.
#[derive(Debug, Clone, Copy)]
struct Queue {
    /// The round-trip time is as long.
    rtt_us: u64,
    /// So much payload is outstanding without a queue at the rate of now. Bursts make round trips longer as well: the queue
    /// has gone before the next one, and then the bottleneck has nothing to send, and less is outstanding than this.
    path: ByteCount,
    /// What passed in the time that is looked at.
    payload: u64,
}

impl Queue {
    /// Whether it stood through nearly all of the time between two moments.
    fn stands(&self, views: &[View<'_>], (from, to): (i64, i64)) -> bool {
        let looks = (0..LOOKS).map(|look| from + (to - from) / LOOKS * look);
        let rtts: Vec<_> = views.iter().filter_map(|view| view.stream.sent(Field::Rtt)).collect();
        let grown = |at: i64| {
            let sum: u128 = rtts.iter().map(|rtt| u128::from(rtt.state(at))).sum();
            sum >= u128::from(self.rtt_us) * rtts.len() as u128
        };
        let is_filled = |at: i64| {
            let all = views.iter().map(|view| view.stream.outstanding(at).map(u128::from)).sum::<Option<u128>>();
            all.is_none_or(|all| all * 10 >= u128::from(self.path.get()) * 9)
        };
        // A program that waits for room in its send buffer lets the path run empty: what it writes then arrives an RTT later.
        let is_empty = |at: i64| {
            let until = at + (to - from) / LOOKS;
            let passed = views.iter().map(|view| passed(view.stream, (at, until))).fold(0, u64::saturating_add);
            let is_little = u128::from(passed) * u128::from(LOOKS.unsigned_abs()) * 3 < u128::from(self.payload);
            is_little && views.iter().all(|view| view.writer.waits(until))
        };
        let stood = looks.filter(|at| grown(*at) && is_filled(*at) && !is_empty(*at));
        !rtts.is_empty() && stood.count() >= ENOUGH_LOOKS && !Self::pauses(views, (from, to))
    }

    /// Whether the path passes a quarter more than on average while it has something to pass, for less than four fifths of the time then, though
    /// programs would write more: what it passes on average is not its rate.
    fn pauses(views: &[View<'_>], (from, to): (i64, i64)) -> bool {
        let length = (to - from) / LOOKS;
        let ends = || (1..=LOOKS).map(|look| from + length * look);
        let is_full = |at: &i64| views.iter().all(|view| view.writer.has_no_room(*at));
        if ends().filter(is_full).count() < ENOUGH_FULL {
            return false;
        }
        let passed_until = |at: i64| views.iter().map(|view| passed(view.stream, (at - length, at))).sum::<u64>();
        let mut amounts: Vec<_> = ends().map(passed_until).collect();
        amounts.sort_unstable();
        let all: u128 = amounts.iter().map(|amount| u128::from(*amount)).sum();
        let busy = amounts.get(amounts.len() * 2 / 3).copied().unwrap_or_default();
        u128::from(busy) * amounts.len() as u128 * 4 > all * 5
    }
}

/// The upper quartile of rates that hardly vary.
fn flat(mut rates: Vec<u64>, steps: usize) -> Option<u64> {
    rates.sort_unstable();
    let at = |part: usize| rates.get((rates.len().saturating_sub(1)) * part / 100).copied();
    let (low, median, high) = (at(10)?, at(50)?, at(90)?);
    let is_flat = u128::from(high - low) * 4 <= u128::from(median);
    (rates.len() >= 2 && rates.len() * 5 >= steps && is_flat && median > 0).then(|| at(75)).flatten()
}

/// Scheduling and interrupt coalescing alone make round trips longer by less than this.
const LEAST_QUEUE_US: u64 = 1_000;
const STEP_US: i64 = 100_000;
const LOOKS: i64 = 10;
const ENOUGH_LOOKS: usize = 8;
/// Of these, with no room in the send buffer.
const ENOUGH_FULL: usize = 5;

#[cfg(test)]
mod tests;
