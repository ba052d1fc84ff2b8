//! After which hop the rate drops, from tests towards each hop of a way.
//!
//! The rate towards a hop is that of the slowest segment before it, so it can only fall from hop to hop. A hop itself can be
//! slower than the way through it: routers answer with a processor that forwards nothing. So a low value in the middle is
//! taken for the hop's own where a later hop is better, and a drop counts where it stays.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cell::Quality;
use super::evidence::{DEEPEST, NOISY, SHALLOWEST, depth_of, ln_healthy, ln_under};

/// A test towards one hop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopTest {
    /// Name or address of the hop.
    pub hop: String,
    /// How good it is, relative to what the whole way should do.
    pub quality: Quality,
    /// The least round trip, where it is known.
    #[serde(
        rename = "rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub rtt: Option<Duration>,
}

/// Where along a way the rate drops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopVerdict {
    /// What was found.
    #[serde(flatten)]
    pub drop: Drop,
    /// The probability of that, among all that was tried.
    pub probability: f64,
    /// Hops that are slow themselves while the way through them is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exculpated: Vec<String>,
}

/// Whether and where the rate drops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "drop")]
pub enum Drop {
    /// Nowhere.
    None,
    /// Between two hops that were tested.
    Between {
        /// The last hop that is well; absent where it is the host that tested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_good: Option<String>,
        /// The first that is not.
        first_bad: String,
        /// Hops between them of which nothing is known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_known: Vec<String>,
        /// The part of the rate that passes.
        passes: f64,
    },
    /// Everywhere, in proportion to the round trip: one window or one rate of loss limits every test alike, and no segment
    /// is told from the others.
    WithRoundTrip,
    /// Nothing is known of any hop.
    Unknown,
}

/// Finds after which hop the rate drops. The tests are in the order of the way, from the first hop on.
#[must_use]
pub fn locate(tests: &[HopTest]) -> HopVerdict {
    let known: Vec<Known> = (0..).zip(tests).filter_map(|(at, test)| Known::of(at, test)).collect();
    if known.is_empty() {
        return HopVerdict { drop: Drop::Unknown, probability: 1.0, exculpated: Vec::new() };
    }
    let healthy = (known.iter().map(|hop| hop.ln_given(0.0)).sum::<f64>() + NO_DROP.ln(), Found::None);
    #[expect(clippy::cast_precision_loss, reason = "ways have few hops")]
    let each = ((1.0 - NO_DROP - ROUND_TRIP) / known.len() as f64).ln();
    let drops =
        (0..known.len()).filter_map(|at| drop_at(&known, at).map(|(fit, depth)| (fit + each, Found::At(at, depth))));
    let round_trip = with_round_trip(&known).map(|fit| (fit + ROUND_TRIP.ln(), Found::RoundTrip));
    let all: Vec<(f64, Found)> = std::iter::once(healthy).chain(drops).chain(round_trip).collect();
    let best = all.iter().copied().fold(healthy, |best, other| if other.0 > best.0 { other } else { best });
    let probability = 1.0 / all.iter().map(|other| (other.0 - best.0).exp()).sum::<f64>();
    verdict(tests, &known, best.1, probability)
}

#[derive(Debug, Clone, Copy)]
enum Found {
    None,
    At(usize, f64),
    RoundTrip,
}

/// A hop of which something is known.
struct Known {
    at: usize,
    depth: f64,
    noise: f64,
    rtt: Option<f64>,
}

impl Known {
    fn of(at: usize, test: &HopTest) -> Option<Self> {
        let (part, uncertainty) = test.quality.known()?;
        let rtt = test.rtt.map(|rtt| rtt.as_secs_f64()).filter(|rtt| *rtt > 0.0);
        Some(Self { at, depth: depth_of(part), noise: uncertainty.hypot(HOP_SPREAD), rtt })
    }

    /// ln of the density of this hop's depth where the way to it is as deep as `way`.
    fn ln_given(&self, way: f64) -> f64 {
        let own = if way == 0.0 { ln_healthy(self.depth, self.noise) } else { ln_under(self.depth, way, self.noise) };
        // The hop's own slowness comes on top of the way's.
        let slow = if self.depth > way { (SLOW_HOP / DEEPEST).ln() } else { f64::NEG_INFINITY };
        ln_sum((1.0 - SLOW_HOP).ln() + own, slow)
    }

    fn is_slower_than(&self, way: f64) -> bool {
        self.depth > way + (NOISY * self.noise).max(SHALLOWEST)
    }
}

/// A drop just before the known hop `at`: all before are well, all from there on are as slow as it.
fn drop_at(known: &[Known], at: usize) -> Option<(f64, f64)> {
    let mut after: Vec<f64> = known[at..].iter().map(|hop| hop.depth).collect();
    after.sort_unstable_by(f64::total_cmp);
    // Slow hops lie above the way's own depth, so the lower half tells it.
    let depth = after.get((after.len() - 1) / 2).copied().filter(|depth| *depth >= SHALLOWEST)?;
    let fit = |hops: &[Known], way: f64| hops.iter().map(|hop| hop.ln_given(way)).sum::<f64>();
    Some((fit(&known[..at], 0.0) + fit(&known[at..], depth), depth))
}

/// All rates in proportion to one over the round trip: the depth grows with its logarithm.
fn with_round_trip(known: &[Known]) -> Option<f64> {
    let rtts: Option<Vec<f64>> = known.iter().map(|hop| hop.rtt.map(f64::ln)).collect();
    let rtts = rtts.filter(|rtts| rtts.len() >= LEAST_HOPS)?;
    let mut offsets: Vec<f64> =
        known.iter().zip(&rtts).filter(|(hop, _)| hop.depth > SHALLOWEST).map(|(hop, rtt)| hop.depth - rtt).collect();
    offsets.sort_unstable_by(f64::total_cmp);
    let offset = offsets.get(offsets.len() / 2).copied()?;
    Some(known.iter().zip(&rtts).map(|(hop, rtt)| hop.ln_given((rtt + offset).max(0.0))).sum())
}

