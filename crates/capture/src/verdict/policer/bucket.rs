//! A token bucket, replayed: does it have tokens where segments pass, and none where they are lost?

use std::ops::ControlFlow;

use super::log::{Crossing, CrossingLog, Outcome, seconds};

/// A token bucket as RFC 2697 has it, with an excess burst of zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    /// Bytes a second.
    pub(super) rate: f64,
    /// Bytes that it holds.
    pub(super) depth: f64,
}

/// How well a bucket explains a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    pub(super) bucket: Bucket,
    /// Losses with tokens left, of all losses.
    pub(super) full_losses: f64,
    /// The same of those losses that lead an episode, of which many losses together count as one.
    pub(super) full_episodes: f64,
    /// Passes without tokens, of all passes.
    pub(super) empty_passes: f64,
    /// Its rate by the goodput between the first and the last loss.
    pub(super) rate_by_goodput: f64,
    /// Passes at which the bucket was as empty as it has to be for a loss: what chance would give.
    pub(super) low_passes: f64,
}

/// Losses and passes that there must be.
pub(super) const LEAST: usize = 15;
/// Losses with tokens left, at most.
const MOST_FULL_LOSSES: f64 = 0.15;
/// Passes without tokens, at most.
const MOST_EMPTY_PASSES: f64 = 0.05;
/// Losses with tokens left, of those that there would be if losses came at any level.
const MOST_OF_CHANCE: f64 = 0.3;
/// Of those there must be so many, or chance explains the others.
const LEAST_BY_CHANCE: f64 = 10.0;

/// What is uncertain of a level: packets, and the time between the sender and the bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) bytes: f64,
    pub(super) seconds: f64,
}

impl Tolerance {
    /// In bytes, for one bucket.
    pub(super) fn of(self, bucket: Bucket) -> f64 {
        self.bytes + self.seconds * bucket.rate
    }
}

impl Fit {
    /// How far it is from a bucket, 0 being one; a pass without tokens is harder to explain than a loss with some.
    fn error(&self) -> f64 {
        self.full_losses
            + EPISODE_WEIGHT * self.full_episodes
            + EMPTY_PASS_WEIGHT * self.empty_passes
            + LOW_PASS_WEIGHT * self.low_passes
    }

    /// Whether the bucket explains so many losses, and more than a level that losses know nothing of would.
    #[expect(clippy::cast_precision_loss, reason = "a count of losses")]
    pub(super) fn is_good(&self, log: &CrossingLog, tolerance: Tolerance) -> bool {
        let by_chance = 1.0 - self.low_passes;
        // Few episodes are enough for a bucket at about the rate that passed, or for one that is hardly ever empty: another
        // needs more to be believed.
        let is_plain = self.rate_by_goodput < NEAR_GOODPUT || self.low_passes < SELDOM_LOW;
        let least = if is_plain { LEAST_EPISODES } else { 2 * LEAST_EPISODES };
        let surprise = if self.full_losses <= PLENTY_FULL * by_chance { by_chance * log.losses as f64 } else { 0.0 };
        (self.bucket.depth >= LEAST_TOLERANCES * tolerance.bytes || surprise >= PLENTY)
            && (self.low_passes <= MOST_LOW_PASSES || surprise >= PLENTY / 2.0 || self.is_exact(log))
            && self.full_losses <= MOST_FULL_LOSSES.min(MOST_OF_CHANCE * by_chance)
            && self.empty_passes <= MOST_EMPTY_PASSES
            && by_chance * log.losses as f64 >= LEAST_BY_CHANCE
            && self.full_episodes <= MOST_FULL_EPISODES * by_chance
            && log.episodes >= least
    }

    /// What goes through at half of its rate and less is mostly limited by something else, and loses little by it.
    pub(super) fn is_limit(&self, log: &CrossingLog) -> bool {
        self.is_near_goodput() || log.losses >= MANY_LOSSES || log.episodes >= MANY_EPISODES
    }

    /// What passes is not much less than the bucket lets through.
    pub(super) fn is_near_goodput(&self) -> bool {
        self.rate_by_goodput <= MOST_BY_GOODPUT
    }

    /// Whether hardly anything happened that the bucket does not have, though it is mostly empty: a large burst and then its rate.
    #[expect(clippy::cast_precision_loss, reason = "a count of losses")]
    fn is_exact(&self, log: &CrossingLog) -> bool {
        let episodes_by_chance = (1.0 - self.low_passes) * log.episodes as f64;
        self.full_losses <= EXACT
            && self.empty_passes <= EXACT
            && self.rate_by_goodput < EXACT_GOODPUT
            && episodes_by_chance >= EXACT_EPISODES
    }
}

