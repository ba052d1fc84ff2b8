//! What chance makes of a transfer: the same settings with several seeds.

use std::time::Duration;

use path::Seed;
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use crate::flow::{FlowError, Outcome};

/// Minimum, median and maximum over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extent {
    /// With the seed that gave the least.
    pub min: u64,
    /// The lower one of the two in the middle where there are two.
    pub median: u64,
    /// With the seed that gave the most.
    pub max: u64,
}

/// How results of one transfer, or of several at once, differ between seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// How many seeds, from that of the transfer on.
    pub seeds: u32,
    /// Payload of all flows over the time until the last ended, bits per second.
    pub goodput_bps: Extent,
    /// Time until the last flow ended.
    pub took_us: Extent,
    /// Retransmitted segments of all flows together.
    pub retransmits: Extent,
    /// With how many seeds a flow was given up: its time is only known to be longer.
    pub gave_up: u32,
}

/// All flows of one seed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    delivered: ByteCount,
    /// From the start of the first to the end of the last.
    took: Duration,
    sent: u64,
    retransmits: u64,
    finished: bool,
}

impl Spread {
    /// Runs a transfer with `seeds` seeds, of which the first is `seed` and gave `first`. [`None`] where the second seed gives
    /// the same as the first: then nothing is left to chance.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn over(
        seeds: u32,
        seed: Seed,
        first: Total,
        run: impl Fn(Seed) -> Result<Total, FlowError>,
    ) -> Result<Option<Self>, FlowError> {
        let mut all = vec![first];
        for number in 1..seeds {
            all.push(run(Seed(seed.0.wrapping_add(number.into())))?);
            if all == [first, first] {
                return Ok(None);
            }
        }
        let extent = |of: fn(&Total) -> u64| Extent::of(all.iter().map(of).collect());
        Ok((all.len() > 1).then(|| Self {
            seeds,
            goodput_bps: extent(|total| DataRate::of(total.delivered, total.took).unwrap_or_default().bps()),
            took_us: extent(|total| units::duration::micros(total.took)),
            retransmits: extent(|total| total.retransmits),
            gave_up: all.iter().map(|total| u32::from(!total.finished)).sum(),
        }))
    }
}

impl Total {
    /// Of one flow.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        Self::of_all([(Duration::ZERO, outcome)])
    }

    /// Of several flows, each with the time of its start.
    #[must_use]
    pub fn of_all<'a>(flows: impl IntoIterator<Item = (Duration, &'a Outcome)>) -> Self {
        let nothing =
            Self { delivered: ByteCount::ZERO, took: Duration::ZERO, sent: 0, retransmits: 0, finished: true };
        flows.into_iter().fold(nothing, |all, (start, flow)| Self {
            delivered: all.delivered + flow.delivered,
            took: all.took.max(start + flow.duration),
            sent: all.sent + flow.sent.get(),
            retransmits: all.retransmits + flow.retransmits.get(),
            finished: all.finished && flow.finished,
        })
    }
}

impl Extent {
    fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let at = |place: usize| values.get(place).copied().unwrap_or_default();
        let last = values.len().saturating_sub(1);
        Self { min: at(0), median: at(last / 2), max: at(last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(bytes: u64) -> Total {
        let (delivered, took) = (ByteCount::new(bytes), Duration::from_secs(8));
        Total { delivered, took, sent: 1, retransmits: bytes, finished: bytes > 1 }
    }

    #[test]
    fn the_spread_is_from_least_to_most_over_all_seeds() {
        let spread = Spread::over(4, Seed(7), total(3), |seed| Ok(total(seed.0 - 7))).unwrap().unwrap();
        assert_eq!(spread.goodput_bps, Extent { min: 1, median: 2, max: 3 });
        assert_eq!((spread.seeds, spread.gave_up), (4, 1));
    }

    #[test]
    fn where_the_second_seed_gives_the_same_no_more_are_run() {
        let runs = std::cell::Cell::new(0);
        let same = |_| {
            runs.set(runs.get() + 1);
            Ok(total(3))
        };
        assert_eq!(Spread::over(10, Seed(1), total(3), same).unwrap(), None);
        assert_eq!(runs.get(), 1);
    }
}
