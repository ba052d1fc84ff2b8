//! What a line of iperf3 changes.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::run::Role;
use model::spec::{Direction, Protocol};
use units::{ByteCount, WallTime};

use super::TranscriptReader;
use crate::command::Tool;
use crate::iperf3::row::{Columns, Numbers};
use crate::iperf3::text::{Line, Starting};
use crate::parsed::{Datagrams, EndRow, Label, ParsedTest, Row};

impl TranscriptReader<'_> {
    pub(super) fn iperf3(&mut self, number: usize, line: Line, stamp: Option<WallTime>) {
        if self.starts_another(&line) {
            self.finish();
        }
        if let Line::Headings(columns) = line {
            return self.headings(number, columns);
        }
        if matches!(line, Line::Listening | Line::Ornament) && self.open.is_none() {
            return;
        }
        let open = self.open(number, Tool::Iperf3);
        let parsed = &mut open.parsed;
        match line {
            Line::Version(version) => parsed.version = Some(version),
            // Prose below a test may begin so.
            Line::System { .. } if !parsed.rows.is_empty() || !parsed.ends.is_empty() => {}
            Line::System { host, kernel } => (parsed.host_name, parsed.kernel) = (Some(host), Some(kernel)),
            Line::Time(time) => parsed.started = Some(time),
            Line::Calling(host) => (parsed.target, parsed.role) = (Some(host), Some(Role::Client)),
            Line::Called(host) => (parsed.target, parsed.role) = (Some(host), Some(Role::Server)),
            Line::Reverse => parsed.options.direction = Some(Direction::Reverse),
            Line::Connected(connection) => parsed.connections.push(connection),
            Line::Starting(starting) => starts(parsed, &starting),
            Line::Mss(mss) => parsed.mss = Some(mss),
            Line::TcpInfo { mss, rtt } => {
                parsed.mss = Some(mss);
                if let Some(row) = parsed.rows.last_mut() {
                    row.rtt = Some(rtt);
                }
            }
            Line::Numbers(numbers) => {
                if parsed.started.is_none()
                    && let Some(stamp) = stamp
                {
                    parsed.started = Some(before(stamp, numbers.row.end));
                    parsed.notes.push("times of day are printed without a zone and taken as UTC".to_owned());
                }
                // Of a summary whose lines were cut nothing says whose end a row is.
                open.ended |= numbers.end.is_some() || is_of_whole(parsed, &numbers);
                let is_whole = numbers.end.is_none() && numbers.row.jitter.is_some() && !numbers.cut;
                if is_whole && (open.summary || is_lone_summary(parsed)) {
                    // Up to 3.1 the summary of UDP is one line for both ends.
                    open.ended = true;
                    parsed.ends.extend(numbers.row.both_ends());
                } else {
                    take(parsed, number, *numbers);
                }
            }
            Line::Summary => open.summary = true,
            Line::Sent { datagrams } => sent(&mut open.parsed, datagrams),
            // The only one of a test with one stream.
            Line::OutOfOrder { label: Label::Sum, datagrams } => {
                parsed.reordered.get_or_insert(datagrams);
            }
            Line::OutOfOrder { datagrams, .. } => {
                parsed.reordered = Some(parsed.reordered.unwrap_or(0).saturating_add(datagrams));
            }
            Line::Cpu { local, remote } => {
                parsed.local_cpu = Some(local);
                parsed.peer_cpu = Some(remote).filter(|cpu| *cpu != model::measurement::CpuUse::default());
            }
            Line::CongestionControl(name) => parsed.congestion_control = Some(name),
            Line::ServerOutput => open.copying = true,
            Line::Error(error) => {
                // The first is the cause.
                parsed.error.get_or_insert(error);
                open.ended = true;
            }
            Line::Warning(warning) => parsed.notes.push(format!("iperf3 warns: {warning}")),
            Line::Done => {
                (open.copying, open.ended) = (false, true);
                open.parsed.done = true;
            }
            Line::Listening | Line::Headings(_) | Line::Ornament => {}
        }
    }

    /// The columns of the rows to come, and the protocol that they are of.
    fn headings(&mut self, number: usize, columns: Columns) {
        // Opens the test first: opening sets the columns.
        let options = &mut self.open(number, Tool::Iperf3).parsed.options;
        // A receiver of datagrams has `Jitter`, so that the lack of both words means a stream.
        options.protocol = match columns {
            Columns::Datagrams => Some(Protocol::Udp),
            Columns::Segments | Columns::Windows | Columns::Rates => options.protocol.or(Some(Protocol::Tcp)),
            Columns::DatagramsAndMore => Some(Protocol::Udp),
            Columns::Enhanced | Columns::Ignored | Columns::Unknown => options.protocol,
        };
        self.columns = columns;
    }

    /// Whether the line belongs to the next test.
    fn starts_another(&self, line: &Line) -> bool {
        let Some(open) = &self.open else { return false };
        if self.command.is_some() && !open.copying {
            return true;
        }
        match line {
            Line::Listening | Line::Called(_) => !open.parsed.rows.is_empty() || open.parsed.error.is_some(),
            // What a key has ended says so on standard error, which a file may have before the test.
            Line::Calling(_) if open.parsed.is_only_an_interrupt() => false,
            Line::Calling(_) | Line::Version(_) => open.ended || !open.parsed.rows.is_empty(),
            Line::Summary => open.summary,
            // Without a greeting: a table of its own behind the sums of another.
            Line::Headings(_) => open.ended && open.parsed.error.is_none() && !open.copying,
            // Without a greeting: the clock starts again, or the summary of a stream comes once more with other numbers.
            Line::Numbers(numbers) => match numbers.end {
                Some(end) => !open.copying && has_another(&open.parsed, end, numbers),
                None => open.ended && numbers.row.start.is_zero() && self.has_ended_at(numbers),
            },
            _ => false,
        }
    }

    /// Whether the summary of the row's stream has come already, or the row is too short to be one.
    fn has_ended_at(&self, numbers: &Numbers) -> bool {
        let Some(open) = &self.open else { return false };
        let is_behind_lone =
            open.parsed.rows.is_empty() && !open.parsed.ends.is_empty() && numbers.row.jitter.is_some();
        numbers.row.end < open.parsed.covered.latest || is_behind_lone && !open.summary
    }
}

