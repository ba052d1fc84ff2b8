//! `tc -s qdisc`.

use std::collections::BTreeMap;

use model::host::qdisc::{INGRESS, Qdisc, ROOT};

use super::Read;

/// Queueing disciplines by device, in the order of the text. `device` is the one that `tc` was asked for: it does not
/// name it then.
#[must_use]
pub fn read(text: &str, device: Option<&str>) -> Read<BTreeMap<String, Vec<Qdisc>>> {
    let mut read = Read::<BTreeMap<String, Vec<Qdisc>>>::default();
    let mut current: Option<String> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(char::is_whitespace) {
            current = match head(&words, device) {
                Some((name, qdisc)) => {
                    read.value.entry(name.clone()).or_default().push(qdisc);
                    Some(name)
                }
                None => {
                    read.note(number, "not `qdisc KIND HANDLE: dev DEVICE …`");
                    None
                }
            };
            continue;
        }
        let qdisc = current.as_ref().and_then(|name| read.value.get_mut(name)?.last_mut());
        match qdisc {
            Some(qdisc) => count(&words, &mut qdisc.counters),
            None => read.note(number, "counters of no discipline"),
        }
    }
    read
}

/// `qdisc fq 8001: dev eth0 root refcnt 2 limit 10000p …`: the kind is the second word.
fn head(words: &[&str], device: Option<&str>) -> Option<(String, Qdisc)> {
    let ["qdisc", kind, handle, rest @ ..] = words else { return None };
    let handle = handle.ends_with(':').then_some(*handle)?;
    let after = |word: &str| rest.iter().skip_while(|known| **known != word).nth(1).copied();
    let name = after("dev").or(device)?;
    let parent = match (rest.contains(&"root"), after("parent")) {
        (true, _) => ROOT.to_owned(),
        (false, Some("ffff:fff1")) => INGRESS.to_owned(),
        (false, Some(parent)) => parent.to_owned(),
        (false, None) => return None,
    };
    let qdisc = Qdisc {
        kind: (*kind).to_owned(),
        handle: handle.to_owned(),
        parent,
        options: options(rest),
        raw_options: None,
        counters: BTreeMap::new(),
        classes: Vec::new(),
    };
    Some((name.to_owned(), qdisc))
}

fn options(words: &[&str]) -> BTreeMap<String, u64> {
    let pairs = words.windows(2).filter_map(|pair| option(pair[0], pair[1]));
    pairs.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn option(name: &str, text: &str) -> Option<(&'static str, u64)> {
    let packets = text.strip_suffix('p').and_then(|count| count.parse().ok());
    match (name, packets) {
        ("limit", Some(count)) => Some(("limit_packets", count)),
        ("limit", None) => size(text).map(|bytes| ("limit_bytes", bytes)),
        ("flow_limit", Some(count)) => Some(("flow_limit_packets", count)),
        ("rate", _) => rate(text).map(|rate| ("rate_bps", rate)),
        ("maxrate", _) => rate(text).map(|rate| ("maxrate_bps", rate)),
        ("burst", _) => size(text).map(|bytes| ("burst_bytes", bytes)),
        ("quantum", _) => size(text).map(|bytes| ("quantum_bytes", bytes)),
        _ => None,
    }
}

/// As tc prints rates: `72Gbit`, `1500Kbit`; `bps` is bytes a second there (tc(8)).
fn rate(text: &str) -> Option<u64> {
    let (number, factor) = match text.strip_suffix("bit") {
        Some(number) => (number, 1),
        None => (text.strip_suffix("bps")?, 8),
    };
    scaled(number, 1_000)?.checked_mul(factor)
}

/// As tc prints sizes: `3028b`, `256Kb`, `1Mb`, each 1024 times the last.
fn size(text: &str) -> Option<u64> {
    scaled(text.strip_suffix('b').unwrap_or(text), 1_024)
}

fn scaled(text: &str, step: u64) -> Option<u64> {
    let (number, power) = match text.chars().last()? {
        'K' | 'k' => (&text[..text.len() - 1], 1),
        'M' | 'm' => (&text[..text.len() - 1], 2),
        'G' | 'g' => (&text[..text.len() - 1], 3),
        'T' | 't' => (&text[..text.len() - 1], 4),
        _ => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(step.checked_pow(power)?)
}

/// ` Sent 3180 bytes 4 pkt (dropped 6, overlimits 10 requeues 0)`, ` backlog 2000b 2p requeues 0`, and what a kind counts
/// besides, as `  gc 0 highprio 0 throttled 4`.
fn count(words: &[&str], counters: &mut BTreeMap<String, u64>) {
    match words {
        ["Sent", bytes, "bytes", packets, "pkt", ..] => {
            put(counters, "bytes", bytes);
            put(counters, "packets", packets);
        }
        ["backlog", bytes, packets, ..] => {
            counters.extend(size(bytes).map(|bytes| ("backlog_bytes".to_owned(), bytes)));
            put(counters, "backlog_packets", packets.trim_end_matches('p'));
        }
        _ => {}
    }
    for pair in words.windows(2) {
        let name = pair[0].trim_start_matches('(');
        let known = NAMES.iter().find(|(known, _)| *known == name);
        if let Some((_, name)) = known {
            put(counters, name, pair[1]);
        }
    }
}

fn put(counters: &mut BTreeMap<String, u64>, name: &str, text: &str) {
    counters.extend(text.trim_matches(['(', ')', ',']).parse().ok().map(|value| (name.to_owned(), value)));
}

/// Counters as tc calls them, and as a snapshot does.
const NAMES: [(&str, &str); 10] = [
    ("dropped", "drops"),
    ("overlimits", "overlimits"),
    ("requeues", "requeues"),
    ("highprio", "highprio_packets"),
    ("throttled", "throttled"),
    ("flows_plimit", "flows_plimit"),
    ("maxpacket", "max_packet_bytes"),
    ("drop_overlimit", "drop_overlimit"),
    ("new_flow_count", "new_flow_count"),
    ("ecn_mark", "ecn_mark"),
];
