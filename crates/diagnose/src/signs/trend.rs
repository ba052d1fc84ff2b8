//! Whether a flow kept its rate and its RTT.

use model::measurement::{DirectionTotal, Interval, Measurement};
use model::series::RunSamples;

use super::Observation;
use super::jump::jump;
use super::percent::percent;

/// How rate and round trips went over time.
pub(super) fn course(
    measurement: &Measurement,
    total: &DirectionTotal,
    samples: Option<&RunSamples>,
) -> Option<Observation> {
    if let Some((before, after)) = samples.and_then(|samples| jump(samples, total.heading)) {
        let says = format!("RTTs went from {:.1} to {:.1} ms and stayed", before * 1e-3, after * 1e-3);
        return Observation::of("course", "rtt-jumped", says);
    }
    let intervals: Vec<&Interval> = measurement.intervals.iter().filter(|of| of.heading == total.heading).collect();
    if intervals.len() < 6 {
        return None;
    }
    // A third of the run at a time, as a running sum: a log of a day has 86,400 intervals.
    let third = intervals.len() / 3;
    let rates: Vec<u128> = intervals.iter().map(|of| u128::from(of.rate.bps())).collect();
    let mut sum: u128 = rates[..third].iter().sum();
    let mut most = sum;
    for (come, gone) in rates[third..].iter().zip(&rates) {
        sum = sum + come - gone;
        most = most.max(sum);
    }
    #[expect(clippy::cast_precision_loss, reason = "sums of rates are compared")]
    let (best, end) = (most as f64, sum as f64);
    if end < best * 0.55 {
        return Observation::of("course", "fell", format!("it ended at {} of its best rate", percent(end / best)));
    }
    Observation::of("course", "even", "it kept its rate")
}
