//! How the clocks of two captures differ, from the packets that waited least.
//!
//! The least delays of a direction lie on a line whose slope is the skew (Moon, Skelly, Towsley, Infocom 1999): the edge of the
//! lower convex hull above the middle of all times. With both directions the offset follows, if the least delay is the same
//! both ways; half of what it differs by is the error of every delay, and not of how delays differ from each other.

use serde::Serialize;

/// What is known of the two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clocks {
    /// Nothing: offset and skew are estimated.
    #[default]
    Own,
    /// Both captures were taken with one clock, or with clocks that PTP or GNSS keeps together.
    Same,
}

/// How the second clock differs from the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockDifference {
    /// By how much the clock at the server is ahead at `reference_ns`, in nanoseconds.
    pub offset_ns: f64,
    /// By how much it gains, in parts of a million.
    pub skew_ppm: f64,
    /// By how much the slopes of the two directions disagree, in parts of a million.
    pub skew_error_ppm: f64,
    /// When the offset holds, by the clock at the client.
    pub reference_ns: i64,
    /// Whether both are estimated; else the clocks are taken for the same.
    pub is_estimated: bool,
}

/// A packet whose passage is certain: when it was sent, and when it arrived, each by the clock there.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockPoint {
    pub(super) sent_ns: i64,
    pub(super) arrived_ns: i64,
}

/// A skew below this is no skew: what temperature does to a clock within a minute.
const LEAST_SKEW_PPM: f64 = 0.05;
/// Captures of less say nothing of a skew.
const LEAST_SPAN_NS: f64 = 2e9;

impl ClockDifference {
    /// By how much the clock at the server is ahead, at a moment of the clock at the client.
    #[expect(clippy::cast_precision_loss, reason = "captures are shorter than 2^53 ns")]
    pub(super) fn ahead_ns(&self, at_client_ns: i64) -> f64 {
        self.offset_ns + self.skew_ppm * 1e-6 * (at_client_ns.saturating_sub(self.reference_ns)) as f64
    }
}

/// From packets to the server, and from it.
pub(super) fn difference(to_server: &[ClockPoint], to_client: &[ClockPoint], clocks: Clocks) -> ClockDifference {
    let Some(reference_ns) = to_server.first().map(|point| point.sent_ns) else { return ClockDifference::default() };
    if clocks == Clocks::Same {
        return ClockDifference { reference_ns, ..ClockDifference::default() };
    }
    // Both by the time of the client's clock: what is sent there, and what arrives there.
    let out = Line::below(to_server.iter().map(|point| Dot::new(point.sent_ns.saturating_sub(reference_ns), point)));
    let back =
        Line::below(to_client.iter().map(|point| Dot::new(point.arrived_ns.saturating_sub(reference_ns), point)));
    let (Some(out), Some(back)) = (out, back) else { return ClockDifference { reference_ns, ..Default::default() } };
    let skew = (out.slope - back.slope) / 2.0;
    let error = (out.slope + back.slope).abs() / 2.0;
    let is_long = out.span_ns.min(back.span_ns) >= LEAST_SPAN_NS;
    let has_skew = is_long && skew.abs() > 2.0 * error && skew.abs() * 1e6 > LEAST_SKEW_PPM;
    let (skew, out_ns, back_ns) =
        if has_skew { (skew, out.at(0.0), back.at(0.0)) } else { (0.0, out.least_ns, back.least_ns) };
    ClockDifference {
        offset_ns: (out_ns - back_ns) / 2.0,
        skew_ppm: skew * 1e6,
        skew_error_ppm: error * 1e6,
        reference_ns,
        is_estimated: true,
    }
}

/// A delay with the difference of the clocks in it.
#[derive(Debug, Clone, Copy)]
struct Dot {
    at_ns: f64,
    delay_ns: f64,
}

impl Dot {
    #[expect(clippy::cast_precision_loss, reason = "captures are shorter than 2^53 ns")]
    fn new(since_ns: i64, point: &ClockPoint) -> Self {
        Self { at_ns: since_ns as f64, delay_ns: point.arrived_ns.saturating_sub(point.sent_ns) as f64 }
    }
}

/// The line below all dots that is nearest to them in sum.
#[derive(Debug, Clone, Copy)]
struct Line {
    slope: f64,
    at_zero_ns: f64,
    least_ns: f64,
    span_ns: f64,
}

