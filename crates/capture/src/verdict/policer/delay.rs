//! Whether delay grew while the bucket emptied: then it is a queue, whose room runs out as tokens do.

use std::ops::ControlFlow;

use super::bucket::{Fit, Tolerance, levels};
use super::log::{CrossingLog, Outcome, seconds};

/// Delay where the bucket was empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct DelayRise {
    /// By how much RTTs at losses are above those where the bucket is fullest, both as 75th percentiles: half of the
    /// losses of a small queue are retransmissions that come when it has drained.
    pub(super) at_loss_s: f64,
    /// By how much the median RTT is higher where the bucket is nearly empty than where it is fullest.
    pub(super) rise_s: f64,
    /// How long a queue of the size of the bucket takes to empty.
    pub(super) queue_s: f64,
    /// The rate at which half a bucket arrives, in bytes a second: one in fifty is faster. Hosts make the time of an arrival uncertain by
    /// [`LEAST_DEPTH_S`].
    pub(super) burst_rate: f64,
    /// The median delay of the packets before the first loss of an episode, over the least: a queue is full then.
    pub(super) before_s: Option<f64>,
    /// What is uncertain of a delay.
    pub(super) uncertain_s: f64,
}

/// A bucket that is empty after less than this cannot be told from a queue of a few packets: hosts delay packets as long.
pub(super) const LEAST_DEPTH_S: f64 = 0.002;
/// Share of the delay of a queue of that size from which on it is one.
const QUEUE_SHARE: f64 = 0.2;
/// The same for the delay before the first losses of episodes alone.
const QUEUE_SHARE_BEFORE: f64 = 0.17;
/// A queue adds no more than its size, which is known to so much.
const MOST_OF_QUEUE: f64 = 2.0;
/// The same where data arrives in bursts that are faster than the bucket: a queue lets nothing through faster, but behind a
/// bucket a burst makes a queue of its own.
const QUEUE_SHARE_OF_BURSTS: f64 = 0.8;
/// Bursts at so many times the rate of the bucket are no measuring error: of arrivals, and of acknowledgments of them, which the
/// reverse path may compress.
const FAST_BURST: f64 = 1.5;
const FAST_BURST_OF_ACKS: f64 = 2.5;

/// How a capture knows when packets arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// It is where they arrive.
    Seen,
    /// By acknowledgments.
    Acknowledged,
}

impl DelayRise {
    /// Whether the delay is that of a queue.
    pub(super) fn is_queue(&self, fit: &Fit, arrivals: Arrivals) -> bool {
        let fast = match arrivals {
            Arrivals::Seen => FAST_BURST,
            Arrivals::Acknowledged => FAST_BURST_OF_ACKS,
        };
        let has_bursts = self.burst_rate > fast * fit.bucket.rate;
        let most = if has_bursts { QUEUE_SHARE_OF_BURSTS } else { QUEUE_SHARE };
        if self.is_empty_before() {
            return false;
        }
        let before_s = self.before_s.unwrap_or(self.at_loss_s);
        let mut signs = [before_s, self.at_loss_s, self.rise_s];
        signs.sort_by(f64::total_cmp);
        let [_, delay_s, _] = signs;
        let is_late = before_s > QUEUE_SHARE_BEFORE * self.queue_s || self.at_loss_s > QUEUE_SHARE * self.queue_s;
        let is_full = !has_bursts && is_late;
        // What is delayed by more than the queue holds waits in another one, behind a bucket that lets bursts through.
        let is_another = has_bursts && delay_s > MOST_OF_QUEUE * self.queue_s;
        (delay_s > most * self.queue_s || is_full) && !is_another
    }

    /// Whether nothing waited when an episode of losses began: a queue that overflows is full, in captures of shapers to three tenths of
    /// what a bucket that fits them holds and more.
    pub(super) fn is_empty_before(&self) -> bool {
        self.before_s.is_some_and(|before_s| before_s - self.uncertain_s < EMPTY * self.queue_s)
    }
}

/// See [`DelayRise::is_empty_before`].
const EMPTY: f64 = 0.1;

/// What RTTs say of a bucket; none where too few are known.
pub(super) fn rise(log: &CrossingLog, fit: &Fit, tolerance: Tolerance) -> Option<DelayRise> {
    let (mut samples, mut at_losses) = (Vec::new(), Vec::new());
    levels(log, fit.bucket, tolerance, |level, _| {
        match level.crossing.outcome {
            Outcome::Passed { rtt_ns: Some(rtt_ns) } => {
                samples.push(Sample { level: level.bytes, rtt_s: seconds(rtt_ns) });
            }
            Outcome::Passed { rtt_ns: None } => {}
            Outcome::Lost { queue_ns, .. } => at_losses.push(seconds(queue_ns)),
        }
        ControlFlow::Continue(())
    });
    let queue_s = fit.bucket.depth / fit.bucket.rate;
    let part = samples.len() / 4;
    if part < LEAST {
        return None;
    }
    samples.sort_by(|one, other| one.level.total_cmp(&other.level));
    let empty = samples.partition_point(|sample| sample.level <= tolerance.of(fit.bucket)).clamp(LEAST, part);
    let rtts = |samples: &[Sample]| samples.iter().map(|sample| sample.rtt_s).collect::<Vec<f64>>();
    let (empty, full) = (rtts(samples.get(..empty)?), rtts(samples.get(samples.len() - part..)?));
    let least = samples.iter().map(|sample| sample.rtt_s).fold(f64::INFINITY, f64::min);
    Some(DelayRise {
        at_loss_s: least + quantile(at_losses, 0.75)? - quantile(full.clone(), 0.75)?,
        rise_s: quantile(empty, 0.5)? - quantile(full, 0.5)?,
        queue_s,
        burst_rate: burst_rate(log, fit.bucket.depth / 2.0),
        before_s: before_episodes(log, least),
        uncertain_s: tolerance.seconds,
    })
}