/// Losses with tokens left and passes without, at most, of an exact bucket; its rate by the goodput; and losses that chance would have
/// put where tokens are left.
const EXACT: f64 = 0.005;
const EXACT_GOODPUT: f64 = 1.15;
const EXACT_EPISODES: f64 = 30.0;
/// Public captures of one flow in which the bucket's rate is twice the goodput and more have 198 losses and more in 9 episodes and more
/// with a policer, and 40 to 56 in 6 to 9 without.
const MOST_BY_GOODPUT: f64 = 2.0;
const MANY_LOSSES: usize = 100;
const MANY_EPISODES: usize = 10;

/// A bucket that is not much larger than what is uncertain of its level explains anything.
const LEAST_TOLERANCES: f64 = 3.5;
/// So does one that is mostly empty.
const MOST_LOW_PASSES: f64 = 0.5;

/// But not so many losses as chance would put elsewhere, with so few of them there.
const PLENTY: f64 = 300.0;
const PLENTY_FULL: f64 = 0.1;

/// Episodes that there must be, as one burst of losses fits many buckets, and the share of them with tokens left, of what chance
/// would give.
const LEAST_EPISODES: usize = 2;
const MOST_FULL_EPISODES: f64 = 0.35;
const NEAR_GOODPUT: f64 = 1.4;
const SELDOM_LOW: f64 = 0.15;
/// An episode is one of a few.
const EPISODE_WEIGHT: f64 = 0.5;
const EMPTY_PASS_WEIGHT: f64 = 3.0;
/// A bucket that is always empty explains every loss, and says nothing.
const LOW_PASS_WEIGHT: f64 = 0.3;

/// What is known of a bucket before the first packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BucketBefore {
    /// Nobody else empties it, and a transfer starts: its first loss comes when most of it is spent.
    Full,
    /// It may be anything.
    Unknown,
}

/// Of its depth. In captures of lone transfers through policers it is 0.6 at most, and 0.4 in nine of ten.
const MOST_AT_FIRST_LOSS: f64 = 0.7;

/// The bucket that explains most; none where there is too little to judge by.
pub(super) fn search(log: &CrossingLog, tolerance: Tolerance, before: BucketBefore) -> Option<Fit> {
    if log.losses < LEAST || log.passes < LEAST {
        return None;
    }
    let first = log.crossings.iter().position(Crossing::is_loss)?;
    let last = log.crossings.iter().rposition(Crossing::is_loss)?;
    let (earlier, between) = (log.crossings.get(..first)?, log.crossings.get(first..=last)?);
    let span_s = seconds(between.last()?.at_ns - between.first()?.at_ns);
    let passed: f64 = between.iter().map(|crossing| crossing.passed).sum();
    if span_s <= 0.0 || passed <= 0.0 {
        return None;
    }
    let goodput = passed / span_s;
    let burst: f64 = earlier.iter().map(|crossing| crossing.passed).sum();
    let from_start_s = seconds(between.first()?.at_ns - log.crossings.first()?.at_ns);
    let mut search = Search { log, tolerance, goodput, before, best: None };
    let least = (2.0 * tolerance.bytes).max(goodput * LEAST_DEPTH_S);
    let most = burst.max(goodput * MOST_DEPTH_S) * DEPTH_STEP;
    for step in 0..RATES {
        let rate = goodput * LEAST_RATE * RATE_STEP.powi(step);
        let mut depth = least;
        while depth <= most {
            search.consider(Bucket { rate, depth });
            depth *= DEPTH_STEP;
        }
    }
    let coarse = search.best?.bucket;
    for rate_step in -8..=8 {
        for depth_step in -4..=4 {
            let rate = coarse.rate * (1.0 + 0.005 * f64::from(rate_step));
            let depth = coarse.depth * (1.0 + 0.1 * f64::from(depth_step));
            search.consider(Bucket { rate, depth });
        }
    }
    let fine = search.best?;
    // A bucket that was full at the start holds what passed before the first loss, if that explains the rest as well.
    let full = Bucket { depth: burst - fine.bucket.rate * from_start_s, ..fine.bucket };
    let from_full = (full.depth > least).then(|| replay(log, full, tolerance, NO_BAR)).flatten();
    let found = from_full.filter(|fit| fit.error() < fine.error() + SAME).unwrap_or(fine);
    Some(Fit { rate_by_goodput: found.bucket.rate / goodput, ..found })
}

