//! Ports of routers that counted bad frames since their counters began.

use import::evidence::{HostFact, PortErrors};

use super::beside::{Beside, MOST_FACTS, Transfer, named};
use super::statement::{Statement, percent, ratio};

/// All of the facts, those with most errors first.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let ports = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Port(port) => Some((host.as_ref(), port)),
        _ => None,
    });
    let mut ports: Vec<(Option<&String>, &PortErrors)> = ports.collect();
    let between = between(beside, &ports);
    if !between.is_empty() {
        return between;
    }
    ports.sort_by_key(|(_, port)| std::cmp::Reverse(port.errors));
    let most = ports.first().map_or(0, |(_, port)| port.errors);
    // Ports beside one with a thousand times as many are well.
    let counted = ports.into_iter().filter(|(_, port)| port.errors.saturating_mul(BESIDE) >= most);
    counted.take(MOST).map(|(host, port)| of_port(beside, host, port)).collect()
}

/// What a port counted between two readings of it.
fn between(beside: &Beside<'_>, ports: &[(Option<&String>, &PortErrors)]) -> Vec<Statement> {
    let mut all = Vec::new();
    for (number, (host, first)) in ports.iter().enumerate() {
        let again = ports[number + 1..].iter().find(|(of, port)| of == host && port.port == first.port);
        let Some((_, second)) = again else { continue };
        let (Some(bad), Some(packets)) = (
            second.errors.checked_sub(first.errors).filter(|bad| *bad > 0),
            second.packets.zip(first.packets).and_then(|(now, then)| now.checked_sub(then)),
        ) else {
            continue;
        };
        let all_packets = packets.saturating_add(bad);
        let part = ratio([bad, all_packets]);
        let kind = second.kinds.first();
        let so =
            kind.and_then(|kind| MEANINGS.iter().find(|(part, _)| kind.kind.contains(part))).map_or("", |(_, so)| so);
        let named_kind = kind.map_or_else(String::new, |kind| format!(", most of them {}", kind.kind));
        let same = retransmitted_as_often(beside, part).unwrap_or_default();
        let says = format!(
            "{} of {} counted {bad} bad packets of {all_packets} that came in between two readings ({}){named_kind}{so}{same}",
            first.port,
            named(*host),
            percent(part)
        );
        let is_much = bad >= FEW && part * MUCH_OF >= 1.0;
        all.push(if is_much { Statement::fault(says) } else { Statement::fact(says) });
        if all.len() >= MOST {
            break;
        }
    }
    all
}

/// A stream that retransmits the part that a port finds damaged.
fn retransmitted_as_often(beside: &Beside<'_>, part: f64) -> Option<String> {
    beside.transfers().find_map(|Transfer { run, total, from, to }| {
        let again = total.retransmits.filter(|again| again.get() >= FEW_AGAIN)?.get();
        let segments = total.sent.or(total.received)?.get() / u64::from(run.declared.mss.unwrap_or(1448)).max(1);
        let lost = ratio([again, segments]);
        (part > 0.0 && (0.6..=1.67).contains(&(lost / part))).then(|| {
            format!(
                "; it is the part of the segments from {from} to {to} that is retransmitted ({again} of about {segments}, {}), so that they are lost \
                 there",
                percent(lost)
            )
        })
    })
}

/// Fewer are a part that may be any.
const FEW_AGAIN: u64 = 10;
/// One packet of so many.
const MUCH_OF: f64 = 10_000.0;

/// A chassis has a thousand ports.
const MOST: usize = 8;
const BESIDE: u64 = 1_000;

fn of_port(beside: &Beside<'_>, host: Option<&String>, port: &PortErrors) -> Statement {
    let PortErrors { port: name, errors, kinds, packets } = port;
    let of = packets.map_or_else(String::new, |packets| {
        let all = packets.saturating_add(*errors);
        format!(" of {all} packets ({})", percent(ratio([*errors, all])))
    });
    let most = kinds.first().filter(|kind| kind.count.saturating_mul(2) >= *errors);
    let kind = most.map_or_else(String::new, |kind| format!(", {} of them {}", kind.count, kind.kind));
    let so = most.and_then(|kind| MEANINGS.iter().find(|(part, _)| kind.kind.contains(part))).map_or("", |(_, so)| so);
    let all = packets.map(|packets| packets.saturating_add(*errors));
    let same = all.and_then(|all| lost_as_often(beside, [*errors, all])).unwrap_or_default();
    let says = format!(
        "{name} of {} counted {errors} bad packets that came in{of} since its counters began{kind}{so}{same}",
        named(host)
    );
    let is_much = match packets {
        Some(packets) => errors.saturating_mul(MUCH) >= *packets && *errors >= FEW,
        None => *errors >= MANY,
    };
    if is_much { Statement::fault(says) } else { Statement::fact(says) }
}

/// Datagrams of which the same part was lost: what a port counts is what is missing there.
fn lost_as_often(beside: &Beside<'_>, [errors, packets]: [u64; 2]) -> Option<String> {
    let part = ratio([errors, packets]);
    beside.transfers().find_map(|Transfer { total, from, to, .. }| {
        let counts = total.datagrams.filter(|counts| counts.lost.get() >= FEW_LOST)?;
        let lost = ratio([counts.lost.get(), counts.sent.get()]);
        let is_same = part > 0.0 && (0.75..=1.33).contains(&(lost / part));
        is_same.then(|| {
            format!(
                "; it is the part of the datagrams from {from} to {to} that was lost ({} of {}, {}), so that they are lost there",
                counts.lost,
                counts.sent,
                percent(lost)
            )
        })
    })
}

/// Fewer are lost in a part that may be any.
const FEW_LOST: u64 = 30;

/// What kinds of bad frames mean (Junos, `show interfaces extensive`, field descriptions).
const MEANINGS: [(&str, &str); 6] = [
    (
        "L3 incompletes",
        ": whole frames whose IP header is wrong (version, length, checksum): some device sends bad packets, and no cable or optics is at fault",
    ),
    ("Framing errors", ": frames arrived damaged: cable, optics or port"),
    ("Resource errors", ": the port's own memory was full: more comes in than the box takes"),
    ("FIFO errors", ": the port's own memory was full: more comes in than the box takes"),
    ("Policed discards", ": packets of protocols that the router does not speak"),
    ("Drops", ": the input queue was full"),
];

/// One packet of so many.
const MUCH: u64 = 10_000;
const FEW: u64 = 100;
/// Where nobody knows of how many.
const MANY: u64 = 10_000;
