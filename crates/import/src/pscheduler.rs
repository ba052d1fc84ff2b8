//! `pscheduler task throughput` and `pscheduler result`: the rows of the tool that it ran, in columns of its own.

use std::time::Duration;

use model::measurement::End;
use model::run::Role;
use model::spec::{Direction, Protocol};
use units::{ByteCount, DataRate};

use crate::Format;
use crate::limits::MAX_TESTS;
use crate::parsed::{Datagrams, EndRow, Label, ParsedTest, Row};
use crate::quantity::{iperf3_bytes, iperf3_rate, milliseconds, seconds};
use crate::source::unquoted;

/// All such tests of a text, and the text with their lines empty; `None` where there are none.
pub(crate) fn extract(text: &str) -> (Vec<ParsedTest>, Option<String>) {
    if !text.lines().any(is_heading) {
        return (Vec::new(), None);
    }
    let mut reading = Reading::default();
    let mut rest = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        if !reading.line(number, unquoted(line)) {
            rest.push_str(line);
        }
        rest.push('\n');
    }
    reading.finish();
    (reading.tests, Some(rest))
}

/// `Interval       Throughput     Retransmits    Current Window`, `Interval       Throughput     Lost / Sent`.
fn is_heading(line: &str) -> bool {
    let mut words = unquoted(line).split_whitespace();
    words.next() == Some("Interval") && words.next() == Some("Throughput")
}

#[derive(Default)]
struct Reading {
    tests: Vec<ParsedTest>,
    /// The test that is being read.
    open: Option<ParsedTest>,
    /// What the task was asked for, as far as it was read.
    task: Option<Task>,
    stream: u32,
    block: Block,
}

/// What rows are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Block {
    #[default]
    None,
    /// One stream's intervals.
    Stream,
    /// `Summary`, before its headings and below them.
    Summary,
}

/// Words of a task's options, which may go on in indented lines.
#[derive(Debug, Clone)]
struct Task {
    words: Vec<String>,
    goes_on: bool,
}

impl Task {
    fn value(&self, names: [&str; 2]) -> Option<&str> {
        let at = self.words.iter().position(|word| names.contains(&word.as_str()))?;
        self.words.get(at + 1).map(String::as_str).filter(|value| !value.starts_with('-'))
    }

    fn has(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }
}

impl Reading {
    /// Takes a line; whether it is one of these outputs.
    fn line(&mut self, number: usize, line: &str) -> bool {
        let text = line.trim();
        if self.is_of_task(line) {
            return false;
        }
        if is_heading(line) {
            self.open(number);
            return true;
        }
        if let Some(stream) = text.trim_start_matches("* ").strip_prefix("Stream ID ") {
            if self.block == Block::Summary {
                self.finish();
            }
            (self.block, self.stream) = (Block::Stream, stream.parse().unwrap_or(0));
            return true;
        }
        if text == "Summary" {
            self.block = Block::Summary;
            return true;
        }
        if self.block == Block::None {
            return false;
        }
        let Some(printed) = Printed::of(text).filter(|_| contradiction(text).is_none()) else { return false };
        let (stream, block) = (self.stream, self.block);
        let parsed = self.open(number);
        if block == Block::Summary {
            printed.summary(parsed);
        } else {
            let row = printed.row(Label::Stream(stream));
            parsed.covered.add(&row);
            parsed.rows.push(row);
        }
        true
    }

    /// `pscheduler task throughput …` behind a prompt, or `throughput --source …` above a result, with the lines it goes on in.
    fn is_of_task(&mut self, line: &str) -> bool {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let begins = line.split_once("pscheduler task ").map(|(_, rest)| rest);
        if let Some(rest) = begins.or_else(|| line.starts_with("throughput --").then_some(line)) {
            self.finish();
            self.task = Some(Task { words: words(rest), goes_on: true });
            return true;
        }
        let Some(task) = self.task.as_mut().filter(|task| task.goes_on) else { return false };
        task.goes_on = line.starts_with("  ") && line.trim_start().starts_with('-');
        if task.goes_on {
            task.words.extend(words(line));
        }
        task.goes_on
    }

