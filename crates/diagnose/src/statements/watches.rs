//! What was watched: bursts of a device, queues of switches, drops of a host.

use std::time::Duration;

use import::evidence::{DeviceBursts, DropsOfBurst, HostDrops, HostFact, SwitchQueue};
use model::measurement::Heading;
use units::duration::show;

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, percent, ratio};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut queues: Vec<&SwitchQueue> = Vec::new();
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        match fact {
            HostFact::Bursts(one) => all.push(of_bursts(named(host.as_ref()), one)),
            HostFact::DropsOfBurst(one) => all.push(of_drops(named(host.as_ref()), one)),
            HostFact::SwitchQueue(one) => queues.push(one),
            HostFact::Dropped(one) => all.extend(of_host(one)),
            _ => {}
        }
    }
    all.extend(of_queues(queues));
    all
}

fn of_bursts(host: &str, one: &DeviceBursts) -> Statement {
    let way = match one.heading {
        Heading::Outbound => "sent",
        Heading::Inbound => "received",
    };
    let part = percent(ratio([one.in_bursts.get(), one.bytes.get()]));
    let queue = one.queue.map_or_else(String::new, |queue| {
        format!(" - a link of {} behind it needs a queue of {} for them", queue.rate, queue.most)
    });
    let again = match one.retransmissions {
        Some(times) if times > 0 => format!(", and TCP retransmitted {times} times"),
        _ => String::new(),
    };
    Statement::fact(format!(
        "{} of {host} {way} {part} of its bytes in {} bursts above {} % of the line rate, in {} watched: the largest {} in {} at {}, where \
         the mean is {}{again}{queue}",
        one.device,
        one.bursts,
        one.threshold_percent,
        show(one.length),
        one.largest.bytes,
        show(one.largest.length),
        one.largest.peak,
        one.mean
    ))
}

fn of_drops(host: &str, one: &DropsOfBurst) -> Statement {
    let times = if one.moments == 1 { "once".to_owned() } else { format!("at {} moments", one.moments) };
    Statement::fault(format!(
        "{} of {host} dropped {} packets {times} ({}), first after {}: its busiest {} around it had {}, and the mean is {}",
        one.device,
        one.packets,
        one.counter,
        show(one.first),
        show(one.bucket),
        one.busiest,
        one.mean
    ))
}

/// Those that dropped, and the fullest of the others.
fn of_queues(mut queues: Vec<&SwitchQueue>) -> Vec<Statement> {
    queues.sort_by_key(|queue| std::cmp::Reverse((queue.dropped, queue.most_units, queue.most_latency)));
    queues.into_iter().take(MOST_QUEUES).map(of_queue).collect()
}

/// A path has a dozen switches.
const MOST_QUEUES: usize = 8;

fn of_queue(one: &SwitchQueue) -> Statement {
    let port = one.port.map_or_else(String::new, |port| format!(", port {port}"));
    let queue = one.queue.map_or_else(String::new, |queue| format!(", queue {queue}"));
    let whose = format!("switch {}{port}{queue}", one.node);
    let held = match (one.most_bytes, one.most_units) {
        (Some(bytes), _) => Some(format!("held {bytes} at most")),
        (None, Some(units)) => Some(format!("held {units} units of the device at most")),
        (None, None) => None,
    };
    let latency = one.most_latency.map(|time| format!("delayed packets by {} at most", show(time)));
    let did: Vec<String> = held.into_iter().chain(latency).collect();
    let did = if did.is_empty() { String::new() } else { format!(" - it {}", did.join(" and ")) };
    let flow = one
        .flow
        .map_or_else(String::new, |flow| format!(", the fullest met by {} to {}", flow.source, flow.destination));
    let reports = one.reports;
    if one.dropped > 0 {
        Statement::fault(format!("{whose} dropped {} of {reports} packets that were reported{did}{flow}", one.dropped))
    } else {
        Statement::fact(format!("{whose} was reported of {reports} times{did}{flow}"))
    }
}

fn of_host(one: &HostDrops) -> Option<Statement> {
    let mut lost: Vec<_> = one.lost.iter().collect();
    lost.sort_by_key(|(_, counter)| std::cmp::Reverse(counter.packets));
    let time = show(rounded(one.length));
    let again = one.retransmitted.filter(|segments| *segments > 0);
    let place = &one.place;
    if lost.is_empty() {
        return again.map(|segments| {
            Statement::fact(format!("{place} dropped nothing in {time}, and retransmitted {segments} segments"))
        });
    }
    let most = lost.iter().take(MOST_COUNTERS);
    let counters: Vec<String> =
        most.map(|(counter, one)| format!("{counter} {} ({})", one.packets, one.kind.words())).collect();
    let others = match lost.len().saturating_sub(MOST_COUNTERS) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let again = again.map_or_else(String::new, |segments| format!(" - it retransmitted {segments} segments meanwhile"));
    Some(Statement::fault(format!("{place} dropped packets in {time}: {}{others}{again}", counters.join(", "))))
}

/// More counters would hide the first.
const MOST_COUNTERS: usize = 4;

fn rounded(time: Duration) -> Duration {
    if time > Duration::from_secs(10) { Duration::from_secs(time.as_secs()) } else { time }
}
