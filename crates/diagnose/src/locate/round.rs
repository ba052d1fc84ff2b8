//! Cells from the tests of a round, a layer for each symptom.
//!
//! Whoever asked and whoever sent payload are not the same: cells go by who sent.

use std::collections::BTreeMap;
use std::time::Duration;

use model::measurement::{DirectionTotal, Heading, SteadyState};
use model::played::Finding;
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::round::{Endpoint, Passage, Round, Tested};
use model::run::{Outcome, Role, Run};
use model::spec::Protocol;
use stats::summary::{MAD_TO_SIGMA, Ordered};
use units::DataRate;

use super::cell::{Cell, Layer, Quality, Symptom, USUAL_UNCERTAINTY};
use super::hops::HopTest;

/// The layers of a round that have any cells, in the order of [`Symptom::ALL`].
///
/// Tests of the same pair are one cell: their median. Where a plan does not say what a pair should reach, three quarters
/// of the pairs of the same network set the measure: what the best quarter exceeds.
#[must_use]
pub fn layers(round: &Round) -> Vec<Layer> {
    let mut seen: BTreeMap<(Symptom, Endpoint, Endpoint), Seen> = BTreeMap::new();
    for test in &round.tests {
        for (symptom, heading, told) in told_by(test) {
            let (from, to, way) = directed(round, test, heading);
            let seen = seen.entry((symptom, from, to)).or_default();
            if seen.way.is_empty() {
                seen.way = way;
            }
            seen.told.push(told);
        }
    }
    let usual = usual_rates(&seen);
    let layer = |symptom| Layer {
        symptom,
        cells: seen
            .iter()
            .filter(|((of, ..), _)| *of == symptom)
            .map(|((_, from, to), seen)| Cell {
                from: from.clone(),
                to: to.clone(),
                quality: seen.quality(usual.get(&(symptom, from.network.clone())).copied()),
                way: seen.way.clone(),
            })
            .collect(),
    };
    Symptom::ALL.into_iter().map(layer).filter(|layer| !layer.cells.is_empty()).collect()
}

/// The tests from one end towards each hop on its way to another, for [`super::hops::locate`]: those members on the way
/// that were tested from there, the other end included. Empty where the way is not known.
#[must_use]
pub fn towards_hops(round: &Round, layer: &Layer, from: &Endpoint, to: &Endpoint) -> Vec<HopTest> {
    let of = |to: &Endpoint| layer.cells.iter().find(|cell| cell.from == *from && cell.to == *to);
    let way = of(to).map(|cell| cell.way.as_slice()).unwrap_or_default();
    let hop = |passage: &Passage| {
        let hop = Endpoint { host: passage.towards.clone(), network: to.network.clone() };
        let reached =
            of(&hop).map_or(Quality::Unknown { reason: "not tested".to_owned() }, |cell| cell.quality.clone());
        HopTest { rtt: least_rtt(round, from, &hop), hop: hop.to_string(), quality: reached }
    };
    way.iter().map(hop).collect()
}

/// A rate that a test tells of one pair.
pub(crate) struct RateTold {
    pub(crate) symptom: Symptom,
    /// Who sends payload.
    pub(crate) from: Endpoint,
    /// Who receives it.
    pub(crate) to: Endpoint,
    pub(crate) rate: DataRate,
    /// What it should be, where somebody says so.
    pub(crate) expected: Option<DataRate>,
}

/// All rates that a test tells.
pub(crate) fn rates_told(round: &Round, test: &Tested) -> Vec<RateTold> {
    let told = told_by(test).into_iter().filter_map(|(symptom, heading, told)| match told {
        Told::Rate { rate, expected } => {
            let (from, to, _) = directed(round, test, heading);
            Some(RateTold { symptom, from, to, rate, expected })
        }
        Told::Part(..) | Told::Nothing(_) => None,
    });
    told.collect()
}

/// The least round trip of all echoes between two ends.
fn least_rtt(round: &Round, from: &Endpoint, to: &Endpoint) -> Option<Duration> {
    let between = round.tests.iter().filter(|test| test.from == *from && test.to == *to);
    let least = between.filter_map(|test| match &test.finding {
        Finding::Echo(echo) => echo.summary.rtt.min_us,
        _ => None,
    });
    least.min().map(Duration::from_micros)
}

/// All that was told of one pair.
#[derive(Default)]
struct Seen {
    told: Vec<Told>,
    way: Vec<Passage>,
}

/// What one test tells of one direction.
enum Told {
    /// A rate, and what it should be where somebody says so.
    Rate { rate: DataRate, expected: Option<DataRate> },
    /// A part, and its uncertainty.
    Part(f64, f64),
    /// Nothing, and why.
    Nothing(String),
}

