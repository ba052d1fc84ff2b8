//! What the files of `linerate why FILE` show one by one, beside the ranking of causes.

use diagnose::diagnosis::Diagnosis;
use diagnose::statements::{Statement, StatementKind};

use super::wrap;

/// The answer in one sentence: the diagnosis's own; where that finds no cause that stands out and a file shows a fault, the fault first.
pub fn verdict(diagnosis: &Diagnosis, says: &[Statement]) -> String {
    let fault = says.iter().find(|statement| statement.kind.is_fault());
    let decides = fault.is_some_and(|fault| fault.kind == StatementKind::Decisive);
    let is_unjudged = diagnosis.problems.is_empty() && diagnosis.judged == 0;
    let well = says.iter().find(|statement| statement.kind == StatementKind::Well).filter(|_| is_unjudged);
    match fault.filter(|_| decides || !has_cause(diagnosis)) {
        // What was seen outright contradicts what rates alone suggest.
        Some(fault) if decides && !diagnosis.problems.is_empty() => format!("{}.", fault.says),
        Some(fault) if !diagnosis.problems.is_empty() => {
            format!("{}. Of the flows: {}.", fault.says, diagnosis.verdict)
        }
        Some(fault) if is_without_flows(diagnosis) => {
            format!("{}. Causes are not ranked: no transfer was measured.", fault.says)
        }
        Some(fault) if diagnosis.judged == 0 => {
            format!("{}. Causes are not ranked: it is not known how fast the flow should be (--expect).", fault.says)
        }
        Some(fault) => format!("{}. Nothing else that could be judged is wrong.", fault.says),
        None if let Some(well) = well => format!("No fault is shown. {}.", well.says),
        None if !says.is_empty() && is_without_flows(diagnosis) => {
            format!("Not judged: no transfer was measured. {}.", most_told(says))
        }
        None if is_without_flows(diagnosis) => {
            "Not judged: no transfer was measured, and what was read says nothing by itself.".to_owned()
        }
        None if is_unjudged && !diagnosis.verdict.contains(';') && !says.is_empty() => {
            format!("{}. {}.", diagnosis.verdict, most_told(says))
        }
        None => format!("{}.", diagnosis.verdict),
    }
}

/// The statement that tells most, by its length: one that says what follows is longer than one with a number.
fn most_told(says: &[Statement]) -> &str {
    says.iter().rev().max_by_key(|one| one.says.len()).map_or("", |one| &one.says)
}

/// Whether a statement decides, whatever is inferred beside it.
pub fn decides(says: &[Statement]) -> bool {
    says.iter().any(|statement| statement.kind == StatementKind::Decisive)
}

/// Whether no transfer was measured.
fn is_without_flows(diagnosis: &Diagnosis) -> bool {
    diagnosis.problems.is_empty() && diagnosis.judged == 0 && diagnosis.not_judged.is_empty()
}

/// Whether a cause is likelier than all others together.
fn has_cause(diagnosis: &Diagnosis) -> bool {
    let firsts = diagnosis.problems.iter().filter_map(|problem| problem.ranking.first());
    firsts.into_iter().any(|first| first.probability > 0.5 && !first.speaks_for.is_empty())
}

/// Statements, and where they come from.
#[derive(Debug, Clone, Copy)]
pub struct StatementList<'a> {
    pub source: StatementSource,
    pub statements: &'a [Statement],
}

/// Where statements come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementSource {
    /// Files of other tools.
    Files,
    /// Transfers that were watched.
    Watch,
}

impl StatementList<'_> {
    /// Nothing to say.
    pub const NONE: Self = Self { source: StatementSource::Files, statements: &[] };

    /// The list of what was seen, without what the verdict has said, and without ends of statements that were told; empty where nothing
    /// is left.
    pub fn text(self, verdict: &str, told: &[&str]) -> String {
        let rest = self.statements.iter().filter(|statement| !verdict.contains(&statement.says));
        let rest: Vec<(StatementKind, &str)> =
            rest.map(|statement| (statement.kind, without_end(&statement.says, told))).collect();
        let head = match self.source {
            StatementSource::Files => "What the files show",
            StatementSource::Watch => "What watched transfers show",
        };
        if rest.is_empty() { String::new() } else { listed(head, &rest) }
    }
}

/// A statement without its last part, where that was told.
fn without_end<'s>(says: &'s str, told: &[&str]) -> &'s str {
    let without = |told: &&str| says.strip_suffix(*told)?.strip_suffix("; ");
    told.iter().find_map(without).unwrap_or(says)
}

fn listed(head: &str, rest: &[(StatementKind, &str)]) -> String {
    let mut text = format!("\n{head}\n");
    for (kind, says) in rest.iter().take(MOST) {
        let mark = if kind.is_fault() { "!" } else { "-" };
        text.push_str(&wrap::narrow(&format!("{mark} {says}"), 2));
    }
    if let Some(more) = rest.len().checked_sub(MOST).filter(|more| *more > 0) {
        text.push_str(&format!("  and {more} more\n"));
    }
    text
}

/// More would hide the verdict.
const MOST: usize = 8;
