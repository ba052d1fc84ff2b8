//! All readings of one gateway.

use super::reading::Reading;
use crate::cluster::bounds::small;
use crate::policy::definition::FULL_CAPACITY;

/// All readings of one gateway, in their order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Name of the gateway, host and port where the source has both.
    pub gateway: String,
    /// What its NIC moves relative to others: 1 for [`crate::policy::definition::FULL_CAPACITY`].
    pub capacity: Option<f64>,
    /// What was read, the oldest first.
    pub readings: Vec<Reading>,
}

/// What happened between two readings of one life of a service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// The later reading's time, seconds since 1970.
    pub at_s: f64,
    /// For how long, seconds.
    pub for_s: f64,
    /// Requests that were begun.
    pub begun: Option<f64>,
    /// Bytes that were moved.
    pub moved_bytes: Option<f64>,
    /// Requests that were refused.
    pub refused: Option<f64>,
}

impl History {
    /// The last reading.
    #[must_use]
    pub fn last(&self) -> Option<&Reading> {
        self.readings.last()
    }

    /// What happened between readings; none across a restart or where a counter went back.
    #[must_use]
    pub fn between(&self) -> Vec<Between> {
        let less = |after: Option<f64>, before: Option<f64>| Some(after? - before?).filter(|less| *less >= 0.0);
        let pairs = self.readings.windows(2).filter(|pair| pair[1].at_s > pair[0].at_s && !is_restart(pair));
        pairs
            .map(|pair| Between {
                at_s: pair[1].at_s,
                for_s: pair[1].at_s - pair[0].at_s,
                begun: less(pair[1].begun, pair[0].begun),
                moved_bytes: less(pair[1].moved_bytes, pair[0].moved_bytes),
                refused: less(pair[1].refused, pair[0].refused),
            })
            .collect()
    }

    /// How often its service was started anew.
    #[must_use]
    pub fn restarts(&self) -> usize {
        self.readings.windows(2).filter(|pair| is_restart(pair)).count()
    }

    /// Bytes per second between the last two readings that have them.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let last = self.between().into_iter().rev().find(|between| between.moved_bytes.is_some())?;
        Some(last.moved_bytes? / last.for_s)
    }

    /// The mean in flight of the last so many readings of this life of the service.
    #[must_use]
    pub fn mean_in_flight(&self, last: usize) -> Option<f64> {
        let known: Vec<f64> = self.lately(last).iter().filter_map(|reading| reading.in_flight).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / small(known.len()))
    }

    /// Bytes per second over the same readings.
    #[must_use]
    pub fn mean_rate(&self, last: usize) -> Option<f64> {
        let known: Vec<&Reading> = self.lately(last).iter().filter(|reading| reading.moved_bytes.is_some()).collect();
        let (first, end) = (known.first()?, known.last()?);
        let seconds = end.at_s - first.at_s;
        let bytes = end.moved_bytes? - first.moved_bytes?;
        (seconds > 0.0 && bytes >= 0.0).then(|| bytes / seconds)
    }

    /// The last so many readings, as far as the service was not started anew among them.
    fn lately(&self, last: usize) -> &[Reading] {
        let readings = &self.readings[self.readings.len().saturating_sub(last.max(2))..];
        let started = readings.windows(2).rposition(is_restart).map_or(0, |at| at + 1);
        &readings[started..]
    }

    /// Memory of its limit, of 1.
    #[must_use]
    pub fn memory(&self) -> Option<f64> {
        let last = self.last()?;
        Some(last.memory_bytes? / last.memory_limit_bytes.filter(|limit| *limit > 0.0)?)
    }

    /// The usual time between readings, seconds: their median; [`None`] of fewer than two.
    #[must_use]
    pub fn usual_interval(&self) -> Option<f64> {
        let mut gaps: Vec<f64> = self.readings.windows(2).map(|pair| pair[1].at_s - pair[0].at_s).collect();
        gaps.retain(|gap| *gap > 0.0);
        gaps.sort_by(f64::total_cmp);
        gaps.get(gaps.len() / 2).copied()
    }

    /// The longest time without a reading, seconds, where that is longer than four of the usual intervals; a restart is no hole.
    #[must_use]
    pub fn hole(&self) -> Option<f64> {
        let usual = self.usual_interval()?;
        let pairs = self.readings.windows(2).filter(|pair| !is_restart(pair));
        let longest = pairs.map(|pair| pair[1].at_s - pair[0].at_s).fold(0.0, f64::max);
        (longest > HOLE * usual && longest > HOLE_AT_LEAST_S).then_some(longest)
    }

    /// What it moves beyond what its NIC can, of the named rate: then the rate that somebody named is wrong, and all shares with it.
    #[must_use]
    pub fn beyond_its_nic(&self) -> Option<f64> {
        let capacity = self.capacity? * FULL_CAPACITY;
        let most = self.between().iter().filter_map(|one| Some(one.moved_bytes? / one.for_s)).fold(0.0, f64::max);
        Some(most / capacity).filter(|part| *part > BEYOND)
    }

    /// What its own numbers say against each other.
    #[must_use]
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for pair in self.readings.windows(2) {
            let went_back = |of: fn(&Reading) -> Option<f64>| {
                of(&pair[1]).zip(of(&pair[0])).is_some_and(|(after, before)| after < before)
            };
            if !is_restart(pair) && (went_back(|one| one.moved_bytes) || went_back(|one| one.begun)) {
                found.push("counters go back without a restart".to_owned());
                break;
            }
        }
        let is_idle = self.last().and_then(|last| last.in_flight) == Some(0.0);
        if let Some(rate) = self.rate().filter(|rate| is_idle && *rate > MOVES) {
            found.push(format!("says that nothing is in flight and moves {:.1} Mbit/s", rate * 8.0 / 1e6));
        }
        let (load, in_flight) = (self.last().and_then(|last| last.load), self.last().and_then(|last| last.in_flight));
        if let (Some(load), Some(in_flight)) = (load, in_flight)
            && load < 1.0
            && in_flight >= MANY
        {
            found.push(format!("reports load {load:.0} with {in_flight:.0} in flight"));
        }
        found
    }
}

/// Usual intervals, and seconds, without a reading that are a hole.
const HOLE: f64 = 4.0;
const HOLE_AT_LEAST_S: f64 = 10.0;
/// The part of the rate of a NIC that it cannot move, whatever the moments at which counters were read: both directions, and a tenth.
const BEYOND: f64 = 2.2;
/// Bytes per second that are more than the answers of a monitor, and connections that no idle gateway has.
const MOVES: f64 = 1e6;
const MANY: f64 = 20.0;

fn is_restart(pair: &[Reading]) -> bool {
    // A second of doubt: some exporters compute the start from a clock.
    pair[1].since_s.zip(pair[0].since_s).is_some_and(|(after, before)| after > before + 1.5)
}
