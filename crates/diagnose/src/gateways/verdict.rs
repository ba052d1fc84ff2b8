//! The answer in one sentence.

use ::gateways::status::report::StatusReport;

use crate::diagnosis::{Diagnosis, FaultLocation, Problem, Ranked};

/// The sentence, without a full stop.
pub(super) fn verdict(diagnosis: &Diagnosis, status: &StatusReport) -> String {
    let gateways = status.gateways.len();
    let Some(problem) = diagnosis.problems.first() else {
        return match diagnosis.judged {
            0 if !status.observations.is_empty() => {
                "No problem found in how requests are dealt; of single gateways nothing is known".to_owned()
            }
            0 => "Not judged: what was reported of gateways answers no question about them".to_owned(),
            judged if judged == gateways => format!("No problem found; {gateways} gateways judged"),
            judged => format!("No problem found in {judged} of {gateways} gateways; the others were not judged"),
        };
    };
    let scope = format!("explains {} of {} symptoms", problem.explains.len(), diagnosis.symptoms.len());
    match problem.ranking.first().filter(|best| best.probability >= SURE) {
        Some(best) => {
            let percent = percent(best.probability);
            format!("{} at {} ({}, {percent}); {scope}", capital(&best.title), place(best), best.cause)
        }
        None => open(problem, diagnosis, &scope),
    }
}

/// Where no cause has most of the probability.
fn open(problem: &Problem, diagnosis: &Diagnosis, scope: &str) -> String {
    let seen = diagnosis.symptoms.iter().find(|symptom| problem.explains.contains(&symptom.test));
    let seen = seen.map_or_else(String::new, |symptom| format!("{}: {}", symptom.to, symptom.says));
    let possible: Vec<String> = problem
        .ranking
        .iter()
        .filter(|ranked| ranked.probability >= MENTIONED)
        .map(|ranked| format!("{} ({})", ranked.cause, percent(ranked.probability)))
        .collect();
    if possible.is_empty() {
        return format!("{seen}; no known cause explains it; {scope}");
    }
    format!("{seen}; the evidence does not separate {}; {scope}", possible.join(", "))
}

fn place(ranked: &Ranked) -> String {
    ranked.places.first().map_or_else(|| FaultLocation::Balancer.to_string(), |likely| likely.place.to_string())
}

/// A probability for people: nothing measured here is certain.
fn percent(part: f64) -> String {
    if part > 0.99 { "above 99 %".to_owned() } else { format!("{:.0} %", part * 100.0) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// From this probability on one cause is named, and below the other none is mentioned.
const SURE: f64 = 0.5;
const MENTIONED: f64 = 0.08;
