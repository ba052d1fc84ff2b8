//! A diagnosis for people: what suffers, what explains it, what would decide, what mends it.

use std::fmt::Write;

use archive::rounds::has_result;
use audit::Rules;
use audit::fix::Operation;
use diagnose::causes::{Catalogue, Cause};
use diagnose::diagnosis::{Diagnosis, Place, Problem, Ranked};
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
        self::problem(&mut text, round, (number, problem), catalogue);
    }
    if diagnosis.is_healthy() {
        let is_known = round.tests.iter().any(|tested| has_result(&tested.finding));
        line!(text, "\n{}", if is_known { "Nothing is wrong with what was tested." } else { NOTHING_KNOWN });
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
        if let Some(allowed) = &symptom.allowed {
            text.push_str(&wrap::text(allowed, 4));
        }
    }
    if let Some(more) = diagnosis.symptoms.len().checked_sub(MOST_SYMPTOMS).filter(|more| *more > 0) {
        line!(text, "  and {more} more");
    }
}

fn problem(text: &mut String, round: &Round, (number, problem): (usize, &Problem), catalogue: &Catalogue) {
    line!(text, "\n{}", if number == 0 { "What explains it" } else { "Besides" });
    let Some((first, others)) = problem.ranking.split_first() else { return };
    best(text, round, first, catalogue);
    for other in others.iter().filter(|other| other.probability >= 0.02).take(MOST_OTHERS) {
        line!(text, "  {:>4}  {} {}", percent(other.probability), other.cause, at(other));
    }
    if problem.unknown >= 0.02 {
        line!(text, "  {:>4}  something else", percent(problem.unknown));
    }
    if first.probability < SURE {
        text.push_str(&wrap::text(&format!("What would decide: {}.", first.test), 2));
    }
}

fn best(text: &mut String, round: &Round, ranked: &Ranked, catalogue: &Catalogue) {
    line!(text, "  {:>4}  {} {}", percent(ranked.probability), ranked.cause, at(ranked));
    let cause = catalogue.get(&ranked.cause);
    let explanation = cause.map_or(ranked.title.as_str(), |cause| cause.explanation.as_str());
    text.push_str(&wrap::text(explanation, INDENT));
    for says in &ranked.speaks_for {
        text.push_str(&wrap::text(&format!("+ {says}"), INDENT));
    }
    for says in &ranked.speaks_against {
        text.push_str(&wrap::text(&format!("- {says}"), INDENT));
    }
    text.push_str(&wrap::text(&format!("Mend: {}{}.", ranked.remedy, fixes(round, ranked, cause)), INDENT));
    text.push_str(&wrap::text(&format!("Mended when: {}.", ranked.verify), INDENT));
}

/// The commands that mend it, without rules that only a person can follow: no host mends a router.
fn fixes(round: &Round, ranked: &Ranked, cause: Option<&Cause>) -> String {
    let rules = Rules::built_in();
    let does_something = |operation: &Operation<_>| !matches!(operation, Operation::Advice { .. });
    let is_done_by_a_host = |name: &&String| rules.get(name).is_some_and(|rule| rule.fix.iter().any(does_something));
    // What guests carry is not seen from the machine they run on.
    let is_carried_by_guests = cause.is_some_and(|cause| cause.only_overlays) && has_guests(round, ranked);
    let roles = if is_carried_by_guests { " --role vm-host,overlay-node" } else { "" };
    let rules = ranked.fix.iter().filter(is_done_by_a_host).take(2);
    let fixes = rules.map(|rule| format!("`linerate host fix {rule}{roles}`"));
    let fixes: Vec<String> = fixes.collect();
    if fixes.is_empty() { String::new() } else { format!(" ({})", fixes.join(", ")) }
}

/// Whether the cause is at a machine that members of the round live in.
fn has_guests(round: &Round, ranked: &Ranked) -> bool {
    let Some(Place::Host { name }) = ranked.places.first().map(|likely| &likely.place) else { return false };
    round.members.iter().any(|member| member.lives_in(name))
}

/// The most likely place, and those that cannot be told from it, with the word before it.
pub fn at(ranked: &Ranked) -> String {
    let Some(first) = ranked.places.first() else { return "at an unknown place".to_owned() };
    let alike = |other: &&diagnose::diagnosis::Likely| other.probability > first.probability / 2.0;
    let others: Vec<String> = ranked.places.iter().skip(1).filter(alike).map(|other| other.place.to_string()).collect();
    let word = if matches!(first.place, Place::Path { .. }) { "" } else { "at " };
    let others: String = others.into_iter().map(|other| format!(" or {other}")).collect();
    format!("{word}{}{others}", first.place)
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

const NOTHING_KNOWN: &str = "Nothing is known: no test gave a result.";
const INDENT: usize = 8;
const MOST_SYMPTOMS: usize = 12;
const MOST_OTHERS: usize = 4;
/// From here on a cause stands out.
const SURE: f64 = 0.75;
