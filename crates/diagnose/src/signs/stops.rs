//! Whether the programs of both ends ran all the time. Who takes the samples is stopped with the program, so that samples are missing
//! for as long as a CPU quota, a hypervisor or another program keeps it from its CPU.

use std::time::Duration;

use model::measurement::{DirectionTotal, End};
use model::run::Run;
use model::series::{RunSamples, StreamSamples};

use super::Observation;
use super::percent::percent;

/// Of both ends of a direction, as far as both were sampled.
pub(super) fn stops(run: &Run, samples: &RunSamples, total: &DirectionTotal) -> [Option<Observation>; 2] {
    [(End::Sender, "sender-runs", "sender"), (End::Receiver, "receiver-runs", "receiver")].map(|(end, sign, who)| {
        let stood = stood_still(run, samples, total, end)?;
        let (state, says) = if stood >= LONG {
            ("with-stops", format!("the program of the {who} stood still for {} of the time", percent(stood)))
        } else {
            ("all-the-time", format!("the program of the {who} ran for most of the time"))
        };
        Observation::of(sign, state, says)
    })
}

/// The part of the time for which no sample was taken that was due.
fn stood_still(run: &Run, samples: &RunSamples, total: &DirectionTotal, end: End) -> Option<f64> {
    let of_end = samples.streams.iter().filter(|of| of.heading == total.heading && of.end == end);
    let stream = of_end.max_by_key(|of| of.at_us.len())?;
    // What another program printed now and then says nothing of when it ran.
    let telemetry = &run.measurement.as_ref()?.telemetry;
    let cadence = telemetry.iter().find(|cadence| cadence.whose == stream.whose && cadence.thinned == 0)?;
    let every = Duration::from_micros(cadence.wanted_us).max(total.elapsed / MOST_SAMPLES);
    if every.is_zero() || every * FEWEST > total.elapsed {
        return None;
    }
    let pace = Pace { every, at_most: cadence.at_most_us.map_or(every, Duration::from_micros).max(every) };
    let stood =
        if stream.at_us.len() > FEWEST as usize { between(stream, pace) } else { uncounted(stream, pace, total) };
    Some(stood.clamp(0.0, 1.0))
}

/// When samples come, as the program that takes them promises.
#[derive(Debug, Clone, Copy)]
struct Pace {
    every: Duration,
    /// How far apart two are at most while the program runs.
    at_most: Duration,
}

/// What gaps between samples are longer than they should be. A gap that is longer than any that a running program leaves
/// counts from when the next sample was wanted.
#[expect(clippy::cast_precision_loss, reason = "microseconds of minutes")]
fn between(stream: &StreamSamples, pace: Pace) -> f64 {
    let (every, at_most) = (pace.every.as_micros() as f64, pace.at_most.as_micros() as f64);
    let gaps = stream.at_us.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
    let missing: f64 = gaps.filter(|gap| *gap > at_most + every / 2.0).map(|gap| gap - every).sum();
    let all = stream.at_us.last().zip(stream.at_us.first()).map_or(0, |(last, first)| last - first);
    missing / (all as f64).max(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a count of samples")]
fn uncounted(stream: &StreamSamples, pace: Pace, total: &DirectionTotal) -> f64 {
    1.0 - stream.at_us.len() as f64 * pace.at_most.as_secs_f64() / total.elapsed.as_secs_f64().max(1e-6)
}

/// Samples of a run at most, which long runs take less often for.
const MOST_SAMPLES: u32 = 4_000;
/// Fewer samples tell nothing of gaps between them.
const FEWEST: u32 = 10;
/// From this part of the time on a program gets too little of its CPU: half of it is a guest on a crowded machine.
const LONG: f64 = 0.45;

#[cfg(test)]
mod tests {
    use model::measurement::{Heading, Whose};

    use super::*;

    fn stream(at_us: Vec<i64>) -> StreamSamples {
        let (heading, end, whose) = (Heading::Outbound, End::Sender, Whose::Local);
        StreamSamples { stream: 1, heading, end, whose, at_us, columns: Vec::new() }
    }

    #[test]
    fn samples_are_missing_for_as_long_as_a_program_stands_still() {
        let pace = Pace { every: Duration::from_millis(20), at_most: Duration::from_millis(20) };
        let steady = stream((0..200).map(|number| number * 20_000).collect());
        assert!(between(&steady, pace) < 0.01);
        // Runs for 40 of each 100 ms.
        let stopped = stream((0..200).filter(|number| number % 5 < 2).map(|number| number * 20_000).collect());
        assert!((between(&stopped, pace) - 0.6).abs() < 0.02, "{}", between(&stopped, pace));
    }

    #[test]
    fn gaps_that_the_sampler_allows_itself_are_no_stop_and_longer_ones_count_whole() {
        let pace = Pace { every: Duration::from_millis(10), at_most: Duration::from_millis(21) };
        let seldom = stream((0..200).map(|number| number * 21_000).collect());
        assert!(between(&seldom, pace) < 0.01);
        // Runs for 40 of each 100 ms, and samples every 20 of these.
        let stopped = stream((0..200).filter(|number| number % 5 < 2).map(|number| number * 20_000).collect());
        assert!((between(&stopped, pace) - 0.7).abs() < 0.02, "{}", between(&stopped, pace));
    }
}
