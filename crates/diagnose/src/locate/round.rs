//! Cells from the tests of a round, a layer for each symptom.
//!
//! Whoever asked and whoever sent payload are not the same: cells go by who sent.

use std::collections::BTreeMap;
use std::time::Duration;

use model::measurement::{DirectionTotal, Heading};
use model::played::Finding;
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::round::{Endpoint, Passage, Round, Segment, Tested};
use model::run::{Outcome, Role, Run};
use model::spec::Protocol;
use model::target::TargetRate;
use predict::target::flow::settled;
use predict::target::{NotJudged, Targets};
use stats::summary::{MAD_TO_SIGMA, Ordered};
use units::DataRate;

use super::cell::{Cell, Layer, Quality, Symptom, USUAL_UNCERTAINTY};
use super::hops::HopTest;
use crate::grid::Loss;

/// The layers of a round that have any cells, in the order of [`Symptom::ALL`].
///
/// Tests of the same pair are one cell: their median. Rates are parts of their [targets](Targets); a pair that has none is unknown.
#[must_use]
pub fn layers(round: &Round) -> Vec<Layer> {
    let targets = Targets::of(round);
    let ways = Ways::of(round);
    let mut seen: BTreeMap<(Symptom, Endpoint, Endpoint), Seen> = BTreeMap::new();
    for (number, test) in round.tests.iter().enumerate() {
        for (symptom, heading, told) in told_by(&targets, (number, test)) {
            let (from, to) = ends(test, heading);
            let seen = seen.entry((symptom, from, to)).or_default();
            if seen.way.is_empty() {
                seen.way = match heading {
                    Heading::Outbound => test.way.clone(),
                    Heading::Inbound => ways.back(test),
                };
            }
            seen.told.push(told);
        }
    }
    let layer = |symptom| Layer {
        symptom,
        cells: seen
            .iter()
            .filter(|((of, ..), _)| *of == symptom)
            .map(|((_, from, to), seen)| Cell {
                from: from.clone(),
                to: to.clone(),
                quality: seen.quality(),
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
    /// What it is judged against, or why it is not.
    pub(crate) target: Result<TargetRate, NotJudged>,
}

/// All rates that a test tells.
pub(crate) fn rates_told(targets: &Targets, (number, test): (usize, &Tested)) -> Vec<RateTold> {
    let told = told_by(targets, (number, test)).into_iter().filter_map(|(symptom, heading, told)| match told {
        Told::Rate { rate, target } => {
            let (from, to) = ends(test, heading);
            Some(RateTold { symptom, from, to, rate, target })
        }
        Told::Loss(_) | Told::Part(..) | Told::Nothing(_) => None,
    });
    told.collect()
}

/// Packets that a test counted: who sent, who received, and how many were lost of how many.
pub(crate) fn losses_told(targets: &Targets, number: usize, test: &Tested) -> Vec<(Endpoint, Endpoint, Loss)> {
    let told = told_by(targets, (number, test)).into_iter().filter_map(|(_, heading, told)| match told {
        Told::Loss(loss) => {
            let (from, to) = ends(test, heading);
            Some((from, to, loss))
        }
        Told::Rate { .. } | Told::Part(..) | Told::Nothing(_) => None,
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
    /// A rate, and what it is judged against.
    Rate { rate: DataRate, target: Result<TargetRate, NotJudged> },
    /// Packets, counted.
    Loss(Loss),
    /// A part, and its uncertainty.
    Part(f64, f64),
    /// Nothing, and why.
    Nothing(String),
}

impl Seen {
    fn quality(&self) -> Quality {
        let known: Vec<(f64, f64)> = self.told.iter().filter_map(Told::part).collect();
        let parts: Ordered = known.iter().map(|(part, _)| *part).collect();
        let Some(part) = parts.median() else {
            let reason = self.told.iter().find_map(|told| match told {
                Told::Nothing(reason) => Some(reason.clone()),
                Told::Rate { target: Err(why), .. } => Some(why.reason.clone()),
                _ => None,
            });
            return Quality::Unknown { reason: reason.unwrap_or_else(|| "no rate was measured".to_owned()) };
        };
        let single = known.iter().map(|(_, uncertainty)| *uncertainty).fold(USUAL_UNCERTAINTY, f64::max);
        let spread = parts.mad().map_or(0.0, |mad| mad * MAD_TO_SIGMA) / part.max(f64::MIN_POSITIVE);
        Quality::Known { part, uncertainty: single.max(spread) }
    }
}

impl Told {
    fn part(&self) -> Option<(f64, f64)> {
        match self {
            Self::Rate { rate, target } => Some((target.as_ref().ok()?.part(*rate, None)?, USUAL_UNCERTAINTY)),
            Self::Loss(loss) => Some(left_by(*loss)),
            Self::Part(part, uncertainty) => Some((*part, *uncertainty)),
            Self::Nothing(_) => None,
        }
    }
}

/// What a test tells, seen from the end that asked: outbound is towards the end that answered.
fn told_by(targets: &Targets, (number, test): (usize, &Tested)) -> Vec<(Symptom, Heading, Told)> {
    let target = |heading| targets.get(number, heading).cloned();
    match &test.finding {
        Finding::Run(run) => told_by_run(run, &target),
        Finding::Echo(echo) => {
            let rtt = &echo.summary.rtt;
            // An echo that is lost may have been lost on either way, so both are told.
            let told = || unless_failed(&echo.outcome, || lost(Loss { lost: rtt.lost, sent: rtt.sent }));
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
                    Some(rate) => Told::Rate { rate, target: target(Heading::Inbound) },
                    None => Told::Nothing("the file was too short for a rate".to_owned()),
                });
                (Symptom::Download, Heading::Inbound, told)
            })
            .collect(),
        Finding::Nothing { detail } => vec![(Symptom::Goodput, Heading::Outbound, Told::Nothing(detail.clone()))],
        Finding::Hops(_) => Vec::new(),
    }
}

fn told_by_run(run: &Run, target: &dyn Fn(Heading) -> Result<TargetRate, NotJudged>) -> Vec<(Symptom, Heading, Told)> {
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
        (Symptom::Loss, Some(counts)) => lost(Loss { lost: counts.lost, sent: counts.sent }),
        (Symptom::Loss, None) => Told::Nothing("the receiver counted no datagrams".to_owned()),
        _ => Told::Rate { rate: settled(run, total), target: target(total.heading) },
    };
    totals.iter().map(|total| (symptom, asked(total.heading), told(total))).collect()
}

fn unless_failed(outcome: &Outcome, told: impl FnOnce() -> Told) -> Told {
    match outcome {
        Outcome::Complete => told(),
        Outcome::Failed(failure) => Told::Nothing(failure.detail.clone()),
    }
}

fn lost(loss: Loss) -> Told {
    if loss.sent.get() == 0 { Told::Nothing("nothing was sent".to_owned()) } else { Told::Loss(loss) }
}

/// Loss as the part of the rate that it leaves to TCP, which goes with one over its square root (Mathis and others 1997):
/// all of it up to [`HARMLESS_LOSS`]. Losses are counted with their chance: of k, √k may be bad luck.
#[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
fn left_by(loss: Loss) -> (f64, f64) {
    let lost = loss.lost.min(loss.sent).get() as f64;
    let surely = (lost - lost.sqrt()) / loss.sent.get().max(1) as f64;
    let part = if surely <= HARMLESS_LOSS { 1.0 } else { (HARMLESS_LOSS / surely).sqrt() };
    (part, if lost > 0.0 { 0.5 / lost.sqrt() } else { USUAL_UNCERTAINTY })
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

/// Who sent payload, and who received it.
fn ends(test: &Tested, heading: Heading) -> (Endpoint, Endpoint) {
    match heading {
        Heading::Outbound => (test.from.clone(), test.to.clone()),
        Heading::Inbound => (test.to.clone(), test.from.clone()),
    }
}

/// Ways and segments of a round, looked up by their ends and names.
struct Ways<'a> {
    known: BTreeMap<(&'a Endpoint, &'a Endpoint), &'a [Passage]>,
    segments: BTreeMap<&'a str, &'a Segment>,
}

impl<'a> Ways<'a> {
    fn of(round: &'a Round) -> Self {
        // The first of several counts.
        let tests = round.tests.iter().rev().filter(|test| !test.way.is_empty());
        let segments = round.segments.iter().rev().map(|segment| (segment.name.as_str(), segment));
        Self {
            known: tests.map(|test| ((&test.from, &test.to), test.way.as_slice())).collect(),
            segments: segments.collect(),
        }
    }

    /// The way from the end that answered: the one that the test knows, or that of a test the other way round.
    ///
    /// Model: else the same segments in the other direction, which routing does not promise.
    fn back(&self, test: &Tested) -> Vec<Passage> {
        if !test.way_back.is_empty() {
            return test.way_back.clone();
        }
        if let Some(way) = self.known.get(&(&test.to, &test.from)) {
            return way.to_vec();
        }
        let back = |passage: &Passage| {
            let segment = self.segments.get(passage.segment.as_str())?;
            let towards = segment.between.iter().find(|end| **end != passage.towards)?;
            Some(Passage { segment: passage.segment.clone(), towards: towards.clone() })
        };
        let way: Option<Vec<Passage>> = test.way.iter().rev().map(back).collect();
        way.unwrap_or_default()
    }
}
