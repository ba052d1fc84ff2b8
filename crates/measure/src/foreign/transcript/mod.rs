//! A text in which outputs of tools stand one after the other, maybe with the commands between them.
//!
//! * [`lines`]: one line at a time, broken ones put together again
//! * [`iperf3`], [`nuttcp`]: what a tool's line changes in the test that is being read

mod iperf3;
mod lines;
mod nuttcp;

use super::Format;
use super::anomaly::Anomalies;
use super::command::{Command, Tool, after_prompt};
use super::iperf3::row::Columns;
use super::limits::{MAX_COMMAND_LINES, MAX_TESTS};
use super::told::Told;
use lines::{Kind, Lines};

/// All tests of a text.
pub(crate) fn read(text: &str, outside: &mut Anomalies) -> Vec<Told> {
    let mut reading = Reading { tests: Vec::new(), open: None, command: None, columns: Columns::default(), outside };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next(reading.tag(), reading.columns) {
        reading.line(line.number, line.text, line.kind, &mut lines);
    }
    reading.finish();
    reading.tests
}

struct Reading<'a> {
    tests: Vec<Told>,
    /// The test that is being read.
    open: Option<Open>,
    /// The command for the next test.
    command: Option<(usize, Command)>,
    columns: Columns,
    outside: &'a mut Anomalies,
}

/// A test that is being read.
struct Open {
    told: Told,
    tag: Option<String>,
    /// The summary has come; what comes next may be another test.
    ended: bool,
    /// The peer's own output is being copied.
    copying: bool,
    /// How to use nuttcp is being told.
    usage: bool,
}

impl Reading<'_> {
    /// The label that the open test, or the next one, has before each line.
    fn tag(&self) -> Option<String> {
        match (&self.command, &self.open) {
            (Some((_, command)), _) => command.tag().map(str::to_owned),
            (None, Some(open)) => open.tag.clone(),
            (None, None) => None,
        }
    }

    fn line(&mut self, number: usize, text: &str, kind: Kind, lines: &mut Lines<'_>) {
        if let Some(open) = &mut self.open
            && open.copying
            && !matches!(kind, Kind::Iperf3(super::iperf3::text::Line::Done))
        {
            let output = open.told.peer_output.get_or_insert_default();
            output.push_str(text);
            output.push('\n');
            return;
        }
        match kind {
            Kind::Blank => {}
            Kind::Command(start) => self.command(number, start, lines),
            Kind::Iperf3(line) => self.iperf3(number, line, lines.stamp()),
            Kind::Nuttcp(line) => self.nuttcp(number, line),
            Kind::TooLong => self.odd(number, "a shorter line", text),
            Kind::Unknown if self.open.as_ref().is_some_and(|open| open.usage) => {}
            Kind::Unknown => self.odd(number, "a line of iperf3 or nuttcp, or the command that ran it", text),
        }
    }

    /// A command, which may go on in the next lines.
    fn command(&mut self, number: usize, start: &str, lines: &mut Lines<'_>) {
        self.finish();
        let mut text = start.to_owned();
        for _ in 1..MAX_COMMAND_LINES {
            let Some(more) = lines.next_if_unknown() else { break };
            text.push(' ');
            text.push_str(more.trim());
        }
        match Command::parse(&text) {
            Some(command) => self.command = Some((number, command)),
            None => self.outside.add(number, "a command that runs iperf3 or nuttcp", &text),
        }
    }

    fn odd(&mut self, number: usize, expected: &str, found: &str) {
        match &mut self.open {
            Some(open) if !open.ended => open.told.anomalies.add(number, expected, found),
            _ => self.outside.add(number, expected, found),
        }
    }

    /// The open test; a new one where there is none, or where it is of another tool.
    fn open(&mut self, number: usize, tool: Tool) -> &mut Open {
        let is_iperf3 = tool == Tool::Iperf3;
        if self.open.as_ref().is_some_and(|open| open.told.is_iperf3() != is_iperf3) {
            self.finish();
        }
        let command = &mut self.command;
        let columns = &mut self.columns;
        self.open.get_or_insert_with(|| {
            let format = if is_iperf3 { Format::Iperf3Text } else { Format::NuttcpText };
            let mut told = Told::new(format, number);
            let mut tag = None;
            *columns = Columns::default();
            if let Some((line, command)) = command.take().filter(|(_, command)| command.tool == tool) {
                command.tell(&mut told, line);
                tag = command.tag().map(str::to_owned);
                told.line = line;
            }
            Open { told, tag, ended: false, copying: false, usage: false }
        })
    }

    /// Closes the open test.
    fn finish(&mut self) {
        let Some(open) = self.open.take() else { return };
        let says_something = !open.told.rows.is_empty() || !open.told.ends.is_empty() || open.told.error.is_some();
        // A server that waits has said nothing yet.
        if !says_something && open.told.connections.is_empty() {
            return;
        }
        if self.tests.len() >= MAX_TESTS {
            self.outside.add(open.told.line, format!("at most {MAX_TESTS} tests"), "one more");
        } else {
            self.tests.push(open.told);
        }
    }
}

/// What follows a prompt, or a line that starts with a tool's name.
fn command_line(line: &str) -> Option<&str> {
    let bare = line.starts_with("iperf3 ") || line.starts_with("nuttcp ");
    after_prompt(line).or_else(|| bare.then_some(line.trim()))
}
