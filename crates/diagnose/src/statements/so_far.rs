//! What one reading of a host's counters, and its kernel's log, say by themselves.

use import::evidence::{
    AllowanceExceeded, ComplaintKind, HostFact, KernelComplaint, LossKind, LostSoFar, RetransmittedSoFar, SocketMemory,
};

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, percent, ratio};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        match fact {
            HostFact::Complaint(one) => {
                let said = of_complaint(named(host.as_ref()), one);
                // A NIC that stood still beside a transfer that did needs no inference.
                let is_seen = one.kind == ComplaintKind::TransmitHang && stood_still(beside);
                all.push(if is_seen { Statement::decisive(said.says) } else { said });
            }
            HostFact::LostSoFar(lost) => all.push(of_lost(named(host.as_ref()), lost)),
            HostFact::Allowance(one) => all.push(of_allowance(named(host.as_ref()), one)),
            HostFact::RetransmittedSoFar(one) => all.push(of_retransmitted(named(host.as_ref()), one)),
            _ => {}
        }
    }
    all.extend(of_socket_memory(beside));
    all
}

/// Whether a transfer had intervals in which nothing came through.
fn stood_still(beside: &Beside<'_>) -> bool {
    let mut intervals =
        beside.transfers().flat_map(|one| one.run.measurement.iter().flat_map(|found| &found.intervals));
    intervals.any(|interval| interval.bytes.get() == 0 && interval.end > interval.start)
}

/// What one reading of counters tells.
fn of_lost(host: &str, lost: &LostSoFar) -> Statement {
    let LostSoFar { kind, device, counter, lost, all, mean_length } = lost;
    let part = percent(ratio([*lost, *all]));
    Statement::fault(match kind {
        LossKind::FullSocket => format!(
            "{host}: {lost} of {all} datagrams that arrived since the counters began ({part}) found the receiving socket full ({counter}): the \
             program reads too slowly, or its buffer (`net.core.rmem_max`, SO_RCVBUF) is too small; the path is not to blame"
        ),
        LossKind::Damage => {
            let whole = if lost == all { ", and none whole" } else { "" };
            let long = mean_length.filter(|length| *length >= LONG_FRAME);
            let long = long.map_or_else(String::new, |length| {
                format!(", of {length} B on average, so that large packets are lost far more often than small ones")
            });
            format!(
                "{lost} of {all} frames arrived damaged at {device} of {host} since it began to count ({part}, {counter}){whole}{long}: cable, \
                 connector, optics or PHY of this link in the direction to {host}, or how both ends of the link are set up"
            )
        }
        LossKind::FullRing => format!(
            "{device} of {host} had no room for {lost} of {all} packets since it began to count ({part}, {counter}): rings too small, or the \
             CPU that empties them too slow"
        ),
    })
}

/// What a cloud held back or dropped.
fn of_allowance(host: &str, one: &AllowanceExceeded) -> Statement {
    let AllowanceExceeded { device, counter, packets } = one;
    let device = if device.is_empty() { "the NIC" } else { device };
    Statement::fault(format!(
        "{packets} packets at {device} of {host} exceeded what the cloud allows this virtual machine ({counter}) since it began to count, and \
         were queued or dropped by its host: a larger machine, fewer packets a second or a pace below the allowance; whether it still goes on, \
         a second reading after a test tells"
    ))
}

/// A frame that only bulk data sends.
const LONG_FRAME: u64 = 1_000;

/// What a host retransmitted of all that it sent.
fn of_retransmitted(host: &str, one: &RetransmittedSoFar) -> Statement {
    let RetransmittedSoFar { again, sent, lost_again, out_of_order } = one;
    let lost_again = lost_again.map_or_else(String::new, |lost| format!(", {lost} of them more than once"));
    let received = out_of_order.map(|of| ratio([of.part, of.part.saturating_add(of.whole)]));
    let received = received.filter(|part| *part < IN_ORDER).map_or_else(String::new, |part| {
        format!(", while of what it receives only {} comes out of order", percent(part))
    });
    Statement::fault(format!(
        "{host}: {again} segments retransmitted beside {sent} sent since its counters began ({}), all connections together{lost_again}{received}: \
         much of what it sends is lost, at its own NIC or driver, or on the path behind; next: `ethtool -S` of the NIC, and these counters \
         before and after a test to a near and to a far host",
        percent(ratio([*again, *sent]))
    ))
}

