//! What limited a transfer: one rule for each cause, over the state of a direction.
//!
//! | file | causes |
//! |---|---|
//! | `limits` | windows, buffers, the application: who had the time |
//! | `loss` | queues, random loss, reordering, spurious retransmissions, timeouts |
//! | `delayed` | packets that are late and not lost |
//! | `cause`, `judged`, `text` | what a verdict is, what it is made from, and how numbers stand in it |
//! | `repairs` | recoveries and timeouts: when, how long, at what cost |
//! | `scatter` | whether losses lie where chance would put them |
//! | `microburst` | how fast the sender sent before its losses |
//! | `policer` | a token bucket, replayed for one transfer or for all between two hosts |
//! | `bottleneck` | a bottleneck that is always busy |
//! | `path` | marks, thinned acknowledgments, packets that are too large, what the capture lacks |
//!
//! A rule that has not enough to judge by says nothing: its absence is no acquittal.

mod bottleneck;
mod cause;
mod delayed;
mod judged;
mod limits;
mod loss;
mod microburst;
mod path;
mod policer;
mod repairs;
mod scatter;
mod text;

pub use cause::{Cause, TokenBucket, Verdict};
use judged::Judged;
pub(crate) use policer::PolicerFit;

use crate::direction::Direction;

/// Share of the bytes that may be missing before verdicts on loss are withheld.
const MOST_MISSING: f64 = 0.001;

/// All verdicts on a direction, the most important first.
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub(crate) fn judge(direction: &Direction) -> Vec<Verdict> {
    let counts = &direction.counts;
    let missing = counts.unseen_bytes as f64 / (counts.payload_bytes + counts.unseen_bytes).max(1) as f64;
    let judged = Judged {
        direction,
        total_ns: direction.budget.total_ns(),
        rtt_ns: direction.path_rtt_ns(),
        mss: u64::from(direction.mss()),
        lacks_packets: missing > MOST_MISSING || counts.acks == 0,
    };
    let mut verdicts = limits::verdicts(&judged);
    if !judged.lacks_packets {
        verdicts.extend(loss::verdicts(&judged));
    }
    verdicts.extend(path::verdicts(&judged, missing));
    if verdicts.iter().any(|verdict| verdict.cause == Cause::MtuBlackHole) {
        // These are how it shows.
        verdicts.retain(|verdict| !matches!(verdict.cause, Cause::Timeout | Cause::ShallowBuffer | Cause::RandomLoss));
    }
    rank(&mut verdicts);
    verdicts
}

/// The most important first.
pub(crate) fn rank(verdicts: &mut [Verdict]) {
    verdicts.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
}
