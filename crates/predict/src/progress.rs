//! A simulated test over time, for people who look at it beside what was measured.

use std::time::Duration;

use model::expectation::Inputs;
use sim::Outcome;
use units::{ByteCount, DataRate, PacketCount};

use crate::case::Unpredictable;
use crate::reckon::{Reckoned, Simulated, simulate};

/// What came of a simulated test, and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The same in a few numbers.
    pub reckoned: Reckoned,
    /// In order of time, at most [`MOST_POINTS`].
    pub points: Vec<ProgressPoint>,
    /// Segments that were retransmitted, of the streams that were simulated.
    pub retransmits: PacketCount,
    /// Whether the permitted work ended before the test: what it comes to is then told from its beginning.
    pub is_cut: bool,
}

/// A test at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressPoint {
    /// End of the interval, since the connection stood.
    pub at: Duration,
    /// Payload acknowledged in the interval, of all streams together.
    pub goodput: DataRate,
    /// Smoothed RTT of the first stream.
    pub rtt: Duration,
    /// Congestion window of the first stream.
    pub cwnd: ByteCount,
}

impl Progress {
    /// Simulates a test in at most `steps` steps of the simulator's clock, of which an optimised build does 12 to 24 million
    /// in a second of one core.
    ///
    /// # Errors
    /// What cannot be simulated.
    pub fn of(inputs: &Inputs, steps: u64) -> Result<Self, Unpredictable> {
        let Simulated { reckoned, outcomes, is_cut } = simulate(inputs, steps)?;
        Ok(Self {
            points: points(&outcomes, u64::from(inputs.streams.value.max(1))),
            retransmits: PacketCount::new(outcomes.iter().map(|outcome| outcome.retransmits.get()).sum()),
            reckoned,
            is_cut,
        })
    }
}

fn points(outcomes: &[Outcome], streams: u64) -> Vec<ProgressPoint> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let count = outcomes.iter().map(|outcome| outcome.samples.len()).min().unwrap_or(0);
    let step = count.div_ceil(MOST_POINTS).max(1);
    let mut points = Vec::new();
    let mut before = (Duration::ZERO, ByteCount::ZERO);
    // Streams begin together, so that their samples have the same times.
    for place in (step.saturating_sub(1)..count).step_by(step) {
        let sample = &first.samples[place];
        let acked = outcomes.iter().map(|outcome| outcome.samples[place].acked).sum::<ByteCount>();
        let fresh = acked.saturating_sub(before.1).get().saturating_mul(streams) / outcomes.len().max(1) as u64;
        let goodput = DataRate::of(ByteCount::new(fresh), sample.at.saturating_sub(before.0));
        before = (sample.at, acked);
        points.extend(goodput.map(|goodput| ProgressPoint {
            at: sample.at,
            goodput,
            rtt: sample.rtt,
            cwnd: sample.cwnd,
        }));
    }
    points
}

/// More would not be seen in a picture.
pub const MOST_POINTS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::untested::untested;

    fn path(rate: &str, rtt: Duration) -> Inputs {
        untested(rate.parse().unwrap(), rtt)
    }

    #[test]
    fn what_a_test_comes_to_is_what_is_reckoned_and_its_points_add_up_to_it() {
        let mut inputs = path("100Mbit/s", Duration::from_millis(20));
        inputs.time = Duration::from_secs(4);
        let progress = Progress::of(&inputs, u64::MAX).unwrap();
        assert_eq!(progress.reckoned, crate::reckon::reckon(&inputs).unwrap());
        assert!(progress.points.len() <= MOST_POINTS && progress.points.len() > 100, "{}", progress.points.len());
        let (mut bits, mut from) = (0.0, Duration::ZERO);
        for point in &progress.points {
            bits += point.goodput.bps() as f64 * (point.at - from).as_secs_f64();
            from = point.at;
        }
        let mean = bits / from.as_secs_f64() / progress.reckoned.goodput.bps() as f64;
        assert!((0.97..1.03).contains(&mean), "{mean}: acknowledgements are an RTT late");
    }

    #[test]
    fn streams_that_stand_for_several_have_the_rate_of_all() {
        let mut inputs = path("100Mbit/s", Duration::from_millis(20));
        (inputs.time, inputs.streams.value) = (Duration::from_secs(4), 20);
        let progress = Progress::of(&inputs, u64::MAX).unwrap();
        let last = progress.points.last().unwrap().goodput.bps();
        assert!((80_000_000..100_000_000).contains(&last), "{last}");
    }

    #[test]
    fn a_test_that_costs_more_than_is_permitted_is_cut_and_says_so() {
        let inputs = Inputs { time: Duration::from_secs(3_600), ..path("400Gbit/s", Duration::from_secs(1)) };
        let progress = Progress::of(&inputs, 50_000).unwrap();
        assert!(progress.is_cut && progress.reckoned.simulated < Duration::from_secs(3_600));
        assert!(!Progress::of(&path("10Mbit/s", Duration::from_millis(20)), u64::MAX).unwrap().is_cut);
    }
}
