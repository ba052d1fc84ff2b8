//! What outputs beside tests say of hosts: their CPUs, and the handshakes and sockets of their connections.

use std::time::Duration;

use import::evidence::{
    BusyProgram, ClosedWindow, CpuShares, HostFact, ReceivingCpus, RemovedScale, SmallWindow, SocketBetween,
    StoodStill, Switch, TrackedConnections, WindowScales,
};
use model::series::field::Field;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::beside::{Beside, MOST_FACTS, named};
use super::counters;
use super::statement::{Statement, percent, ratio};

/// All that the facts say of CPUs, handshakes and sockets.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    // What explains the windows of sockets goes before them.
    for (_, fact) in beside.facts.iter().take(MOST_FACTS) {
        if let HostFact::ScaleRemoved(removed) = fact {
            all.push(of_removed(beside, removed));
        }
    }
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        match fact {
            HostFact::Cpu(shares) => all.extend(of_cpus(named(host.as_ref()), shares)),
            HostFact::Handshake(scales) => all.extend(of_handshake(beside, scales)),
            HostFact::Socket(between) => all.extend(of_socket(between)),
            HostFact::DeltaTransfer { tool, moved } => all.push(Statement::fact(format!(
                "{tool} sent {moved} of differences between files that were there already: its rate is that of reading and comparing them, and \
                 none of the network"
            ))),
            HostFact::Receiving(cpus) => all.push(of_receiving(beside, host.as_ref(), cpus)),
            HostFact::ClosedWindow(one) => all.push(of_closed(one)),
            HostFact::SmallWindow(one) => all.push(of_small(one)),
            HostFact::BusyProgram(one) => all.push(of_program(named(host.as_ref()), one)),
            HostFact::StoodStill(one) => all.push(of_stall(one)),
            HostFact::TrackedConnections(table) => all.extend(of_table(named(host.as_ref()), table)),
            _ => {}
        }
    }
    all
}

/// CPUs that a hypervisor has taken, or that have nothing left.
fn of_cpus(host: &str, shares: &CpuShares) -> Vec<Statement> {
    let part = |hundredths: u32| percent(f64::from(hundredths) / 10_000.0);
    let most = if shares.readings > 1 { "up to " } else { "" };
    let mut all = Vec::new();
    if let Some(steal) = shares.steal.filter(|steal| *steal >= STOLEN) {
        all.push(Statement::fault(format!(
            "the hypervisor took {most}{} of the CPU time of {host} (steal): a virtual machine that does not get its CPUs is late with all it \
             sends and receives",
            part(steal)
        )));
    }
    if let Some(waits) = shares.waits_for_disk.filter(|waits| *waits >= WAITS_FOR_DISK) {
        all.push(Statement::fault(format!(
            "{host} waits for its disks for {most}{} of the time (iowait): what is written there, or read, is no faster than they are",
            part(waits)
        )));
    }
    let softirq = shares.softirq.filter(|softirq| *softirq >= MUCH_SOFTIRQ);
    let receiving =
        softirq.map_or_else(String::new, |softirq| format!(", {} in soft interrupts (packets)", part(softirq)));
    if let Some(idle) = shares.idle.filter(|idle| *idle < BUSY) {
        let least = if shares.readings > 1 { "at times only " } else { "only " };
        all.push(Statement::fault(format!(
            "the CPUs of {host} are used up: {least}{} idle{receiving}; what passes or ends there is no faster than they are",
            part(idle)
        )));
    } else if let Some(taken) = shares.softirq_of_one.filter(|taken| *taken >= FULL_OF_PACKETS) {
        all.push(Statement::fault(format!(
            "one CPU of {host} receives and has no time left ({} of it in soft interrupts), while others are idle: let several receive (queues of the \
             NIC, RPS), merge packets (GRO), or a larger MTU",
            part(taken)
        )));
    } else if let Some(idle) = shares.idle_of_one.filter(|idle| *idle < BUSY) {
        all.push(Statement::fault(format!(
            "one CPU of {host} is used up ({} idle), while all together are not: one flow, queue or thread is no faster than one CPU",
            part(idle)
        )));
    } else if let Some(softirq) = softirq {
        all.push(Statement::fact(format!(
            "soft interrupts, in which packets are received, took {most}{} of the CPU time of {host}",
            part(softirq)
        )));
    } else if all.is_empty()
        && let Some(idle) = shares.idle
    {
        all.push(Statement::fact(format!("the CPUs of {host} are idle for {} or more", part(idle))));
    }
    all
}

