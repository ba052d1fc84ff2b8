//! One line at a time. Mail programs, wikis and slides break long lines; what makes a line only together with the next
//! one is put together again.

use std::collections::VecDeque;

use units::WallTime;

use super::command_line;
use crate::foreign::iperf3::row::Columns;
use crate::foreign::iperf3::text as iperf3;
use crate::foreign::limits::{MAX_BROKEN_LINES, MAX_LINE_BYTES};
use crate::foreign::nuttcp::text as nuttcp;
use crate::foreign::stamp;

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
    pub(crate) kind: Kind<'a>,
}

/// What a line is.
pub(crate) enum Kind<'a> {
    /// Nothing.
    Blank,
    /// The start of a command, without the prompt.
    Command(&'a str),
    /// One of iperf3's.
    Iperf3(iperf3::Line),
    /// One of nuttcp's.
    Nuttcp(nuttcp::Line),
    /// Longer than any of them.
    TooLong,
    /// None of these.
    Unknown,
}

impl Kind<'_> {
    fn has_numbers(&self) -> bool {
        matches!(self, Self::Iperf3(iperf3::Line::Numbers(_)) | Self::Nuttcp(nuttcp::Line::Numbers(..)))
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
            return Some(Line { number, text, kind: Kind::TooLong });
        }
        if text.trim().is_empty() || self.tag.as_ref().is_some_and(|tag| text.trim().trim_end_matches(':') == tag) {
            return Some(Line { number, text, kind: Kind::Blank });
        }
        if let Some(command) = command_line(text) {
            return Some(Line { number, text, kind: Kind::Command(command) });
        }
        let whole = self.whole_of(text);
        let kind = whole.or_else(|| self.known(text)).unwrap_or(Kind::Unknown);
        Some(Line { number, text, kind })
    }

    /// The next line, where it is not of a tool and not a command: a broken command goes on in it.
    pub(crate) fn next_if_unknown(&mut self) -> Option<&'a str> {
        let text = self.peek(0)?;
        let ends = text.trim().is_empty()
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
            self.ahead.push_back(self.all.next()?);
        }
        self.ahead.get(distance).copied()
    }

    /// `text` with as many lines after it as make one line together, where that is not what it is alone. Only a line
    /// with numbers may be one already and still have lost its end.
    fn whole_of(&mut self, text: &str) -> Option<Kind<'a>> {
        let mut best = None;
        let mut may_go_on = self.known(text).is_none_or(|kind| kind.has_numbers());
        let mut joined = text.trim_end().to_owned();
        for more in 1..MAX_BROKEN_LINES {
            let Some(next) = self.peek(more - 1).map(str::trim) else { break };
            let alone = next.is_empty() || self.known(next).is_some() || command_line(next).is_some();
            if !may_go_on || alone || joined.len() + next.len() > MAX_LINE_BYTES {
                break;
            }
            joined.push(' ');
            joined.push_str(next);
            if let Some(kind) = self.known(&joined) {
                may_go_on = kind.has_numbers();
                best = Some((more, kind));
            }
        }
        let (more, kind) = best?;
        for _ in 0..more {
            self.take();
        }
        Some(kind)
    }

    /// What a text is, where it is a line of a tool.
    fn known(&mut self, text: &str) -> Option<Kind<'a>> {
        let (stamp, text) = match stamp::leading(text) {
            Some((time, rest)) => (Some(time), rest),
            None => (None, text),
        };
        if stamp.is_some() && text.trim().is_empty() {
            return Some(Kind::Blank);
        }
        let kind = self.kind(text).or_else(|| self.kind(text.split_once(": ")?.1));
        if kind.is_some() && stamp.is_some() {
            self.stamp = stamp;
        }
        kind
    }

    fn kind(&self, text: &str) -> Option<Kind<'a>> {
        iperf3::read(text, self.columns).map(Kind::Iperf3).or_else(|| nuttcp::read(text).map(Kind::Nuttcp))
    }
}