/// The shallowest bucket of this rate that explains a log as well as another that was found. A queue that empties at a rate drops what such a
/// bucket does: its room runs out as tokens do.
pub(super) fn explained_at(log: &CrossingLog, tolerance: Tolerance, rate: f64, found: &Fit) -> Option<Bucket> {
    let bar = Bar { most_error: found.error() + SAME, ..NO_BAR };
    let mut depth = found.bucket.depth / DEPTHS;
    while depth <= found.bucket.depth * DEPTHS {
        let bucket = Bucket { rate, depth };
        if replay(log, bucket, tolerance, bar).is_some() {
            return Some(bucket);
        }
        depth *= DEPTH_FINE_STEP;
    }
    None
}

/// Depths by that of another bucket that drops about the same.
const DEPTHS: f64 = 3.0;
const DEPTH_FINE_STEP: f64 = 1.1;

/// A search over rates and depths.
struct Search<'a> {
    log: &'a CrossingLog,
    tolerance: Tolerance,
    goodput: f64,
    before: BucketBefore,
    best: Option<Fit>,
}

/// What a rate that is e times the goodput has to explain better than the goodput itself.
const RATE_WEIGHT: f64 = 0.05;

impl Search<'_> {
    fn consider(&mut self, bucket: Bucket) {
        // Where several rates explain as much, the one near the goodput: that is what a bucket lets through.
        let prior = |rate: f64| RATE_WEIGHT * (rate / self.goodput).ln().abs();
        let most = self.best.map_or(f64::INFINITY, |best| best.error() + prior(best.bucket.rate)) - prior(bucket.rate);
        if most <= 0.0 {
            return;
        }
        let most_at_first_loss = match self.before {
            BucketBefore::Full => MOST_AT_FIRST_LOSS,
            BucketBefore::Unknown => f64::INFINITY,
        };
        let bar = Bar { most_error: most, most_at_first_loss };
        if let Some(fit) = replay(self.log, bucket, self.tolerance, bar)
            && fit.error() < most
        {
            self.best = Some(fit);
        }
    }
}

/// Rates from a little below the goodput between first and last loss on: tokens of a full bucket are lost.
const LEAST_RATE: f64 = 0.95;
const RATE_STEP: f64 = 1.04;
const RATES: i32 = 64;
/// A bucket that is full after a millisecond is a queue of a few packets as well.
const LEAST_DEPTH_S: f64 = 0.001;
const MOST_DEPTH_S: f64 = 5.0;
const DEPTH_STEP: f64 = 1.4;
/// Errors that differ by less are the same.
const SAME: f64 = 0.01;

/// What a bucket has to be for a replay to go on.
#[derive(Debug, Clone, Copy)]
struct Bar {
    /// It explains as much as another with this error.
    most_error: f64,
    /// At the first loss it has no more left than this, of its depth.
    most_at_first_loss: f64,
}

const NO_BAR: Bar = Bar { most_error: f64::INFINITY, most_at_first_loss: f64::INFINITY };
/// Passes without tokens, or nearly so, after which a replay asks whether it is still above its bar; it does so at each loss.
const ASKED_EACH: u32 = 64;

/// What a bucket does not explain.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    full_losses: u32,
    full_episodes: u32,
    empty_passes: u32,
    low_passes: u32,
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "counts as shares")]
    fn fit(&self, bucket: Bucket, log: &CrossingLog) -> Fit {
        let share = |count: u32, all: usize| f64::from(count) / all.max(1) as f64;
        Fit {
            bucket,
            full_losses: share(self.full_losses, log.losses),
            full_episodes: share(self.full_episodes, log.episodes),
            empty_passes: share(self.empty_passes, log.passes),
            low_passes: share(self.low_passes, log.passes),
            rate_by_goodput: 1.0,
        }
    }
}