/// Packets that one CPU received for all, and such as found no room. A CPU that ends a round of receiving before its queue is empty
/// (`time_squeeze`) goes on in the next one: that costs nothing unless packets find no room, or the CPU has no time left.
fn of_receiving(beside: &Beside<'_>, host: Option<&String>, cpus: &ReceivingCpus) -> Statement {
    let ReceivingCpus { cpus: count, received, busiest, by_busiest, squeezed_of_busiest: squeezed, dropped } = *cpus;
    let name = named(host);
    if dropped > 0 {
        return Statement::fault(format!(
            "{name} dropped {dropped} of {received} packets since it started, for which the queue of a CPU had no room (softnet): raise \
             `net.core.netdev_max_backlog`, and let more CPUs receive"
        ));
    }
    let share = ratio([by_busiest, received]);
    let is_full = beside.facts.iter().take(MOST_FACTS).any(|(of, fact)| match fact {
        HostFact::Cpu(shares) => of.as_ref() == host && is_used_up(shares),
        _ => false,
    });
    if share >= NEARLY_ALL && squeezed > 0 && is_full {
        return Statement::fault(format!(
            "CPU {busiest} of {name} received {} of the packets of {count} CPUs, left some for later {squeezed} times (softnet) and has no time \
             left: let more CPUs receive (queues of the NIC, `smp_affinity`, RPS)",
            percent(share)
        ));
    }
    let none = format!("none of the {count} CPUs of {name} dropped a packet for want of room in its queue (softnet)");
    if squeezed == 0 {
        return Statement::fact(none);
    }
    let seldom = ratio([squeezed, by_busiest]);
    Statement::fact(format!(
        "{none}; CPU {busiest}, which received {} of the packets, left some for its next round {squeezed} times, once in {} packets, \
         which costs nothing while the CPU has time and nothing is dropped",
        percent(share),
        by_busiest.checked_div(squeezed).filter(|_| seldom < 1.0).unwrap_or(1)
    ))
}

/// Whether a CPU had no time left.
fn is_used_up(shares: &CpuShares) -> bool {
    let is_idle = |idle: Option<u32>| idle.is_some_and(|idle| idle < BUSY);
    is_idle(shares.idle)
        || is_idle(shares.idle_of_one)
        || shares.softirq_of_one.is_some_and(|taken| taken >= FULL_OF_PACKETS)
}

/// A window that stays as it is while data comes.
fn of_small(one: &SmallWindow) -> Statement {
    let SmallWindow { from, to, window } = one;
    let at =
        |ms: u64| DataRate::of(*window, Duration::from_millis(ms)).map(|rate| format!("{rate} at an RTT of {ms} ms"));
    let rates: Vec<String> = [1, 10, 100].into_iter().filter_map(at).collect();
    Statement::fault(format!(
        "{from} has a receive window of {window} in every packet that is printed, and {to} may have no more under way to it: {}; the receiver's buffer \
         or its lack of window scaling limits what comes from far",
        rates.join(", ")
    ))
}

/// A program that has no more time than one CPU gives.
fn of_program(host: &str, one: &BusyProgram) -> Statement {
    let BusyProgram { name, share, cpus } = one;
    let part = percent(f64::from(*share) / 10_000.0);
    let says = if *cpus > 1 {
        format!("{name} has {part} of the time of all CPUs of {host}, which is all of one of {cpus}")
    } else {
        format!("{name} has {part} of a CPU of {host}")
    };
    if name.starts_with("ksoftirqd") {
        return Statement::fault(format!(
            "{says}: packets are handled by one CPU (softirq), which carries no more, however idle the other CPUs are: spread them (RSS, RPS, packet \
             steering), let hardware forward them (flow offload), or use a faster CPU"
        ));
    }
    Statement::fault(format!(
        "{says}: what one thread of it does (encryption, encapsulation, compression, copying) is no faster, whatever the network carries and however \
         idle the other CPUs are"
    ))
}

