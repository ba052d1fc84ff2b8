//! What an access line carried to and from a server near it, beside transfers from farther away.

use std::time::Duration;

use import::evidence::{AccessRates, AccessStreams, HostFact, LoadedLatency};
use model::measurement::Heading;
use units::DataRate;
use units::duration::show;

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, percent};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let tests: Vec<(Option<&String>, &AccessRates)> = beside
        .facts
        .iter()
        .take(MOST_FACTS)
        .filter_map(|(host, fact)| match fact {
            HostFact::Access(rates) => Some((host.as_ref(), rates)),
            _ => None,
        })
        .take(MOST)
        .collect();
    let mut all: Vec<Statement> = changed(&tests).into_iter().collect();
    all.extend(tests.iter().map(|(host, rates)| alone(named(*host), rates)));
    all.extend(tests.iter().filter_map(|(host, rates)| full_queue(named(*host), rates)));
    all.extend(one_connection(beside, &tests));
    all
}

/// RTTs that grow far while the line is full: a queue in front of it.
fn full_queue(host: &str, rates: &AccessRates) -> Option<Statement> {
    let idle = rates.rtt?;
    let grown =
        rates.loaded.iter().zip(DIRECTIONS).filter_map(|(loaded, (name, _))| Some((loaded.as_ref()?.rtt, name)));
    let (loaded, name) = grown.max_by_key(|(loaded, _)| *loaded)?;
    (loaded >= idle * LONGER && loaded.saturating_sub(idle) >= QUEUE).then(|| {
        Statement::fault(format!(
            "the RTT of {host} to {} is {} without load and {} during the {name}: {} of queue in front of the access line, which all that shares \
             the line waits in (a shaper just below the line's rate, with fq_codel or cake, keeps it short)",
            rates.server,
            show(idle),
            show(loaded),
            show(loaded.saturating_sub(idle))
        ))
    })
}

/// As of two series of echoes: five times as long, and so much that people hear it.
const LONGER: u32 = 5;
const QUEUE: Duration = Duration::from_millis(100);

/// `, while it came 11.7 ms (at most 37.0 ms)`.
fn under_load(rates: &AccessRates) -> String {
    let of = |loaded: &Option<LoadedLatency>, name: &str| {
        let loaded = (*loaded)?;
        let most = loaded.most.map_or_else(String::new, |most| format!(" (at most {})", show(most)));
        Some(format!("{}{most} during the {name}", show(loaded.rtt)))
    };
    let known = rates.loaded.iter().zip(DIRECTIONS).filter_map(|(loaded, (name, _))| of(loaded, name));
    let known: Vec<String> = known.collect();
    if known.is_empty() { String::new() } else { format!(", {}", known.join(" and ")) }
}

const MOST: usize = 6;

fn alone(host: &str, rates: &AccessRates) -> Statement {
    let shown = |what: &str, rate: Option<DataRate>| rate.map(|rate| format!("{rate} {what}"));
    let known = [shown("down", rates.download), shown("up", rates.upload)];
    let rtt = rates.rtt.map_or_else(String::new, |rtt| format!(", RTT {}", show(rtt)));
    let loaded = under_load(rates);
    let rtt = if loaded.is_empty() { rtt } else { format!("{rtt} without load{loaded}") };
    let lost = rates.lost.map(|lost| percent(f64::from(lost) / 10_000.0));
    let lost = lost.map_or_else(String::new, |lost| format!(", {lost} of packets lost"));
    let known: Vec<String> = known.into_iter().flatten().collect();
    let again = rates.retransmitted.map(|part| percent(f64::from(part) / 10_000.0));
    let lost = again.map_or(lost, |again| format!(", {again} of the download retransmitted"));
    let streams = if rates.streams == AccessStreams::One { "one connection" } else { "several connections" };
    let is_hundred = |rate: Option<DataRate>| rate.is_some_and(|rate| FAST_ETHERNET.contains(&rate.bps()));
    let lost = if is_hundred(rates.download) && is_hundred(rates.upload) {
        format!(
            "{lost}; both are what an Ethernet port of 100 Mbit/s leaves: if the line carries more, a port, a cable or a box before it has no more"
        )
    } else {
        lost
    };
    Statement::fact(format!(
        "the access line of {host}: {} with {streams} to {}{rtt}{lost}",
        known.join(" and "),
        rates.server
    ))
}