impl Line {
    fn at(&self, at_ns: f64) -> f64 {
        self.at_zero_ns + self.slope * at_ns
    }

    fn below(dots: impl Iterator<Item = Dot>) -> Option<Self> {
        let mut dots: Vec<Dot> = dots.collect();
        dots.sort_by(|one, other| one.at_ns.total_cmp(&other.at_ns));
        let (first, last) = (dots.first()?.at_ns, dots.last()?.at_ns);
        let least_ns = dots.iter().map(|dot| dot.delay_ns).fold(f64::INFINITY, f64::min);
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let middle = dots.iter().map(|dot| dot.at_ns).sum::<f64>() / dots.len() as f64;
        let hull = lower_hull(&dots);
        let edge = hull.windows(2).find(|edge| {
            edge.first().is_some_and(|from| from.at_ns <= middle) && edge.last().is_some_and(|to| to.at_ns >= middle)
        });
        let (slope, at_zero_ns) = match edge {
            Some([from, to]) => {
                let slope = (to.delay_ns - from.delay_ns) / (to.at_ns - from.at_ns);
                (slope, from.delay_ns - slope * from.at_ns)
            }
            _ => (0.0, least_ns),
        };
        Some(Self { slope, at_zero_ns, least_ns, span_ns: last - first })
    }
}

/// Andrew's monotone chain, from below. Of dots at one time only the lowest stands in it.
fn lower_hull(dots: &[Dot]) -> Vec<Dot> {
    let mut hull: Vec<Dot> = Vec::new();
    for dot in dots {
        if hull.last().is_some_and(|last| last.at_ns >= dot.at_ns) {
            if hull.last().is_some_and(|last| last.delay_ns <= dot.delay_ns) {
                continue;
            }
            hull.pop();
        }
        while let [.., before, last] = hull.as_slice()
            && turn(*before, *last, *dot) <= 0.0
        {
            hull.pop();
        }
        hull.push(*dot);
    }
    hull
}

/// Above zero where three dots turn to the left.
fn turn(from: Dot, over: Dot, to: Dot) -> f64 {
    (over.at_ns - from.at_ns) * (to.delay_ns - from.delay_ns)
        - (over.delay_ns - from.delay_ns) * (to.at_ns - from.at_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets each way over a path of 10 ms, with queues that vary, between clocks that differ.
    fn points(offset_ns: i64, skew_ppb: i64, seconds: i64) -> [Vec<ClockPoint>; 2] {
        let ahead = |at_ns: i64| offset_ns + at_ns / 1_000 * skew_ppb / 1_000_000;
        let queue = |step: i64| (step * 7_919 % 97) * 10_000;
        let out = (0..seconds * 100).map(|step| {
            let sent_ns = step * 10_000_000;
            ClockPoint { sent_ns, arrived_ns: sent_ns + 5_000_000 + queue(step) + ahead(sent_ns) }
        });
        let back = (0..seconds * 100).map(|step| {
            let true_ns = step * 10_000_000 + 3;
            ClockPoint { sent_ns: true_ns + ahead(true_ns), arrived_ns: true_ns + 5_000_000 + queue(step + 31) }
        });
        [out.collect(), back.collect()]
    }

    #[test]
    fn offset_and_skew_are_those_that_were_put_in() {
        for (offset_ns, skew_ppb) in [(0, 0), (123_456_789, 0), (-5_000_000_000, 40_000), (77, -12_500)] {
            let [out, back] = points(offset_ns, skew_ppb, 30);
            let found = difference(&out, &back, Clocks::Own);
            assert!((found.skew_ppm - skew_ppb as f64 / 1e3).abs() < 0.1, "{found:?}");
            assert!((found.offset_ns - offset_ns as f64).abs() < 20_000.0, "{found:?}");
        }
    }

    #[test]
    fn a_second_says_nothing_of_a_skew_and_one_clock_has_none() {
        let [out, back] = points(1_000, 40_000, 1);
        assert_eq!(difference(&out, &back, Clocks::Own).skew_ppm, 0.0);
        let same = difference(&out, &back, Clocks::Same);
        assert_eq!((same.offset_ns, same.is_estimated), (0.0, false));
    }
}
