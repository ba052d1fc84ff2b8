//! How fast the sender sent before its losses: a small queue is overflown by bursts, of the sender itself or of others.

use super::judged::Judged;
use super::text::time;
use crate::direction::losses::{Loss, Pass};

/// The sender's rate just before its losses, in the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BeforeLosses {
    /// The time that is meant: an eighth of an RTT.
    span_ns: i64,
    /// Times the rate over the whole RTT before.
    times: f64,
}

/// Parts of an RTT. Losses and packets below which nothing is said; and shorter RTTs are those of hosts, whose own pauses are as long.
const PARTS: i64 = 8;
const LEAST_LOSSES: usize = 3;
const LEAST_PASSES: usize = 64;
const LEAST_RTT_NS: i64 = 2_000_000;
/// From here on the sender's bursts are what overflows a queue; up to there it has sent evenly.
const BURSTS: f64 = 2.0;
const EVENLY: f64 = 1.3;

impl BeforeLosses {
    /// None where the capture does not show when the sender sent.
    pub(super) fn at_sender(losses: &[&Loss], judged: &Judged) -> Option<Self> {
        let is_at_sender = judged.direction.sender_lag_ns == 0;
        is_at_sender.then(|| Self::of(losses, &judged.direction.losses.passes, judged.rtt_ns)).flatten()
    }

    fn of(losses: &[&Loss], passes: &[Pass], rtt_ns: i64) -> Option<Self> {
        if losses.len() < LEAST_LOSSES || passes.len() < LEAST_PASSES || rtt_ns < LEAST_RTT_NS {
            return None;
        }
        let mut sent: Vec<(i64, u64)> = passes.iter().map(|pass| (pass.sent_ns, pass.sent_before)).collect();
        sent.sort_unstable();
        let span_ns = rtt_ns / PARTS;
        let mut times: Vec<f64> = losses.iter().filter_map(|loss| faster(&sent, loss, rtt_ns)).collect();
        if times.len() < LEAST_LOSSES {
            return None;
        }
        times.sort_unstable_by(f64::total_cmp);
        Some(Self { span_ns, times: times[times.len() / 2] })
    }

    /// What is said of the sender's own bursts; nothing where there are none.
    pub(super) fn evidence(&self) -> String {
        if !self.are_bursts() {
            return String::new();
        }
        let (span, times) = (time(self.span_ns), self.times);
        format!(
            "; in the {span} before them the sender sent {times:.1} times as fast as over the RTT: its own microbursts"
        )
    }

    /// The sender's own bursts.
    fn are_bursts(&self) -> bool {
        self.times >= BURSTS
    }

    /// What overflowed the queue came from somewhere else.
    pub(super) fn are_even(&self) -> bool {
        self.times <= EVENLY
    }
}

/// How many times faster a loss was sent than in the RTT before it, by the last part of that.
#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn faster(sent: &[(i64, u64)], loss: &Loss, rtt_ns: i64) -> Option<f64> {
    let since = |ns: i64| Some(loss.sent_before as f64 - sent_until(sent, loss.sent_ns - ns)?);
    let (short, long) = (since(rtt_ns / PARTS)?, since(rtt_ns)?);
    (long > 0.0).then(|| short.max(0.0) * PARTS as f64 / long)
}

/// Bytes sent until a moment; none before the first packet that is known. Of packets of which a part is kept, evenly between these.
#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn sent_until(sent: &[(i64, u64)], at_ns: i64) -> Option<f64> {
    let after = sent.partition_point(|(time_ns, _)| *time_ns < at_ns);
    let (from_ns, from) = *sent.get(after.checked_sub(1)?)?;
    let Some((to_ns, to)) = sent.get(after).copied() else { return Some(from as f64) };
    let part = (at_ns - from_ns) as f64 / (to_ns - from_ns).max(1) as f64;
    Some(from as f64 + to.saturating_sub(from) as f64 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Packets of 1,000 bytes at such times over RTTs of 16 ms; the last of each RTT is lost.
    fn before(times: impl Fn(i64) -> i64) -> Option<BeforeLosses> {
        let at = |number: u64| {
            let number = number.cast_signed();
            number / 100 * 16 * MS + times(number % 100)
        };
        let pass = |number: u64| Pass { sent_ns: at(number), sent_before: number * 1_000, rtt_ns: None, stamp: None };
        let passes: Vec<Pass> = (0..1_000).filter(|number| number % 100 != 99).map(pass).collect();
        let losses: Vec<Loss> = (0..1_000)
            .filter(|number| number % 100 == 99)
            .map(|number| Loss {
                sent_ns: at(number),
                sent_before: number * 1_000,
                from: number * 1_000,
                bytes: 1_000,
                queue_ns: 0,
                retransmitted_ns: at(number) + 16 * MS,
                is_spurious: false,
                late_ns: None,
                was_unseen: false,
            })
            .collect();
        BeforeLosses::of(&losses.iter().collect::<Vec<_>>(), &passes, 16 * MS)
    }

    #[test]
    fn a_train_in_each_rtt_is_a_burst_and_even_packets_are_none() {
        // A hundred packets within 2 ms of 16.
        let train = before(|number| number * MS / 50).unwrap();
        assert!(train.are_bursts() && (7.0..8.1).contains(&train.times), "{train:?}");
        let even = before(|number| number * 16 * MS / 100).unwrap();
        assert!(even.are_even() && !even.are_bursts(), "{even:?}");
    }

    #[test]
    fn a_few_losses_say_nothing() {
        let passes = [Pass { sent_ns: 0, sent_before: 0, rtt_ns: None, stamp: None }; 100];
        assert_eq!(BeforeLosses::of(&[], &passes, 16 * MS), None);
    }
}
