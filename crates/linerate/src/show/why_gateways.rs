//! A diagnosis of storage gateways for people.

use diagnose::diagnosis::{Diagnosis, Problem};
use gateways::status::report::StatusReport;

use super::plural::counted;
use super::why::{alternatives, carried, other_findings};
use super::wrap;

/// The whole diagnosis.
pub fn text(status: &StatusReport, diagnosis: &Diagnosis) -> String {
    let mut text = format!("{}\n\n", counted(status.gateways.len(), "gateway", "gateways"));
    text.push_str(&wrap::text(&format!("{}.", diagnosis.verdict), 0));
    let (first, others) = diagnosis.problems.split_first().unzip();
    if let Some(first) = first {
        carried(&mut text, first);
        alternatives(&mut text, first);
        symptoms(&mut text, diagnosis);
        next(&mut text, first);
    }
    other_findings(&mut text, others.unwrap_or_default());
    if !diagnosis.notes.is_empty() {
        text.push_str("\nWhat is missing\n");
        for note in diagnosis.notes.iter().take(MOST_NOTES) {
            text.push_str(&wrap::text(note, 2));
        }
        more(&mut text, diagnosis.notes.len().saturating_sub(MOST_NOTES));
    }
    text
}

fn symptoms(text: &mut String, diagnosis: &Diagnosis) {
    text.push_str("\nSymptoms\n");
    for symptom in diagnosis.symptoms.iter().take(MOST_SYMPTOMS) {
        text.push_str(&wrap::text(&format!("{}: {}", symptom.to, symptom.says), 2));
    }
    more(text, diagnosis.symptoms.len().saturating_sub(MOST_SYMPTOMS));
}

fn more(text: &mut String, left: usize) {
    if left > 0 {
        text.push_str(&format!("  and {left} more\n"));
    }
}

/// The test that decides, or what to do.
fn next(text: &mut String, problem: &Problem) {
    let Some(best) = problem.ranking.first() else { return };
    text.push_str("\nNext\n");
    if best.probability < SURE {
        text.push_str(&wrap::text(&format!("Test: {}.", best.test), 2));
    }
    if best.probability >= LIKELY {
        text.push_str(&wrap::text(&format!("Fix: {}.", best.remedy), 2));
        text.push_str(&wrap::text(&format!("Fixed when: {}.", best.verify), 2));
    }
}

const MOST_SYMPTOMS: usize = 8;
const MOST_NOTES: usize = 8;
/// From here on a fix is worth naming.
const LIKELY: f64 = 0.3;
/// From here on no test is needed to decide.
const SURE: f64 = 0.75;
