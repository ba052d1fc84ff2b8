//! What the kernel's log complains of: transmit queues that stand still, NFS servers that are silent, tables that are full.

use std::collections::BTreeMap;

use super::host_fact::{ComplaintKind, HostFact, KernelComplaint};
use super::nic::{is_slot, uptime};
use super::shown::{Found, Shown};

/// Reads lines of the kernel's log from a complaint on, and those that go on with it.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    complaint(lines.first()?)?;
    let mut all: BTreeMap<(usize, String), KernelComplaint> = BTreeMap::new();
    let mut used = 0;
    for line in lines.iter().take(MAX_LINES) {
        if let Some(one) = complaint(line) {
            let key = (one.kind as usize, one.subject.clone());
            let known = all.entry(key).or_insert_with(|| KernelComplaint { times: 0, ..one.clone() });
            // A driver that counts its hangs has the number in one line of several.
            known.times = if one.times > 1 { known.times.max(one.times) } else { known.times + one.times };
        } else if !goes_on(line) {
            break;
        }
        used += 1;
    }
    let shows = all.into_values().take(MOST).map(|one| {
        let times = one.times.max(1);
        Shown::Host(HostFact::Complaint(KernelComplaint { times, ..one }))
    });
    Some(Found { shows: shows.collect(), lines: used })
}

/// A log of a week.
const MAX_LINES: usize = 100_000;
/// Devices and servers that are named.
const MOST: usize = 16;
/// The kernel breaks longer ones.
const LONGEST: usize = 1_000;

/// A line that is a complaint by itself.
fn complaint(line: &str) -> Option<KernelComplaint> {
    (line.len() <= LONGEST).then_some(())?;
    let text = uptime(line).map_or(line.trim(), |(_, text)| text);
    let (kind, subject, times) = hang(text)
        .or_else(|| watchdog(text))
        .or_else(|| nfs(text))
        .or_else(|| syn_flood(text))
        .or_else(|| neighbours(text))
        .or_else(|| sockets(text))?;
    Some(KernelComplaint { kind, subject, times })
}

type Complained = (ComplaintKind, String, u64);

/// `ixgbe 0000:01:00.1 eth2: Detected Tx Unit Hang`, `… eth2: tx hang 19 detected on queue 4, resetting adapter`; what follows these is
/// of the same hang and counts none.
fn hang(text: &str) -> Option<Complained> {
    let (before, rest) = HANGS.iter().find_map(|mark| text.split_once(mark))?;
    let is_counted = text.contains(": tx hang ");
    let counted = if is_counted { rest.split(' ').next()?.parse().ok() } else { None };
    let times = counted.unwrap_or_else(|| u64::from(text.contains("Detected ")));
    Some((ComplaintKind::TransmitHang, device(before)?, times))
}

const HANGS: [&str; 4] =
    [": Detected Tx Unit Hang", ": Detected Hardware Unit Hang", ": tx hang ", ": initiating reset due to "];

/// `NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out`.
fn watchdog(text: &str) -> Option<Complained> {
    let rest = text.split_once("NETDEV WATCHDOG: ")?.1;
    let (name, rest) = rest.split_once(' ')?;
    (rest.contains("transmit queue") && rest.contains("timed out")).then_some(())?;
    Some((ComplaintKind::TransmitHang, name.trim_end_matches(':').to_owned(), 1))
}

/// `nfs: server 192.0.2.1 not responding, still trying`.
fn nfs(text: &str) -> Option<Complained> {
    let (server, rest) = text.split_once("nfs: server ")?.1.split_once(' ')?;
    let is_silent = rest.starts_with("not responding");
    (is_silent || rest == "OK").then(|| (ComplaintKind::NfsSilent, server.to_owned(), u64::from(is_silent)))
}

/// `TCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.`
fn syn_flood(text: &str) -> Option<Complained> {
    let rest = text.split_once("Possible SYN flooding on port ")?.1;
    let port = rest.split([' ', '\t']).next()?.trim_end_matches(['.', ',']);
    Some((ComplaintKind::SynFlood, port.to_owned(), 1))
}

