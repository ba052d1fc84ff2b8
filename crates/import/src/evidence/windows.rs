//! `tracert` of Windows.

use std::net::IpAddr;

use model::probe::hops::{Hop, HopAnswer, HopsSpec, TraceEnd};
use model::probe::{ReportKind, Subject};
use units::WallTime;

use super::shown::{Found, Shown, trace_as_printed};
use crate::quantity::milliseconds;

/// `host [192.0.2.1]`, or an address alone.
pub(super) fn subject(target: &str) -> Subject {
    let (name, address) = target.split_once(" [").unwrap_or((target, target));
    let address: Option<IpAddr> = address.trim_end_matches(']').parse().ok();
    Subject { target: name.trim().to_owned(), address, started: WallTime::from_unix_nanos(0) }
}

/// Reads from `Tracing route to host [192.0.2.1]` to the last hop.
pub(crate) fn tracert(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let subject = traced(lines.first()?.trim())?;
    let mut hops: Vec<Hop> = Vec::new();
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_HOPS) {
        let text = line.trim();
        match hop(text) {
            Some(hop) => hops.push(hop),
            None if text.is_empty()
                || text.starts_with("over a maximum")
                || (hops.is_empty() && text.contains("30")) => {}
            None if hops.len() > 1 && text.len() < LONGEST_END && text.ends_with('.') => {
                used += 1;
                break;
            }
            None => break,
        }
        used += 1;
    }
    (!hops.is_empty()).then_some(())?;
    let reached = subject.address.is_some()
        && hops.last().is_some_and(|hop| hop.answers.iter().any(|answer| answer.address == subject.address));
    let end = if reached { TraceEnd::Destination } else { TraceEnd::Stopped };
    let trace = trace_as_printed(subject, HopsSpec::default(), end, hops);
    Some(Found { shows: vec![Shown::Hops(trace)], lines: used })
}

/// What a route is traced to: `Tracing route to host [192.0.2.1]`, `A rastrear a rota para 192.0.2.1 com o máximo de 30 saltos`.
fn traced(line: &str) -> Option<Subject> {
    TITLES.iter().find_map(|(before, behind)| {
        let rest = line.strip_prefix(before)?;
        Some(subject(rest.split(behind).next()?.trim()))
    })
}

const TITLES: [(&str, &str); 8] = [
    ("Tracing route to ", " over "),
    ("Routenverfolgung zu ", " \u{fc}ber"),
    ("D\u{e9}termination de l'itin\u{e9}raire vers ", " avec "),
    ("Traza a ", " sobre "),
    ("Traza a la direcci\u{f3}n ", " sobre "),
    ("A rastrear a rota para ", " com "),
    ("Rastreando a rota para ", " com "),
    ("Traccia instradamento verso ", " su "),
];
/// `Trace complete.`, `Rastreio conclu\u{ed}do.`
const LONGEST_END: usize = 30;

/// Hops, and the lines around them.
const MAX_HOPS: usize = 300;

/// `  2    10 ms    <1 ms     *     core [192.0.2.9]`.
fn hop(line: &str) -> Option<Hop> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let words: Vec<&str> = words.collect();
    let address = words.last().and_then(|word| word.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    let mut answers = Vec::new();
    let mut sent = 0;
    for (at, word) in words.iter().enumerate() {
        if *word == "*" {
            sent += 1;
        } else if words.get(at + 1) == Some(&"ms") {
            sent += 1;
            let rtt = milliseconds(word.trim_start_matches('<'))?;
            answers.push(HopAnswer { address, rtt, report: Some(ReportKind::TimeExceeded) });
        }
    }
    (sent > 0).then_some(Hop { number, sent, answers })
}