/// Whether a test has another summary of the same end of the same stream already.
fn has_another(parsed: &ParsedTest, end: End, numbers: &Numbers) -> bool {
    let row = &numbers.row;
    let is_same = |count: &&EndRow| {
        count.end == end
            && count.row.label == row.label
            && count.row.heading == row.heading
            && count.row.bytes > ByteCount::ZERO
    };
    let differs = |count: &EndRow| (count.row.bytes, count.row.end) != (row.bytes, row.end);
    parsed.ends.iter().filter(is_same).any(differs)
}

/// Whether a row with what was lost is the summary alone of a client that sends datagrams, which prints no jitter in its intervals.
fn is_lone_summary(parsed: &ParsedTest) -> bool {
    let is_client = parsed.target.is_some() && !parsed.command.is_empty();
    let sends = matches!(parsed.options.direction, None | Some(Direction::Forward));
    is_client && sends && parsed.rows.is_empty() && parsed.ends.is_empty()
}

/// Whether the sender's summary of a row's stream was printed, and not the receiver's.
fn has_only_sender(parsed: &ParsedTest, row: &Row) -> bool {
    let of = |end: End| {
        parsed
            .ends
            .iter()
            .any(|count| count.end == end && count.row.label == row.label && count.row.heading == row.heading)
    };
    of(End::Sender) && !of(End::Receiver)
}

/// Whether a row is of the time of several above it.
fn is_of_whole(parsed: &ParsedTest, numbers: &Numbers) -> bool {
    let row = &numbers.row;
    let last = parsed.rows.last().map(|last| last.end.saturating_sub(last.start));
    row.start.is_zero() && parsed.covered.are_within(row) && last.is_some_and(|last| row.end > last * 3 / 2)
}

fn before(stamp: WallTime, time: Duration) -> WallTime {
    let nanos = units::duration::nanos(time);
    WallTime::from_unix_nanos(stamp.unix_nanos().saturating_sub(nanos))
}

fn take(parsed: &mut ParsedTest, line: usize, numbers: Numbers) {
    let Numbers { mut row, end, cut, .. } = numbers;
    if cut {
        parsed.anomalies.add(line, "the columns after the rate", "a line that ends in between");
    }
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
            parsed.ends.push(EndRow { end, row });
        }
        None if parsed.covered.repeats(&row) => {
            parsed.anomalies.add(line, "an interval that was not printed before", "one within those above");
        }
        None if !row.start.is_zero() || !parsed.covered.are_within(&row) => {
            parsed.covered.add(&row);
            parsed.rows.push(row);
        }
        // The other end of a sender's summary, whose last word was cut.
        None if row.jitter.is_some() && has_only_sender(parsed, &row) => {
            parsed.ends.push(EndRow { end: End::Receiver, row });
        }
        // Up to 3.1 the summary of UDP is one line for both ends.
        None if row.jitter.is_some() && parsed.heading(&row) == Heading::Outbound => {
            parsed.ends.extend(row.both_ends());
        }
        // As an interval it would be counted twice.
        None => parsed.anomalies.add(line, "`sender` or `receiver` at the end of a summary", "a line that ends before"),
    }
}

/// What an iperf3 that is asked for more says of the test that starts.
fn starts(parsed: &mut ParsedTest, starting: &Starting) {
    let options = &mut parsed.options;
    options.protocol = Some(starting.protocol);
    options.streams = Some(starting.streams);
    options.length = Some(starting.length);
    options.omit = Some(starting.omit);
    options.limit = starting.limit.or(options.limit);
}

/// How many datagrams the sender says it sent.
fn sent(parsed: &mut crate::parsed::ParsedTest, datagrams: u64) {
    if let Some(count) = parsed.ends.iter_mut().rev().find(|count| count.end == End::Sender) {
        count.row.datagrams = Some(Datagrams { lost: None, total: datagrams });
    }
}
