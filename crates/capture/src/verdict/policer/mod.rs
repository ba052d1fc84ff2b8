//! A policer: a token bucket without a queue.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the verdict |
//! | `stamps` | when it was sent, by the sender's time stamps |
//! | `log` | what went through the bucket: passes and losses of the flows that share it |
//! | `bucket` | a bucket replayed, and the search for the one that explains most |
//! | `delay` | a queue loses packets as a bucket does, but delays them before |
//!
//! The idea is that of Flach et al. (SIGCOMM 2016): with a policer, tokens are left where segments pass and none where they
//! are lost. Here the bucket has a depth, so that pauses fill it; rate and depth are searched for; all flows between two
//! hosts are replayed together; and the delay before losses tells a bucket from a queue.

mod bucket;
mod delay;
mod log;
mod stamps;

use super::cause::{Cause, TokenBucket, Verdict};
use super::judged::Judged;
use super::text::{bytes, percent, rate, time};
use crate::direction::losses::LossRecord;
use crate::direction::owner::Owner;
use bucket::{Bucket, BucketBefore, Fit, Tolerance};
use delay::{Arrivals, DelayRise, LEAST_DEPTH_S};
use log::CrossingLog;

/// What the time between the sender and the bucket is uncertain by.
const TIMING_S: f64 = 0.000_3;
/// Where the bucket's rate is at most so many times what passed, and its losses come so many times, it is sure.
const SURE_GOODPUT: f64 = 1.4;
const SURE_EPISODES: usize = 4;
/// Share of the time in which the bucket fills.
const MOST_UNCERTAIN: f64 = 0.3;
/// IP and TCP headers of a segment with time stamps.
const HEADER_BYTES: f64 = 52.0;

/// The verdict on a lone transfer, where a bucket fits.
pub(super) fn lone(judged: &Judged) -> Option<Verdict> {
    let is_at_sender = judged.direction.sender_lag_ns == 0;
    let by_stamps = if is_at_sender { None } else { stamps::stamped(&judged.direction.losses) };
    let (record, uncertain_s, arrivals) = match &by_stamps {
        Some(stamped) => (&stamped.record, TIMING_S + log::seconds(stamped.tick_ns), Arrivals::Seen),
        None => (&judged.direction.losses, timing_s(judged), Arrivals::Acknowledged),
    };
    let before = if judged.direction.numbers.saw_syn { BucketBefore::Full } else { BucketBefore::Unknown };
    let view = View { rtt_ns: judged.rtt_ns, uncertain_s, before, arrivals };
    let found = PolicerFit::of(&[record], judged.mss, view)?;
    let owners = [Owner::Recovery, Owner::Timeout, Owner::SlowStart, Owner::CongestionWindow];
    let share = owners.into_iter().map(|owner| judged.share(owner)).sum();
    Some(found.verdict(judged.mss).share(share))
}

/// Away from the sender, packets have waited in queues since they passed the bucket, or wait before they come to it.
#[expect(clippy::cast_precision_loss, reason = "a time of a capture")]
fn timing_s(judged: &Judged) -> f64 {
    if judged.direction.sender_lag_ns == 0 {
        return TIMING_S;
    }
    let queue_ns = judged.direction.queue_quantile_ns(0.9).unwrap_or_default();
    TIMING_S.max(queue_ns as f64 / 1e9)
}

/// What a capture sees of a bucket.
#[derive(Debug, Clone, Copy)]
struct View {
    rtt_ns: i64,
    /// By how much the time at the capture differs from that at the bucket, but for a constant.
    uncertain_s: f64,
    before: BucketBefore,
    arrivals: Arrivals,
}

/// A bucket that explains losses.
pub(crate) struct PolicerFit {
    fit: Fit,
    rise: DelayRise,
    losses: usize,
    episodes: usize,
    flows: usize,
    /// A bucket that fills in as little time as a queue of its size adds unseen, where that explains as much.
    unseen_queue: Option<Bucket>,
}

