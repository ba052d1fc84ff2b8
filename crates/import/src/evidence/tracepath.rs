//! `tracepath` of iputils: hops and path MTU.

use std::net::IpAddr;
use std::time::Duration;

use model::probe::hops::{Hop, HopAnswer, HopsSpec, TraceEnd};
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec};
use model::probe::{ReportKind, Subject};
use model::run::Outcome;
use units::{Mtu, WallTime};

use super::shown::{Found, Shown, command_above, trace_as_printed};
use crate::quantity::milliseconds;

/// Reads from ` 1?: [LOCALHOST]   pmtu 1500` to `Resume: pmtu 1400 hops 3 back 3`, or as far as it goes.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let interface = lines.first()?.split_once("[LOCALHOST]").and_then(|(_, rest)| pmtu(rest));
    // Over one hop there is no line of this host.
    let own = command_above(before, "tracepath").is_some() && hop(lines.first()?.trim()).is_some();
    (interface.is_some() || own).then_some(())?;
    let mut path = interface.unwrap_or(u32::MAX);
    let mut reporter = None;
    let mut hops: Vec<Hop> = Vec::new();
    let (mut reached, mut resumed, mut used) = (false, false, usize::from(interface.is_some()));
    for line in &lines[used..] {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("Resume:") {
            path = pmtu(rest).unwrap_or(path);
            (resumed, used) = (true, used + 1);
            break;
        }
        if text.starts_with("Too many hops") {
            used += 1;
            continue;
        }
        let Some(hop) = hop(text) else { break };
        used += 1;
        reached |= text.ends_with("reached") || text.contains(" reached");
        if let Some(smaller) = pmtu(text).filter(|size| *size < path) {
            path = smaller;
            reporter = hop.answers.first().and_then(|answer| answer.address);
        }
        match hops.last_mut().filter(|last| last.number == hop.number) {
            Some(last) => {
                last.sent = last.sent.saturating_add(hop.sent);
                last.answers.extend(hop.answers);
            }
            None => hops.push(hop),
        }
    }
    let target = command_above(before, "tracepath").and_then(|words| words.last().map(|word| (*word).to_owned()));
    let last = hops.last().and_then(|hop| hop.answers.first()?.address).filter(|_| reached);
    let target = target.or_else(|| last.map(|address| address.to_string())).unwrap_or_else(|| "unknown".to_owned());
    let subject = Subject { target, address: last, started: WallTime::from_unix_nanos(0) };
    let told = interface.is_some_and(|interface| path < interface).then_some(path);
    let mtu = PathMtu {
        subject: subject.clone(),
        spec: PathMtuSpec::default(),
        outcome: Outcome::Complete,
        access: None,
        interface_mtu: interface.and_then(|size| Mtu::new(size).ok()),
        path_mtu: Mtu::new(path).ok().filter(|_| resumed),
        limit: resumed.then(|| told.map_or(MtuLimit::Interface, |told| MtuLimit::Told { reporter, told: Some(told) })),
        sizes: Vec::new(),
    };
    let end = if reached { TraceEnd::Destination } else { TraceEnd::Stopped };
    let trace = trace_as_printed(subject, HopsSpec { probes: 1, ..HopsSpec::default() }, end, hops);
    Some(Found { shows: vec![Shown::PathMtu(mtu), Shown::Hops(trace)], lines: used })
}

fn pmtu(text: &str) -> Option<u32> {
    text.split_once("pmtu ")?.1.split_whitespace().next()?.parse().ok().filter(|size| (68..=65_535).contains(size))
}

/// ` 2:  core (192.0.2.9)   1.234ms asymm 3`, ` 3:  no reply`.
fn hop(text: &str) -> Option<Hop> {
    let (number, rest) = text.split_once(':')?;
    let number: u8 = number.trim_end_matches('?').parse().ok()?;
    if rest.trim() == "no reply" {
        return Some(Hop { number, sent: 1, answers: Vec::new() });
    }
    let address = rest.split_whitespace().find_map(|word| word.trim_matches(['(', ')']).parse::<IpAddr>().ok());
    let rtt: Option<Duration> = rest.split_whitespace().find_map(|word| milliseconds(word.strip_suffix("ms")?));
    let reached = rest.contains(" reached");
    let report = (!reached).then_some(ReportKind::TimeExceeded);
    Some(Hop { number, sent: 1, answers: vec![HopAnswer { address, rtt: rtt?, report }] })
}
