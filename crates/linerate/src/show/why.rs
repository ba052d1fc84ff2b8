//! A diagnosis for people: the verdict, the observations that carry it, what else is possible, what to do next.

use std::fmt::Write;

use audit::Rules;
use audit::fix::Operation;
use diagnose::causes::{Catalogue, Cause};
use diagnose::diagnosis::{Diagnosis, FaultLocation, Problem, Ranked};
use model::played::Finding;
use model::round::Round;
use model::run::Run;

use super::plural::counted;
use super::statements::StatementList;
use super::{next_test, repeat, statements, wrap};

/// Writing to a text does not fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

/// The whole diagnosis.
pub fn text(round: &Round, diagnosis: &Diagnosis, catalogue: &Catalogue) -> String {
    with_statements(round, diagnosis, catalogue, StatementList::NONE)
}

/// The same with what the evidence shows one by one.
pub fn with_statements(round: &Round, diagnosis: &Diagnosis, catalogue: &Catalogue, says: StatementList<'_>) -> String {
    let (tests, hosts) = (counted(round.tests.len(), "test", "tests"), counted(round.members.len(), "host", "hosts"));
    let head = wrap::narrow(&format!("{}: {tests}, {hosts}", round.title), 0);
    Page { head: head.trim_end(), round: Some(round), diagnosis, catalogue, says }.text()
}

/// The same of a packet capture, of whose hosts nothing is known but their addresses.
pub fn of_capture(head: &str, diagnosis: &Diagnosis, catalogue: &Catalogue) -> String {
    Page { head, round: None, diagnosis, catalogue, says: StatementList::NONE }.text()
}

/// What a diagnosis is printed from.
struct Page<'a> {
    head: &'a str,
    round: Option<&'a Round>,
    diagnosis: &'a Diagnosis,
    catalogue: &'a Catalogue,
    says: StatementList<'a>,
}

impl Page<'_> {
    fn text(&self) -> String {
        let diagnosis = self.diagnosis;
        let verdict = statements::verdict(diagnosis, self.says.statements);
        let mut text = format!("{}\n\n", self.head);
        text.push_str(&wrap::narrow(&verdict, 0));
        let (first, others) = diagnosis.problems.split_first().unzip();
        if let Some(first) = first {
            // What was seen outright is not followed by causes that it rules out.
            let is_open = !statements::decides(self.says.statements);
            if is_open {
                carried(&mut text, first);
                alternatives(&mut text, first);
            }
            affected(&mut text, diagnosis);
            located(&mut text, diagnosis);
            if is_open {
                next(&mut text, self.round, first, self.catalogue);
            }
        }
        // What losses allow stands with the flows already.
        let of_flows = diagnosis.symptoms.iter().take(MOST_SYMPTOMS);
        let told: Vec<&str> = of_flows.filter_map(|symptom| symptom.loss_allows.as_deref()).collect();
        text.push_str(&self.says.text(&verdict, &told));
        other_findings(&mut text, others.unwrap_or_default());
        let said = self.says.statements.iter().fold(verdict, |said, one| said + "\n" + &one.says);
        not_judged(&mut text, diagnosis, &said);
        if !diagnosis.notes.is_empty() {
            line!(text, "\nWhat is missing");
            for note in diagnosis.notes.iter().take(MOST_NOTES) {
                text.push_str(&wrap::narrow(note, 2));
            }
        }
        text
    }
}

/// The observations that carry the first cause, and those against it.
pub(super) fn carried(text: &mut String, problem: &Problem) {
    let Some(best) = problem.ranking.first() else { return };
    for says in best.speaks_for.iter().take(MOST_OBSERVATIONS) {
        text.push_str(&wrap::narrow(&format!("+ {says}"), 2));
    }
    for says in best.speaks_against.iter().take(1) {
        text.push_str(&wrap::narrow(&format!("- {says}"), 2));
    }
}

/// What else it may be.
pub(super) fn alternatives(text: &mut String, problem: &Problem) {
    let others = problem.ranking.iter().skip(1).filter(|other| other.probability >= MENTIONED);
    let mut said: Vec<String> = others
        .take(MOST_OTHERS)
        .map(|other| format!("{} {} ({})", other.cause, at(other), percent(other.probability)))
        .collect();
    if problem.unknown >= MENTIONED {
        said.push(format!("something else ({})", percent(problem.unknown)));
    }
    if !said.is_empty() {
        line!(text, "\nAlso possible");
        text.push_str(&wrap::narrow(&format!("{}.", said.join(", ")), 2));
    }
}

