//! What an event cost: bytes that the rate before it would have delivered until that rate was reached again.
//!
//! While several events are open, each answers for the layer between the rate before it and the rate before the next
//! one, so that no byte is counted twice.

use super::steadiness::Steadiness;

/// Follows the rate of a transfer in ticks, and the layers of events that are open.
#[derive(Debug)]
pub(crate) struct CostMeter {
    tick_ns: i64,
    tick_from_ns: i64,
    tick_from_bytes: u64,
    from_ns: i64,
    from_bytes: u64,
    /// Bytes of the last ticks, the newest last.
    recent: [u64; TICKS],
    filled: u8,
    open: Vec<Layer>,
    second_from_ns: i64,
    second_bytes: u64,
    /// The most that was delivered in a second, once one is over: a burst is not the rate of a transfer.
    best_second: Option<u64>,
    steadiness: Steadiness,
    /// This tick is one of slow start, whose rate is not yet the bottleneck's.
    is_start: bool,
}

/// The rate at which data arrives most of the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SteadyRate {
    pub(crate) bytes_per_second: f64,
    /// Share of the time in which it is reached.
    pub(crate) share: f64,
}

const SECOND_NS: i64 = 1_000_000_000;

/// The rate before an event is that of so many ticks.
const TICKS: usize = 4;
/// Events whose cost may be open at once; the rate before each is lower than that before the one below it.
const MAX_OPEN: usize = 64;
/// No rate is measured over less.
const MIN_TICK_NS: i64 = 10_000_000;
/// An event is over when the rate before it is reached to this share.
const REJOINED: f64 = 0.95;
/// What was in flight when it began arrives in the tick of the event and in the one behind it: what it has changed shows in the next.
const DELAYED_TICKS: u64 = 2;

#[derive(Debug, Clone, Copy)]
struct Layer {
    event: usize,
    bytes_per_tick: f64,
    /// Ticks since the event.
    age: u64,
}

/// What a tick adds to an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CostShare {
    pub(crate) event: usize,
    pub(crate) bytes: f64,
    /// The rate before the event, in bytes a second.
    pub(crate) rate: f64,
    pub(crate) tick_ns: i64,
}

impl CostMeter {
    pub(crate) fn new() -> Self {
        Self {
            tick_ns: 0,
            tick_from_ns: 0,
            tick_from_bytes: 0,
            from_ns: 0,
            from_bytes: 0,
            recent: [0; TICKS],
            filled: 0,
            open: Vec::new(),
            second_from_ns: 0,
            second_bytes: 0,
            best_second: None,
            steadiness: Steadiness::new(),
            is_start: false,
        }
    }

    /// Starts to measure, with ticks of an RTT.
    pub(crate) fn start(&mut self, time_ns: i64, delivered: u64, rtt_ns: i64) {
        (self.tick_ns, self.tick_from_ns, self.tick_from_bytes) = (rtt_ns.max(MIN_TICK_NS), time_ns, delivered);
        (self.second_from_ns, self.second_bytes) = (time_ns, delivered);
        (self.from_ns, self.from_bytes) = (time_ns, delivered);
    }

    /// The next tick says nothing of the steady rate.
    pub(crate) fn skip_start(&mut self) {
        self.is_start = true;
    }

