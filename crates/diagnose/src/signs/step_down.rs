//! Whether the rate went down once, from one level to another, and stayed: what a device does that was set otherwise while a test ran.

use model::measurement::{Heading, Interval, Measurement};

use super::Observation;

/// Said where it did; a rate that varies says nothing.
pub(super) fn step_down(measurement: &Measurement, heading: Heading) -> Option<Observation> {
    let intervals: Vec<&Interval> = measurement.intervals.iter().filter(|of| of.heading == heading).collect();
    // The first one has the start in it, and the last one may be a part.
    let whole = intervals.get(1..intervals.len().checked_sub(1)?)?;
    let rates: Vec<f64> = whole.iter().map(|of| rate(of)).collect();
    // Levels from the first on and up to the last, each from the one before it: a log of a day has 86,400 intervals.
    let before: Vec<Level> = levels(rates.iter());
    let mut after: Vec<Level> = levels(rates.iter().rev());
    after.reverse();
    // In the interval itself it may have changed.
    let is_step = |at: &usize| {
        let (before, after) = (&before[at - 1], &after[at + 1]);
        before.is_one() && after.is_one() && after.mean() <= before.mean() * LOWER
    };
    let at = (SEVERAL..rates.len().saturating_sub(SEVERAL)).find(is_step)?;
    let (before, after) = (before[at - 1].mean(), after[at + 1].mean());
    let since = whole[at].start.as_secs_f64();
    let says = format!(
        "its rate fell from {:.0} to {:.0} Mbit/s at {since:.0} s, and stayed there",
        before * 1e-6,
        after * 1e-6
    );
    Observation::of("level", "stepped-down", says)
}

/// Rates in a row, from an end on.
#[derive(Clone, Copy)]
struct Level {
    count: f64,
    sum: f64,
    least: f64,
    most: f64,
}

impl Level {
    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Whether all of them are alike; nothing is no level.
    fn is_one(&self) -> bool {
        let mean = self.mean();
        mean > 0.0 && self.least >= mean * (1.0 - ALIKE) && self.most <= mean * (1.0 + ALIKE)
    }
}

/// Up to and with each of the rates.
fn levels<'a>(rates: impl Iterator<Item = &'a f64>) -> Vec<Level> {
    let none = Level { count: 0.0, sum: 0.0, least: f64::INFINITY, most: 0.0 };
    let with = |level: &mut Level, rate: &f64| {
        let Level { count, sum, least, most } = *level;
        *level = Level { count: count + 1.0, sum: sum + rate, least: least.min(*rate), most: most.max(*rate) };
        Some(*level)
    };
    rates.scan(none, with).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a rate is no more exact")]
fn rate(interval: &Interval) -> f64 {
    interval.rate.bps() as f64
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
    fn a_day_of_seconds_is_read_once() {
        let day: Vec<u64> = (0..86_400).map(|second| if second < 40_000 { 9_380 } else { 940 }).collect();
        let says = "its rate fell from 9380 to 940 Mbit/s at 39999 s, and stayed there";
        assert_eq!(said(&day).as_deref(), Some(says));
        assert_eq!(said(&vec![9_380; 86_400]), None);
    }

    #[test]
    fn a_rate_that_varies_or_comes_back_is_none() {
        assert_eq!(said(&[460, 468, 474, 470, 471, 469, 470, 472, 470]), None);
        assert_eq!(said(&[460, 468, 474, 115, 115, 470, 471, 470, 469]), None);
        assert_eq!(said(&[460, 320, 474, 115, 60, 240, 115, 90, 116]), None);
        assert_eq!(said(&[460, 115, 114]), None);
        assert_eq!(said(&[460, 468, 474, 0, 0, 0, 0, 0, 0]), None, "nothing is an outage, or a black hole");
    }
}
