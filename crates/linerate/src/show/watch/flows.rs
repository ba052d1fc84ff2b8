//! What flows now: a table that is drawn anew on a terminal, lines elsewhere.

use std::collections::BTreeSet;
use std::time::Duration;

use chart::grid::short;
use comfy_table::{CellAlignment, Table};
use model::measurement::Heading;
use model::transfer::{FlowInterval, LossCounts, Missed, SocketOwner, TalkerName, WatchedFlow};
use units::duration::show;

use super::transfers::{self, limited};
use crate::show::live::redrawn::Redrawn;
use crate::show::{table, when, wrap};

/// A table of connections that is drawn anew with each interval.
pub struct Live {
    screen: Redrawn,
    watched: Duration,
    finished: Vec<String>,
    /// What stands on the terminal when the watch ends.
    last: String,
}

impl Live {
    /// Empty as yet.
    pub fn new() -> Self {
        let screen = Redrawn::new("watching TCP connections; Ctrl-C ends");
        Self { screen, watched: Duration::ZERO, finished: Vec::new(), last: String::new() }
    }

    /// Draws one interval.
    pub fn interval(&mut self, interval: &FlowInterval) {
        self.watched += interval.length;
        self.finished.extend(interval.finished.iter().map(transfers::sentence));
        let surplus = self.finished.len().saturating_sub(MOST_FINISHED);
        self.finished.drain(..surplus);
        let mut text = format!("{}, watched {}\n", head(interval), show(whole_seconds(self.watched)));
        text.push_str(&flows(&interval.flows));
        text.push_str(&talkers(interval));
        let mut beside = String::new();
        if !self.finished.is_empty() {
            beside.push_str("\nlast ended\n");
            for line in &self.finished {
                beside.push_str(&format!("  {line}\n"));
            }
        }
        beside.push_str(&missed(&interval.missed));
        for what in &interval.not_seen {
            beside.push_str(&format!("not seen: {what}\n"));
        }
        let width = wrap::terminal_width().unwrap_or(80);
        let clean = foreign::terminal::lines;
        // Rows of a table are cut where they are too long, sentences go on in the next line.
        self.last = cut(&clean(&text), width) + &wrap::fitted(&clean(&beside), width);
        self.screen.draw(self.last.clone());
    }

    /// Leaves the last table on the terminal.
    pub fn finish(&self) {
        self.screen.clear();
        eprint!("{}", self.last);
    }
}

/// Lines for a file or a pipe.
#[derive(Debug, Default)]
pub struct Lines {
    said: BTreeSet<String>,
    missed: Missed,
}

impl Lines {
    /// The lines of one interval: the sum, each connection that moves much, each transfer that ended. What is not seen is
    /// said once, what was missed as it happens.
    pub fn interval(&mut self, interval: &FlowInterval) -> String {
        let mut text = String::new();
        for what in &interval.not_seen {
            if self.said.insert(what.clone()) {
                text.push_str(&format!("not seen: {what}\n"));
            }
        }
        text.push_str(&format!("{}  {}\n", when::local(interval.start), head(interval)));
        text.push_str(&flows(&interval.flows));
        for transfer in &interval.finished {
            text.push_str(&format!("ended: {}\n", transfers::sentence(transfer)));
        }
        if interval.missed != self.missed {
            text.push_str(&missed(&interval.missed));
            self.missed = interval.missed;
        }
        foreign::terminal::lines(&text).into_owned()
    }
}

fn head(interval: &FlowInterval) -> String {
    let place = interval.namespace.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    format!(
        "{}{place}: {} connections, out {}, in {}, {} retransmits",
        interval.host, interval.connections, interval.outbound, interval.inbound, interval.retransmits
    )
}

