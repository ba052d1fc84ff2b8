//! Why a test is asked for.

use super::asking::Asking;
use super::gain::{Belief, joined};
use super::ground::Ground;
use super::kind::Load;
use crate::diagnosis::{FaultLocation, Hypothesis};

/// What it tells apart, and what it is: "to tell … from …: …".
pub(super) fn why(asking: &Asking<'_>, belief: &Belief<'_>, ground: &Ground<'_>) -> String {
    let ends = match asking.kind.load {
        Load::Mtu | Load::Echo => format!("from {} to {} and back", asking.from, asking.to),
        Load::Tcp | Load::Udp => format!("from {} to {}", asking.from, asking.to),
    };
    let what = format!("{} {ends}", asking.does);
    match apart(asking, belief, ground) {
        None => what,
        Some((one, other)) if one.cause.id == other.cause.id => {
            format!("to tell whether {} is {} or {}: {what}", one.cause.id, at(one), at(other))
        }
        Some((one, other)) if one.place == other.place => {
            format!("to tell {} from {} {}: {what}", one.cause.id, other.cause.id, at(one))
        }
        Some((one, other)) => {
            format!("to tell {} {} from {} {}: {what}", one.cause.id, at(one), other.cause.id, at(other))
        }
    }
}

/// Where it is: `at border towards campus`, `between this-host and dtn`.
fn at(hypothesis: &Hypothesis<'_>) -> String {
    match &hypothesis.place {
        FaultLocation::Path { .. } => hypothesis.place.to_string(),
        place => format!("at {place}"),
    }
}

/// The two of the likeliest that the test tells apart best, the more for being likely.
fn apart<'b>(
    asking: &Asking<'_>,
    belief: &Belief<'b>,
    ground: &Ground<'_>,
) -> Option<(&'b Hypothesis<'b>, &'b Hypothesis<'b>)> {
    let questions = belief.questions(asking, ground);
    let leading: Vec<&'b Hypothesis<'b>> = belief.hypotheses.iter().take(LEADING).copied().collect();
    let outlooks: Vec<Vec<f64>> =
        leading.iter().map(|hypothesis| joined(&questions, |of| of.likely(hypothesis, asking))).collect();
    let mut best: Option<(f64, usize, usize)> = None;
    for one in 0..leading.len() {
        for other in one + 1..leading.len() {
            let differs: f64 = outlooks[one].iter().zip(&outlooks[other]).map(|(a, b)| (a - b).abs()).sum();
            let worth = differs * leading[one].probability * leading[other].probability;
            if worth > best.map_or(0.0, |(most, ..)| most) {
                best = Some((worth, one, other));
            }
        }
    }
    best.map(|(_, one, other)| (leading[one], leading[other]))
}

const LEADING: usize = 12;
