//! The rate of the bottleneck, as this sender has found it: it sends more for an RTT, a queue grows, and no more arrives.
//!
//! That tells a paced sender at its bottleneck (BBR), which has no queue for most of the time, from an application that comes by less: BBR
//! sends a quarter more in one RTT of eight (draft-ietf-ccwg-bbr, ProbeBW_UP), and what arrives stays the same; where an application sends
//! more, as much more arrives an RTT later.

/// What is known at the end of a tick, which is an RTT long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TickEnd {
    pub(crate) time_ns: i64,
    /// Bytes that have arrived so far.
    pub(crate) delivered: u64,
    /// Bytes sent and not acknowledged.
    pub(crate) outstanding: u64,
    pub(crate) queue: QueueSeen,
}

/// Whether the last RTT was above the least of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueSeen {
    Standing,
    Emptied,
}

/// See the module. Rates are in bytes a second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FilledRate {
    last: Option<TickEnd>,
    /// The tick before, where more was sent in it than arrived.
    pushed: Option<Push>,
    /// The most that arrived when more was sent, slowly forgotten.
    filled: Option<f64>,
    /// How often arrivals stayed the same when more was sent, and how often they did not.
    unmoved: u32,
    moved: u32,
    /// The rate of all ticks, smoothed over a few.
    recent: f64,
}

/// More was sent than arrived, and a queue stood.
#[derive(Debug, Clone, Copy)]
struct Push {
    arrived: f64,
    excess: f64,
}

/// More is sent where bytes outstanding grow by so much of what arrives.
const LEAST_EXCESS: f64 = 0.1;
/// What is left of a rate with each later push.
const FORGOTTEN: f64 = 0.98;
/// Pushes that arrivals did not follow, for each that they did: 5 to 24 of BBR at a bottleneck, 1.1 at most of an application that
/// writes in bursts (measured, Linux 6.18, 20 to 100 Mbit/s over 10 to 100 ms).
const MOSTLY: u32 = 3;
/// Rates that differ by less are the same.
const SAME: f64 = 0.1;

impl FilledRate {
    #[expect(clippy::cast_precision_loss, reason = "rates")]
    pub(crate) fn tick(&mut self, end: TickEnd) {
        let Some(last) = self.last.replace(end) else { return };
        let span_ns = end.time_ns - last.time_ns;
        if span_ns <= 0 {
            return;
        }
        let rate = |bytes: u64| bytes as f64 * 1e9 / span_ns as f64;
        let arrived = rate(end.delivered.saturating_sub(last.delivered));
        let excess = rate(end.outstanding.saturating_sub(last.outstanding));
        if let Some(push) = self.pushed.take() {
            let change = (arrived - push.arrived).abs();
            if change < push.excess / 2.0 && change <= push.arrived * SAME {
                self.unmoved += 1;
                self.filled = Some(self.filled.map_or(arrived, |filled| arrived.max(filled * FORGOTTEN)));
            } else {
                self.moved += 1;
            }
        }
        let is_pushed = end.queue == QueueSeen::Standing && excess > arrived * LEAST_EXCESS;
        self.pushed = is_pushed.then_some(Push { arrived, excess });
        self.recent += (arrived - self.recent) / 4.0;
    }

    /// In slow start more arrives whenever more is sent, until the bottleneck is reached.
    pub(crate) fn forget_start(&mut self) {
        self.moved = 0;
    }

    /// Whether data arrives at the rate of the bottleneck.
    pub(crate) fn is_reached(&self) -> bool {
        let is_bottleneck = self.unmoved > MOSTLY * self.moved;
        is_bottleneck && self.filled.is_some_and(|filled| (self.recent - filled).abs() <= filled * SAME)
    }
}

saved!(TickEnd { time_ns, delivered, outstanding, queue });
saved!(FilledRate { last, pushed, filled, unmoved, moved, recent });
saved!(Push { arrived, excess });
saved_enum!(QueueSeen { Standing, Emptied });

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of ticks of 10 ms at `rate` bytes a tick, after three in which `filled` bytes arrived and a queue grew.
    fn after_a_queue(filled: u64, rate: u64) -> bool {
        let mut meter = FilledRate::default();
        let (mut delivered, mut outstanding) = (0, 10_000);
        for tick in 0..100 {
            let queue = if tick < 4 { QueueSeen::Standing } else { QueueSeen::Emptied };
            meter.tick(TickEnd { time_ns: tick * 10_000_000, delivered, outstanding, queue });
            (delivered, outstanding) =
                if tick < 3 { (delivered + filled, outstanding + filled / 4) } else { (delivered + rate, 10_000) };
        }
        meter.is_reached()
    }

    #[test]
    fn a_sender_at_the_rate_of_its_queue_is_at_the_bottleneck_and_a_slower_one_is_not() {
        assert!(after_a_queue(100_000, 97_000));
        assert!(!after_a_queue(100_000, 60_000));
    }

    #[test]
    fn without_a_queue_nothing_is_known() {
        let mut meter = FilledRate::default();
        for tick in 0..50_i64 {
            let delivered = tick.unsigned_abs() * 1_000;
            meter.tick(TickEnd { time_ns: tick, delivered, outstanding: delivered, queue: QueueSeen::Emptied });
        }
        assert!(!meter.is_reached());
    }

    #[test]
    fn an_application_that_comes_in_bursts_makes_a_queue_and_more_arrives() {
        let mut meter = FilledRate::default();
        let (mut delivered, mut outstanding) = (0, 10_000);
        for tick in 0..200_i64 {
            meter.tick(TickEnd { time_ns: tick * 10_000_000, delivered, outstanding, queue: QueueSeen::Standing });
            // What was sent more in one tick arrives in the next.
            let is_burst = tick % 2 == 0;
            delivered += if is_burst { 90_000 } else { 110_000 };
            outstanding = if is_burst { 30_000 } else { 10_000 };
        }
        assert!(!meter.is_reached());
    }
}
