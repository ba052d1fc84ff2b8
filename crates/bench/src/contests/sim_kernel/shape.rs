//! What is compared of two transfers.

use std::time::Duration;

use units::ByteCount;

/// A transfer at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Seconds after the connection stood.
    at_s: f64,
    /// Bytes acknowledged by then.
    acked: f64,
    /// Bytes under way.
    out: f64,
}

/// How a transfer went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Until everything was acknowledged.
    pub(super) took_s: f64,
    /// In the last third of that. Before, what is acknowledged jumps when the holes that slow start made are filled.
    pub(super) rate_mbps: f64,
    /// Until half of that rate was reached.
    pub(super) ramp_s: f64,
    /// The mean in the third quarter: the last one ends with nothing left to send.
    pub(super) in_flight_kb: f64,
}

/// Over which a rate is taken.
const WINDOW_S: f64 = 0.25;

impl Seen {
    pub(super) fn new(at: Duration, acked: ByteCount, out: ByteCount) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count is compared")]
        let float = |count: ByteCount| count.get() as f64;
        Self { at_s: at.as_secs_f64(), acked: float(acked), out: float(out) }
    }
}

impl Shape {
    /// Not a number where nothing was seen.
    pub(super) fn of(series: &[Seen]) -> Self {
        let (took_s, all) = series.last().map_or((f64::NAN, f64::NAN), |last| (last.at_s, last.acked));
        let last_by = |instant: f64| series.iter().rev().find(|seen| seen.at_s <= instant);
        let by = |instant: f64| last_by(instant).map_or(0.0, |seen| seen.acked);
        let rate = last_by(took_s * 2.0 / 3.0).map_or(f64::NAN, |steady| (all - steady.acked) / (took_s - steady.at_s));
        let is_fast =
            |seen: &&Seen| seen.at_s >= WINDOW_S && (seen.acked - by(seen.at_s - WINDOW_S)) / WINDOW_S >= rate / 2.0;
        Self {
            took_s,
            rate_mbps: rate * 8e-6,
            ramp_s: series.iter().find(is_fast).map_or(f64::NAN, |seen| seen.at_s),
            in_flight_kb: mean_out(series, took_s / 2.0, took_s * 0.75) * 1e-3,
        }
    }
}

fn mean_out(series: &[Seen], from: f64, to: f64) -> f64 {
    let between = series.iter().filter(|seen| (from..to).contains(&seen.at_s));
    let (sum, count) = between.fold((0.0, 0.0), |(sum, count), seen| (sum + seen.out, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_that_waits_a_second_and_then_goes_at_8_mbits() {
        let seen = |step: u64| {
            let acked = ByteCount::new(step.saturating_sub(100) * 10_000);
            Seen::new(Duration::from_millis(step * 10), acked, ByteCount::new(30_000))
        };
        let shape = Shape::of(&(0..=500).map(seen).collect::<Vec<_>>());
        assert_eq!((shape.took_s, shape.in_flight_kb.round()), (5.0, 30.0));
        assert!((shape.rate_mbps - 8.0).abs() < 1e-9, "{shape:?}");
        // Half of the rate over a quarter of a second is reached half of that after it begins.
        assert!((shape.ramp_s - 1.125).abs() < 0.011, "{shape:?}");
        assert!(Shape::of(&[]).took_s.is_nan());
    }
}