fn flows(flows: &[WatchedFlow]) -> String {
    if flows.is_empty() {
        return "  nothing moves\n".to_owned();
    }
    let has_expected = flows.iter().any(|flow| flow.expected.is_some());
    let mut rows = Table::new();
    let mut header = vec!["  PEER", "RATE"];
    header.extend(has_expected.then_some("OF"));
    // What is cut off on a narrow terminal stands last.
    header.extend(["RTT", "RETR"]);
    let has_losses = flows.iter().any(|flow| flow.losses.is_some_and(|losses| losses != LossCounts::default()));
    header.extend(has_losses.then_some("LOSSES"));
    header.extend(["LIMITED BY", "PROGRAM"]);
    rows.set_header(header);
    for flow in flows {
        let arrow = if flow.heading == Heading::Outbound { "→" } else { "←" };
        let mut row = vec![format!("{arrow} {}", flow.peer), short(flow.goodput)];
        row.extend(has_expected.then(|| flow.expected.map(short).unwrap_or_default()));
        row.push(flow.rtt.map(rtt).unwrap_or_default());
        row.push(flow.retransmits.to_string());
        row.extend(has_losses.then(|| flow.losses.map(losses).unwrap_or_default()));
        row.push(limited(flow.goodput, &flow.limits));
        row.push(program(flow.owner.as_ref()));
        rows.add_row(row);
    }
    for column in 1..4 + usize::from(has_expected) + usize::from(has_losses) {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(rows)
}

/// `3`, `3 + 1 RTO`: recoveries, and timeouts where there are any.
fn losses(counts: LossCounts) -> String {
    match counts {
        LossCounts { recoveries: 0, timeouts: 0 } => String::new(),
        LossCounts { recoveries, timeouts: 0 } => recoveries.to_string(),
        LossCounts { recoveries: 0, timeouts } => format!("{timeouts} RTO"),
        LossCounts { recoveries, timeouts } => format!("{recoveries} + {timeouts} RTO"),
    }
}

/// `gridftp 4711`, the user where the program is not known, the container behind either.
fn program(owner: Option<&SocketOwner>) -> String {
    let Some(owner) = owner else { return String::new() };
    let name = match (&owner.program, owner.pid) {
        (Some(program), Some(pid)) => format!("{program} {pid}"),
        (Some(program), None) => program.clone(),
        (None, _) => format!("({})", owner.user),
    };
    match &owner.container {
        Some(container) => format!("{name} in {container}"),
        None => name,
    }
}

/// Per program and per prefix, where there are several.
fn talkers(interval: &FlowInterval) -> String {
    let mut text = String::new();
    let programs: Vec<String> = interval
        .talkers
        .iter()
        .filter_map(|talker| {
            let name = match &talker.who {
                TalkerName::Program(name) => format!("program {name}"),
                TalkerName::Prefix(name) => format!("network {name}"),
                TalkerName::Peer(_) => return None,
            };
            let connections = if talker.connections == 1 { "connection" } else { "connections" };
            let (out, inbound) = (short(talker.outbound), short(talker.inbound));
            Some(format!("  {name}: {} {connections}, out {out}, in {inbound}", talker.connections))
        })
        .collect();
    if programs.len() > 2 {
        text.push_str("\ntop talkers\n");
        for line in programs.iter().take(MOST_TALKERS) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn missed(missed: &Missed) -> String {
    let parts = [
        (missed.overruns, "times the kernel's queue of last words ran over"),
        (missed.without_last_word, "connections vanished without a last word"),
        (missed.beyond_limit, "sightings of connections beyond the most that are kept"),
        (missed.failed_walks, "walks over all connections failed"),
        (missed.not_stored, "transfers could not be stored"),
        (missed.events, "events of losses came too fast"),
    ];
    let shown = parts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("missed: {count} {what}\n")).collect()
}

fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs().max(1))
}

/// Without a blank, as a column has it.
fn rtt(time: Duration) -> String {
    show(time).replace(' ', "")
}

/// Lines that are no wider than the terminal: what is cut off stands in the JSON.
fn cut(text: &str, width: usize) -> String {
    let line = |line: &str| {
        if line.chars().count() <= width {
            return line.to_owned();
        }
        line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    };
    text.lines().map(|each| line(each) + "\n").collect()
}

const MOST_FINISHED: usize = 5;
const MOST_TALKERS: usize = 6;
