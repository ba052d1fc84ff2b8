//! A text in which outputs of tools stand one after the other, maybe with the commands between them.
//!
//! * [`lines`]: one line at a time, broken ones put together again
//! * [`iperf2`], [`iperf3`], [`nuttcp`]: what a tool's line changes in the test that is being read

mod iperf2;
mod iperf3;
mod lines;
mod nuttcp;

use super::anomaly::Anomalies;
use super::command::{Command, Tool, begins_with_tool};
use super::evidence::host_of_prompt;
use super::figures::ProseLine;
use super::iperf3::row::Columns;
use super::limits::{
    MAX_COMMAND_LINES, MAX_PROSE_CHARS, MAX_PROSE_LINES, MAX_STATED_RATES, MAX_STATED_RTTS, MAX_TESTS,
};
use super::parsed::ParsedTest;
use super::rtt::{self, StatedRtt};
use super::stated_rate::{self, StatedRate};
use super::{Format, SkippedLines};
pub(crate) use lines::is_left_out;
use lines::{LineKind, Lines};

/// All tests of a text.
pub(crate) fn read(text: &str, outside: &mut Anomalies, prose: &mut Prose) -> Vec<ParsedTest> {
    let mut reading = TranscriptReader {
        tests: Vec::new(),
        open: None,
        command: None,
        columns: Columns::default(),
        outside,
        prose,
        host: None,
    };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next(reading.tag(), reading.columns) {
        reading.line(line.number, line.text, line.kind, &mut lines);
    }
    reading.finish();
    reading.tests
}

/// What is no output, and what it says.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    pub(crate) skipped: SkippedLines,
    pub(crate) stated_rtts: Vec<StatedRtt>,
    pub(crate) stated_rates: Vec<StatedRate>,
    /// What it is.
    pub(crate) lines: Vec<ProseLine>,
}

struct TranscriptReader<'a> {
    tests: Vec<ParsedTest>,
    /// The test that is being read.
    open: Option<OpenTest>,
    /// The command for the next test.
    command: Option<(usize, Command)>,
    columns: Columns,
    outside: &'a mut Anomalies,
    prose: &'a mut Prose,
    /// The host that the last prompt names.
    host: Option<String>,
}

/// A test that is being read.
struct OpenTest {
    parsed: ParsedTest,
    tag: Option<String>,
    /// The summary has come; what comes next may be another test.
    ended: bool,
    /// `Test Complete` was printed: rows without an end are of both.
    summary: bool,
    /// The peer's own output is being copied.
    copying: bool,
    /// iperf 2's report of its server follows.
    of_peer: bool,
    /// Datagrams that iperf 2's client says it sent.
    sent: Option<u64>,
    /// How to use nuttcp is being printed.
    usage: bool,
}

