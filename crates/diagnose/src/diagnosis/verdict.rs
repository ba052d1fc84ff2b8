//! The answer in one sentence: what is wrong and where, how sure that is, or what cannot be told apart.

use super::place::FaultLocation;
use super::problem::{Alike, Diagnosis, Problem, Ranked};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// Data went from one end to the other.
    Transfers,
    /// Echoes only, which a path may answer well and carry little.
    Echoes,
}

/// The sentence, without a full stop.
pub(super) fn verdict(diagnosis: &Diagnosis, measured: Measured) -> String {
    let flows = diagnosis.judged + diagnosis.not_judged.len();
    let Some(problem) = diagnosis.problems.first() else {
        return match diagnosis.judged {
            _ if flows == 0 => "Nothing is known: no test gave a rate".to_owned(),
            0 => {
                let open = format!("Not judged: nothing is known that {} could be held against", count(flows, "flow"));
                let lossy = diagnosis.not_judged.iter().find_map(|flow| Some((flow, flow.loss_allows.as_ref()?)));
                match lossy {
                    Some((flow, allows)) => format!("{open}; {} to {}: {allows}", flow.from, flow.to),
                    None => open,
                }
            }
            judged if judged == flows && measured == Measured::Echoes => {
                "No problem found in echoes; no transfer was measured, so that nothing is known of rates".to_owned()
            }
            judged if judged == flows => format!("No problem found; {} judged", count(flows, "flow")),
            judged => format!("No problem found in {judged} of {flows} flows; the others were not judged"),
        };
    };
    let scope = scope(diagnosis, problem);
    // What is left since everything else fits worse is no finding.
    let sure: Option<&Ranked> =
        problem.ranking.first().filter(|best| best.probability >= SURE && !best.speaks_for.is_empty());
    match sure {
        Some(best) if problem.alike.is_some() => {
            let others = problem.ranking.iter().skip(1).take(problem.alike.iter().map(|of| of.causes.len() - 1).sum());
            let others: Vec<String> =
                others.map(|other| format!("{} ({})", other.cause, percent(other.probability))).collect();
            format!(
                "{} {} ({}, {}), which the evidence does not tell from {}; {scope}",
                capital(&best.title),
                at(best),
                best.cause,
                percent(best.probability),
                others.join(" and ")
            )
        }
        Some(best) => {
            format!("{} {} ({}, {}); {scope}", capital(&best.title), at(best), best.cause, percent(best.probability))
        }
        None => open(diagnosis, problem, &scope),
    }
}

/// Where no cause has most of the probability: what was seen, and what it may be.
fn open(diagnosis: &Diagnosis, problem: &Problem, scope: &str) -> String {
    let worst = diagnosis.symptoms.iter().find(|symptom| problem.explains.contains(&symptom.test));
    let seen = worst.or(diagnosis.symptoms.first()).map_or_else(
        || "Something is wrong".to_owned(),
        |worst| format!("{} to {}: {}", worst.from, worst.to, worst.says),
    );
    let likely: Vec<String> = problem
        .ranking
        .iter()
        .filter(|ranked| ranked.probability >= MENTIONED)
        .take(MOST_MENTIONED)
        .map(|ranked| format!("{} {} ({})", ranked.cause, at(ranked), percent(ranked.probability)))
        .collect();
    if let Some(alike) = &problem.alike {
        return format!("{seen}; the evidence does not tell apart {}", not_told_apart(problem, alike, scope));
    }
    if likely.is_empty() || problem.unknown >= SURE {
        return format!("{seen}; no known cause explains it; {scope}");
    }
    format!("{seen}; no cause stands out: {}; {scope}", likely.join(", "))
}

/// The causes of a small set, each with its place and probability, and the test that would tell.
fn not_told_apart(problem: &Problem, alike: &Alike, scope: &str) -> String {
    let of_set = problem.ranking.iter().take(alike.causes.len());
    let named: Vec<String> =
        of_set.map(|ranked| format!("{} {} ({})", ranked.cause, at(ranked), percent(ranked.probability))).collect();
    let test = alike.tests.first().map(|test| format!("; to tell: {test}")).unwrap_or_default();
    format!("{}, {} together; {scope}{test}", named.join(" and "), percent(alike.probability))
}

/// How much of what is affected the first problem explains.
fn scope(diagnosis: &Diagnosis, problem: &Problem) -> String {
    if diagnosis.symptoms.is_empty() {
        return "no measured flow is affected".to_owned();
    }
    let explained = problem.explains.len().min(diagnosis.symptoms.len());
    format!("explains {explained} of {}", count(diagnosis.symptoms.len(), "affected flow"))
}

/// The most likely place, and those that cannot be told from it.
fn at(ranked: &Ranked) -> String {
    let Some(first) = ranked.places.first() else { return "at an unknown place".to_owned() };
    let alike = ranked.places.iter().skip(1).filter(|other| other.probability > first.probability / 2.0);
    let others: String = alike.take(MOST_PLACES).map(|other| format!(" or {}", other.place)).collect();
    let word = if matches!(first.place, FaultLocation::Path { .. }) { "" } else { "at " };
    format!("{word}{}{others}", first.place)
}

/// `1 flow`, `2 flows`.
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A probability for people: nothing measured here is certain.
fn percent(part: f64) -> String {
    if part > 0.99 { "above 99 %".to_owned() } else { format!("{:.0} %", part * 100.0) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// From this probability on one cause is named.
const SURE: f64 = 0.5;
/// Below it a cause is not mentioned.
const MENTIONED: f64 = 0.08;
const MOST_MENTIONED: usize = 3;
const MOST_PLACES: usize = 2;