/// Replays a bucket; none where it is below the bar, as most are by the first losses. Where it is wrong it starts anew: empty at a loss, and
/// at a pass as well, which has taken all there was.
fn replay(log: &CrossingLog, bucket: Bucket, tolerance: Tolerance, bar: Bar) -> Option<Fit> {
    let mut tally = Tally::default();
    let (mut is_below, mut has_lost) = (false, false);
    levels(log, bucket, tolerance, |before, level| {
        match level {
            Level::Explained => {}
            Level::FullLoss => {
                tally.full_losses += 1;
                tally.full_episodes += u32::from(matches!(before.crossing.outcome, Outcome::Lost { leads: true, .. }));
            }
            Level::EmptyPass => {
                tally.empty_passes += 1;
                tally.low_passes += 1;
            }
            Level::LowPass => tally.low_passes += 1,
        }
        let is_loss = before.crossing.is_loss();
        if is_loss && !has_lost {
            has_lost = true;
            is_below = before.bytes > bar.most_at_first_loss * bucket.depth;
        }
        let is_asked = is_loss || level != Level::Explained && tally.low_passes.is_multiple_of(ASKED_EACH);
        is_below |= is_asked && tally.fit(bucket, log).error() > bar.most_error;
        if is_below { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let fit = tally.fit(bucket, log);
    (!is_below && fit.error() <= bar.most_error).then_some(fit)
}

/// A bucket counts as empty with so much of its depth left: what is known of levels adds up over a burst.
const SLACK: f64 = 0.2;

/// What a level says of a crossing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Explained,
    FullLoss,
    EmptyPass,
    LowPass,
}

/// The level of the bucket before a crossing.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelBefore<'a> {
    pub(super) crossing: &'a Crossing,
    pub(super) bytes: f64,
}

/// The level before each crossing, with what it says.
pub(super) fn levels(
    log: &CrossingLog,
    bucket: Bucket,
    tolerance: Tolerance,
    mut each: impl FnMut(LevelBefore, Level) -> ControlFlow<()>,
) {
    let allowed = tolerance.of(bucket);
    let low = allowed + bucket.depth * SLACK;
    let mut level = bucket.depth;
    for crossing in &log.crossings {
        let filled = level + bucket.rate * crossing.after_s;
        let before = if filled < bucket.depth { filled } else { bucket.depth };
        let rest = before - crossing.passed;
        let (after, verdict) = match crossing.outcome {
            Outcome::Lost { .. } if before > low => (-crossing.passed, Level::FullLoss),
            Outcome::Lost { .. } => (rest, Level::Explained),
            Outcome::Passed { .. } if rest < -allowed => (0.0, Level::EmptyPass),
            Outcome::Passed { .. } if before <= low => (rest, Level::LowPass),
            Outcome::Passed { .. } => (rest, Level::Explained),
        };
        level = after;
        if each(LevelBefore { crossing, bytes: before }, verdict).is_break() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::losses::{Loss, LossRecord, Pass};

    const MS: i64 = 1_000_000;
    const PACKET: u32 = 1_000;

    /// Packets at these times, through a bucket of 20 packets that gets one in 2 ms.
    fn log(times_ns: impl Iterator<Item = i64>) -> CrossingLog {
        let mut record = LossRecord::default();
        let (mut tokens_ns, mut last_ns, mut sent_before) = (40 * MS, 0, 0);
        for sent_ns in times_ns {
            tokens_ns = (tokens_ns + sent_ns - last_ns).min(40 * MS);
            last_ns = sent_ns;
            if tokens_ns >= 2 * MS {
                tokens_ns -= 2 * MS;
                record.passed(Pass { sent_ns, sent_before, rtt_ns: Some(50 * MS), stamp: None });
            } else {
                record.lost(Loss {
                    sent_ns,
                    sent_before,
                    from: sent_before,
                    bytes: PACKET,
                    queue_ns: 0,
                    retransmitted_ns: sent_ns + 60 * MS,
                    is_spurious: false,
                    late_ns: None,
                    was_unseen: false,
                });
            }
            sent_before += u64::from(PACKET);
        }
        CrossingLog::new(&[&record], 50 * MS)
    }

    /// Whether ten times its rate explains as much.
    fn is_rate_open(log: &CrossingLog) -> bool {
        let tolerance = Tolerance { bytes: 2.0 * f64::from(PACKET), seconds: 0.000_3 };
        let found = search(log, tolerance, BucketBefore::Full).expect("a bucket");
        explained_at(log, tolerance, 10.0 * 500.0 * f64::from(PACKET), &found).is_some()
    }

    #[test]
    fn bursts_that_find_a_bucket_full_say_how_much_it_holds_and_not_its_rate() {
        assert!(is_rate_open(&log(
            (0..60).flat_map(|burst| (0..30).map(move |packet| burst * 100 * MS + packet * 10_000))
        )));
    }

    #[test]
    fn what_never_pauses_says_the_rate() {
        assert!(!is_rate_open(&log((0..4_000).map(|packet| packet * MS))));
    }
}
