//! The list of stored runs.

use std::path::Path;

use archive::check::Checked;
use comfy_table::{CellAlignment, Table};
use model::archived::ListedRun;
use model::run::{Outcome, Role};
use model::spec::{Direction, Protocol};

use super::{table, when};

/// A table of runs, or a line that says where they would be. Where it does not fit `width` columns, runs have the first
/// letters of their names, by which every command finds them, and times have neither year nor seconds.
pub fn text(summaries: &[ListedRun], archive: &Path, width: Option<usize>) -> String {
    if summaries.is_empty() {
        return format!("no runs in {}\n", archive.display());
    }
    let whole = table::side_by_side(&mut rows(summaries, Form::Whole));
    match width.filter(|width| *width < table::columns_of(&whole)) {
        Some(width) => table::fitting(rows(summaries, Form::Narrow { width }), Some(width)),
        None => whole,
    }
}

/// How much of each run stands in its row.
#[derive(Debug, Clone, Copy)]
enum Form {
    Whole,
    Narrow { width: usize },
}

/// Letters of a run's name that tell it from others: 10 are its millisecond, the rest is random.
pub const NAME: usize = 13;
/// What the other columns take of a narrow row.
const BESIDE_PEER: usize = 69;
/// Shorter names of peers tell nothing.
const SHORTEST_PEER: usize = 9;

fn rows(summaries: &[ListedRun], form: Form) -> Table {
    let mut table = Table::new();
    let retransmits = if matches!(form, Form::Whole) { "RETRANSMITS" } else { "RETRANS" };
    table.set_header(["RUN", "STARTED", "PEER", "TEST", "GOODPUT", retransmits, "OUTCOME"]);
    for summary in summaries {
        let (id, started) = (summary.id.to_string(), when::local(summary.started));
        let (id, started, peer) = match form {
            Form::Whole => (id, started, summary.peer.clone()),
            Form::Narrow { width } => (
                id.chars().take(NAME).collect(),
                started.get(5..16).unwrap_or(&started).to_owned(),
                cut(&summary.peer, width.saturating_sub(BESIDE_PEER).max(SHORTEST_PEER)),
            ),
        };
        table.add_row([
            id,
            started,
            peer,
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
    table
}

/// The first letters of a name that is too long.
fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
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
        (Protocol::Tcp, Direction::Bidirectional, _) => "tcp both",
        (Protocol::Udp, Direction::Bidirectional, _) => "udp both",
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

#[cfg(test)]
mod tests {
    use units::{DataRate, WallTime};

    use super::*;

    #[test]
    fn rows_fit_80_columns_and_begin_with_what_finds_the_run() {
        let id: model::run::RunId = "01M8BSSE66J0VXQ1VA2NAKX0XG".parse().unwrap();
        let run = ListedRun {
            id,
            started: WallTime::from_unix_nanos(1_795_691_744_426_913_360),
            role: Role::Client,
            peer: "dtn1.some-site.example.org".to_owned(),
            hosts: None,
            protocol: Protocol::Tcp,
            direction: Direction::Bidirectional,
            outcome: Outcome::Complete,
            goodput: Some(DataRate::from_bps(191_000_000)),
            retransmits: None,
        };
        let list = |width| text(std::slice::from_ref(&run), Path::new("a.db"), width);
        let narrow = list(Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.lines().last().unwrap().starts_with("01M8BSSE66J0V  11-26"), "{narrow}");
        for wide in [list(None), list(Some(200))] {
            assert!(wide.contains(&id.to_string()) && wide.contains("dtn1.some-site.example.org"), "{wide}");
        }
    }
}
