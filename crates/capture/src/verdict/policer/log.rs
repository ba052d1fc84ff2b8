//! What went through a bucket, in order: passes and losses of the flows that share it.

use crate::direction::losses::{Loss, LossRecord, Pass};

/// A segment at the time at which it was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    pub(super) at_ns: i64,
    /// Seconds since the crossing before.
    pub(super) after_s: f64,
    /// Bytes of its flow that passed from here on, until its flow's next one.
    pub(super) passed: f64,
    pub(super) outcome: Outcome,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// It was lost.
    Lost {
        /// Queueing delay by the last RTT before it became known.
        queue_ns: i64,
        /// The first of an episode: none was lost in the RTT before.
        leads: bool,
    },
    /// It arrived, with its RTT where that is known.
    Passed { rtt_ns: Option<i64> },
}

impl Crossing {
    pub(super) fn is_loss(&self) -> bool {
        matches!(self.outcome, Outcome::Lost { .. })
    }
}

/// All crossings, in the order of their times.
#[derive(Debug, Default)]
pub(super) struct CrossingLog {
    pub(super) crossings: Vec<Crossing>,
    pub(super) losses: usize,
    /// Losses that lead an episode.
    pub(super) episodes: usize,
    pub(super) passes: usize,
}

impl CrossingLog {
    /// Of one flow, or of several that share a path.
    pub(super) fn new(records: &[&LossRecord], rtt_ns: i64) -> Self {
        let mut log = Self::default();
        for record in records {
            log.add(record);
        }
        log.crossings.sort_by_key(|crossing| crossing.at_ns);
        let mut last_ns = None::<i64>;
        let mut before_ns = log.crossings.first().map_or(0, |first| first.at_ns);
        for crossing in &mut log.crossings {
            crossing.after_s = seconds(crossing.at_ns - before_ns);
            before_ns = crossing.at_ns;
            if let Outcome::Lost { leads, .. } = &mut crossing.outcome {
                *leads = last_ns.is_none_or(|last_ns| crossing.at_ns - last_ns > rtt_ns);
                log.episodes += usize::from(*leads);
                last_ns = Some(crossing.at_ns);
            }
        }
        log
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes of a flow")]
    fn add(&mut self, record: &LossRecord) {
        let mut losses: Vec<&Loss> = record.losses.iter().filter(|loss| !loss.is_spurious).collect();
        losses.sort_by_key(|loss| (loss.sent_ns, loss.sent_before));
        // Where there was no room for later losses, what came after them is not known either.
        let until_ns = if record.is_full() { losses.last().map(|loss| loss.sent_ns) } else { None };
        let is_known = |pass: &&Pass| until_ns.is_none_or(|until_ns| pass.sent_ns <= until_ns);
        let mut passes: Vec<&Pass> = record.passes.iter().filter(is_known).collect();
        passes.sort_by_key(|pass| (pass.sent_ns, pass.sent_before));
        self.losses += losses.len();
        self.passes += passes.len();
        let (mut passes, mut losses) = (passes.into_iter().peekable(), losses.into_iter().peekable());
        let mut lost = 0_u64;
        let mut flow: Vec<Sent> = Vec::new();
        loop {
            let is_loss = match (losses.peek(), passes.peek()) {
                (Some(loss), Some(pass)) => (loss.sent_ns, loss.sent_before) <= (pass.sent_ns, pass.sent_before),
                (loss, None) => loss.is_some(),
                (None, Some(_)) => false,
            };
            if is_loss && let Some(loss) = losses.next() {
                flow.push(Sent {
                    at_ns: loss.sent_ns,
                    passed_before: loss.sent_before.saturating_sub(lost),
                    outcome: Outcome::Lost { queue_ns: loss.queue_ns, leads: false },
                });
                lost += if loss.was_unseen { 0 } else { u64::from(loss.bytes) };
            } else if let Some(pass) = passes.next() {
                flow.push(Sent {
                    at_ns: pass.sent_ns,
                    passed_before: pass.sent_before.saturating_sub(lost),
                    outcome: Outcome::Passed { rtt_ns: pass.rtt_ns },
                });
            } else {
                break;
            }
        }
        for (index, sent) in flow.iter().enumerate() {
            let after = flow.get(index + 1).map_or(sent.passed_before, |next| next.passed_before);
            let passed = after.saturating_sub(sent.passed_before) as f64;
            self.crossings.push(Crossing { at_ns: sent.at_ns, after_s: 0.0, passed, outcome: sent.outcome });
        }
    }
}

/// A segment of one flow, with the bytes of it that had passed before.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at_ns: i64,
    passed_before: u64,
    outcome: Outcome,
}

#[expect(clippy::cast_precision_loss, reason = "a time of a capture")]
pub(super) fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}