    /// None of a short transfer.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(crate) fn full_rate(&self) -> Option<SteadyRate> {
        let full = self.steadiness.full_rate()?;
        let bytes_per_second = full.bytes_per_tick * 1e9 / self.tick_ns.max(1) as f64;
        Some(SteadyRate { bytes_per_second, share: full.share })
    }

    pub(crate) fn has_started(&self) -> bool {
        self.tick_ns > 0
    }

    /// Whether a tick ends before an instant.
    #[inline]
    pub(crate) fn is_due(&self, time_ns: i64) -> bool {
        self.tick_ns > 0 && time_ns - self.tick_from_ns >= self.tick_ns
    }

    /// Ends the ticks before an instant, at which so many bytes were delivered.
    #[expect(clippy::cast_precision_loss, reason = "a cost is an estimate")]
    pub(crate) fn tick(&mut self, time_ns: i64, delivered: u64, mut cost: impl FnMut(CostShare)) {
        let ticks = (time_ns - self.tick_from_ns) / self.tick_ns.max(1);
        if ticks <= 0 {
            return;
        }
        // Over a pause the bytes belong to its ticks in equal parts: they were delivered before or after it, and the
        // deficit is the same.
        let bytes = delivered.saturating_sub(self.tick_from_bytes);
        let each = bytes as f64 / ticks as f64;
        while let Some(top) = self.open.last()
            && each >= top.bytes_per_tick * REJOINED
            && top.age >= DELAYED_TICKS
        {
            self.open.pop();
        }
        self.open.iter_mut().for_each(|layer| layer.age += ticks.unsigned_abs());
        for (index, layer) in self.open.iter().enumerate() {
            let floor = self.open.get(index + 1).map_or(each, |next| next.bytes_per_tick.max(each));
            let rate = layer.bytes_per_tick * 1e9 / self.tick_ns as f64;
            let bytes = (layer.bytes_per_tick - floor).max(0.0) * ticks as f64;
            cost(CostShare { event: layer.event, bytes, rate, tick_ns: self.tick_ns.saturating_mul(ticks) });
        }
        if !std::mem::take(&mut self.is_start) {
            self.steadiness.take(each, ticks.unsigned_abs());
        }
        self.recent.rotate_left(1);
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "not negative")]
        let newest = each as u64;
        self.recent[TICKS - 1] = newest;
        if usize::from(self.filled) < TICKS {
            self.filled += 1;
        }
        self.tick_from_ns += ticks * self.tick_ns;
        self.tick_from_bytes = delivered;
        if time_ns - self.second_from_ns >= SECOND_NS {
            let seconds = ((time_ns - self.second_from_ns) / SECOND_NS).max(1).unsigned_abs();
            let each = delivered.saturating_sub(self.second_bytes) / seconds;
            self.best_second = Some(self.best_second.map_or(each, |best| best.max(each)));
            (self.second_from_ns, self.second_bytes) = (time_ns, delivered);
        }
    }

    /// Bytes that the mean rate so far would have delivered in a span in which nothing arrived.
    #[expect(clippy::cast_precision_loss, reason = "a cost is an estimate")]
    pub(crate) fn missed_in(&self, span_ns: i64) -> f64 {
        let delivered = self.tick_from_bytes.saturating_sub(self.from_bytes);
        let elapsed_ns = self.tick_from_ns.saturating_sub(self.from_ns).max(1);
        delivered as f64 * span_ns.max(0) as f64 / elapsed_ns as f64
    }

    /// An event begins.
    #[expect(clippy::cast_precision_loss, reason = "a cost is an estimate")]
    pub(crate) fn open(&mut self, event: usize) {
        if self.filled == 0 || self.open.len() >= MAX_OPEN {
            return;
        }
        // In slow start the last tick is the rate; a steady transfer has its mean.
        let ticks = &self.recent[TICKS - usize::from(self.filled)..];
        let mean = ticks.iter().sum::<u64>() as f64 / ticks.len() as f64;
        let most = self.best_second.map_or(f64::INFINITY, |best| best as f64 * self.tick_ns as f64 / 1e9);
        let before = mean.max(self.recent[TICKS - 1] as f64).min(most);
        if before > 0.0 && self.open.last().is_none_or(|top| before < top.bytes_per_tick) {
            self.open.push(Layer { event, bytes_per_tick: before, age: 0 });
        }
    }
}

saved!(CostMeter {
    tick_ns,
    tick_from_ns,
    tick_from_bytes,
    from_ns,
    from_bytes,
    recent,
    filled,
    open,
    second_from_ns,
    second_bytes,
    best_second,
    steadiness,
    is_start
});
saved!(Layer { event, bytes_per_tick, age });

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes for each tick of 10 ms; events before some of them.
    fn costs(bytes: &[u64], events: &[usize]) -> Vec<f64> {
        let mut meter = CostMeter::new();
        meter.start(0, 0, MIN_TICK_NS);
        let (mut costs, mut delivered) = (vec![0.0; events.len()], 0);
        for (tick, bytes) in (0_i64..).zip(bytes) {
            for (event, at) in events.iter().enumerate() {
                if i64::try_from(*at) == Ok(tick) {
                    meter.open(event);
                }
            }
            delivered += bytes;
            meter.tick((tick + 1) * MIN_TICK_NS, delivered, |share| costs[share.event] += share.bytes);
        }
        costs
    }

    #[test]
    fn an_event_costs_what_is_missing_until_the_rate_is_back() {
        assert_eq!(costs(&[100, 100, 100, 100, 0, 50, 100, 100], &[4]), [150.0]);
        assert_eq!(costs(&[100, 100, 100, 100, 100, 100], &[4]), [0.0]);
    }

    /// A window that is reduced for one segment: what was in flight before arrives for another RTT.
    #[test]
    fn what_was_in_flight_before_an_event_is_no_sign_that_it_is_over() {
        assert_eq!(costs(&[100, 100, 100, 100, 100, 100, 70, 80, 90, 100], &[4]), [60.0]);
    }

    #[test]
    fn a_second_event_answers_only_for_what_it_takes_further() {
        // Four ticks at 50 lower the rate before the second event to 50.
        assert_eq!(costs(&[100, 100, 100, 100, 50, 50, 50, 50, 20, 20, 100], &[4, 8]), [300.0, 60.0]);
    }
}
