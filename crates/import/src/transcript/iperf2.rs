//! What a line of iperf2 changes.

use model::measurement::End;
use model::run::Role;
use model::spec::Protocol;

use super::TranscriptReader;
use crate::command::Tool;
use crate::iperf2::text::Line;
use crate::iperf3::row::{Columns, Numbers};
use crate::iperf3::text::Line as SharedLine;
use crate::limits::MAX_STREAMS;
use crate::parsed::{Connection, Datagrams, EndRow, Label, ParsedTest, TestOptions, host_of};

impl TranscriptReader<'_> {
    pub(super) fn iperf2(&mut self, number: usize, line: Line) {
        if self.starts_another_of_iperf2(&line) {
            let server = self.server_of_iperf2();
            self.finish();
            if let Some(options) = server {
                // A server goes on with its next client.
                let parsed = &mut self.open(number, Tool::Iperf2).parsed;
                (parsed.role, parsed.options) = (Some(Role::Server), options);
            }
        }
        let is_beside = matches!(line, Line::Ornament | Line::Length(_) | Line::Window(_) | Line::SegmentSize(_));
        if is_beside && self.open.is_none() {
            return;
        }
        if matches!(line, Line::ServerReport) {
            self.report_of_server();
        }
        let open = self.open(number, Tool::Iperf2);
        let parsed = &mut open.parsed;
        match line {
            Line::Client { host, protocol } => {
                (parsed.target, parsed.role) = (Some(host), Some(Role::Client));
                parsed.options.protocol = Some(protocol);
            }
            Line::Server(protocol) => {
                parsed.role = Some(Role::Server);
                parsed.options.protocol = Some(protocol);
            }
            Line::Connected(connection, mss) => {
                parsed.mss = mss.or(parsed.mss);
                if parsed.target.is_none() {
                    parsed.target = Some(host_of(&connection.peer).to_owned());
                }
                parsed.connections.push(connection);
            }
            Line::SegmentSize(bytes) => parsed.mss = Some(bytes),
            Line::Window(requested) => parsed.options.window = requested.or(parsed.options.window),
            Line::Length(bytes) => parsed.options.length = Some(bytes),
            Line::ServerReport => open.of_peer = true,
            Line::Csv(connection, row) => {
                parsed.role.get_or_insert(Role::Client);
                let known = &parsed.connections;
                let is_new = |one: &Connection| {
                    known.len() < MAX_STREAMS && known.iter().all(|known| known.stream != one.stream)
                };
                let connection = connection.filter(is_new);
                parsed.connections.extend(connection);
                parsed.rows.push(*row);
            }
            Line::Error(error) => {
                parsed.error.get_or_insert(error);
                open.ended = true;
            }
            Line::Warning(warning) => parsed.notes.push(format!("iperf warns: {warning}")),
            Line::ConnectedUnnamed | Line::Ornament => {}
        }
    }

    /// Before 2.1 the report of a server has no headings of its own.
    fn report_of_server(&mut self) {
        let is_udp = self.open.as_ref().is_some_and(|open| open.parsed.options.protocol == Some(Protocol::Udp));
        if is_udp && self.columns == Columns::Rates {
            self.columns = Columns::Datagrams;
        }
    }

    /// A line that both tools print, in a test of iperf2; whether it is.
    pub(super) fn shared_with_iperf2(&mut self, number: usize, line: &SharedLine) -> bool {
        let next_is_iperf2 = self.command.as_ref().is_some_and(|(_, command)| command.tool == Tool::Iperf2);
        if next_is_iperf2 && matches!(line, SharedLine::Numbers(_) | SharedLine::Headings(_)) {
            // People copy the rows and leave the greeting out.
            self.open(number, Tool::Iperf2);
        }
        // A row of iperf 2 alone, below the sums of an iperf3.
        let is_below_iperf3 = self.command.is_none()
            && self.open.as_ref().is_some_and(|open| open.ended && open.parsed.is_iperf3())
            && matches!(line, SharedLine::Numbers(numbers) if numbers.is_coarse);
        if is_below_iperf3 {
            self.open(number, Tool::Iperf2);
        }
        let next_is_iperf3 = self.command.as_ref().is_some_and(|(_, command)| command.tool == Tool::Iperf3);
        let Some(open) = self.open.as_mut().filter(|open| open.parsed.is_iperf2() && !next_is_iperf3) else {
            return false;
        };
        match line {
            SharedLine::Numbers(numbers) => {
                let of_peer = open.of_peer;
                take(&mut open.parsed, number, (**numbers).clone(), of_peer.then_some(End::Receiver));
            }
            SharedLine::Headings(columns) => self.columns = *columns,
            SharedLine::Sent { datagrams } => open.sent = Some(*datagrams),
            SharedLine::OutOfOrder { label: Label::Sum, .. } | SharedLine::Ornament => {}
            SharedLine::OutOfOrder { datagrams, .. } => {
                let known = open.parsed.reordered.unwrap_or(0);
                open.parsed.reordered = Some(known.saturating_add(*datagrams));
            }
            _ => return false,
        }
        true
    }

    fn starts_another_of_iperf2(&self, line: &Line) -> bool {
        let Some(open) = &self.open else { return false };
        let has_rows = !open.parsed.rows.is_empty() || !open.parsed.ends.is_empty();
        match line {
            _ if self.command.is_some() => true,
            Line::Client { .. } | Line::Server(_) => {
                has_rows || open.parsed.error.is_some() || open.parsed.role.is_some()
            }
            Line::Connected(..) | Line::ConnectedUnnamed => has_rows,
            _ => false,
        }
    }

    /// What a server was asked for, where the open test is one's.
    fn server_of_iperf2(&self) -> Option<TestOptions> {
        let open = self.open.as_ref().filter(|_| self.command.is_none())?;
        (open.parsed.role == Some(Role::Server)).then(|| open.parsed.options.clone())
    }
}

fn take(parsed: &mut ParsedTest, line: usize, numbers: Numbers, of_peer: Option<End>) {
    let Numbers { mut row, cut, .. } = numbers;
    if cut {
        parsed.anomalies.add(line, "the columns after the rate", "a line that ends in between");
    }
    let counts_losses =
        row.jitter.is_some() && row.datagrams.is_some_and(|counts| counts.lost.is_some_and(|lost| lost > 0));
    let is_alone = parsed.role.is_none() && parsed.rows.is_empty() && row.start.is_zero();
    // Its own rows have none: it is the server's report, whose title was cut off.
    let of_peer =
        of_peer.or_else(|| (counts_losses && (parsed.role == Some(Role::Client) || is_alone)).then_some(End::Receiver));
    if of_peer.is_none() && parsed.role == Some(Role::Client) {
        // A client's zeros are no count of losses.
        row.datagrams = row.datagrams.map(|counts| Datagrams { lost: None, ..counts });
    }
    match of_peer {
        Some(end) => parsed.ends.push(EndRow { end, row }),
        None => parsed.rows.push(row),
    }
}