fn affected(text: &mut String, diagnosis: &Diagnosis) {
    if diagnosis.symptoms.is_empty() {
        return;
    }
    line!(text, "\nAffected flows");
    for symptom in diagnosis.symptoms.iter().take(MOST_SYMPTOMS) {
        text.push_str(&wrap::narrow(&format!("{} to {}: {}", symptom.from, symptom.to, symptom.says), 2));
        for says in symptom.allowed.iter().chain(&symptom.loss_allows) {
            text.push_str(&wrap::narrow(says, 4));
        }
    }
    if let Some(more) = diagnosis.symptoms.len().checked_sub(MOST_SYMPTOMS).filter(|more| *more > 0) {
        line!(text, "  and {more} more");
    }
}

/// Which part of the network explains the bad pairs.
fn located(text: &mut String, diagnosis: &Diagnosis) {
    let explained = diagnosis.located.iter().filter(|located| !located.explanations.is_empty());
    for (number, located) in explained.enumerate() {
        if number == 0 {
            line!(text, "\nWhere the bad pairs are");
        }
        for words in located.to_string().lines().take(MOST_PLACE_LINES) {
            text.push_str(&wrap::narrow(words, 2));
        }
    }
}

/// What to do: the test that decides, or the fix, and the command of the test that was run.
fn next(text: &mut String, round: Option<&Round>, problem: &Problem, catalogue: &Catalogue) {
    let Some(best) = problem.ranking.first() else { return };
    line!(text, "\nNext");
    if best.probability < SURE {
        text.push_str(&wrap::narrow(&format!("Test: {}.", best.test), 2));
        let run = round.and_then(|round| affected_run(round, problem));
        let templates = catalogue.get(&best.cause).map_or(&[][..], |cause| &cause.commands);
        for command in run.map(|run| next_test::commands(run, templates)).unwrap_or_default() {
            // A command is copied: no line of it ends where the screen does.
            line!(text, "    {command}");
        }
    }
    if best.probability >= LIKELY && !best.speaks_for.is_empty() {
        let fix = format!(
            "Fix: {}{}.",
            best.remedy,
            round.map_or_else(String::new, |round| fixes(round, best, catalogue.get(&best.cause)))
        );
        text.push_str(&wrap::narrow(&fix, 2));
        text.push_str(&wrap::narrow(&format!("Fixed when: {}.", best.verify), 2));
    }
    if let Some(command) = round.and_then(|round| command(round, problem)) {
        text.push_str(&wrap::narrow(&format!("Repeat: {command}"), 2));
    }
}

/// The command of the first test that is affected, with its port and options.
fn command(round: &Round, problem: &Problem) -> Option<String> {
    repeat::command(&affected_run(round, problem)?.command).map(|command| format!("`{command}`"))
}

/// The first test that is affected.
fn affected_run<'a>(round: &'a Round, problem: &Problem) -> Option<&'a Run> {
    let tested = round.tests.iter().find(|tested| problem.explains.contains(&tested.label))?;
    let Finding::Run(run) = &tested.finding else { return None };
    Some(run)
}

/// The commands that fix it, without rules that only a person can follow: no host fixes a router.
fn fixes(round: &Round, ranked: &Ranked, cause: Option<&Cause>) -> String {
    let rules = Rules::built_in();
    let does_something = |operation: &Operation<_>| !matches!(operation, Operation::Advice { .. });
    let is_done_by_a_host = |name: &&String| rules.get(name).is_some_and(|rule| rule.fix.iter().any(does_something));
    // What guests carry is not seen from the machine they run on.
    let is_carried_by_guests = cause.is_some_and(|cause| cause.only_overlays) && has_guests(round, ranked);
    let roles = if is_carried_by_guests { " --role vm-host,overlay-node" } else { "" };
    let rules = ranked.fix.iter().filter(is_done_by_a_host).take(2);
    let fixes: Vec<String> = rules.map(|rule| format!("`linerate host fix {rule}{roles}`")).collect();
    if fixes.is_empty() { String::new() } else { format!(" ({})", fixes.join(", ")) }
}