impl Seen {
    fn quality(&self, usual: Option<f64>) -> Quality {
        let known: Vec<(f64, f64)> = self.told.iter().filter_map(|told| told.part(usual)).collect();
        let parts: Ordered = known.iter().map(|(part, _)| *part).collect();
        let Some(part) = parts.median() else {
            let reason = self.told.iter().find_map(|told| match told {
                Told::Nothing(reason) => Some(reason.clone()),
                _ => None,
            });
            return Quality::Unknown { reason: reason.unwrap_or_else(|| "no rate to compare it with".to_owned()) };
        };
        let single = known.iter().map(|(_, uncertainty)| *uncertainty).fold(USUAL_UNCERTAINTY, f64::max);
        let spread = parts.mad().map_or(0.0, |mad| mad * MAD_TO_SIGMA) / part.max(f64::MIN_POSITIVE);
        Quality::Known { part, uncertainty: single.max(spread) }
    }
}

impl Told {
    #[expect(clippy::cast_precision_loss, reason = "rates are below 2^53 bit/s")]
    fn part(&self, usual: Option<f64>) -> Option<(f64, f64)> {
        match self {
            Self::Rate { rate, expected } => {
                let whole = expected.map(|rate| rate.bps() as f64).or(usual).filter(|whole| *whole > 0.0)?;
                Some((rate.bps() as f64 / whole, USUAL_UNCERTAINTY))
            }
            Self::Part(part, uncertainty) => Some((*part, *uncertainty)),
            Self::Nothing(_) => None,
        }
    }
}

/// For each symptom and network, the rate that a quarter of the pairs exceed.
#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53 bit/s")]
fn usual_rates(seen: &BTreeMap<(Symptom, Endpoint, Endpoint), Seen>) -> BTreeMap<(Symptom, Option<String>), f64> {
    let mut rates: BTreeMap<(Symptom, Option<String>), Vec<f64>> = BTreeMap::new();
    for ((symptom, from, _), seen) in seen {
        let of_pair = seen.told.iter().filter_map(|told| match told {
            Told::Rate { rate, .. } => Some(rate.bps() as f64),
            _ => None,
        });
        if let Some(rate) = of_pair.collect::<Ordered>().median() {
            rates.entry((*symptom, from.network.clone())).or_default().push(rate);
        }
    }
    let quartile = |rates: Vec<f64>| Ordered::new(rates).quantile(0.75);
    rates.into_iter().filter_map(|(key, rates)| Some((key, quartile(rates)?))).collect()
}

/// What a test tells, seen from the end that asked: outbound is towards the end that answered.
fn told_by(test: &Tested) -> Vec<(Symptom, Heading, Told)> {
    match &test.finding {
        Finding::Run(run) => told_by_run(run, test.expected),
        Finding::Echo(echo) => {
            let rtt = &echo.summary.rtt;
            // An echo that is lost may have been lost on either way, so both are told.
            let told = || unless_failed(&echo.outcome, || lost(rtt.sent.get(), rtt.lost.get()));
            [Heading::Outbound, Heading::Inbound].map(|heading| (Symptom::Loss, heading, told())).into()
        }
        Finding::PathMtu(found) => {
            vec![(Symptom::Mtu, Heading::Outbound, unless_failed(&found.outcome, || size(found)))]
        }
        Finding::Downloads(downloads) => downloads
            .iter()
            .map(|download| {
                let rate = download.goodput.or(download.overall);
                let told = unless_failed(&download.outcome, || match rate {
                    Some(rate) => Told::Rate { rate, expected: test.expected },
                    None => Told::Nothing("the file was too short for a rate".to_owned()),
                });
                (Symptom::Download, Heading::Inbound, told)
            })
            .collect(),
        Finding::Nothing { detail } => vec![(Symptom::Goodput, Heading::Outbound, Told::Nothing(detail.clone()))],
        Finding::Hops(_) => Vec::new(),
    }
}

