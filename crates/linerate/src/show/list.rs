//! The list of stored runs.

use std::path::Path;

use archive::check::Checked;
use comfy_table::{CellAlignment, Table};
use model::archived::ListedRun;
use model::run::{Outcome, Role};
use model::spec::{Direction, Protocol};

use super::{table, when};

/// A table of runs, or a line that says where they would be.
pub fn text(summaries: &[ListedRun], archive: &Path) -> String {
    if summaries.is_empty() {
        return format!("no runs in {}\n", archive.display());
    }
    let mut table = Table::new();
    table.set_header(["RUN", "STARTED", "PEER", "TEST", "GOODPUT", "RETRANSMITS", "OUTCOME"]);
    for summary in summaries {
        table.add_row([
            summary.id.to_string(),
            when::local(summary.started),
            summary.peer.clone(),
            test(summary).to_owned(),
            summary.goodput.map(|rate| rate.to_string()).unwrap_or_default(),
            summary.retransmits.map(|count| count.to_string()).unwrap_or_default(),
            outcome(&summary.outcome),
        ]);
    }
    for column in [4, 5] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(table)
}

/// What a check of the archive found.
pub fn checked(checked: &Checked, archive: &Path) -> String {
    let mut text = format!("{}: {} rows are what was stored", archive.display(), checked.sound);
    if checked.unsealed > 0 {
        text.push_str(&format!(", {} were stored by an older version, without a checksum", checked.unsealed));
    }
    text.push('\n');
    for damage in &checked.damaged {
        text.push_str(&format!("damaged: {}, {}\n", damage.table, damage.name));
    }
    text
}

fn test(summary: &ListedRun) -> &'static str {
    match (summary.protocol, summary.direction, summary.role) {
        (Protocol::Tcp, Direction::Bidirectional, _) => "tcp bidirectional",
        (Protocol::Udp, Direction::Bidirectional, _) => "udp bidirectional",
        (Protocol::Tcp, Direction::Forward, Role::Client) | (Protocol::Tcp, Direction::Reverse, Role::Server) => {
            "tcp out"
        }
        (Protocol::Udp, Direction::Forward, Role::Client) | (Protocol::Udp, Direction::Reverse, Role::Server) => {
            "udp out"
        }
        (Protocol::Tcp, ..) => "tcp in",
        (Protocol::Udp, ..) => "udp in",
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Complete => "complete".to_owned(),
        Outcome::Failed(failure) => format!("failed: {}", failure.kind.words()),
    }
}
