//! The rate at which data arrives while this sender makes a queue: that of the bottleneck. A paced sender that keeps to it, and has no
//! queue for most of the time (BBR), is limited by the bottleneck; an application that comes by less is not.

/// What is known at the end of a tick.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TickEnd {
    pub(crate) time_ns: i64,
    /// Bytes that have arrived so far.
    pub(crate) delivered: u64,
    /// Bytes sent and not acknowledged.
    pub(crate) outstanding: u64,
    /// The least RTT of the round.
    pub(crate) queue: QueueSeen,
}

/// Whether the least RTT of a round was above the least of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueSeen {
    Throughout,
    Emptied,
}

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FilledRate {
    last: Option<TickEnd>,
    /// Bytes a second of ticks in which a queue grew: the most, slowly forgotten. The first of them had no queue when they began.
    filled: Option<f64>,
    /// Bytes a second of all ticks, smoothed over a few.
    recent: f64,
}

/// A queue grows by this sender where its bytes outstanding grow by so much of what arrives.
const LEAST_GROWTH: f64 = 0.1;
/// What is left of a rate with each later tick of a queue.
const FORGOTTEN: f64 = 0.98;
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
        let arrived = end.delivered.saturating_sub(last.delivered) as f64;
        let rate = arrived * 1e9 / span_ns as f64;
        self.recent += (rate - self.recent) / 4.0;
        let growth = end.outstanding.saturating_sub(last.outstanding) as f64;
        if end.queue == QueueSeen::Throughout && growth > arrived * LEAST_GROWTH {
            self.filled = Some(self.filled.map_or(rate, |filled| rate.max(filled * FORGOTTEN)));
        }
    }

    /// Whether data arrives at the rate of the bottleneck.
    pub(crate) fn is_reached(&self) -> bool {
        self.filled.is_some_and(|filled| (self.recent - filled).abs() <= filled * SAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of ticks of 10 ms at `rate` bytes a tick, after three in which `filled` bytes arrived and a queue grew.
    fn after_a_queue(filled: u64, rate: u64) -> bool {
        let mut meter = FilledRate::default();
        let (mut delivered, mut outstanding) = (0, 10_000);
        for tick in 0..100 {
            let queue = if tick < 4 { QueueSeen::Throughout } else { QueueSeen::Emptied };
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
}