/// Whether the cause is at a machine that members of the round live in.
fn has_guests(round: &Round, ranked: &Ranked) -> bool {
    let Some(FaultLocation::Host { name }) = ranked.places.first().map(|likely| &likely.place) else { return false };
    round.members.iter().any(|member| member.lives_in(name))
}

/// Further problems: those with a cause that stands out, and a line for the rest.
pub(super) fn other_findings(text: &mut String, problems: &[Problem]) {
    let stands_out = |problem: &&Problem| problem.ranking.first().is_some_and(|best| best.probability >= LIKELY);
    let (named, rest): (Vec<&Problem>, Vec<&Problem>) = problems.iter().partition(stands_out);
    if problems.is_empty() {
        return;
    }
    line!(text, "\nOther findings");
    for problem in named {
        let Some(best) = problem.ranking.first() else { continue };
        let explains = match problem.explains.len() {
            0 => "no measured flow is affected".to_owned(),
            1 => format!("explains {}", problem.explains[0]),
            more => format!("explains {} and {} more", problem.explains[0], more - 1),
        };
        let what = format!("{} {} ({}): {}; {explains}", best.cause, at(best), percent(best.probability), best.title);
        text.push_str(&wrap::narrow(&what, 2));
        for says in best.speaks_for.iter().take(1) {
            text.push_str(&wrap::narrow(&format!("+ {says}"), 4));
        }
    }
    let unexplained: usize = rest.iter().map(|problem| problem.explains.len()).sum();
    if unexplained > 0 {
        let flows =
            if unexplained == 1 { "1 further flow is".to_owned() } else { format!("{unexplained} further flows are") };
        text.push_str(&wrap::narrow(&format!("{flows} affected, and no cause stands out."), 2));
    }
}

/// Flows that were not judged, those of one reason together, and what the verdict has not said of their losses.
/// What could not be judged, without what was `said` before.
fn not_judged(text: &mut String, diagnosis: &Diagnosis, said: &str) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for flow in &diagnosis.not_judged {
        let of = format!("{} to {} ({})", flow.from, flow.to, flow.goodput);
        match reasons.iter_mut().find(|(reason, _)| *reason == flow.reason) {
            Some((_, flows)) => flows.push(of),
            None => reasons.push((&flow.reason, vec![of])),
        }
    }
    if !reasons.is_empty() {
        line!(text, "\nNot judged");
    }
    for (reason, flows) in reasons.iter().take(MOST_OTHERS) {
        let (shown, more) = flows.split_at(flows.len().min(MOST_OTHERS));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        text.push_str(&wrap::narrow(&format!("{}{more}: {reason}", shown.join(", ")), 2));
    }
    for flow in diagnosis.not_judged.iter().take(MOST_OTHERS) {
        if let Some(allows) = flow.loss_allows.as_ref().filter(|allows| !said.contains(allows.as_str())) {
            text.push_str(&wrap::narrow(&format!("{} to {}: {allows}", flow.from, flow.to), 2));
        }
    }
}

/// The most likely place, and those that cannot be told from it, with the word before it.
pub fn at(ranked: &Ranked) -> String {
    let Some(first) = ranked.places.first() else { return "at an unknown place".to_owned() };
    let alike = |other: &&diagnose::diagnosis::LikelyPlace| other.probability > first.probability / 2.0;
    let others = ranked.places.iter().skip(1).filter(alike).take(MOST_PLACES);
    let word = if matches!(first.place, FaultLocation::Path { .. }) { "" } else { "at " };
    let others: String = others.map(|other| format!(" or {}", other.place)).collect();
    format!("{word}{}{others}", first.place)
}

/// Nothing measured is certain.
fn percent(part: f64) -> String {
    if part > 0.99 { "above 99 %".to_owned() } else { format!("{:.0} %", part * 100.0) }
}

const MOST_OBSERVATIONS: usize = 3;
const MOST_SYMPTOMS: usize = 5;
const MOST_OTHERS: usize = 4;
const MOST_PLACES: usize = 2;
const MOST_PLACE_LINES: usize = 12;
const MOST_NOTES: usize = 6;
/// Less likely causes are not mentioned.
const MENTIONED: f64 = 0.05;
/// From here on a fix is worth naming, and a further problem too.
const LIKELY: f64 = 0.3;
/// From here on a cause stands out, and no test is needed to decide.
const SURE: f64 = 0.75;