/// Packets before a first loss that say what the queue was like.
const NEAR_PACKETS: usize = 3;

/// See [`DelayRise::before_s`].
fn before_episodes(log: &CrossingLog, least_s: f64) -> Option<f64> {
    let mut before = Vec::new();
    for (at, crossing) in log.crossings.iter().enumerate() {
        if !matches!(crossing.outcome, Outcome::Lost { leads: true, .. }) {
            continue;
        }
        let near = log.crossings.get(at.saturating_sub(NEAR_PACKETS)..at)?;
        let rtts = near.iter().filter_map(|near| match near.outcome {
            Outcome::Passed { rtt_ns } => rtt_ns.map(seconds),
            Outcome::Lost { .. } => None,
        });
        before.extend(rtts.reduce(f64::max).map(|rtt_s| rtt_s - least_s));
    }
    quantile(before, 0.5)
}

/// The rate of the fastest arrivals of so many bytes, but for one in fifty.
fn burst_rate(log: &CrossingLog, bytes: f64) -> f64 {
    let (mut arrivals, mut passed) = (Vec::new(), 0.0);
    for crossing in &log.crossings {
        passed += crossing.passed;
        if let Outcome::Passed { rtt_ns: Some(rtt_ns) } = crossing.outcome {
            arrivals.push((crossing.at_ns + rtt_ns, std::mem::take(&mut passed)));
        }
    }
    arrivals.sort_by_key(|arrival| arrival.0);
    let (mut rates, mut from, mut sum) = (Vec::new(), 0, 0.0);
    let span_s = |from: i64, to: i64| seconds(to - from);
    for to in 1..arrivals.len() {
        sum += arrivals[to].1;
        // What arrives at an instant was on its path before it, and a host that is busy acknowledges at once what came one after the other.
        while from + 1 < to
            && sum - arrivals[from + 1].1 >= bytes
            && span_s(arrivals[from + 1].0, arrivals[to].0) >= LEAST_DEPTH_S
        {
            from += 1;
            sum -= arrivals[from].1;
        }
        let span_s = span_s(arrivals[from].0, arrivals[to].0);
        if sum >= bytes && span_s > 0.0 {
            rates.push(sum / span_s.max(LEAST_DEPTH_S));
        }
    }
    quantile(rates, 0.98).unwrap_or_default()
}

fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    let rank = (values.len() as f64 * share) as usize;
    values.get(rank).copied()
}

/// Passes of which an RTT is known, for each of both groups.
const LEAST: usize = 5;

#[derive(Debug, Clone, Copy)]
struct Sample {
    level: f64,
    rtt_s: f64,
}

#[cfg(test)]
mod tests {
    use super::super::log::Crossing;
    use super::*;

    /// 30 kB a millisecond pass a queue, and a busy receiver acknowledges what two milliseconds brought at once.
    #[test]
    fn what_a_host_acknowledges_at_once_is_no_burst() {
        let crossing = |packet: i64| {
            let (at_ns, batch) = (packet * 100_000, packet / 20);
            let rtt_ns = 8_000_000 + (batch + 1) * 2_000_000 - at_ns;
            Crossing { at_ns, after_s: 0.000_1, passed: 3_000.0, outcome: Outcome::Passed { rtt_ns: Some(rtt_ns) } }
        };
        let log = CrossingLog { crossings: (0..400).map(crossing).collect(), ..CrossingLog::default() };
        let rate = burst_rate(&log, 50_000.0);
        assert!((29e6..46e6).contains(&rate), "{rate}");
    }

    /// A bucket of 400 kB lets 100 kB a millisecond through, of which each packet is acknowledged.
    #[test]
    fn a_burst_of_milliseconds_is_one() {
        let crossing = |packet: i64| {
            let at_ns = packet / 400 * 100_000_000 + packet % 400 * 10_000;
            let outcome = Outcome::Passed { rtt_ns: Some(8_000_000) };
            Crossing { at_ns, after_s: 0.000_01, passed: 1_000.0, outcome }
        };
        let log = CrossingLog { crossings: (0..4_000).map(crossing).collect(), ..CrossingLog::default() };
        let rate = burst_rate(&log, 200_000.0);
        assert!((95e6..105e6).contains(&rate), "{rate}");
    }
}
