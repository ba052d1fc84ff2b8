//! What earlier problems explain of a flow: a path may have two faults, and the signs of the first are no signs of the second.

use super::candidate::Candidate;
use crate::causes::weights::Weights;
use crate::signs::{Flow, Observation, SignState};

/// Signs of one flow that earlier problems explain.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExplainedSigns {
    /// By their places in the table of signs.
    signs: Vec<usize>,
    /// Numbers among the limits of the flow.
    limits: Vec<usize>,
    is_explained: bool,
}

impl ExplainedSigns {
    /// A cause that was named explains a flow: what is likelier with it than without is told.
    pub(crate) fn add(&mut self, flow: &Flow, named: &Candidate<'_>, weights: &Weights) {
        self.is_explained = true;
        let explains = |seen: SignState| named.brings(flow, seen, weights) > LIKELIER;
        let explained = flow.observations.iter().filter(|observation| explains(observation.seen));
        self.signs.extend(explained.map(|observation| observation.seen.sign));
        let limits = flow.limits.iter().enumerate().filter(|(_, limit)| explains(limit.seen));
        self.limits.extend(limits.map(|(number, _)| number));
    }

    /// Whether no problem explains anything of the flow.
    pub(crate) const fn is_untouched(&self) -> bool {
        !self.is_explained
    }

    /// Whether something that shows a fault outright is left, which no cause that was named brings about.
    pub(crate) fn leaves_open(&self, flow: &Flow) -> bool {
        self.left_outright(flow).next().is_some() || self.left_limit(flow).is_some()
    }

    /// Whether a cause explains what keeps a flow open: all of one that no problem explains, and of others what is left that shows
    /// a fault outright.
    pub(crate) fn is_answered_by(&self, flow: &Flow, candidate: &Candidate<'_>, weights: &Weights) -> bool {
        let mut left = self.left_outright(flow).chain(self.left_limit(flow).map(|limit| limit.seen));
        !self.is_explained || left.any(|seen| candidate.answers(flow, seen, weights))
    }

    /// Of a flow that is explained, the largest part of the line rate that nothing which was named takes.
    pub(crate) fn left_limit<'f>(&self, flow: &'f Flow) -> Option<&'f Observation> {
        let mut limits = flow.limits.iter().enumerate().filter(|_| self.is_explained);
        limits.find(|(number, _)| !self.limits.contains(number)).map(|(_, limit)| limit)
    }

    fn left_outright<'f>(&'f self, flow: &'f Flow) -> impl Iterator<Item = SignState> + 'f {
        let seen = flow.observations.iter().map(|observation| observation.seen);
        seen.filter(|seen| {
            OUTRIGHT.contains(&(seen.sign().name, seen.state().name)) && !self.signs.contains(&seen.sign)
        })
    }

    /// Whether an observation still speaks: of a flow that is explained, only what is left.
    pub(crate) fn leaves(&self, observation: &Observation) -> bool {
        let sign = observation.seen.sign;
        !self.is_explained || !(self.signs.contains(&sign) || OF_ALL.contains(&observation.seen.sign().name))
    }
}

/// By so much a cause that is named makes a sign likelier than it is: rounding is no explanation.
const LIKELIER: f64 = 1.01;
/// What shows a fault outright, however many others there are.
const OUTRIGHT: [(&str, &str); 16] = [
    ("queue", "deep"),
    ("spurious", "most"),
    ("marks", "yes"),
    ("mtu", "less-and-silent"),
    ("echoes", "no-large-one"),
    ("members", "some-only"),
    ("window-scale", "missing"),
    ("order", "broken"),
    ("sender-runs", "with-stops"),
    ("receiver-runs", "with-stops"),
    ("course", "rtt-jumped"),
    ("silence", "once"),
    ("datagrams", "sender"),
    ("datagrams", "receiver"),
    ("datagrams", "path"),
    ("offered", "less"),
];
/// What follows from all faults together.
const OF_ALL: [&str; 4] = ["attained", "limit", "window-share", "buffer-share"];