impl PolicerFit {
    /// Of transfers between two hosts, captured at the sender.
    pub(crate) fn shared(records: &[&LossRecord], mss: u64, rtt_ns: i64) -> Option<Self> {
        let view =
            View { rtt_ns, uncertain_s: TIMING_S, before: BucketBefore::Unknown, arrivals: Arrivals::Acknowledged };
        Self::of(records, mss, view)
    }

    fn of(records: &[&LossRecord], mss: u64, view: View) -> Option<Self> {
        let log = CrossingLog::new(records, view.rtt_ns);
        let stride = records.iter().map(|record| record.stride()).max().unwrap_or(1);
        #[expect(clippy::cast_precision_loss, reason = "a few segments")]
        let bytes = mss as f64 * (1.0 + records.len() as f64 + f64::from(stride - 1));
        let tolerance = Tolerance { bytes, seconds: view.uncertain_s };
        let fit = bucket::search(&log, tolerance, view.before).filter(|fit| fit.is_good(&log, tolerance))?;
        let rise = delay::rise(&log, &fit, tolerance)?;
        if !fit.is_limit(&log) && !rise.is_empty_before() {
            return None;
        }
        // What is uncertain of the times must not fill the bucket.
        let is_certain = view.uncertain_s < MOST_UNCERTAIN * rise.queue_s;
        let is_bucket = rise.queue_s >= LEAST_DEPTH_S && is_certain && !rise.is_queue(&fit, view.arrivals);
        if !is_bucket {
            return None;
        }
        let unseen = fit.bucket.depth / LEAST_DEPTH_S;
        let unseen_queue = bucket::explained_at(&log, tolerance, unseen, &fit);
        let (losses, episodes, flows) = (log.losses, log.episodes, records.len());
        Some(Self { fit, rise, losses, episodes, flows, unseen_queue })
    }

    pub(crate) fn verdict(&self, mss: u64) -> Verdict {
        let bucket = self.bucket(mss);
        let Fit { full_losses, empty_passes, bucket: Bucket { rate: payload_rate, depth }, .. } = self.fit;
        let flows =
            if self.flows > 1 { format!(" of {} transfers between the two hosts", self.flows) } else { String::new() };
        #[expect(clippy::cast_possible_truncation, reason = "a time in nanoseconds")]
        let [rise, queue] = [self.rise.at_loss_s, self.rise.queue_s].map(|seconds| time((seconds * 1e9) as i64));
        let unseen = self.unseen_queue.map_or_else(String::new, |queue| {
            format!(
                "; a bucket of {} explains as much, and so does a queue that empties at that rate",
                rate(queue.rate)
            )
        });
        let evidence = format!(
            "{} losses{flows}: a token bucket of {} ({} of payload) with a burst of {} explains which segments passed and \
             which were lost: {} of the losses came with tokens left, {} of the passes without; the RTT rose by {rise} \
             before losses, where a queue of that size adds {queue}{unseen}",
            self.losses,
            rate(bucket.rate_bps as f64 / 8.0),
            rate(payload_rate),
            bytes(bucket.burst_bytes),
            percent(full_losses),
            percent(empty_passes),
        );
        // One burst of losses fits many buckets; another rate than that which passed needs more to be believed.
        let is_plain = self.fit.rate_by_goodput < SURE_GOODPUT && self.episodes >= SURE_EPISODES;
        let mut verdict = Verdict::new(Cause::Policer, if is_plain { 0.9 } else { 0.75 }, evidence)
            .next_test("pace the sender below the rate of the bucket: a policer then drops nothing");
        verdict.bucket = Some(bucket);
        if depth / payload_rate < 5.0 * LEAST_DEPTH_S || self.unseen_queue.is_some() {
            verdict = verdict.rival("a queue of the size of the burst");
        }
        verdict
    }

    /// With headers, as policers count.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates that are not negative"
    )]
    fn bucket(&self, mss: u64) -> TokenBucket {
        let whole = 1.0 + HEADER_BYTES / mss.max(1) as f64;
        TokenBucket {
            rate_bps: (self.fit.bucket.rate * whole * 8.0) as u64,
            burst_bytes: (self.fit.bucket.depth * whole) as u64,
            transfers: self.flows as u64,
        }
    }
}