/// A receiver that takes nothing.
fn of_closed(one: &ClosedWindow) -> Statement {
    let ClosedWindow { from, to, times, packets } = one;
    Statement::fault(format!(
        "{from} tells {to} in {times} of {packets} packets that it has no room (a window of 0): the program there does not read, or its stack is \
         stuck; the network loses nothing"
    ))
}

/// Lost segments whose sender did not send them again in time.
fn of_stall(one: &StoodStill) -> Statement {
    let StoodStill { from, to, silent, unacknowledged, again } = one;
    let waits = ByteCount::new(*unacknowledged);
    let before = match again {
        0 => String::new(),
        1 => ", after one segment had been retransmitted".to_owned(),
        more => format!(", after {more} segments had been retransmitted"),
    };
    Statement::fault(format!(
        "{from} to {to}: nothing was sent for {}{before}, with {waits} not acknowledged, and then the first of it again: segments were lost, and \
         the sender's timer for retransmissions ran that long (doubled again and again, or a sender that stood still)",
        show(*silent)
    ))
}

/// A firewall that can remember no more connections.
fn of_table(host: &str, table: &TrackedConnections) -> Option<Statement> {
    let so = "connections that it knows go on, and new ones are dropped; raise `net.netfilter.nf_conntrack_max`, shorten the timeouts of \
              idle connections, or find who opens so many";
    let TrackedConnections { count, most, dropped } = *table;
    if dropped > 0 {
        return Some(Statement::fault(format!(
            "the table of connections of {host} is full, {dropped} packets dropped: {so}"
        )));
    }
    let (count, most) = count.zip(most)?;
    let says = format!("the table of connections of {host} has {count} of at most {most}");
    let is_full = most > 0 && count.saturating_mul(NEARLY_FULL) >= most.saturating_mul(NEARLY_FULL - 1);
    Some(if is_full { Statement::fault(format!("{says}: {so}")) } else { Statement::fact(says) })
}

/// Full but for one part in so many.
const NEARLY_FULL: u64 = 50;

/// Hundredths of a percent.
const STOLEN: u32 = 1_000;
const BUSY: u32 = 500;
/// A quarter of the time of four CPUs is one program that does nothing but wait.
const WAITS_FOR_DISK: u32 = 2_500;
const MUCH_SOFTIRQ: u32 = 3_000;
const FULL_OF_PACKETS: u32 = 8_000;
/// Of all packets.
const NEARLY_ALL: f64 = 0.8;

/// Without window scaling 65,535 B are under way at most (RFC 7323 section 2).
fn of_handshake(beside: &Beside<'_>, scales: &WindowScales) -> Option<Statement> {
    let WindowScales { client, server, offered, answered } = scales;
    let why = match (offered, answered) {
        (Some(_), Some(_)) => {
            return Some(Statement::fact(format!("{client} to {server}: SYN and answer both have a window scale")));
        }
        (Some(_), None) => format!(
            "the SYN offers a window scale, the answer has none: {server} has it switched off (`net.ipv4.tcp_window_scaling`), or a box on the \
             path took it out"
        ),
        (None, Some(_)) => {
            "the answer has a window scale though the SYN offers none: a box on the path changes options".to_owned()
        }
        (None, None) => format!(
            "the SYN offers no window scale: {client} has it switched off (`net.ipv4.tcp_window_scaling`), or a box before the capture took it out"
        ),
    };
    let allows = allowed_unscaled(rtt(beside));
    Some(Statement::fault(format!(
        "{client} to {server}: {why}; no more than {LARGEST_WINDOW} can be under way{allows}"
    )))
}