/// Payload of TCP in an Ethernet of 100 Mbit/s, as such tests measure it.
const FAST_ETHERNET: std::ops::RangeInclusive<u64> = 92_500_000..=95_500_000;

/// Two tests with one server of which a direction differs by far: the line carries the better.
fn changed(tests: &[(Option<&String>, &AccessRates)]) -> Option<Statement> {
    tests.iter().enumerate().find_map(|(at, (host, one))| {
        let same = |(_, other): &&(Option<&String>, &AccessRates)| other.server == one.server;
        tests[at + 1..].iter().filter(same).find_map(|(_, other)| {
            DIRECTIONS.into_iter().find_map(|(name, of)| {
                let (first, second) = (of(one)?, of(other)?);
                let (least, most) = (first.min(second), first.max(second));
                if least.bps().saturating_mul(TIMES) >= most.bps() {
                    return None;
                }
                let elsewhere = tests[at + 1..].iter().find(|(of, rates)| *of != *host && rates.server == one.server);
                if let Some((of, _)) = elsewhere {
                    let (slow, fast) = if first < second { (*host, *of) } else { (*of, *host) };
                    return Some(Statement::fault(format!(
                        "the {name} from {} is {least} at {} and {most} at {}: the line carries {most}, and what only the slower one passes takes it \
                         away (the virtual NIC of a guest and its offloads, a tunnel, Wi-Fi)",
                        one.server,
                        named(slow),
                        named(fast)
                    )));
                }
                Some(Statement::fault(format!(
                    "the {name} of {} from {} was {first} in one test and {second} in the next: the line carries {most}, and what was \
                     changed between the tests (a setting, an offload, other traffic) took it away",
                    named(*host),
                    one.server
                )))
            })
        })
    })
}

/// What is compared, by name.
type Direction = (&'static str, fn(&AccessRates) -> Option<DataRate>);
const DIRECTIONS: [Direction; 2] = [("download", |rates| rates.download), ("upload", |rates| rates.upload)];
/// From such a ratio on.
const TIMES: u64 = 3;

/// A single connection over a longer path that is far slower than the line.
fn one_connection(beside: &Beside<'_>, tests: &[(Option<&String>, &AccessRates)]) -> Option<Statement> {
    let several = || tests.iter().filter(|(_, rates)| rates.streams == AccessStreams::Several);
    // What a host sends is held against what its line sends.
    let line = |heading: Heading| match heading {
        Heading::Inbound => several().filter_map(|(_, rates)| rates.download).max(),
        Heading::Outbound => several().filter_map(|(_, rates)| rates.upload).max(),
    };
    let is_below = |rate: DataRate, line: DataRate| rate.bps().saturating_mul(TIMES) < line.bps();
    let tested = beside.transfers().find_map(|one| {
        let line = line(one.total.heading).filter(|line| is_below(one.total.goodput, *line))?;
        (one.run.spec.streams == 1).then_some((one.from, one.to, one.total.goodput, line))
    });
    let fetched = || {
        let down = line(Heading::Inbound)?;
        let slow = beside.downloaded().into_iter().find(|sent| is_below(sent.rate, down))?;
        Some((slow.from, slow.to, slow.rate, down))
    };
    let (from, to, rate, line) = tested.or_else(fetched)?;
    Some(Statement::fact(format!(
        "{from} to {to}: {rate} over one connection, where the access line carries {line} over several: a window, losses on the longer path or \
         the server limit it, which the RTT (`ping`) and `ss -ti` tell apart"
    )))
}
