//! The change log for people: what they would like to read during an incident.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, Table};
use model::host::change::{ActingProcess, Actor, ChangeEntry, ChangeNote, ChangeSource, LoggedChange};
use units::WallTime;

use crate::show::{table, when};

/// The log, an entry a line; the host is told where there are several.
pub fn text(changes: &[LoggedChange]) -> String {
    let shown: Vec<&LoggedChange> = changes.iter().filter(|change| !is_echo(change, changes)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let hosts: BTreeSet<&str> = shown.iter().map(|change| change.entry.host.as_str()).collect();
    let mut table = Table::new();
    let mut header = vec!["NO", "WHEN", "WHERE", "WHAT", "CHANGE", "BY", "WHY"];
    if hosts.len() > 1 {
        header.insert(2, "HOST");
    }
    table.set_header(header);
    for change in shown {
        let entry = &change.entry;
        let mut row = vec![
            change.number.to_string(),
            time(entry),
            place(entry),
            cut(&entry.fact, WIDEST_FACT),
            values(entry),
            actor(entry),
            entry.notes.iter().map(note).collect::<Vec<_>>().join("; "),
        ];
        if hosts.len() > 1 {
            row.insert(2, entry.host.clone());
        }
        table.add_row(row);
    }
    if let Some(numbers) = table.column_mut(0) {
        numbers.set_cell_alignment(CellAlignment::Right);
    }
    table::text(table)
}

/// One entry in one line.
pub fn line(change: &LoggedChange) -> String {
    let entry = &change.entry;
    let why = entry.notes.iter().map(note).collect::<Vec<_>>().join("; ");
    let parts = [
        format!("{:>4}", change.number),
        time(entry),
        place(entry),
        entry.fact.clone(),
        values(entry),
        format!("by {}", actor(entry)),
        why,
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

/// That a watcher has begun.
pub fn began(namespaces: usize, settings: usize, knows_writers: bool) -> String {
    let namespaces = if namespaces == 1 { "1 namespace".to_owned() } else { format!("{namespaces} namespaces") };
    let writers = if knows_writers { "" } else { "; who writes to files is told to root only" };
    format!("watching {settings} settings in {namespaces}{writers}")
}

/// Whether a watcher saw what a fix had entered itself, which has the reason.
fn is_echo(change: &LoggedChange, all: &[LoggedChange]) -> bool {
    let seen = &change.entry;
    let is_that = |other: &ChangeEntry| {
        other.source == ChangeSource::Fix
            && (&other.host, &other.namespace, &other.subject) == (&seen.host, &seen.namespace, &seen.subject)
            && (&other.old, &other.new) == (&seen.old, &seen.new)
            && other.time.unix_nanos().abs_diff(seen.time.unix_nanos()) < AT_ONCE_NANOS
    };
    seen.source == ChangeSource::Watch && all.iter().any(|other| is_that(&other.entry))
}

/// `2026-11-21 10:03:12`, or `2026-11-21 09:53:12 .. 10:03:12` for a change between two times.
fn time(entry: &ChangeEntry) -> String {
    let end = when::local(entry.time);
    let Some(after) = entry.after else { return end };
    // Nothing is known of before the first reading of all.
    if after == WallTime::default() {
        return format!("until {end}");
    }
    let start = when::local(after);
    let day = |text: &str| text.split(' ').next().map(str::to_owned);
    let shown = if day(&start) == day(&end) { end.rsplit(' ').next().unwrap_or(&end) } else { &end };
    format!("{start} .. {shown}")
}

fn place(entry: &ChangeEntry) -> String {
    match (&entry.subject, &entry.namespace) {
        (Some(subject), None) => subject.clone(),
        (Some(subject), Some(namespace)) => format!("{subject} in {namespace}"),
        (None, Some(namespace)) => format!("in {namespace}"),
        (None, None) => "host".to_owned(),
    }
}

fn values(entry: &ChangeEntry) -> String {
    match (&entry.old, &entry.new) {
        (Some(old), Some(new)) => format!("{} -> {}", value(old), value(new)),
        (None, Some(new)) if is_said(entry) => value(new),
        (None, Some(new)) => format!("new: {}", value(new)),
        (Some(old), None) => format!("gone: {}", value(old)),
        (None, None) => String::new(),
    }
}

/// What is no setting has no old value: the clock, a boot, lost events.
fn is_said(entry: &ChangeEntry) -> bool {
    ["clock.", "watch.", "boot"].iter().any(|beginning| entry.fact.starts_with(beginning))
}

fn value(text: &str) -> String {
    if text.is_empty() { "(empty)".to_owned() } else { cut(text, WIDEST_VALUE) }
}

fn actor(entry: &ChangeEntry) -> String {
    match &entry.actor {
        Actor::Process(process) if entry.source == ChangeSource::Person => person(process),
        Actor::Process(process) => by_process(process),
        Actor::Unknown { reason } => format!("? ({reason})"),
    }
}

/// Whoever entered it by hand.
fn person(process: &ActingProcess) -> String {
    process.login.clone().or_else(|| process.user.clone()).unwrap_or_else(|| "?".to_owned())
}

fn by_process(process: &ActingProcess) -> String {
    let what = if process.command_line.is_empty() {
        process.program.clone().unwrap_or_else(|| "ended before it was seen".to_owned())
    } else {
        process.command_line.join(" ")
    };
    let who = match (&process.login, &process.user) {
        (Some(login), Some(user)) if login != user => format!("{login} as {user}, "),
        (Some(user), _) | (None, Some(user)) => format!("{user}, "),
        (None, None) => String::new(),
    };
    format!("{} ({who}pid {})", cut(what.trim(), WIDEST_COMMAND), process.pid)
}

fn note(note: &ChangeNote) -> String {
    note.ticket.as_ref().map_or_else(|| note.text.clone(), |ticket| format!("{} [{ticket}]", note.text))
}

/// On one line, and no longer than so many characters; what has control characters must not move the cursor.
fn cut(text: &str, most: usize) -> String {
    let clean = foreign::terminal::line(text);
    match clean.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean.into_owned(),
    }
}

const WIDEST_FACT: usize = 44;
const WIDEST_VALUE: usize = 40;
const WIDEST_COMMAND: usize = 48;

/// A watcher sees a fix within this time: ten seconds, for a machine with a lot to do.
const AT_ONCE_NANOS: u64 = 10_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(number: u64, source: ChangeSource, fact: &str) -> LoggedChange {
        let mut entry = ChangeEntry::new(WallTime::from_unix_nanos(number * 1_000_000_000), "dtn1", fact, source);
        entry.subject = Some("eth0".to_owned());
        entry.old = Some("off".to_owned());
        entry.new = Some("on".to_owned());
        LoggedChange { number, entry }
    }

    #[test]
    fn what_a_fix_entered_is_not_shown_again_as_seen() {
        let fix = logged(100, ChangeSource::Fix, "features rx-gro");
        let (echo, other) = (logged(101, ChangeSource::Watch, "feature.rx-gro"), logged(500, ChangeSource::Watch, "x"));
        let shown = text(&[fix.clone(), echo, other]);
        let numbers: Vec<_> = shown.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(numbers, ["100", "500"]);
    }

    #[test]
    fn names_of_strangers_cannot_move_the_cursor() {
        let mut change = logged(1, ChangeSource::Watch, "x");
        let command_line = vec!["\u{1b}[2Jsh".to_owned(), "a\nb".to_owned()];
        change.entry.actor = Actor::Process(ActingProcess { pid: 7, command_line, ..ActingProcess::default() });
        let line = line(&change);
        assert!(!line.contains(['\u{1b}', '\n']) && line.contains("(pid 7)"), "{line:?}");
    }
}
