//! One line at a time. Mail programs, wikis and slides break long lines; what makes a line only together with the next
//! one is put together again.

use std::collections::VecDeque;

use units::WallTime;

use crate::command::command_line;
use crate::iperf2::text as iperf2;
use crate::iperf3::row::Columns;
use crate::iperf3::text as iperf3;
use crate::limits::{MAX_BROKEN_LINES, MAX_LINE_BYTES};
use crate::nuttcp::{fragments, text as nuttcp};
use crate::source::{unquoted, without_remark};
use crate::stamp;

/// The lines of a text.
pub(crate) struct Lines<'a> {
    all: std::str::Lines<'a>,
    /// Those after the current one that were looked at already.
    ahead: VecDeque<&'a str>,
    /// The number of the current one.
    number: usize,
    tag: Option<String>,
    columns: Columns,
    stamp: Option<WallTime>,
}

/// A line, with what it is.
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    pub(crate) kind: LineKind<'a>,
}

/// What a line is.
pub(crate) enum LineKind<'a> {
    /// Nothing.
    Blank,
    /// The start of a command, without the prompt.
    Command(&'a str),
    /// One that only iperf 2 prints.
    Iperf2(iperf2::Line),
    /// One of iperf3's.
    Iperf3(iperf3::Line),
    /// One of nuttcp's.
    Nuttcp(nuttcp::Line),
    /// Longer than any of them.
    TooLong,
    /// None of these.
    Unknown,
}

