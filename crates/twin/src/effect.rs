//! What each fault of a scenario does to its tests: a fault that nobody would complain of teaches nothing.

use std::collections::BTreeSet;

use diagnose::signs::flow::Complaint;
use diagnose::signs::{Flow, flows};
use model::round::Round;
use path::Seed;
use scenario::Scenario;

use crate::play::{Play, play};

/// A play, and what its faults do to it.
#[derive(Debug, Clone)]
pub struct Effects {
    /// The whole of it.
    pub play: Play,
    /// Tests that do worse than they should: label and complaint, each once.
    pub complaints: BTreeSet<(String, Complaint)>,
    /// By the order of the faults in the file.
    pub faults: Vec<FaultEffect>,
}

/// What one fault does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultEffect {
    /// Name of the fault in the scenario.
    pub fault: String,
    /// Tests that complain with it and not without it.
    pub complaints: BTreeSet<String>,
}

/// Plays a scenario, and once more without each of its faults.
#[must_use]
pub fn effects(scenario: &Scenario, seed: Seed) -> Effects {
    let whole = play(scenario, seed);
    let complaints = complaints(&whole);
    let faults = (0..scenario.faults.len()).map(|number| {
        let mut without = scenario.clone();
        let fault = without.faults.remove(number);
        let better = self::complaints(&play(&without, seed));
        let gone = complaints.difference(&better).map(|(label, _)| label.clone());
        FaultEffect { fault: fault.id, complaints: gone.collect() }
    });
    let faults = faults.collect();
    Effects { play: whole, complaints, faults }
}

/// What a cause changes in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CauseEffect {
    /// The largest part by which any flow is slower or faster than in the same play without the fault that brings it.
    pub rate_change: f64,
    /// Whether anything that is asked of flows is answered otherwise without it. What leaves no trace cannot be found by anybody.
    pub leaves_trace: bool,
}

/// What each cause of the truth changes. [`None`] for a cause that is in the network itself.
#[must_use]
pub fn of_causes(scenario: &Scenario, seed: Seed, round: &Round) -> Vec<Option<CauseEffect>> {
    let with = flows(round);
    let of_fault = |fault: usize| {
        let mut without = scenario.clone();
        without.faults.remove(fault);
        let without = flows(&play(&without, seed).round);
        let rate_change = with.iter().filter_map(|flow| change(flow, &without)).fold(0.0, f64::max);
        let is_alike =
            with.len() == without.len() && with.iter().zip(&without).all(|(flow, other)| tells_the_same(flow, other));
        CauseEffect { rate_change, leaves_trace: rate_change >= TRACE || !is_alike }
    };
    scenario.truth.causes.iter().map(|cause| cause.fault.map(of_fault)).collect()
}

/// Whether everything asked of two flows has the same answer.
fn tells_the_same(flow: &Flow, other: &Flow) -> bool {
    let answers = |flow: &Flow| -> BTreeSet<_> { flow.observations.iter().map(|seen| seen.seen).collect() };
    flow.test == other.test && flow.complaint == other.complaint && answers(flow) == answers(other)
}

/// A smaller change of a rate is chance.
const TRACE: f64 = 0.1;

/// By which part of the faster of both a flow differs from the same flow of another play.
fn change(flow: &Flow, others: &[Flow]) -> Option<f64> {
    let other = others.iter().find(|other| other.test == flow.test && other.is_same_pair(flow))?;
    let (less, more) = (flow.goodput.min(other.goodput), flow.goodput.max(other.goodput));
    Some(1.0 - less.share_of(more)?)
}

fn complaints(play: &Play) -> BTreeSet<(String, Complaint)> {
    let flows = flows(&play.round);
    flows.into_iter().filter_map(|flow| Some((flow.label, flow.complaint?))).collect()
}