    fn open(&mut self, number: usize) -> &mut ParsedTest {
        let task = &self.task;
        self.open.get_or_insert_with(|| {
            let mut parsed = ParsedTest::new(Format::Pscheduler, number);
            parsed.role = Some(Role::Client);
            let Some(task) = task else { return parsed };
            parsed.target = task.value(["-d", "--dest"]).filter(|host| *host != "...").map(str::to_owned);
            parsed.host_name = task.value(["-s", "--source"]).map(str::to_owned);
            let reverse = task.has("--reverse");
            parsed.options.direction = Some(if reverse { Direction::Reverse } else { Direction::Forward });
            parsed.options.streams = task.value(["-P", "--parallel"]).and_then(|count| count.parse().ok());
            let is_udp = task.has("--udp") || task.has("-u");
            parsed.options.protocol = Some(if is_udp { Protocol::Udp } else { Protocol::Tcp });
            parsed
        })
    }

    fn finish(&mut self) {
        self.block = Block::None;
        self.task = None;
        let Some(mut parsed) = self.open.take() else { return };
        if (!parsed.rows.is_empty() || !parsed.ends.is_empty()) && self.tests.len() < MAX_TESTS {
            // One stream stands below the other, and what happened at one time belongs together.
            parsed.rows.sort_by_key(|row| row.start);
            self.tests.push(parsed);
        }
    }
}

/// Why a line that has the form of a summary of datagrams is none.
pub(crate) fn contradiction(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [from, "-", to, number, unit, lost, "/", sent, ..] = words.as_slice() else { return None };
    let (from, to) = (seconds(from)?, seconds(to)?);
    rate([number, unit])?;
    let (lost, sent) = (lost.parse::<u64>().ok()?, sent.parse::<u64>().ok()?);
    if lost > sent {
        return Some(format!("no more datagrams lost than sent, and not {lost} of {sent}"));
    }
    (from >= to).then(|| "an interval that is longer than nothing".to_owned())
}

/// A row in its parts: `0.0 - 1.0      9.40 Mbps      14             26.06 KBytes`.
struct Printed<'a> {
    from: Duration,
    to: Duration,
    rate: DataRate,
    /// What stands behind the rate.
    tail: Vec<&'a str>,
}

impl<'a> Printed<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [from, "-", to, number, unit, tail @ ..] = words.as_slice() else { return None };
        let (from, to) = (seconds(from)?, seconds(to)?);
        (from < to).then_some(())?;
        Some(Self { from, to, rate: rate([number, unit])?, tail: tail.to_vec() })
    }

    fn row(&self, label: Label) -> Row {
        let bits = u128::from(self.rate.bps()) * (self.to - self.from).as_millis() / 1000;
        let bytes = ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX));
        let mut row = Row::new(label, self.from, self.to, bytes);
        row.rate = Some(self.rate);
        match *self.tail.as_slice() {
            [sent, "sent"] => {
                row.datagrams = sent.parse().ok().map(|total| Datagrams { lost: None, total });
            }
            [again, window, unit, ..] if unit.ends_with("Bytes") => {
                row.retransmits = again.parse().ok();
                row.cwnd = iperf3_bytes(window, unit);
            }
            // `Not Reported` is no count.
            [again, ..] => row.retransmits = again.parse().ok(),
            [] => {}
        }
        row
    }

    /// What the sender counted, and the receiver where that is told.
    fn summary(&self, parsed: &mut ParsedTest) {
        let mut sender = self.row(Label::Sum);
        let mut receiver = Row { retransmits: None, datagrams: None, ..sender.clone() };
        match *self.tail.as_slice() {
            [lost, "/", sent, ref more @ ..] => {
                let (Ok(lost), Ok(total)) = (lost.parse(), sent.parse()) else { return };
                (sender.retransmits, sender.datagrams) = (None, Some(Datagrams { lost: None, total }));
                receiver.datagrams = Some(Datagrams { lost: Some(lost), total });
                if let ["Jitter:", jitter, "ms"] = *more {
                    receiver.jitter = milliseconds(jitter);
                }
                parsed.options.protocol = Some(Protocol::Udp);
                parsed.ends.push(EndRow { end: End::Receiver, row: receiver });
            }
            [_, number, unit] if rate([number, unit]).is_some() => {
                let arrived = Printed { rate: rate([number, unit]).unwrap_or_default(), tail: Vec::new(), ..*self };
                parsed.ends.push(EndRow { end: End::Receiver, row: arrived.row(Label::Sum) });
            }
            _ => {}
        }
        parsed.ends.push(EndRow { end: End::Sender, row: sender });
    }
}

