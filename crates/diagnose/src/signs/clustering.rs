//! Whether packets were lost one here and one there, as chance takes them, or many at once, as queues, policers and bursts do.
//!
//! What is lost by chance from `n` packets varies about its mean as much as that mean (Poisson), however many are sent in a step and
//! however seldom is sampled. The index of dispersion, the mean of (lost − p·n)² ⁄ (p·n) over steps, is 1 then, and far above where losses
//! come together (Cox and Lewis, The Statistical Analysis of Series of Events, 1966).

use std::time::Duration;

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;
use super::rows::{self, whole_column};

/// What a start loses, which fills any queue until it overflows. Of a path whose queues nobody knows, what comes after it says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartLosses {
    Counted,
    /// Where what comes after it came by chance.
    LeftOut,
}

/// Of the senders of a flow.
pub(super) fn clustering(senders: &[&StreamSamples], rtt: Duration, start: StartLosses) -> Option<Observation> {
    let step = i64::try_from((rtt * RTTS).max(SHORTEST).as_micros()).ok()?;
    let streams: Vec<Vec<Step>> = senders.iter().filter_map(|stream| steps(stream, step)).collect();
    let all = dispersion(streams.iter().flatten())?;
    let settled = || dispersion(streams.iter().flat_map(|steps| after_start(steps)));
    let dispersion = match start {
        StartLosses::Counted => all,
        StartLosses::LeftOut => settled().filter(|settled| *settled < BY_CHANCE).unwrap_or(all),
    };
    let state = match dispersion {
        dispersion if dispersion < BY_CHANCE => "by-chance",
        dispersion if dispersion < TOGETHER => "together",
        _ => "all-at-once",
    };
    let says = format!("its losses came {dispersion:.1} times as close together as chance would have them");
    Observation::of("clustering", state, says)
}

/// The index of dispersion; nothing where too little was lost.
fn dispersion<'s>(steps: impl Iterator<Item = &'s Step> + Clone) -> Option<f64> {
    let (again, sent) = steps.clone().fold((0.0, 0.0), |(again, sent), step| (again + step.again, sent + step.sent));
    let count = steps.clone().count();
    if again < FEWEST_LOST || count < FEWEST_STEPS {
        return None;
    }
    let part = again / sent;
    let deviation = |step: &Step| (step.again - part * step.sent).powi(2) / (part * step.sent);
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let others = (count - 1) as f64;
    Some(steps.map(deviation).sum::<f64>() / others)
}

/// The steps after the first losses, where those came early: they and what is left of them.
fn after_start(steps: &[Step]) -> &[Step] {
    let first = steps.iter().take(OF_START).position(|step| step.again > 0.0);
    first.and_then(|first| steps.get(first + 2..)).unwrap_or_default()
}

/// What a stream sent, and sent again, in a step.
struct Step {
    sent: f64,
    again: f64,
}

fn steps(stream: &StreamSamples, step_us: i64) -> Option<Vec<Step>> {
    let (again, sent) = (whole_column(stream, Field::TotalRetrans)?, whole_column(stream, Field::DataSegsOut)?);
    let step = |[from, to]: [usize; 2]| {
        #[expect(clippy::cast_precision_loss, reason = "counts of segments")]
        let grown = |column: &[u64]| column[to].saturating_sub(column[from]) as f64;
        Step { sent: grown(sent), again: grown(again) }
    };
    Some(rows::steps(stream, step_us).map(step).filter(|step| step.sent > 0.0).collect())
}

const RTTS: u32 = 2;
const SHORTEST: Duration = Duration::from_millis(40);
/// Fewer do not tell how they come.
const FEWEST_LOST: f64 = 8.0;
const FEWEST_STEPS: usize = 8;
/// Steps in which a start is over.
const OF_START: usize = 30;
/// An index below this is chance, whatever was sent again twice.
const BY_CHANCE: f64 = 3.0;
const TOGETHER: f64 = 15.0;

#[cfg(test)]
mod tests {
    use model::measurement::{End, Heading, Whose};
    use model::series::Column;

    use super::*;

    /// A stream of 200 segments in each of 40 steps of 200 ms that lost so many in each.
    fn said(lost: impl Fn(u64) -> u64) -> Option<&'static str> {
        let again = (0..=40).map(|steps| (1..=steps).map(&lost).sum()).collect();
        let columns = vec![
            Column { field: Field::TotalRetrans, values: again },
            Column { field: Field::DataSegsOut, values: (0..=40).map(|steps| steps * 200).collect() },
        ];
        let at_us = (0..=40).map(|number| number * 200_000).collect();
        let stream = StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Sender,
            whose: Whose::Local,
            at_us,
            columns,
        };
        clustering(&[&stream], Duration::from_millis(100), StartLosses::Counted).map(|seen| seen.seen.state().name)
    }

    #[test]
    fn losses_here_and_there_are_by_chance_and_those_at_once_are_not() {
        assert_eq!(said(|number| u64::from(number % 3 == 0)), Some("by-chance"));
        assert_eq!(said(|number| if number % 10 == 0 { 12 } else { 0 }), Some("together"));
        assert_eq!(said(|number| if number == 20 { 120 } else { 0 }), Some("all-at-once"));
        assert_eq!(said(|number| u64::from(number % 20 == 0)), None, "two losses tell nothing");
    }
}
