//! What a line of iperf3 changes.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::run::Role;
use model::spec::{Direction, Protocol};
use units::WallTime;

use super::Reading;
use crate::foreign::command::Tool;
use crate::foreign::iperf3::row::{Columns, Numbers};
use crate::foreign::iperf3::text::Line;
use crate::foreign::told::{Datagrams, EndRow, Label, Row};

impl Reading<'_> {
    pub(super) fn iperf3(&mut self, number: usize, line: Line, stamp: Option<WallTime>) {
        if self.starts_another(&line) {
            self.finish();
        }
        if let Line::Headings(columns) = &line {
            // Opens the test first: opening sets the columns.
            let told = &mut self.open(number, Tool::Iperf3).told;
            // A receiver of datagrams has `Jitter`, so that the lack of both words means a stream.
            told.asked.protocol = Some(if *columns == Columns::Datagrams {
                Protocol::Udp
            } else {
                told.asked.protocol.unwrap_or(Protocol::Tcp)
            });
            self.columns = *columns;
            return;
        }
        if matches!(line, Line::Listening | Line::Ornament) && self.open.is_none() {
            return;
        }
        let open = self.open(number, Tool::Iperf3);
        let told = &mut open.told;
        match line {
            Line::Version(version) => told.version = Some(version),
            Line::System { host, kernel } => (told.host_name, told.kernel) = (Some(host), Some(kernel)),
            Line::Time(time) => told.started = Some(time),
            Line::Calling(host) => (told.target, told.role) = (Some(host), Some(Role::Client)),
            Line::Called(host) => (told.target, told.role) = (Some(host), Some(Role::Server)),
            Line::Reverse => told.asked.direction = Some(Direction::Reverse),
            Line::Connected(connection) => told.connections.push(connection),
            Line::Starting(starting) => {
                told.asked.protocol = Some(starting.protocol);
                told.asked.streams = Some(starting.streams);
                told.asked.length = Some(starting.length);
                told.asked.omit = Some(starting.omit);
                told.asked.limit = starting.limit.or(told.asked.limit);
            }
            Line::Mss(mss) => told.mss = Some(mss),
            Line::Numbers(numbers) => {
                if told.started.is_none()
                    && let Some(stamp) = stamp
                {
                    told.started = Some(before(stamp, numbers.row.end));
                    told.notes.push("times of day are printed without a zone and taken as UTC".to_owned());
                }
                open.ended |= numbers.end.is_some();
                take(&mut open.told, *numbers);
            }
            Line::Sent { datagrams } => sent(&mut open.told, datagrams),
            Line::OutOfOrder { label: Label::Sum, .. } => {}
            Line::OutOfOrder { datagrams, .. } => {
                told.reordered = Some(told.reordered.unwrap_or(0).saturating_add(datagrams));
            }
            Line::Cpu { local, remote } => {
                told.local_cpu = Some(local);
                told.peer_cpu = Some(remote).filter(|cpu| *cpu != model::measurement::CpuUse::default());
            }
            Line::CongestionControl(name) => told.congestion_control = Some(name),
            Line::ServerOutput => open.copying = true,
            Line::Error(error) => {
                // The first is the cause.
                told.error.get_or_insert(error);
                open.ended = true;
            }
            Line::Warning(warning) => told.notes.push(format!("iperf3 warns: {warning}")),
            Line::Done => (open.copying, open.ended) = (false, true),
            Line::Listening | Line::Headings(_) | Line::Ornament => {}
        }
    }

    /// Whether the line belongs to the next test.
    fn starts_another(&self, line: &Line) -> bool {
        let Some(open) = &self.open else { return false };
        if self.command.is_some() && !open.copying {
            return true;
        }
        match line {
            Line::Listening | Line::Called(_) => !open.told.rows.is_empty() || open.told.error.is_some(),
            Line::Calling(_) | Line::Version(_) => open.ended || !open.told.rows.is_empty(),
            // Without a greeting: the clock starts again.
            Line::Numbers(numbers) => {
                open.ended && numbers.end.is_none() && numbers.row.start.is_zero() && self.has_ended_at(numbers)
            }
            _ => false,
        }
    }

    /// Whether the summary of the row's stream has come already, or the row is too short to be one.
    fn has_ended_at(&self, numbers: &Numbers) -> bool {
        let Some(open) = &self.open else { return false };
        let last = open.told.rows.iter().map(|row| row.end).max().unwrap_or(Duration::ZERO);
        numbers.row.end < last
    }
}

fn before(stamp: WallTime, time: Duration) -> WallTime {
    let nanos = units::duration::nanos(time);
    WallTime::from_unix_nanos(stamp.unix_nanos().saturating_sub(nanos))
}

fn take(told: &mut crate::foreign::told::Told, numbers: Numbers) {
    let Numbers { mut row, end } = numbers;
    // A server prints TX-S and RX-S, a client TX-C and RX-C: both say what the printing host does.
    match end {
        Some(end) => {
            // UDP's sender does not know what was lost, and its zeros are no count.
            if end == End::Sender
                && let Some(datagrams) = &mut row.datagrams
            {
                datagrams.lost = None;
                row.jitter = None;
            }
            told.ends.push(EndRow { end, row });
        }
        None if is_summary_of_both(told, &row) => told.ends.extend(row.both_ends()),
        None => told.rows.push(row),
    }
}

/// Up to 3.1 the summary of UDP is one line for both ends, told by its span.
fn is_summary_of_both(told: &crate::foreign::told::Told, row: &Row) -> bool {
    let spans = told.rows.iter().filter(|earlier| earlier.label == row.label);
    let last = spans.clone().map(|earlier| earlier.end).max();
    row.start.is_zero()
        && row.jitter.is_some()
        && spans.count() > 0
        && last.is_some_and(|last| row.end >= last)
        && told.heading(row) == Heading::Outbound
}

/// How many datagrams the sender says it sent.
fn sent(told: &mut crate::foreign::told::Told, datagrams: u64) {
    if let Some(count) = told.ends.iter_mut().rev().find(|count| count.end == End::Sender) {
        count.row.datagrams = Some(Datagrams { lost: None, total: datagrams });
    }
}
