//! iperf 2.0 and 2.1 (iperf2), whose rows are iperf3's and whose other lines are not.
//!
//! * [`text`]: its own lines
//! * [`csv`]: a line of `-y C`
//! * [`finish`]: which rows are summaries; nothing on them says so

pub(crate) mod csv;
pub(crate) mod text;

use std::time::Duration;

use model::measurement::{End, Heading};
use model::run::Role;
use model::spec::Direction;

use super::parsed::{Datagrams, EndRow, Label, ParsedTest, Row};

/// Moves the summaries out of the rows: the last row of a stream, where it begins at zero and no row goes on longer. What a
/// client prints it has sent, what a server prints has arrived.
fn settle(parsed: &mut ParsedTest) {
    let end = if parsed.role == Some(Role::Server) { End::Receiver } else { End::Sender };
    let mut labels: Vec<Label> = Vec::new();
    for row in &parsed.rows {
        if !labels.contains(&row.label) && labels.len() <= crate::limits::MAX_STREAMS {
            labels.push(row.label);
        }
    }
    let is_summary: Vec<usize> = labels.iter().filter_map(|label| summary(&parsed.rows, *label)).collect();
    for index in &is_summary {
        let row = parsed.rows[*index].clone();
        let end = if row.heading == Some(Heading::Inbound) { End::Receiver } else { end };
        parsed.ends.push(EndRow { end, row });
    }
    let mut index = 0;
    parsed.rows.retain(|_| {
        index += 1;
        !is_summary.contains(&(index - 1))
    });
    if end == End::Sender
        && let Some(sent) = parsed.ends.iter_mut().find(|count| count.end == End::Sender)
    {
        // What a sender counts of losses is nothing.
        sent.row.datagrams = sent.row.datagrams.map(|counts| Datagrams { lost: None, ..counts });
    }
}

/// With `-d` and `-r` the other host calls back, at the port that was called there: what comes over that connection has arrived.
fn both_directions(parsed: &mut ParsedTest) {
    let port = |address: &str| address.rsplit_once(':').map(|(_, port)| port.to_owned());
    let Some(called) = parsed.connections.first().and_then(|first| port(&first.peer)) else { return };
    let calls_back =
        |local: &str, peer: &str| port(local).as_ref() == Some(&called) && port(peer).as_ref() != Some(&called);
    let back: Vec<Label> = parsed
        .connections
        .iter()
        .filter(|other| calls_back(&other.local, &other.peer))
        .map(|other| Label::Stream(other.stream))
        .collect();
    if parsed.role == Some(Role::Server) || back.is_empty() {
        return;
    }
    parsed.options.direction = Some(Direction::Bidirectional);
    for row in parsed.rows.iter_mut().filter(|row| back.contains(&row.label)) {
        row.heading = Some(Heading::Inbound);
    }
}

fn summary(rows: &[Row], label: Label) -> Option<usize> {
    let (at, last) = rows.iter().enumerate().rfind(|(_, row)| row.label == label)?;
    let others = rows[..at].iter().filter(|row| row.label == label).map(|row| row.end);
    let before = others.max().unwrap_or(Duration::ZERO);
    (last.start.is_zero() && last.end + CLOCK >= before).then_some(at)
}

/// The clock of a summary stops a moment before or after that of the last interval.
const CLOCK: Duration = Duration::from_millis(150);

/// How many datagrams a client says it sent, once its summary is known. The report of its server has all but the one that ends
/// the test, which is counted by the client alone.
pub(crate) fn finish(parsed: &mut ParsedTest, sent: Option<u64>) {
    both_directions(parsed);
    settle(parsed);
    if parsed.ends.iter().any(|count| count.end == End::Receiver && count.row.datagrams.is_some()) {
        return;
    }
    let own = parsed.ends.iter_mut().find(|count| count.end == End::Sender);
    if let (Some(own), Some(total)) = (own, sent) {
        own.row.datagrams = Some(Datagrams { lost: None, total });
    }
}
