//! A diagnosis for people: what suffers, what explains it, what would decide, what mends it.

use std::fmt::Write;

use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, Problem, Ranked};
use model::round::Round;

use super::wrap;

/// Writing to a text does not fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

/// The whole diagnosis.
pub fn text(round: &Round, diagnosis: &Diagnosis, catalogue: &Catalogue) -> String {
    let mut text = String::new();
    line!(text, "{}: {} tests, {} hosts", round.title, round.tests.len(), round.members.len());
    symptoms(&mut text, diagnosis);
    for (number, problem) in diagnosis.problems.iter().enumerate() {
        self::problem(&mut text, problem, number, catalogue);
    }
    if diagnosis.is_healthy() {
        line!(text, "\nNothing is wrong with what was tested.");
    }
    if !diagnosis.notes.is_empty() {
        line!(text, "\nWhat is missing");
        for note in &diagnosis.notes {
            text.push_str(&wrap::text(note, 2));
        }
    }
    text
}

fn symptoms(text: &mut String, diagnosis: &Diagnosis) {
    if diagnosis.symptoms.is_empty() {
        return;
    }
    line!(text, "\nWhat suffers");
    let shown = diagnosis.symptoms.iter().take(MOST_SYMPTOMS);
    for symptom in shown {
        text.push_str(&wrap::text(&format!("{} to {}: {}", symptom.from, symptom.to, symptom.says), 2));
    }
    if let Some(more) = diagnosis.symptoms.len().checked_sub(MOST_SYMPTOMS).filter(|more| *more > 0) {
        line!(text, "  and {more} more");
    }
}

fn problem(text: &mut String, problem: &Problem, number: usize, catalogue: &Catalogue) {
    line!(text, "\n{}", if number == 0 { "What explains it" } else { "Besides" });
    let Some((first, others)) = problem.ranking.split_first() else { return };
    best(text, first, catalogue);
    for other in others.iter().filter(|other| other.probability >= 0.02).take(MOST_OTHERS) {
        line!(text, "  {:>4}  {} at {}", percent(other.probability), other.cause, place(other));
    }
    if problem.unknown >= 0.02 {
        line!(text, "  {:>4}  something else", percent(problem.unknown));
    }
    if first.probability < SURE {
        text.push_str(&wrap::text(&format!("What would decide: {}.", first.test), 2));
    }
}

fn best(text: &mut String, ranked: &Ranked, catalogue: &Catalogue) {
    line!(text, "  {:>4}  {} at {}", percent(ranked.probability), ranked.cause, place(ranked));
    let explanation = catalogue.get(&ranked.cause).map_or(ranked.title.as_str(), |cause| cause.explanation.as_str());
    text.push_str(&wrap::text(explanation, INDENT));
    for says in &ranked.speaks_for {
        text.push_str(&wrap::text(&format!("+ {says}"), INDENT));
    }
    for says in &ranked.speaks_against {
        text.push_str(&wrap::text(&format!("- {says}"), INDENT));
    }
    let fixes: Vec<String> = ranked.fix.iter().take(2).map(|rule| format!("`linerate host fix {rule}`")).collect();
    let fixes = if fixes.is_empty() { String::new() } else { format!(" ({})", fixes.join(", ")) };
    text.push_str(&wrap::text(&format!("Mend: {}{fixes}.", ranked.remedy), INDENT));
    text.push_str(&wrap::text(&format!("Mended when: {}.", ranked.verify), INDENT));
}

/// The most likely place, and those that cannot be told from it.
fn place(ranked: &Ranked) -> String {
    let Some(first) = ranked.places.first() else { return "an unknown place".to_owned() };
    let alike = |other: &&diagnose::diagnosis::Likely| other.probability > first.probability / 2.0;
    let others: Vec<String> = ranked.places.iter().skip(1).filter(alike).map(|other| other.place.to_string()).collect();
    if others.is_empty() { first.place.to_string() } else { format!("{} or {}", first.place, others.join(" or ")) }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

const INDENT: usize = 8;
const MOST_SYMPTOMS: usize = 12;
const MOST_OTHERS: usize = 4;
/// From here on a cause stands out.
const SURE: f64 = 0.75;