impl LineKind<'_> {
    /// Whether the next line may belong to it: a row that names its end is complete.
    fn may_go_on(&self) -> bool {
        match self {
            Self::Iperf3(iperf3::Line::Numbers(numbers)) => numbers.end.is_none() || numbers.cut,
            Self::Nuttcp(nuttcp::Line::Numbers(..)) | Self::Iperf3(iperf3::Line::Headings(Columns::Rates)) => true,
            _ => false,
        }
    }

    /// Whether columns at its end could not be read.
    fn is_cut(&self) -> bool {
        matches!(self, Self::Iperf3(iperf3::Line::Numbers(numbers)) if numbers.cut)
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            all: text.lines(),
            ahead: VecDeque::new(),
            number: 0,
            tag: None,
            columns: Columns::default(),
            stamp: None,
        }
    }

    /// The time that the last line was stamped with.
    pub(crate) fn stamp(&self) -> Option<WallTime> {
        self.stamp
    }

    /// The next line, where each may start with `tag`, and `columns` are those of the headings above.
    pub(crate) fn next(&mut self, tag: Option<String>, columns: Columns) -> Option<Line<'a>> {
        (self.tag, self.columns) = (tag, columns);
        let text = self.take()?;
        let number = self.number;
        if text.len() > MAX_LINE_BYTES {
            return Some(Line { number, text, kind: LineKind::TooLong });
        }
        if text.trim().is_empty() || self.tag.as_ref().is_some_and(|tag| text.trim().trim_end_matches(':') == tag) {
            return Some(Line { number, text, kind: LineKind::Blank });
        }
        if let Some(command) = command_line(text) {
            return Some(Line { number, text, kind: LineKind::Command(command) });
        }
        if !may_begin(text) && !text.split_once(": ").is_some_and(|(_, rest)| may_begin(rest)) {
            return Some(Line { number, text, kind: LineKind::Unknown });
        }
        let alone = self.known(text);
        let stamp = self.stamp;
        let kind = match alone {
            // Most lines are whole, and are looked at once.
            Some(kind) if !kind.may_go_on() => kind,
            alone => {
                let whole = self.whole_of(text, alone.as_ref());
                if whole.is_none() {
                    // What was looked at behind it has stamps of its own.
                    self.stamp = stamp;
                }
                whole.or(alone).unwrap_or(LineKind::Unknown)
            }
        };
        Some(Line { number, text, kind })
    }

    /// The next line, where it is not of a tool, not a command, and not one that the command ends before: a broken command goes on in it.
    pub(crate) fn next_if_unknown(&mut self, ends_before: impl Fn(&str) -> bool) -> Option<&'a str> {
        let text = self.peek(0)?;
        let ends = text.trim().is_empty()
            || is_left_out(text)
            || fragments::is_column(text)
            || ends_before(text)
            // What the program says of itself: `bwctl: Using tool: iperf3`.
            || text.split_whitespace().next().is_some_and(|word| word.len() > 1 && word.ends_with(':'))
            || text.len() > MAX_LINE_BYTES
            || command_line(text.trim_start()).is_some_and(|_| text.contains("$ "));
        if ends || self.known(text).is_some() {
            return None;
        }
        self.take()
    }

    fn take(&mut self) -> Option<&'a str> {
        let text = self.peek(0)?;
        self.ahead.pop_front();
        self.number += 1;
        Some(text)
    }

    /// The line `distance` after the next one.
    fn peek(&mut self, distance: usize) -> Option<&'a str> {
        while self.ahead.len() <= distance {
            self.ahead.push_back(without_remark(unquoted(self.all.next()?)));
        }
        self.ahead.get(distance).copied()
    }

    /// `text` with as many lines after it as make one line together, where that is not what it is alone. Only a line
    /// with numbers may be one already and still have lost its end.
    fn whole_of(&mut self, text: &str, alone: Option<&LineKind<'a>>) -> Option<LineKind<'a>> {
        // A row is followed by the next one, most of the time: no row goes on with a label.
        if alone.is_some() && self.peek(0).is_none_or(|next| next.starts_with('[')) {
            return None;
        }
        let mut best = None;
        // What is proved of a row that two lines make and whose last columns are lost all the same.
        let mut cut = None;
        let mut may_go_on = alone.is_none_or(LineKind::may_go_on);
        let mut joined = text.trim_end().to_owned();
        for more in 1..MAX_BROKEN_LINES {
            let Some(next) = self.peek(more - 1).map(str::trim) else { break };
            if !may_go_on || next.is_empty() || joined.len() + next.len() > MAX_LINE_BYTES {
                break;
            }
            if command_line(next).is_some() || self.known(next).is_some() {
                break;
            }
            // A mail program breaks between words, a terminal's width within one.
            let within_a_word = format!("{joined}{next}");
            joined.push(' ');
            joined.push_str(next);
            let readings = [self.whole(&joined), self.whole(&within_a_word)];
            let kind = match readings {
                // Which of the two it was cannot be known, and so neither can its numbers.
                [Some(_), Some(_)] => None,
                [Some(kind), None] => Some(kind),
                [None, Some(kind)] => {
                    joined = within_a_word;
                    Some(kind)
                }
                [None, None] => self.in_order(&joined),
            };
            if kind.is_none() && cut.is_none() && alone.is_none() {
                cut = self.known(&joined).map(|kind| (more, kind));
            }
            if let Some(kind) = kind {
                may_go_on = kind.may_go_on();
                best = Some((more, kind));
            }
        }
        let (more, kind) = best.or(cut)?;
        for _ in 0..more {
            self.take();
        }
        Some(kind)
    }

    /// A line that is known and has all its columns.
    fn whole(&mut self, text: &str) -> Option<LineKind<'a>> {
        self.known(text).filter(|kind| !kind.is_cut())
    }

    /// A row of nuttcp whose columns a slide has put into lines of their own, in any order.
    fn in_order(&mut self, joined: &str) -> Option<LineKind<'a>> {
        fragments::in_order(joined).and_then(|row| self.whole(&row))
    }

    /// What a text is, where it is a line of a tool.
    fn known(&mut self, text: &str) -> Option<LineKind<'a>> {
        let (stamp, text) = match stamp::leading(text) {
            Some((time, rest)) => (Some(time), rest),
            None => (None, text),
        };
        if stamp.is_some() && text.trim().is_empty() {
            return Some(LineKind::Blank);
        }
        let kind = self
            .kind(text)
            .or_else(|| self.kind(text.split_once(": ")?.1))
            .or_else(|| self.kind(stamp::before_bracket(text)?));
        if kind.is_some() && stamp.is_some() {
            self.stamp = stamp;
        }
        kind
    }

    fn kind(&self, text: &str) -> Option<LineKind<'a>> {
        iperf2::read(text)
            .map(LineKind::Iperf2)
            .or_else(|| iperf3::read(text, self.columns).map(LineKind::Iperf3))
            .or_else(|| nuttcp::read(text).map(LineKind::Nuttcp))
    }
}

/// `...`, `[...]`, `[...snip, all the same...]`: where a person has left lines out.
pub(crate) fn is_left_out(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['[', '(', '<']);
    let is_short = || text.len() < 60 && text.ends_with([']', ')', '>']);
    text.starts_with("...") || text.starts_with('\u{2026}') || (text.starts_with("snip") && is_short())
}

/// Whether a line of a tool, or the first part of a broken one, may begin so: most lines of prose do not, and are looked at no
/// further.
fn may_begin(text: &str) -> bool {
    let text = text.trim_start();
    match text.as_bytes().first() {
        None | Some(b'0'..=b'9' | b'[' | b'-') => true,
        Some(_) => {
            let word = text.split([' ', '\t']).next().unwrap_or(text);
            iperf2::begins_with(word)
                || iperf3::begins_with(word)
                || nuttcp::begins_with(word)
                || stamp::is_day(word)
                || stamp::before_bracket(text).is_some()
        }
    }
}
