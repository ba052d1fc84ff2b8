//! The answer by what was drawn: which bursts still harm.

use serde::{Deserialize, Serialize};
use sweep::parameter::ALL;
use sweep::value::Value;

use crate::candidate::Candidate;
use crate::confirm::TunedSettings;
use crate::distribution::Distribution;
use crate::ledger::Book;
use crate::question::Question;

/// Misses by what was drawn of one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    /// Name of the parameter that was drawn.
    pub parameter: String,
    /// Its parts, by size.
    pub parts: Vec<MissesInRange>,
}

/// Misses where a parameter was drawn from a part of what it may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissesInRange {
    /// The least of the part, in the unit that the parameter's column has.
    pub from: f64,
    /// The most; the same where it is one value.
    pub to: f64,
    /// The part for people.
    pub says: String,
    /// With the present settings.
    pub present: Misses,
    /// With the best.
    pub best: Misses,
    /// With the present settings, and a queue of their own for the bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_queue: Option<Misses>,
}

/// How many were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Misses {
    /// How many.
    pub missed: u32,
    /// Of how many.
    pub draws: u32,
}

/// Parts of what is drawn between two ends.
const PARTS: usize = 4;
/// The longest list that has a part for each of its values.
const LONGEST: usize = 13;

/// The misses by each quantity that was drawn.
pub(crate) fn splits(question: &Question, found: &TunedSettings) -> Vec<Split> {
    let split = |(place, distribution): (&usize, &Distribution)| {
        let parts = bounds(*place, distribution)?;
        let drawn = |number: usize| question.draw(*place, distribution, found.first_draw + number as u64);
        let drawn: Vec<Value> = (0..found.book.most_draws()).map(drawn).collect();
        let parts = parts.into_iter().map(|(from, to)| part(found, &drawn, &from, &to));
        Some(Split { parameter: ALL[*place].name.to_owned(), parts: parts.collect() })
    };
    question.drawn.iter().filter_map(split).collect()
}

/// The ends of each part; [`None`] of what is no quantity.
fn bounds(place: usize, distribution: &Distribution) -> Option<Vec<(Value, Value)>> {
    match distribution {
        Distribution::Each(values) => {
            let mut values = values.clone();
            values.sort_by(Value::order);
            let is_short = values.len() <= LONGEST && values.iter().all(|value| value.number().is_some());
            is_short.then(|| values.into_iter().map(|value| (value.clone(), value)).collect())
        }
        Distribution::Between { .. } => {
            #[expect(clippy::cast_precision_loss, reason = "a few parts")]
            let at = |part: usize| distribution.draw(ALL[place].kind, part as f64 / PARTS as f64);
            Some((0..PARTS).map(|part| (at(part), at(part + 1))).collect())
        }
    }
}

/// Where what was `drawn`, by the number of the draw, lies between two ends.
fn part(found: &TunedSettings, drawn: &[Value], from: &Value, to: &Value) -> MissesInRange {
    let is_one = from == to;
    let [low, high] = [from, to].map(|value| value.number().unwrap_or(0.0));
    let holds = |value: &Value| {
        let number = value.number().unwrap_or(f64::NAN);
        if is_one { value == from } else { low <= number && number < high }
    };
    let misses = |book: &Book, candidate: &Candidate| {
        let scores = book.scores(candidate).iter().zip(drawn).filter(|(_, value)| holds(value));
        scores.fold(Misses::default(), |misses, (score, _)| Misses {
            missed: misses.missed + u32::from(score.missed),
            draws: misses.draws + 1,
        })
    };
    MissesInRange {
        from: low,
        to: high,
        says: if is_one { from.to_string() } else { format!("{from} to {to}") },
        present: misses(&found.book, &found.present),
        best: misses(&found.book, &found.best),
        own_queue: found.own_queue.as_ref().map(|(_, book)| misses(book, &found.present)),
    }
}
