//! What a line of nuttcp changes.

use std::time::Duration;

use model::measurement::{CpuUse, End};
use model::run::Role;
use model::spec::{Direction, Protocol};

use super::TranscriptReader;
use crate::Format;
use crate::command::Tool;
use crate::nuttcp::Numbers;
use crate::nuttcp::text::{EndReport, Line, RowForm};
use crate::parsed::{EndRow, Label, ParsedTest, Row};

impl TranscriptReader<'_> {
    pub(super) fn nuttcp(&mut self, number: usize, line: Line) {
        if self.starts_another_of_nuttcp(&line) {
            self.finish();
        }
        let open = self.open(number, Tool::Nuttcp);
        let parsed = &mut open.parsed;
        parsed.role = Some(Role::Client);
        match line {
            Line::Numbers(numbers, written) => {
                if written == RowForm::Pairs {
                    parsed.format = Format::NuttcpPairs;
                }
                open.ended |= numbers.shares.is_some() || covers_all(parsed, &numbers);
                take(parsed, number, &numbers);
            }
            Line::EndReport(end, line) => {
                end_report(parsed, end, line);
                open.ended = parsed.ends.len() > 1;
            }
            Line::Error(error) => {
                parsed.error.get_or_insert(error);
                open.ended = true;
            }
            Line::Note(note) => parsed.notes.push(format!("nuttcp says: {note}")),
            Line::Usage => {
                parsed
                    .error
                    .get_or_insert_with(|| "nuttcp does not know an option and prints how to use it".to_owned());
                open.usage = true;
            }
            Line::Ornament => {}
        }
    }

    fn starts_another_of_nuttcp(&self, line: &Line) -> bool {
        let Some(open) = &self.open else { return false };
        let tells_again = |end: End| open.parsed.ends.iter().any(|count| count.end == end);
        match line {
            _ if self.command.is_some() => true,
            Line::Numbers(..) => open.ended,
            Line::EndReport(end, EndReport::Version(_)) => open.ended && tells_again(*end),
            _ => false,
        }
    }
}

fn take(parsed: &mut ParsedTest, line: usize, numbers: &Numbers) {
    let label = if parsed.options.streams.is_none_or(|streams| streams == 1) { Label::Stream(1) } else { Label::Sum };
    let Some((sender, receiver)) = numbers.shares else {
        if covers_all(parsed, numbers) {
            parsed.anomalies.add(line, "`%TX` and `%RX` in a summary", "a line that ends before");
            let total = row(label, Duration::ZERO, numbers.elapsed, numbers);
            parsed.ends.push(EndRow { end: End::Receiver, row: Row { retransmits: None, cwnd: None, ..total } });
            return;
        }
        let start = parsed.rows.last().map_or(Duration::ZERO, |row| row.end);
        let end = start.saturating_add(numbers.elapsed);
        parsed.rows.push(row(label, start, end, numbers));
        return;
    };
    let total = row(label, Duration::ZERO, numbers.elapsed, numbers);
    parsed.handshake = numbers.rtt.filter(|rtt| !rtt.is_zero());
    // One number for both; this host is the sender unless the test is reversed.
    let reversed = parsed.options.direction == Some(Direction::Reverse);
    let (local, peer) = if reversed { (receiver, sender) } else { (sender, receiver) };
    (parsed.local_cpu, parsed.peer_cpu) = (Some(share(local)), Some(share(peer)));
    let datagrams = parsed.options.protocol == Some(Protocol::Udp) || numbers.datagrams.is_some();
    match (numbers.sent, datagrams) {
        (Some(sent), _) => {
            parsed.ends.push(EndRow { end: End::Sender, row: Row { bytes: sent, rate: None, ..bare(&total) } });
        }
        // The receiver of a TCP stream reads to its end, so that what it received is what was sent.
        (None, false) => parsed.ends.push(EndRow { end: End::Sender, row: total.clone() }),
        (None, true) => {}
    }
    parsed.ends.push(EndRow { end: End::Receiver, row: Row { retransmits: None, cwnd: None, ..total } });
}

/// Whether a row without the CPUs' shares is as long as all before it together: a summary that lost its end, which as
/// an interval would be counted twice.
fn covers_all(parsed: &ParsedTest, numbers: &Numbers) -> bool {
    const ROUNDING: Duration = Duration::from_millis(20);
    let last = parsed.rows.last().map_or(Duration::ZERO, |row| row.end);
    parsed.rows.len() > 1 && numbers.elapsed + ROUNDING >= last
}

fn bare(row: &Row) -> Row {
    Row { datagrams: None, jitter: None, ..row.clone() }
}

fn row(label: Label, start: Duration, end: Duration, numbers: &Numbers) -> Row {
    let mut row = Row::new(label, start, end, numbers.bytes);
    row.rate = Some(numbers.rate);
    row.retransmits = numbers.retransmits;
    row.cwnd = numbers.cwnd;
    row.jitter = numbers.jitter;
    row.datagrams = numbers.datagrams;
    row
}

/// Time of the process and of the kernel for it are one number.
fn share(percent: u32) -> CpuUse {
    CpuUse { user: f64::from(percent) / 100.0, system: 0.0 }
}

fn end_report(parsed: &mut ParsedTest, end: End, line: EndReport) {
    match line {
        EndReport::Version(version) => parsed.version = Some(version),
        EndReport::Shape { length, streams, udp } => {
            parsed.options.length = Some(length);
            parsed.options.streams = Some(streams);
            parsed.options.protocol = Some(if udp { Protocol::Udp } else { Protocol::Tcp });
        }
        EndReport::Connect { mss, rtt } => {
            parsed.mss = Some(mss);
            parsed.handshake = Some(rtt);
        }
        EndReport::Total { bytes, elapsed, rate } => {
            let label = if parsed.options.streams == Some(1) { Label::Stream(1) } else { Label::Sum };
            let mut row = Row::new(label, Duration::ZERO, elapsed, bytes);
            row.rate = Some(rate);
            parsed.ends.push(EndRow { end, row });
        }
        EndReport::Retransmits(count) => {
            if let Some(total) = parsed.ends.iter_mut().rev().find(|count| count.end == end) {
                total.row.retransmits = Some(count);
            }
        }
        EndReport::Datagrams(datagrams) => {
            if let Some(total) = parsed.ends.iter_mut().rev().find(|count| count.end == end) {
                total.row.datagrams = Some(datagrams);
            }
        }
    }
}