/// `9.40 Mbps`.
fn rate([number, unit]: [&str; 2]) -> Option<DataRate> {
    iperf3_rate(number, &unit.strip_suffix("bps").map(|scale| format!("{scale}bits/sec"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_and_their_summary_are_one_test_and_what_is_not_reported_is_no_count() {
        let text = "throughput --source 192.0.2.1 --dest 192.0.2.2\n  --parallel 2 --reverse\n\n* Stream ID 8\n\
                    Interval       Throughput     Retransmits    Current Window\n\
                    0.0 - 1.0      4.00 Gbps      Not Reported   Not Reported\n\
                    1.0 - 2.0      2.00 Gbps      3              1.50 MBytes\n\n* Stream ID 9\n\
                    Interval       Throughput     Retransmits    Current Window\n\
                    0.0 - 1.0      1.00 Gbps      Not Reported   Not Reported\n\nSummary\n\
                    Interval       Throughput     Retransmits\n0.0 - 2.0      3.50 Gbps      0\n\nNo further runs.\n";
        let (tests, rest) = extract(text);
        let [parsed] = tests.as_slice() else { panic!("{} tests", tests.len()) };
        assert_eq!((parsed.target.as_deref(), parsed.options.streams), (Some("192.0.2.2"), Some(2)));
        assert_eq!(parsed.options.direction, Some(Direction::Reverse));
        let seen: Vec<_> = parsed.rows.iter().map(|row| (row.label, row.start.as_secs(), row.retransmits)).collect();
        let (eight, nine) = (Label::Stream(8), Label::Stream(9));
        assert_eq!(seen, [(eight, 0, None), (nine, 0, None), (eight, 1, Some(3))]);
        assert_eq!(parsed.ends.len(), 1);
        assert_eq!(parsed.ends[0].row.retransmits, Some(0));
        assert!(rest.unwrap().contains("No further runs") && extract("Interval Transfer\n").1.is_none());
    }

    #[test]
    fn more_datagrams_lost_than_sent_are_no_summary() {
        let line = "0.0 - 0.0      44.66 Mbps     88 / 5         Jitter: 54523.0 ms";
        assert!(contradiction(line).is_some_and(|why| why.contains("88 of 5")));
        assert_eq!(contradiction("0.0 - 1.0      90.0 Mbps      39 / 7800   Jitter: 0.0206 ms"), None);
        let text = format!(
            "Summary\nInterval       Throughput     Lost / Sent\n0.0 - 1.0      44.66 Mbps     88 / 5\n{line}\n"
        );
        let (tests, rest) = extract(&text);
        assert!(tests.is_empty() && rest.is_some_and(|rest| rest.contains("54523")));
    }

    #[test]
    fn the_summary_of_datagrams_has_what_both_ends_counted() {
        let text = "* Stream ID 5\nInterval       Throughput     Lost / Sent\n0.0 - 1.0      90.0 Mbps      7800 sent\n\
                    Summary\nInterval       Throughput     Lost / Sent\n\
                    0.0 - 1.0      90.0 Mbps      39 / 7800   Jitter: 0.0206 ms\n";
        let (tests, _) = extract(text);
        let receiver = tests[0].ends.iter().find(|count| count.end == End::Receiver).unwrap();
        assert_eq!(receiver.row.datagrams, Some(Datagrams { lost: Some(39), total: 7800 }));
        assert_eq!(tests[0].protocol(), Some(Protocol::Udp));
    }
}