/// A box on the path changes what the ends agree on.
fn of_removed(beside: &Beside<'_>, removed: &RemovedScale) -> Statement {
    let RemovedScale { client, server, offered } = removed;
    Statement::decisive(format!(
        "{client} to {server}: the SYN leaves with a window scale of {offered} and arrives without one: a box on the path (a firewall that \
         normalises TCP, a WAN optimiser) takes it out; no more than {LARGEST_WINDOW} can be under way{}, and larger buffers change nothing: let \
         the option pass there",
        allowed_unscaled(rtt(beside))
    ))
}

/// `, which at an RTT of 62.4 ms is 8.40 Mbit/s`.
fn allowed_unscaled(rtt: Option<Duration>) -> String {
    let allows = rtt.and_then(|rtt| Some((rtt, DataRate::of(LARGEST_WINDOW, rtt)?)));
    allows.map_or_else(String::new, |(rtt, rate)| format!(", which at an RTT of {} is {rate}", show(rtt)))
}

const LARGEST_WINDOW: ByteCount = ByteCount::new(65_535);

/// The RTT of the only socket beside.
fn rtt(beside: &Beside<'_>) -> Option<Duration> {
    let sockets = beside.facts.iter().filter_map(|(_, fact)| match fact {
        HostFact::Socket(between) => Some((value(between, Field::Rtt)?, &between.peer)),
        _ => None,
    });
    let mut sockets: Vec<(u64, &String)> = sockets.collect();
    // A transfer and its control connection have one path.
    sockets.sort_unstable();
    let (least, most) = (sockets.first()?, sockets.last()?);
    let is_one = sockets.iter().all(|(_, peer)| *peer == least.1) && most.0 * 10 <= least.0 * 11;
    is_one.then(|| Duration::from_micros(least.0))
}

fn value(between: &SocketBetween, field: Field) -> Option<u64> {
    between.socket.fields.iter().find(|known| known.field == field).map(|known| known.value)
}

/// What a socket waited for, and what it retransmitted.
fn of_socket(between: &SocketBetween) -> Vec<Statement> {
    let SocketBetween { local, peer, .. } = between;
    let is_unscaled = between.socket.window_scaling == Some(Switch::Off)
        && value(between, Field::SndWnd).is_none_or(|window| window <= LARGEST_WINDOW.get());
    if is_unscaled && value(between, Field::BytesAcked).is_some_and(|acked| acked >= A_TRANSFER) {
        let rtt = value(between, Field::MinRtt).or_else(|| value(between, Field::Rtt)).map(Duration::from_micros);
        return vec![Statement::fault(format!(
            "{local} to {peer}: the connection has no window scaling (`ss` prints no wscale), so that no more than {LARGEST_WINDOW} can be under \
             way{}: one end has it off (`net.ipv4.tcp_window_scaling`), or a box on the path takes the option out of the SYN; captures of the SYN \
             at both ends tell which",
            allowed_unscaled(rtt)
        ))];
    }
    let mut all = counters::of_fields([local, peer], None, |field| value(between, field));
    // A timeout that was doubled a few times in a row: nothing at all comes back.
    if let Some(doubled) = value(between, Field::Backoff).filter(|doubled| *doubled >= SILENT) {
        let pmtu =
            value(between, Field::Pmtu).map_or_else(String::new, |pmtu| format!(", with packets of up to {pmtu} B"));
        all.push(Statement::fault(format!(
            "{local} to {peer}: the retransmission timeout was doubled {doubled} times, so often was the same segment retransmitted without an \
             answer{pmtu}: large packets vanish (path MTU), or the path is dead"
        )));
    }
    let sent = value(between, Field::DataSegsOut).or_else(|| value(between, Field::SegsOut));
    if all.is_empty()
        && let (Some(again), Some(sent)) = (value(between, Field::TotalRetrans).filter(|again| *again > 0), sent)
    {
        let part = percent(ratio([again, sent]));
        all.push(Statement::fact(format!("{local} to {peer}: {again} of {sent} segments retransmitted ({part})")));
    }
    all
}

/// Less is a control connection, of which nobody asks for a rate.
const A_TRANSFER: u64 = 1_000_000;

/// Less is a path that was away for a second.
const SILENT: u64 = 4;
