//! How likely each outcome of a test is, if a cause is at work at a place.

use super::asking::Asking;
use super::kind::{Fares, Load};
use crate::causes::{Cause, PlaceKind};
use crate::diagnosis::{FaultLocation, Hypothesis};
use crate::signs::flow::FlowKind as Carries;
use crate::signs::{ALL, SignState};

/// What a test answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// A sign of the flow that suffers.
    Sign(usize),
    /// How the test itself fares.
    Fares(Fares),
}

/// What a test answers that is not known yet.
pub(super) fn questions(asking: &Asking<'_>, known: impl Fn(usize) -> bool) -> Vec<Question> {
    let signs = asking.kind.shows.iter().filter(|sign| !known(**sign)).map(|sign| Question::Sign(*sign));
    signs.chain(asking.kind.fares.map(Question::Fares)).collect()
}

impl Question {
    /// How many answers there are.
    pub(super) fn answers(self) -> usize {
        match self {
            Self::Sign(sign) | Self::Fares(Fares::Sign(sign)) => ALL[sign].states.len(),
            Self::Fares(Fares::Rate) => 2,
        }
    }

    /// How likely each is, if the hypothesis is right.
    pub(super) fn likely(self, hypothesis: &Hypothesis<'_>, asking: &Asking<'_>) -> Vec<f64> {
        let cause = hypothesis.cause;
        match self {
            Self::Sign(sign) => of_sign(cause, sign),
            Self::Fares(Fares::Rate) if passes(hypothesis, asking) => rate(cause, asking),
            Self::Fares(Fares::Rate) => vec![WELL, 1.0 - WELL],
            Self::Fares(Fares::Sign(sign)) if !passes(hypothesis, asking) => healthy(sign),
            Self::Fares(Fares::Sign(sign)) if names(cause, sign) => of_sign(cause, sign),
            // The catalogue does not say whether it shows: perhaps.
            Self::Fares(Fares::Sign(sign)) => mixed(&healthy(sign), &usual(sign)),
        }
    }

    /// The same if it is something that nobody knows.
    pub(super) fn unknown(self) -> Vec<f64> {
        match self {
            Self::Sign(sign) => usual(sign),
            Self::Fares(Fares::Rate) => vec![0.5, 0.5],
            Self::Fares(Fares::Sign(sign)) => mixed(&healthy(sign), &usual(sign)),
        }
    }
}

/// Whether a test meets what is at a place.
fn passes(hypothesis: &Hypothesis<'_>, asking: &Asking<'_>) -> bool {
    let carried = match (hypothesis.cause.carries, asking.kind.load) {
        (None, _) | (Some(Carries::Tcp), Load::Tcp) | (Some(Carries::Udp), Load::Udp) => true,
        (Some(Carries::Echo), load) => load == Load::Echo,
        (Some(_), _) => false,
    };
    carried && is_on_the_way(hypothesis, asking) && (!hypothesis.cause.only_overlays || asking.from.network.is_some())
}

fn is_on_the_way(hypothesis: &Hypothesis<'_>, asking: &Asking<'_>) -> bool {
    // An echo comes back.
    let both_ways = matches!(asking.kind.load, Load::Echo | Load::Mtu);
    let (from, to) = (&asking.from.host, &asking.to.host);
    match (&hypothesis.place, hypothesis.cause.place) {
        (FaultLocation::Segment { name, towards }, _) => asking.way.iter().any(|passage| {
            let same_direction = towards.as_ref().is_none_or(|towards| *towards == passage.towards);
            passage.segment == *name && (same_direction || both_ways)
        }),
        (FaultLocation::Host { name }, PlaceKind::Sender | PlaceKind::Service) => {
            from == name || (both_ways && to == name)
        }
        (FaultLocation::Host { name }, PlaceKind::Receiver) => to == name || (both_ways && from == name),
        (FaultLocation::Host { name }, PlaceKind::Entry) => {
            to == name || asking.way.iter().any(|passage| passage.towards == *name)
        }
        (FaultLocation::Host { name }, _) => from == name || to == name,
        (FaultLocation::Path { from: one, to: other }, _) => {
            let ends = (asking.from.to_string(), asking.to.to_string());
            (ends.0 == *one && ends.1 == *other) || (both_ways && ends.1 == *one && ends.0 == *other)
        }
        (FaultLocation::Balancer, _) => false,
    }
}

/// How a stream fares that passes the place. Over a part of the way it has a shorter round trip, and many a cause costs less
/// there.
fn rate(cause: &Cause, asking: &Asking<'_>) -> Vec<f64> {
    let spared = cause.spread.spared();
    let spared = if asking.is_whole() { spared } else { spared + (1.0 - spared) * SHORTER };
    vec![spared, 1.0 - spared]
}

fn of_sign(cause: &Cause, sign: usize) -> Vec<f64> {
    (0..ALL[sign].states.len()).map(|state| cause.likelihood(SignState { sign, state })).collect()
}

fn names(cause: &Cause, sign: usize) -> bool {
    cause.shows.keys().any(|seen| seen.sign == sign)
}

fn usual(sign: usize) -> Vec<f64> {
    ALL[sign].states.iter().map(|state| state.usual).collect()
}

/// What is seen where nothing is wrong: the state that the test of this file names, nearly always.
fn healthy(sign: usize) -> Vec<f64> {
    let states = ALL[sign].states;
    let well = states.iter().position(|state| WELL_STATES.contains(&(ALL[sign].name, state.name)));
    let others = (states.len().max(2) - 1) as f64;
    (0..states.len()).map(|state| if Some(state) == well { SURELY } else { (1.0 - SURELY) / others }).collect()
}

fn mixed(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| (one + other) / 2.0).collect()
}

/// What says of a test of its own that nothing is wrong.
pub(super) const WELL_STATES: [(&str, &str); 3] =
    [("datagrams", "nowhere"), ("echoes", "all"), ("mtu", "as-the-device")];
/// How often that is seen where nothing is wrong.
const SURELY: f64 = 0.95;
/// How often a stream does well that passes nothing that is at fault.
const WELL: f64 = 0.9;
/// How often a stream over a part of the way does well where one over the whole suffers.
const SHORTER: f64 = 0.4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next::kind;

    #[test]
    fn every_sign_by_which_a_test_fares_has_a_state_for_well() {
        for kind in kind::all() {
            if let Some(Fares::Sign(sign)) = kind.fares {
                assert!(healthy(sign).contains(&SURELY), "{}: {}", kind.id, ALL[sign].name);
            }
        }
    }
}