impl TranscriptReader<'_> {
    /// The label that the open test, or the next one, has before each line.
    fn tag(&self) -> Option<String> {
        match (&self.command, &self.open) {
            (Some((_, command)), _) => command.tag().map(str::to_owned),
            (None, Some(open)) => open.tag.clone(),
            (None, None) => None,
        }
    }

    fn line(&mut self, number: usize, text: &str, kind: LineKind, lines: &mut Lines<'_>) {
        if let Some(open) = &mut self.open
            && open.copying
            && !matches!(kind, LineKind::Iperf3(super::iperf3::text::Line::Done))
        {
            let output = open.parsed.peer_output.get_or_insert_default();
            output.push_str(text);
            output.push('\n');
            return;
        }
        match kind {
            LineKind::Blank => {}
            LineKind::Command(start) => {
                self.host = host_of_prompt(text).or(self.host.take());
                self.command(number, start, lines, Prompt::of(text));
            }
            LineKind::Iperf3(line) if self.shared_with_iperf2(number, &line) => {}
            LineKind::Iperf3(line) => self.iperf3(number, line, lines.stamp()),
            LineKind::Iperf2(line) => self.iperf2(number, line),
            LineKind::Nuttcp(line) => self.nuttcp(number, line),
            LineKind::TooLong => self.odd(number, "a shorter line", text),
            LineKind::Unknown if self.open.as_ref().is_some_and(|open| open.usage) => {}
            LineKind::Unknown => self.unknown(number, text),
        }
    }

    /// A command, which may go on in the next lines.
    fn command(&mut self, number: usize, start: &str, lines: &mut Lines<'_>, prompt: Prompt) {
        self.finish();
        let mut parts = vec![start];
        while parts.len() < MAX_COMMAND_LINES
            && let Some(next) = lines.next_if_unknown(|next| {
                // Another command, unless a loop or a shell stands before this one's tool.
                begins_with_tool(next) && Command::parse(&parts.join(" ")).is_some()
            })
        {
            parts.push(next.trim());
        }
        if let Some(command) = Command::parse(&parts.join(" ")) {
            self.command = Some((number, command));
            return;
        }
        // Another program's, which is part of a transcript, or a heading of a page: `# Results`.
        let own = usize::from(prompt == Prompt::Shells);
        if let Some(first) = parts.first().filter(|_| own > 0) {
            self.keep(number, first);
        }
        for (number, text) in (number..).zip(parts).skip(own) {
            self.prose(number, text);
        }
    }

    /// A line that is none of a tool's: one that looks like output was damaged, and anything else is what people write
    /// around a log.
    fn unknown(&mut self, number: usize, text: &str) {
        if text.trim_start().starts_with("[ ID]") {
            // Headings that were cut: what the columns mean is not known from here on.
            self.columns = Columns::default();
            return self.odd(number, "all headings of iperf3's columns", text);
        }
        let why = super::iperf3::row::contradiction(text)
            .or_else(|| super::nuttcp::row::contradiction(text))
            .or_else(|| super::pscheduler::contradiction(text.trim()));
        match why {
            Some(expected) => self.odd(number, &expected, text),
            None if looks_like_output(text) && !is_sentence(text) => {
                self.odd(number, "a line of iperf3 or nuttcp, or the command that ran it", text);
                self.keep(number, text);
            }
            None => self.prose(number, text),
        }
    }

    fn prose(&mut self, number: usize, text: &str) {
        // Rows below what a person says may be of any host.
        let is_of_another = || text.split_whitespace().any(is_other_end);
        let is_prose = text.split_whitespace().nth(PROSE_WORDS).is_some() || is_of_another();
        if is_prose && self.open.as_ref().is_none_or(|open| open.ended) {
            self.host = None;
        }
        self.prose.skipped.add(number, text);
        self.keep(number, text);
        if self.prose.stated_rtts.len() < MAX_STATED_RTTS {
            self.prose.stated_rtts.extend(rtt::stated(number, text));
        }
        if self.prose.stated_rates.len() < MAX_STATED_RATES {
            self.prose.stated_rates.extend(stated_rate::stated(number, text));
        }
    }

    /// Keeps a line for the numbers in it.
    fn keep(&mut self, number: usize, text: &str) {
        if self.prose.lines.len() < MAX_PROSE_LINES {
            self.prose.lines.push(ProseLine { number, text: text.chars().take(MAX_PROSE_CHARS).collect() });
        }
    }

    fn odd(&mut self, number: usize, expected: &str, found: &str) {
        match &mut self.open {
            Some(open) if !open.ended => open.parsed.anomalies.add(number, expected, found),
            _ => self.outside.add(number, expected, found),
        }
    }

    /// The open test; a new one where there is none, or where it is of another tool.
    fn open(&mut self, number: usize, tool: Tool) -> &mut OpenTest {
        let is_of_another = |parsed: &ParsedTest| match tool {
            Tool::Iperf2 => !parsed.is_iperf2(),
            Tool::Iperf3 => !parsed.is_iperf3(),
            Tool::Nuttcp => parsed.is_iperf2() || parsed.is_iperf3(),
        };
        if self.open.as_ref().is_some_and(|open| is_of_another(&open.parsed)) {
            self.finish();
        }
        let command = &mut self.command;
        let columns = &mut self.columns;
        let host = &self.host;
        self.open.get_or_insert_with(|| {
            let format = match tool {
                Tool::Iperf2 => Format::Iperf2Text,
                Tool::Iperf3 => Format::Iperf3Text,
                Tool::Nuttcp => Format::NuttcpText,
            };
            let mut parsed = ParsedTest::new(format, number);
            let mut tag = None;
            // A command's host is its client, or the server that it starts.
            parsed.host_name.clone_from(host);
            *columns = Columns::default();
            if let Some((line, command)) = command.take().filter(|(_, command)| command.tool == tool) {
                command.tell(&mut parsed, line);
                tag = command.tag().map(str::to_owned);
                parsed.line = line;
            }
            OpenTest {
                parsed,
                tag,
                ended: false,
                summary: false,
                copying: false,
                of_peer: false,
                sent: None,
                usage: false,
            }
        })
    }

    /// Closes the open test.
    fn finish(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.parsed.is_iperf2() {
            super::iperf2::finish(&mut open.parsed, open.sent);
        }
        let says_something =
            !open.parsed.rows.is_empty() || !open.parsed.ends.is_empty() || open.parsed.error.is_some();
        // A server that waits has said nothing yet.
        if !says_something && open.parsed.connections.is_empty() {
            return;
        }
        if self.tests.len() >= MAX_TESTS {
            self.outside.add(open.parsed.line, format!("at most {MAX_TESTS} tests"), "one more");
        } else {
            self.tests.push(open.parsed);
        }
    }
}

