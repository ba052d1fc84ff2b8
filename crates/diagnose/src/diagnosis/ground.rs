//! What a candidate is weighed on: flows, hosts, what is explained already.

use super::candidate::Candidate;
use super::comparable::ComparableFlows;
use super::explained_signs::ExplainedSigns;
use super::findings::Findings;
use super::says::Says;
use super::severity::Severity;
use crate::causes::weights::{CalibrationCurve, Weights};
use crate::signs::Flow;
use crate::wires::Wires;

/// One thing that speaks.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    /// For it above zero, against it below.
    pub(crate) weight: f64,
    /// What.
    pub(crate) says: Says<'a>,
}

/// The flows that are still to be explained, and the hosts.
pub(crate) struct Ground<'a> {
    /// All flows.
    pub(crate) flows: &'a [Flow],
    /// Which of them suffer from what no earlier cause explains.
    pub(crate) open: &'a [bool],
    /// What earlier problems explain of each flow.
    pub(crate) told: &'a [ExplainedSigns],
    /// Answers of rules.
    pub(crate) findings: &'a Findings,
    /// What the two ends of segments tell.
    pub(crate) wires: &'a Wires,
    /// How bad each flow is.
    pub(crate) severity: &'a Severity,
    /// What flows that do well are like those that suffer.
    pub(crate) comparable: ComparableFlows,
    /// The most that flows speak for any candidate.
    pub(crate) most: f64,
    /// How much each kind of evidence counts.
    pub(crate) weights: &'a Weights,
    /// How often first names turned out to be right.
    pub(crate) calibration: &'a CalibrationCurve,
}

impl<'a> Ground<'a> {
    /// How much the flows that a candidate would have to explain speak for one cause of them all.
    pub(crate) fn gain(&self, candidate: &Candidate<'_>) -> f64 {
        let hit: Vec<usize> = candidate.covers.iter().copied().filter(|number| self.open[*number]).collect();
        self.severity.gain(&hit)
    }

    /// The flows that a candidate would have to explain.
    pub(crate) fn suffering(&self, candidate: &Candidate<'_>) -> Vec<&'a Flow> {
        candidate.covers.iter().filter(|number| self.open[**number]).map(|number| &self.flows[*number]).collect()
    }
}

/// Flows of one path hang together: n of them count as n to the power of one less this.
pub(crate) const OF_FLOWS: f64 = 0.5;
/// No single thing decides alone, but for this.
pub(crate) const MOST: f64 = 3.5;
/// How often a cause shows an answer that it is known by.
pub(crate) const DEFINING: f64 = 0.8;
/// Lighter than this is not worth a line.
pub(crate) const LIGHT: f64 = 0.02;
