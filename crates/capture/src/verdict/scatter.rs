//! How losses lie among what was sent: chance scatters them, a queue loses several at once or one in each cycle.

use super::judged::Judged;
use crate::direction::losses::Loss;

/// Distances between losses, in bytes sent, against those of chance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    losses: usize,
    /// Losses that follow another within a tenth of the mean distance: by chance 10 % of them.
    close_share: f64,
    /// Standard deviation of the distances by their mean: by chance 1.
    variation: f64,
    /// Losses at a queueing delay that a tenth of all RTTs exceed: by chance 10 % of them.
    queued_share: f64,
}

/// Losses below which chance looks like anything.
const LEAST: usize = 12;
/// Delays that differ by less are those of hosts.
const SEEN_NS: i64 = 300_000;

impl Scatter {
    #[expect(clippy::cast_precision_loss, reason = "distances")]
    pub(super) fn of(losses: &[&Loss], judged: &Judged) -> Self {
        let mut at: Vec<u64> = losses.iter().map(|loss| loss.sent_before).collect();
        at.sort_unstable();
        let distances: Vec<f64> = at.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
        let count = distances.len().max(1) as f64;
        let mean = distances.iter().sum::<f64>() / count;
        let close = (mean / 10.0).max(judged.mss as f64 * 1.5);
        let expected_close = 1.0 - (-close / mean.max(1.0)).exp();
        let close_share = distances.iter().filter(|distance| **distance <= close).count() as f64 / count;
        let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / count;
        let quantile_ns = |share| judged.direction.queue_quantile_ns(share).unwrap_or_default();
        let (usual_ns, high_ns) = (quantile_ns(0.5), quantile_ns(0.9));
        let queued = losses.iter().filter(|loss| loss.queue_ns >= high_ns && high_ns - usual_ns > SEEN_NS).count();
        Self {
            queued_share: queued as f64 / losses.len().max(1) as f64,
            losses: losses.len(),
            close_share: close_share - expected_close,
            variation: variance.sqrt() / mean.max(1.0),
        }
    }

    /// Neither in bursts nor at regular distances, nor where the delay is greatest.
    pub(super) fn is_random(&self) -> bool {
        self.losses >= LEAST
            && self.close_share < 0.2
            && self.queued_share < 0.4
            && (0.5..1.8).contains(&self.variation)
    }
}
