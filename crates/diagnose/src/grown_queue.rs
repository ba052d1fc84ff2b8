//! On which way the queue stands that makes round trips long: the forward path, with the data, or the reverse path, with the
//! acknowledgments.
//!
//! A probe that carries the stamp of its arrival tells how long it was on its way there. Clocks of two hosts may be any time apart: what
//! counts is by how much that grew under load, beside the growth of the whole round trip.

use std::time::Duration;

use model::measurement::Heading;
use model::series::ProbeSamples;

/// By how much round trips grew under load, on one of two paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GrownQueue {
    /// By the median of the probes.
    pub(crate) grown: Duration,
    /// Which part of that on the path that is named, 0 to 1.
    pub(crate) part: f64,
    pub(crate) path: QueuePath,
}

/// Where data goes, or where acknowledgments come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueuePath {
    Forward,
    Reverse,
}

impl GrownQueue {
    /// What the probes before and beside data of a heading say; nothing where round trips hardly grew, or grew on both paths.
    pub(crate) fn of(probes: &ProbeSamples, heading: Heading) -> Option<Self> {
        let both = probes.sent_us.iter().zip(probes.rtt_us.iter().zip(&probes.there_us));
        let answered = both.filter_map(|(sent, (rtt, there))| Some((*sent, i64::from((*rtt)?), i64::from((*there)?))));
        let (idle, loaded): (Vec<_>, Vec<_>) = answered.partition(|(sent, ..)| *sent < 0);
        let round_trip = |of: &[(i64, i64, i64)]| median(of.iter().map(|(_, rtt, _)| *rtt));
        let there = |of: &[(i64, i64, i64)]| median(of.iter().map(|(.., there)| *there));
        let base_us = round_trip(&idle)?;
        let grown_us = round_trip(&loaded)? - base_us;
        if grown_us < LEAST_US || grown_us < base_us {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "microseconds of a test")]
        let part_there = (there(&loaded)? - there(&idle)?) as f64 / grown_us as f64;
        let part_reverse = match heading {
            Heading::Outbound => 1.0 - part_there,
            Heading::Inbound => part_there,
        };
        let (path, part) = match part_reverse {
            part if (MOST..=1.0 + SLACK).contains(&part) => (QueuePath::Reverse, part),
            part if (-SLACK..=1.0 - MOST).contains(&part) => (QueuePath::Forward, 1.0 - part),
            _ => return None,
        };
        let grown = Duration::from_micros(u64::try_from(grown_us).ok()?);
        Some(Self { grown, part: part.clamp(0.0, 1.0), path })
    }
}

/// The middle of at least [`FEWEST`] values.
fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    (values.len() >= FEWEST).then(|| values[values.len() / 2])
}

/// Fewer probes have no middle.
const FEWEST: usize = 5;
/// Two clocks drift apart by a millisecond in ten seconds at the worst (100 ppm): what grows by less shows no way.
const LEAST_US: i64 = 10_000;
/// This part of the growth on one way is a queue there.
const MOST: f64 = 0.8;
/// The clocks may be wrong by so much of the growth.
const SLACK: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten idle probes of 10 ms, 6 of them there, by a clock that is half an hour ahead; and loaded ones that are longer on each way.
    fn probes(longer_there_us: i32, longer_back_us: u32) -> ProbeSamples {
        const AHEAD_US: i32 = 1_800_000_000;
        let there = |longer: i32| Some(AHEAD_US + 6_000 + longer);
        let longer_us = u32::try_from(longer_there_us).unwrap_or_default() + longer_back_us;
        ProbeSamples {
            sent_us: (-10..40).map(|number| number * 10_000).collect(),
            rtt_us: (0..50).map(|number| Some(if number < 10 { 10_000 } else { 10_000 + longer_us })).collect(),
            there_us: (0..50).map(|number| there(if number < 10 { 0 } else { longer_there_us })).collect(),
        }
    }

    fn path(probes: &ProbeSamples, heading: Heading) -> Option<QueuePath> {
        GrownQueue::of(probes, heading).map(|queue| queue.path)
    }

    #[test]
    fn a_queue_is_on_the_way_that_became_longer() {
        assert_eq!(path(&probes(80_000, 0), Heading::Outbound), Some(QueuePath::Forward));
        assert_eq!(path(&probes(0, 80_000), Heading::Outbound), Some(QueuePath::Reverse));
        assert_eq!(path(&probes(80_000, 0), Heading::Inbound), Some(QueuePath::Reverse));
        assert_eq!(path(&probes(0, 80_000), Heading::Inbound), Some(QueuePath::Forward));
    }

    #[test]
    fn a_queue_on_both_ways_or_hardly_any_is_on_none() {
        assert_eq!(path(&probes(40_000, 40_000), Heading::Outbound), None);
        assert_eq!(path(&probes(0, 9_000), Heading::Outbound), None);
    }

    #[test]
    fn without_a_clock_relation_nothing_is_said() {
        let mut unknown = probes(0, 80_000);
        unknown.there_us.iter_mut().for_each(|there| *there = None);
        assert_eq!(path(&unknown, Heading::Outbound), None);
    }
}
