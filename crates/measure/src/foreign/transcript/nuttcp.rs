//! What a line of nuttcp changes.

use std::time::Duration;

use model::measurement::{CpuUse, End};
use model::run::Role;
use model::spec::{Direction, Protocol};

use super::Reading;
use crate::foreign::Format;
use crate::foreign::command::Tool;
use crate::foreign::nuttcp::Numbers;
use crate::foreign::nuttcp::text::{Line, OfEnd, Written};
use crate::foreign::told::{EndRow, Label, Row, Told};

impl Reading<'_> {
    pub(super) fn nuttcp(&mut self, number: usize, line: Line) {
        if self.starts_another_of_nuttcp(&line) {
            self.finish();
        }
        let open = self.open(number, Tool::Nuttcp);
        let told = &mut open.told;
        told.role = Some(Role::Client);
        match line {
            Line::Numbers(numbers, written) => {
                if written == Written::Pairs {
                    told.format = Format::NuttcpPairs;
                }
                open.ended |= numbers.shares.is_some();
                take(told, &numbers);
            }
            Line::OfEnd(end, line) => {
                of_end(told, end, line);
                open.ended = told.ends.len() > 1;
            }
            Line::Error(error) => {
                told.error.get_or_insert(error);
                open.ended = true;
            }
            Line::Note(note) => told.notes.push(format!("nuttcp says: {note}")),
            Line::Usage => {
                told.error.get_or_insert_with(|| "nuttcp does not know an option and prints how to use it".to_owned());
                open.usage = true;
            }
            Line::Ornament => {}
        }
    }

    fn starts_another_of_nuttcp(&self, line: &Line) -> bool {
        let Some(open) = &self.open else { return false };
        let tells_again = |end: End| open.told.ends.iter().any(|count| count.end == end);
        match line {
            _ if self.command.is_some() => true,
            Line::Numbers(..) => open.ended,
            Line::OfEnd(end, OfEnd::Version(_)) => open.ended && tells_again(*end),
            _ => false,
        }
    }
}

fn take(told: &mut Told, numbers: &Numbers) {
    let label = if told.asked.streams.is_none_or(|streams| streams == 1) { Label::Stream(1) } else { Label::Sum };
    let Some((sender, receiver)) = numbers.shares else {
        let start = told.rows.last().map_or(Duration::ZERO, |row| row.end);
        let end = start.saturating_add(numbers.elapsed);
        told.rows.push(row(label, start, end, numbers));
        return;
    };
    let total = row(label, Duration::ZERO, numbers.elapsed, numbers);
    told.handshake = numbers.rtt.filter(|rtt| !rtt.is_zero());
    // One number for both; this host is the sender unless the test is reversed.
    let reversed = told.asked.direction == Some(Direction::Reverse);
    let (local, peer) = if reversed { (receiver, sender) } else { (sender, receiver) };
    (told.local_cpu, told.peer_cpu) = (Some(share(local)), Some(share(peer)));
    let datagrams = told.asked.protocol == Some(Protocol::Udp) || numbers.datagrams.is_some();
    match (numbers.sent, datagrams) {
        (Some(sent), _) => {
            told.ends.push(EndRow { end: End::Sender, row: Row { bytes: sent, rate: None, ..bare(&total) } });
        }
        // The receiver of a TCP stream reads to its end, so that what it received is what was sent.
        (None, false) => told.ends.push(EndRow { end: End::Sender, row: total.clone() }),
        (None, true) => {}
    }
    told.ends.push(EndRow { end: End::Receiver, row: Row { retransmits: None, cwnd: None, ..total } });
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

fn of_end(told: &mut Told, end: End, line: OfEnd) {
    match line {
        OfEnd::Version(version) => told.version = Some(version),
        OfEnd::Shape { length, streams, udp } => {
            told.asked.length = Some(length);
            told.asked.streams = Some(streams);
            told.asked.protocol = Some(if udp { Protocol::Udp } else { Protocol::Tcp });
        }
        OfEnd::Connect { mss, rtt } => {
            told.mss = Some(mss);
            told.handshake = Some(rtt);
        }
        OfEnd::Total { bytes, elapsed, rate } => {
            let label = if told.asked.streams == Some(1) { Label::Stream(1) } else { Label::Sum };
            let mut row = Row::new(label, Duration::ZERO, elapsed, bytes);
            row.rate = Some(rate);
            told.ends.push(EndRow { end, row });
        }
        OfEnd::Retransmits(count) => {
            if let Some(total) = told.ends.iter_mut().rev().find(|count| count.end == end) {
                total.row.retransmits = Some(count);
            }
        }
        OfEnd::Datagrams(datagrams) => {
            if let Some(total) = told.ends.iter_mut().rev().find(|count| count.end == end) {
                total.row.datagrams = Some(datagrams);
            }
        }
    }
}