/// Less than this part of what comes out of order is no loss of TCP's.
const IN_ORDER: f64 = 5e-3;

/// What the kernel's log complains of.
fn of_complaint(host: &str, complaint: &KernelComplaint) -> Statement {
    let KernelComplaint { kind, subject, times } = complaint;
    let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
    Statement::fault(match kind {
        ComplaintKind::TransmitHang => format!(
            "a transmit queue of {subject} of {host} stood still {times}, and the driver resets the NIC each time: nothing is sent meanwhile; \
             driver, firmware or hardware of the NIC, and not the path (newer driver; offloads off one by one; power saving of the slot off)"
        ),
        ComplaintKind::NfsSilent => format!(
            "the NFS server {subject} did not answer {host} in time {times}: requests waited longer than `timeo`, behind a queue, a loss or a \
             busy server (a smaller `rsize` and `wsize` asks for less at once)"
        ),
        ComplaintKind::SynFlood => format!(
            "port {subject} of {host} got more new connections than its listener had room for, {times}: raise `net.core.somaxconn` and the \
             program's backlog, or find who opens so many"
        ),
        ComplaintKind::TcpMemory => format!(
            "the sockets of {host} together needed more memory than the kernel gives to TCP, {times} (`net.ipv4.tcp_mem`): it drops what \
             arrives and resets connections; raise it, open fewer connections at a time, or find who holds so much (`ss -tm`, \
             /proc/net/sockstat)"
        ),
        ComplaintKind::Orphans => format!(
            "{host} had more orphaned sockets than `net.ipv4.tcp_max_orphans` allows, {times}: further ones are reset; raise it, or have \
             programs that close with data unsent end their connections sooner"
        ),
        ComplaintKind::NeighbourTable => format!(
            "the table of neighbours ({subject}) of {host} overflowed {times}: packets to hosts on its own network are dropped; raise \
             `net.ipv4.neigh.default.gc_thresh3`, or make the network smaller"
        ),
    })
}

/// Sockets of TCP that are too many, or have too much memory: of each host once.
fn of_socket_memory(beside: &Beside<'_>) -> Vec<Statement> {
    let mut hosts: Vec<(Option<&String>, SocketMemory)> = Vec::new();
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        let HostFact::SocketMemory(memory) = fact else { continue };
        match hosts.iter_mut().find(|(of, _)| *of == host.as_ref()) {
            Some((_, known)) => *known = known.with(*memory),
            None => hosts.push((host.as_ref(), *memory)),
        }
    }
    hosts.into_iter().filter_map(|(host, memory)| socket_memory(named(host), &memory)).collect()
}

fn socket_memory(host: &str, memory: &SocketMemory) -> Option<Statement> {
    let pages = memory.pages.zip(memory.pressure);
    let of_pages = pages.map(|(pages, pressure)| {
        format!("TCP has {pages} pages of memory of {pressure}, from which on the kernel saves (`net.ipv4.tcp_mem`)")
    });
    let is_short = pages.is_some_and(|(pages, pressure)| pages >= pressure);
    let orphans = memory.orphans.zip(memory.most_orphans);
    if let Some((orphans, most)) = orphans.filter(|(orphans, most)| orphans >= most) {
        let memory =
            of_pages.filter(|_| !is_short).map_or_else(String::new, |of| format!("; memory is not short: {of}"));
        return Some(Statement::fault(format!(
            "{host} has {orphans} orphaned sockets of at most {most} (`net.ipv4.tcp_max_orphans`): the kernel drops further ones, which is what \
             its log calls \"Out of socket memory\" or \"too many orphaned sockets\"{memory}; raise the limit, or have programs that close \
             with data unsent end their connections sooner"
        )));
    }
    let of_pages = of_pages?;
    if is_short {
        return Some(Statement::fault(format!(
            "{host}: {of_pages}: windows shrink, and above the third number packets are dropped; raise `net.ipv4.tcp_mem`, or find who holds \
             so much (`ss -tm`)"
        )));
    }
    let orphans = orphans
        .map_or_else(String::new, |(orphans, most)| format!("; orphaned sockets are {orphans} of at most {most}"));
    Some(Statement::fact(format!("{host}: {of_pages}{orphans}")))
}