fn verdict(tests: &[HopTest], known: &[Known], found: Found, probability: f64) -> HopVerdict {
    let name = |at: usize| tests[at].hop.clone();
    let slow = |hops: &[Known], way: f64| -> Vec<String> {
        hops.iter().filter(|hop| hop.is_slower_than(way)).map(|hop| name(hop.at)).collect()
    };
    let (drop, exculpated) = match found {
        Found::None => (Drop::None, slow(known, 0.0)),
        Found::RoundTrip => (Drop::WithRoundTrip, Vec::new()),
        Found::At(at, depth) => {
            let last_good = at.checked_sub(1).map(|before| known[before].at);
            let from = last_good.map_or(0, |last| last + 1);
            let between = Drop::Between {
                last_good: last_good.map(name),
                first_bad: name(known[at].at),
                not_known: (from..known[at].at).map(name).collect(),
                passes: (-depth).exp(),
            };
            (between, [slow(&known[..at], 0.0), slow(&known[at..], depth)].concat())
        }
    };
    HopVerdict { drop, probability, exculpated }
}

fn ln_sum(a: f64, b: f64) -> f64 {
    let most = a.max(b);
    most + ((a - most).exp() + (b - most).exp()).ln()
}

/// By how much tests towards neighbouring hops of one healthy way differ.
const HOP_SPREAD: f64 = 0.15;

/// How often a hop is slower than the way through it.
const SLOW_HOP: f64 = 0.1;

/// How likely there is no drop at all, and how likely one limit for all round trips.
const NO_DROP: f64 = 0.5;
const ROUND_TRIP: f64 = 0.1;

/// Fewer hops say nothing about the round trip.
const LEAST_HOPS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(parts: &[(&str, Option<f64>)]) -> Vec<HopTest> {
        let quality =
            |part: Option<f64>| part.map_or(Quality::Unknown { reason: "no answer".to_owned() }, Quality::measured);
        parts.iter().map(|(hop, part)| HopTest { hop: (*hop).to_owned(), quality: quality(*part), rtt: None }).collect()
    }

    fn between(verdict: &HopVerdict) -> (Option<&str>, &str) {
        match &verdict.drop {
            Drop::Between { last_good, first_bad, .. } => (last_good.as_deref(), first_bad),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_drop_that_stays_is_between_the_last_good_and_the_first_bad_hop() {
        let verdict = locate(&tests(&[("h1", Some(0.95)), ("h2", Some(1.0)), ("h3", Some(0.11)), ("b", Some(0.1))]));
        assert_eq!(between(&verdict), (Some("h2"), "h3"));
        assert!(verdict.probability > 0.9, "{verdict:?}");
        assert_eq!(verdict.exculpated, [""; 0]);
    }

    #[test]
    fn a_slow_hop_with_a_good_one_behind_it_is_slow_itself() {
        let verdict = locate(&tests(&[("h1", Some(0.95)), ("h2", Some(0.02)), ("h3", Some(0.9)), ("b", Some(0.97))]));
        assert_eq!(verdict.drop, Drop::None);
        assert_eq!(verdict.exculpated, ["h2"]);
    }

    #[test]
    fn a_slow_hop_before_the_drop_does_not_move_it() {
        let parts = [("h1", Some(0.01)), ("h2", Some(0.9)), ("h3", Some(0.2)), ("h4", Some(0.01)), ("b", Some(0.22))];
        let verdict = locate(&tests(&parts));
        assert_eq!(between(&verdict), (Some("h2"), "h3"));
        assert_eq!(verdict.exculpated, ["h1", "h4"]);
    }

    #[test]
    fn a_drop_at_the_first_hop_is_next_to_the_host_that_tested() {
        let verdict = locate(&tests(&[("h1", Some(0.1)), ("h2", Some(0.09)), ("b", Some(0.12))]));
        assert_eq!(between(&verdict), (None, "h1"));
    }

    #[test]
    fn hops_that_nobody_knows_widen_the_answer() {
        let verdict = locate(&tests(&[("h1", Some(1.0)), ("h2", None), ("h3", Some(0.1)), ("b", Some(0.1))]));
        assert!(matches!(&verdict.drop, Drop::Between { not_known, .. } if *not_known == ["h2"]), "{verdict:?}");
        assert_eq!(locate(&tests(&[("h1", None)])).drop, Drop::Unknown);
    }

    #[test]
    fn what_falls_with_the_round_trip_is_one_window_and_no_segment() {
        // A window of 256 kB over 1, 5, 20, 50 and 100 ms, of 1 Gbit/s.
        let hops = [1.0, 5.0, 20.0, 50.0, 100.0].map(|ms: f64| HopTest {
            hop: format!("{ms} ms"),
            quality: Quality::measured((0.256 * 8.0 / ms).min(1.0)),
            rtt: Some(Duration::from_secs_f64(ms / 1e3)),
        });
        assert_eq!(locate(&hops).drop, Drop::WithRoundTrip);
    }

    #[test]
    fn noise_alone_is_no_drop() {
        let verdict = locate(&tests(&[("h1", Some(0.95)), ("h2", Some(0.8)), ("h3", Some(0.99)), ("b", Some(0.78))]));
        assert_eq!(verdict.drop, Drop::None);
    }
}