/// `neighbour: arp_cache: neighbor table overflow!`
fn neighbours(text: &str) -> Option<Complained> {
    let before = text.split_once(": neighbor table overflow!")?.0;
    let table = before.rsplit([' ', ':']).next()?;
    Some((ComplaintKind::NeighbourTable, table.to_owned(), 1))
}

/// `TCP: out of memory -- consider tuning tcp_mem`, `TCP: too many orphaned sockets` (net/ipv4/tcp.c).
fn sockets(text: &str) -> Option<Complained> {
    let kind = match text.trim().strip_prefix("TCP: ")? {
        "out of memory -- consider tuning tcp_mem" => ComplaintKind::TcpMemory,
        "too many orphaned sockets" => ComplaintKind::Orphans,
        _ => return None,
    };
    Some((kind, "TCP".to_owned(), 1))
}

/// The last word before a message of a driver, unless it is the slot's address alone.
fn device(before: &str) -> Option<String> {
    let words: Vec<&str> = before.split_whitespace().map(|word| word.trim_end_matches(':')).collect();
    let name = words.iter().rev().find(|word| !is_slot(word)).or(words.last())?;
    let is_name = name.len() <= LONGEST_NAME && !name.is_empty();
    is_name.then(|| (*name).to_owned())
}

const LONGEST_NAME: usize = 32;

/// A line that goes on with a report of a hang: `  Tx Queue             <4>`, `  next_to_use          <181>`, `tx_buffer_info[next_to_clean]`.
fn goes_on(line: &str) -> bool {
    let text = uptime(line).map_or(line.trim(), |(_, text)| text.trim());
    let is_register = text.ends_with('>') && text.contains(" <") && line.len() <= LONGEST;
    is_register || text.contains(": Reset ") || text.starts_with("tx_buffer_info[") || text.starts_with("buffer_info[")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<KernelComplaint> {
        let lines: Vec<&str> = text.lines().collect();
        let shows = read(&lines, &[], &mut Vec::new()).map(|found| found.shows).unwrap_or_default();
        let each = shows.into_iter().map(|shown| match shown {
            Shown::Host(HostFact::Complaint(one)) => one,
            other => panic!("{other:?}"),
        });
        each.collect()
    }

    #[test]
    fn one_hang_of_several_lines_is_one() {
        let text = "e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:\n  TDH                  <3a>\n  TDT                  <41>\n\
                    [ 1021.000001] NETDEV WATCHDOG: eno1 (e1000e): transmit queue 0 timed out\n\
                    e1000e 0000:00:1f.6 eno1: Reset adapter unexpectedly\n";
        let all = complaints(text);
        let [only] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((only.kind, only.subject.as_str(), only.times), (ComplaintKind::TransmitHang, "eno1", 2));
    }

    #[test]
    fn a_server_that_answers_again_counts_its_silence_once() {
        let all = complaints(
            "[  316.404250] nfs: server 192.0.2.12 not responding, still trying\n[  316.759512] nfs: server 192.0.2.12 OK\n",
        );
        let [only] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((only.kind, only.subject.as_str(), only.times), (ComplaintKind::NfsSilent, "192.0.2.12", 1));
    }

    #[test]
    fn sockets_without_memory_are_counted() {
        let line = "[  179.636034] TCP: out of memory -- consider tuning tcp_mem            \n";
        let all = complaints(&format!("{line}{line}[  179.7] T"));
        let [only] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((only.kind, only.times), (ComplaintKind::TcpMemory, 2));
    }

    #[test]
    fn tables_and_ports_are_named_and_prose_is_none() {
        let all = complaints(
            "neighbour: arp_cache: neighbor table overflow!\nTCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.\n",
        );
        let subjects: Vec<&str> = all.iter().map(|one| one.subject.as_str()).collect();
        assert_eq!(subjects, ["443", "arp_cache"]);
        assert_eq!(complaints("the NIC hangs: a tx hang each hour"), []);
    }
}
