//! Whether the rate went down once, from one level to another, and stayed: what a device does that was set otherwise while a test ran.

use model::measurement::{Heading, Interval, Measurement};

use super::Observation;

/// Said where it did; a rate that varies says nothing.
pub(super) fn step_down(measurement: &Measurement, heading: Heading) -> Option<Observation> {
    let intervals: Vec<&Interval> = measurement.intervals.iter().filter(|of| of.heading == heading).collect();
    // The first one has the start in it, and the last one may be a part.
    let whole = intervals.get(1..intervals.len().checked_sub(1)?)?;
    let rates: Vec<f64> = whole.iter().map(|of| rate(of)).collect();
    let at = (SEVERAL..rates.len().saturating_sub(SEVERAL)).find(|at| is_step(&rates, *at))?;
    let (before, after) = (mean(&rates[..at]), mean(&rates[at + 1..]));
    let since = whole[at].start.as_secs_f64();
    let says = format!(
        "its rate fell from {:.0} to {:.0} Mbit/s at {since:.0} s, and stayed there",
        before * 1e-6,
        after * 1e-6
    );
    Observation::of("level", "stepped-down", says)
}

/// Whether what is before an interval is one level, and what is after it another and lower one. In the interval itself it may have changed.
fn is_step(rates: &[f64], at: usize) -> bool {
    let (before, after) = (&rates[..at], &rates[at + 1..]);
    let is_level = |part: &[f64]| part.iter().all(|rate| (rate / mean(part) - 1.0).abs() <= ALIKE);
    after.len() >= SEVERAL && is_level(before) && is_level(after) && mean(after) <= mean(before) * LOWER
}

#[expect(clippy::cast_precision_loss, reason = "a rate is no more exact")]
fn rate(interval: &Interval) -> f64 {
    interval.rate.bps() as f64
}

#[expect(clippy::cast_precision_loss, reason = "a count of intervals")]
fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len().max(1) as f64
}

/// Intervals that make a level.
const SEVERAL: usize = 2;
/// Of the mean of a level.
const ALIKE: f64 = 0.12;
const LOWER: f64 = 0.7;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use units::{ByteCount, DataRate};

    use super::*;

    fn said(mbps: &[u64]) -> Option<String> {
        let interval = |(second, mbps): (u64, &u64)| Interval {
            start: Duration::from_secs(second),
            end: Duration::from_secs(second + 1),
            heading: Heading::Outbound,
            bytes: ByteCount::new(mbps * 125_000),
            rate: DataRate::from_bps(mbps * 1_000_000),
            retransmits: None,
            rtt: None,
            cwnd: None,
            lost: None,
            datagrams: None,
        };
        let measurement = Measurement { intervals: (0..).zip(mbps).map(interval).collect(), ..Measurement::default() };
        step_down(&measurement, Heading::Outbound).map(|seen| seen.says)
    }

    #[test]
    fn a_rate_that_goes_down_once_and_stays_is_a_step() {
        let says = "its rate fell from 471 to 115 Mbit/s at 3 s, and stayed there";
        assert_eq!(said(&[460, 468, 474, 125, 115, 115, 115, 114, 116]).as_deref(), Some(says));
        assert_eq!(said(&[460, 468, 474, 300, 115, 115, 115, 114, 20]).as_deref(), Some(says));
    }

    #[test]
    fn a_rate_that_varies_or_comes_back_is_none() {
        assert_eq!(said(&[460, 468, 474, 470, 471, 469, 470, 472, 470]), None);
        assert_eq!(said(&[460, 468, 474, 115, 115, 470, 471, 470, 469]), None);
        assert_eq!(said(&[460, 320, 474, 115, 60, 240, 115, 90, 116]), None);
        assert_eq!(said(&[460, 115, 114]), None);
    }
}
