//! Whether what arrives of datagrams varies as chance would have it, or not at all. Of `n` datagrams that are each lost with the same chance
//! `p`, what arrives varies by `n p (1 - p)` (a binomial distribution). What a link, a shaper or a policer holds to its rate arrives evenly,
//! however much more is sent.

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::Observation;
use super::rows::{self, streams, whole_column};

/// Of the receivers' samples of a heading.
pub(super) fn arrivals(samples: &RunSamples, heading: Heading) -> Option<Observation> {
    let receivers = streams(samples, heading, End::Receiver);
    let mut receivers = receivers.into_iter().filter(|of| of.column(Field::AppLost).is_some());
    // Streams share what holds them: one of several varies as they take turns.
    let (Some(stream), None) = (receivers.next(), receivers.next()) else { return None };
    let steps = steps(stream)?;
    // The first and the last have a start or an end in them.
    let whole = steps.get(1..steps.len().checked_sub(1)?)?;
    if whole.len() < FEWEST_STEPS {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let count = whole.len() as f64;
    let arrived = whole.iter().map(|step| step.arrived).sum::<f64>() / count;
    let lost = whole.iter().map(|step| step.lost).sum::<f64>() / count;
    let by_chance = arrived * lost / (arrived + lost);
    if by_chance < LEAST_BY_CHANCE {
        return None;
    }
    let varies = whole.iter().map(|step| (step.arrived - arrived).powi(2)).sum::<f64>() / (count - 1.0) / by_chance;
    let state = match varies {
        varies if varies < even(count) => "even",
        varies if varies < TOGETHER => "by-chance",
        varies if varies < GUSTS => "together",
        _ => "in-gusts",
    };
    let says = format!("what arrived of its datagrams varied {varies:.2} times as much as chance would have it");
    Observation::of("arrivals", state, says)
}

/// Below this, in parts of what chance would have, arrivals are even: the more steps there are, the less often chance itself varies so little
/// (the variance of `n` values is known to its `sqrt(2 / (n - 1))`).
fn even(steps: f64) -> f64 {
    (1.0 - SELDOM * (2.0 / (steps - 1.0)).sqrt()).clamp(EVEN, MOST_EVEN)
}

/// What came in a step, and what did not.
struct Step {
    arrived: f64,
    lost: f64,
}

fn steps(stream: &StreamSamples) -> Option<Vec<Step>> {
    let (arrived, lost) = (whole_column(stream, Field::AppPackets)?, whole_column(stream, Field::AppLost)?);
    let step = |[from, to]: [usize; 2]| {
        let lasted_us = stream.at_us[to] - stream.at_us[from];
        #[expect(clippy::cast_precision_loss, reason = "counts of datagrams and microseconds")]
        let in_step =
            |column: &[u64]| column[to].saturating_sub(column[from]) as f64 * STEP_US as f64 / lasted_us as f64;
        Step { arrived: in_step(arrived), lost: in_step(lost) }
    };
    Some(rows::steps(stream, STEP_US).map(step).collect())
}

/// Long beside the moments at which a receiver reads.
const STEP_US: i64 = 100_000;
const FEWEST_STEPS: usize = 10;
/// Where chance moves fewer datagrams, a receiver that reads late moves as many.
const LEAST_BY_CHANCE: f64 = 9.0;
/// In parts of what chance would have.
const EVEN: f64 = 0.4;
const MOST_EVEN: f64 = 0.55;
/// Standard deviations that chance does not reach in one of seventy tests.
const SELDOM: f64 = 2.2;
const TOGETHER: f64 = 3.0;
const GUSTS: f64 = 15.0;

#[cfg(test)]
mod tests {
    use model::measurement::Whose;
    use model::series::Column;

    use super::*;

    /// A receiver that read so many of a thousand datagrams in each tenth of a second.
    fn received(arrived: impl Iterator<Item = u64>) -> RunSamples {
        let mut sums = (0, 0);
        let rows = arrived.map(|arrived| {
            sums = (sums.0 + arrived, sums.1 + 1_000 - arrived);
            sums
        });
        let rows: Vec<(u64, u64)> = std::iter::once((0, 0)).chain(rows).collect();
        let columns = vec![
            Column { field: Field::AppPackets, values: rows.iter().map(|row| row.0).collect() },
            Column { field: Field::AppLost, values: rows.iter().map(|row| row.1).collect() },
        ];
        let at_us = (0..).step_by(100_000).take(rows.len()).collect();
        let stream = StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Receiver,
            whose: Whose::Peer,
            at_us,
            columns,
        };
        RunSamples { streams: vec![stream], ..RunSamples::default() }
    }

    fn state(arrived: impl Iterator<Item = u64>) -> Option<&'static str> {
        arrivals(&received(arrived), Heading::Outbound).map(|seen| seen.seen.state().name)
    }

    #[test]
    fn what_a_limit_lets_pass_is_even_and_what_chance_leaves_is_not() {
        assert_eq!(state((0..40).map(|step| 600 + step % 3)), Some("even"));
        // Half of a thousand, thrown by chance (a linear congruential generator).
        let mut seed = 1_u64;
        let mut coin = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 63
        };
        assert_eq!(state((0..40).map(|_| (0..1_000).map(|_| coin()).sum())), Some("by-chance"));
        assert_eq!(state((0..40).map(|step| if step % 4 == 0 { 850 } else { 900 })), Some("together"));
        assert_eq!(state((0..40).map(|step| if step % 4 == 0 { 200 } else { 900 })), Some("in-gusts"));
    }

    #[test]
    fn of_few_that_are_lost_nothing_is_said() {
        assert_eq!(state((0..40).map(|_| 997)), None);
        assert_eq!(state((0..9).map(|_| 500)), None);
    }
}