fn told_by_run(run: &Run, expected: Option<DataRate>) -> Vec<(Symptom, Heading, Told)> {
    let symptom = if run.spec.protocol == Protocol::Tcp { Symptom::Goodput } else { Symptom::Loss };
    let asked = |heading: Heading| if run.role == Role::Client { heading } else { heading.mirrored() };
    let totals = run.measurement.as_ref().map(|measurement| measurement.totals.as_slice()).unwrap_or_default();
    if let Outcome::Failed(failure) = &run.outcome {
        let headings = match run.spec.direction {
            model::spec::Direction::Forward => vec![Heading::Outbound],
            model::spec::Direction::Reverse => vec![Heading::Inbound],
            model::spec::Direction::Bidirectional => vec![Heading::Outbound, Heading::Inbound],
        };
        let told = |heading| (symptom, asked(heading), Told::Nothing(failure.detail.clone()));
        return headings.into_iter().map(told).collect();
    }
    let told = |total: &DirectionTotal| match (symptom, &total.datagrams) {
        (Symptom::Loss, Some(counts)) => lost(counts.sent.get(), counts.lost.get()),
        (Symptom::Loss, None) => Told::Nothing("the receiver counted no datagrams".to_owned()),
        _ => Told::Rate { rate: settled(total), expected: within_caps(run, expected) },
    };
    totals.iter().map(|total| (symptom, asked(total.heading), told(total))).collect()
}

/// The rate after the start-up, which long paths need for some time; of all of the run where it never settled.
const fn settled(total: &DirectionTotal) -> DataRate {
    match total.steady {
        SteadyState::Reached { goodput, .. } => goodput,
        SteadyState::NotReached => total.goodput,
    }
}

/// What a run can reach at most: what the plan expects, or what the test was told not to exceed.
fn within_caps(run: &Run, expected: Option<DataRate>) -> Option<DataRate> {
    let streams = u64::from(run.spec.streams.max(1));
    let caps = run.spec.rate.into_iter().chain(run.spec.pace);
    let caps = caps.map(|cap| DataRate::from_bps(cap.bps().saturating_mul(streams)));
    caps.chain(expected).min()
}

fn unless_failed(outcome: &Outcome, told: impl FnOnce() -> Told) -> Told {
    match outcome {
        Outcome::Complete => told(),
        Outcome::Failed(failure) => Told::Nothing(failure.detail.clone()),
    }
}

/// Loss as the part of the rate that it leaves to TCP, which goes with one over its square root (Mathis and others 1997):
/// all of it up to [`HARMLESS_LOSS`]. Losses are counted with their chance: of k, √k may be bad luck.
#[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
fn lost(sent: u64, lost: u64) -> Told {
    if sent == 0 {
        return Told::Nothing("nothing was sent".to_owned());
    }
    let lost = lost.min(sent) as f64;
    let surely = (lost - lost.sqrt()) / sent as f64;
    let part = if surely <= HARMLESS_LOSS { 1.0 } else { (HARMLESS_LOSS / surely).sqrt() };
    Told::Part(part, if lost > 0.0 { 0.5 / lost.sqrt() } else { USUAL_UNCERTAINTY })
}

/// Loss that is not called a symptom: one packet in ten thousand.
const HARMLESS_LOSS: f64 = 1e-4;

/// A size that somebody tells of is kept to by everybody; a black hole stops all who do not probe (RFC 2923 §2.1).
fn size(found: &PathMtu) -> Told {
    match &found.limit {
        Some(MtuLimit::Silent) => Told::Part(BLACK_HOLE, USUAL_UNCERTAINTY),
        Some(MtuLimit::Interface | MtuLimit::Told { .. }) => Told::Part(1.0, USUAL_UNCERTAINTY),
        None => Told::Nothing("the search for the largest packet did not end".to_owned()),
    }
}

/// What a black hole leaves to those who do not probe: little, and how little says nothing.
const BLACK_HOLE: f64 = 0.01;

/// Who sent payload, who received it, and the way between them.
fn directed(round: &Round, test: &Tested, heading: Heading) -> (Endpoint, Endpoint, Vec<Passage>) {
    match heading {
        Heading::Outbound => (test.from.clone(), test.to.clone(), test.way.clone()),
        Heading::Inbound => (test.to.clone(), test.from.clone(), way_back(round, test)),
    }
}

/// The way from the end that answered: the one that the test knows, or that of a test the other way round.
///
/// Model: else the same segments in the other direction, which routing does not promise.
fn way_back(round: &Round, test: &Tested) -> Vec<Passage> {
    if !test.way_back.is_empty() {
        return test.way_back.clone();
    }
    let other =
        round.tests.iter().find(|other| other.from == test.to && other.to == test.from && !other.way.is_empty());
    if let Some(other) = other {
        return other.way.clone();
    }
    let back = |passage: &Passage| {
        let segment = round.segments.iter().find(|segment| segment.name == passage.segment)?;
        let towards = segment.between.iter().find(|end| **end != passage.towards)?;
        Some(Passage { segment: passage.segment.clone(), towards: towards.clone() })
    };
    let way: Option<Vec<Passage>> = test.way.iter().rev().map(back).collect();
    way.unwrap_or_default()
}
