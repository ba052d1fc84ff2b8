//! `traceroute` of Linux and BSD.

use std::net::IpAddr;

use model::probe::hops::{Hop, HopAnswer, HopsSpec, TraceEnd};
use model::probe::{ReportKind, Subject};
use units::WallTime;

use super::shown::{Found, Shown, trace_as_printed};
use crate::quantity::milliseconds;

/// Reads from `traceroute to host (192.0.2.1), 30 hops max, 60 byte packets` to the last hop.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let rest = lines.first()?.trim().strip_prefix("traceroute to ")?;
    let (target, rest) = rest.split_once(" (")?;
    let (address, rest) = rest.split_once(')')?;
    let address: IpAddr = address.parse().ok()?;
    let limit = rest.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or(30);
    let hops: Vec<Hop> = lines[1..].iter().enumerate().map_while(|(index, line)| hop(index + 1, line)).collect();
    let lines = 1 + hops.len();
    let reached = hops.iter().any(|hop| hop.answers.iter().any(|answer| answer.address == Some(address)));
    let unreachable = |answer: &HopAnswer| matches!(answer.report, Some(ReportKind::Unreachable { .. }));
    let end = if reached {
        TraceEnd::Destination
    } else if hops.last().is_some_and(|hop| hop.answers.iter().any(unreachable)) {
        TraceEnd::Unreachable
    } else if hops.len() >= usize::from(limit) {
        TraceEnd::Limit
    } else {
        TraceEnd::Stopped
    };
    let subject = Subject { target: target.to_owned(), address: Some(address), started: WallTime::from_unix_nanos(0) };
    let trace = trace_as_printed(subject, HopsSpec { limit, ..HopsSpec::default() }, end, hops);
    (!trace.hops.is_empty()).then_some(Found { shows: vec![Shown::Hops(trace)], lines })
}

/// ` 3  core (192.0.2.9)  1.2 ms  1.3 ms 192.0.2.10  1.4 ms !N`; `number` must be the next one.
fn hop(number: usize, line: &str) -> Option<Hop> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse::<u8>().ok().filter(|found| usize::from(*found) == number)?;
    let words: Vec<&str> = words.collect();
    let (mut sent, mut address, mut answers) = (0_u8, None, Vec::new());
    for (at, word) in words.iter().enumerate() {
        if *word == "*" {
            sent = sent.saturating_add(1);
        } else if let Ok(found) = word.trim_matches(['(', ')']).parse::<IpAddr>() {
            address = Some(found);
        } else if words.get(at + 1) == Some(&"ms")
            && let Some(rtt) = milliseconds(word)
        {
            sent = sent.saturating_add(1);
            answers.push(HopAnswer { address, rtt, report: Some(ReportKind::TimeExceeded) });
        } else if word.starts_with('!')
            && let Some(answer) = answers.last_mut()
        {
            answer.report = Some(ReportKind::Unreachable { code: 1 });
        }
    }
    (sent > 0).then_some(Hop { number, sent, answers })
}