/// Whether a word says that what follows is of the other end: `Server, same run:`.
fn is_other_end(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    matches!(
        word.as_str(),
        "server" | "serverside" | "server-side" | "receiver" | "empf\u{e4}nger" | "servidor" | "serveur"
    )
}

/// A heading or a remark of fewer words leaves the host.
const PROSE_WORDS: usize = 3;

/// Whether a line may be output that was damaged, rather than prose: it has an amount or a rate as tools write them, or
/// begins as a row of iperf3.
fn looks_like_output(text: &str) -> bool {
    let text = text.trim_start();
    let label = text.strip_prefix('[').map(str::trim_start);
    // A stamp of the kernel's log has a point: `[    3.118402] `.
    let begins_as_row = label
        .and_then(|label| label.split_once(']'))
        .is_some_and(|(label, _)| label.starts_with(|first: char| first.is_ascii_digit()) && !label.contains('.'));
    let numbers = text.bytes().filter(u8::is_ascii_digit).count();
    let units = ["bits/sec", "Bytes/sec", " MBytes ", " GBytes ", " KBytes ", " Mbps", " MB /", " sec ="];
    begins_as_row || (numbers > 2 && text.len() < 160 && units.iter().any(|unit| text.contains(unit)))
}

/// Whether a line has the words of a sentence: no tool's row has as many.
fn is_sentence(text: &str) -> bool {
    const WORDS: usize = 6;
    let is_word = |word: &&str| {
        let word = word.trim_end_matches([',', '.', ':', '?', '!', ')']).trim_start_matches('(');
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'\'')
    };
    !text.trim_start().starts_with('[') && text.split_whitespace().filter(is_word).count() >= WORDS
}

/// What stands before a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompt {
    /// What a shell prints.
    Shells,
    /// Nothing, or what may be something else: a `#` alone is a heading of Markdown more often than root's prompt.
    Unsure,
}

impl Prompt {
    fn of(line: &str) -> Self {
        let is_shells = line.trim_start().starts_with("$ ") || host_of_prompt(line).is_some();
        if is_shells && !looks_like_output(line) { Self::Shells } else { Self::Unsure }
    }
}
