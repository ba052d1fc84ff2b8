//! `tc -s qdisc` and `tc -s class`: what a queue lets through, and what it dropped.

use units::{ByteCount, DataRate};

use super::host_fact::{HostFact, QdiscState};
use super::shown::{Found, Shown, command_near};
use crate::quantity::decimal;

/// Reads `qdisc tbf 8001: root … rate 50Mbit …`, the lines ` Sent … (dropped …)` and ` backlog …` below, and further ones.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut all = Vec::new();
    let mut used = 0;
    let asked = command_near(before, "tc").and_then(|words| after(&words, "dev"));
    while let Some((mut qdisc, titles)) = titled(&lines[used..]).filter(|_| all.len() < MAX_QDISCS) {
        used += titles;
        let last = used + MAX_BELOW;
        while let Some(line) = lines.get(used).filter(|line| line.starts_with([' ', '\t']) && used < last) {
            counts(line.trim(), &mut qdisc);
            used += 1;
            // A mail program breaks within the brackets.
            let is_open = line.rfind('(') > line.rfind(')');
            let closes = |line: &&&str| line.split_whitespace().take(2).any(|word| word.ends_with(')'));
            used += usize::from(is_open && lines.get(used).filter(closes).is_some());
        }
        if qdisc.device.is_none() {
            qdisc.device.clone_from(&asked);
        }
        all.push(Shown::Host(HostFact::Qdisc(qdisc)));
    }
    (!all.is_empty()).then_some(Found { shows: all, lines: used })
}

/// A NIC of 128 queues has a qdisc for each.
const MAX_QDISCS: usize = 1024;
/// Lines of cake's statistics.
const MAX_BELOW: usize = 60;

/// The first line, or the first two where it was broken, and how many they are.
fn titled(lines: &[&str]) -> Option<(QdiscState, usize)> {
    let first = lines.first()?;
    let whole = head(first)?;
    let is_broken = |next: &&&str| {
        let counts = lines.get(2).is_some_and(|line| line.trim_start().starts_with("Sent "));
        !next.starts_with([' ', '\t']) && counts && head(next).is_none()
    };
    match lines.get(1).filter(is_broken) {
        Some(next) => Some((head(&format!("{first} {next}"))?, 2)),
        None => Some((whole, 1)),
    }
}

fn head(line: &str) -> Option<QdiscState> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [what, kind, handle, ..] = *words.as_slice() else { return None };
    // One that makes a network worse on purpose says so by itself, in the table of lines.
    (kind != "netem").then_some(())?;
    (matches!(what, "qdisc" | "class") && handle.contains(':')).then_some(())?;
    handle.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':').then_some(())?;
    words.iter().any(|word| matches!(*word, "root" | "parent" | "dev")).then_some(())?;
    // A class may borrow up to its ceiling; cake has the word that the kernel's page has.
    let rate = ["ceil", "rate", "maxrate", "bandwidth"].into_iter().find_map(|key| after(&words, key));
    let rate = rate.and_then(|text| rate_of(&text));
    Some(QdiscState { kind: kind.to_owned(), device: after(&words, "dev"), rate, ..QdiscState::default() })
}

fn after(words: &[&str], key: &str) -> Option<String> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).map(|word| (*word).to_owned())
}

/// `Sent 9122384411 bytes 6120388 pkt (dropped 12411, overlimits …)`, `backlog 87064b 58p requeues 0`.
fn counts(line: &str, qdisc: &mut QdiscState) {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["Sent", _, "bytes", packets, "pkt" | "pkts", "(dropped", dropped, more @ ..] => {
            (qdisc.sent, qdisc.dropped) = (packets.parse().ok(), dropped.parse().ok());
            qdisc.overlimits = match more {
                ["overlimits", count, ..] => count.parse().ok(),
                _ => None,
            };
        }
        ["backlog", bytes, ..] => qdisc.backlog = backlog(bytes),
        _ => {}
    }
}

/// `87064b`, `12Kb`: powers of two, as tc prints sizes.
fn backlog(text: &str) -> Option<ByteCount> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let size = match unit {
        "b" => 1,
        "Kb" => 1 << 10,
        "Mb" => 1 << 20,
        _ => return None,
    };
    decimal(number)?.times(size).map(ByteCount::new)
}

/// `50Mbit`: powers of ten, as tc prints rates.
fn rate_of(text: &str) -> Option<DataRate> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let bits = match unit {
        "bit" => 1,
        "Kbit" => 1_000,
        "Mbit" => 1_000_000,
        "Gbit" => 1_000_000_000,
        _ => return None,
    };
    decimal(number)?.times(bits).map(DataRate::from_bps).filter(|rate| !rate.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qdiscs(text: &str) -> Vec<QdiscState> {
        let lines: Vec<&str> = text.lines().collect();
        let shows = read(&lines, &[], &mut Vec::new()).map(|found| found.shows).unwrap_or_default();
        let each = shows.into_iter().map(|shown| match shown {
            Shown::Host(HostFact::Qdisc(qdisc)) => qdisc,
            other => panic!("{other:?}"),
        });
        each.collect()
    }

    #[test]
    fn a_queue_has_its_rate_its_drops_and_what_waits_in_it() {
        let all = qdiscs(
            "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10\n Sent 12 bytes 3 pkt (dropped 0, overlimits 0 requeues 0)\n \
             backlog 0b 0p requeues 0\nclass htb 1:10 root prio 0 rate 5Mbit ceil 20Mbit burst 1600b\n Sent 900 bytes 6 pkt \
             (dropped 77, overlimits 9 requeues 0)\n backlog 12Kb 9p requeues 0\n",
        );
        let [parent, class] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((parent.device.as_deref(), parent.rate), (Some("eth0"), None));
        assert_eq!((class.rate, class.dropped), (Some(DataRate::from_bps(20_000_000)), Some(77)));
        assert_eq!(class.backlog, Some(ByteCount::new(12_288)));
    }

    #[test]
    fn prose_about_qdiscs_is_none() {
        assert_eq!(qdiscs("qdisc fq is better: use it"), []);
        assert_eq!(qdiscs("class of 2014: hello"), []);
    }
}
