//! What lines say by the table of such lines (`import::signatures`).

use import::evidence::HostFact;
use import::signatures::{SignatureFact, SignatureWeight};

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, StatementKind};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let facts = beside.facts.iter().take(MOST_FACTS);
    facts
        .filter_map(|(host, fact)| match fact {
            HostFact::Signature(one) => Some(said(named(host.as_ref()), one)),
            _ => None,
        })
        .collect()
}

fn said(host: &str, one: &SignatureFact) -> Statement {
    let kind = match one.weight {
        SignatureWeight::Decisive => StatementKind::Decisive,
        SignatureWeight::Fault => StatementKind::Fault,
        SignatureWeight::Well => StatementKind::Well,
        SignatureWeight::Fact => StatementKind::Fact,
    };
    Statement { kind, says: one.says.replace("{host}", host) }
}
