//! Counters of the kernel: `nstat`, `netstat -s`, `ip -s link`, `/sys/class/net/DEVICE/statistics`.

use std::collections::BTreeMap;

use model::host::interface::LINK_COUNTERS;

use super::host_fact::{HostFact, LinkState};
use super::shown::{CounterKind, DeviceCounters, Found, Shown, command_above, command_near};
use crate::command::after_prompt;

/// Reads columns of `/proc/net/snmp`, whole (`Udp: InDatagrams …` and `Udp: 9122013 …` below it, table by table) or cut out of it:
/// `InSegs OutSegs RetransSegs` and the numbers below.
pub(crate) fn snmp(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut values = BTreeMap::new();
    let mut used = 0;
    for pair in lines.chunks_exact(2).take(MAX_TABLES) {
        let Some(table) = snmp_table([pair[0], pair[1]]) else { break };
        values.extend(table);
        used += 2;
    }
    found(CounterKind::Kernel, None, values, used)
}

/// More tables than any kernel has.
const MAX_TABLES: usize = 32;

fn snmp_table([titles, numbers]: [&str; 2]) -> Option<Vec<(String, u64)>> {
    let (table, names) = of_table(titles);
    let names: Vec<&str> = names.split_whitespace().collect();
    let is_named = |name: &&str| name.starts_with(|first: char| first.is_ascii_uppercase());
    let is_known = match table {
        Some(_) => names.iter().all(is_named),
        None => names.iter().all(|name| SNMP_OF_TCP.contains(name)),
    };
    (names.len() >= 2 && is_known).then_some(())?;
    let (below, numbers) = of_table(numbers);
    (below.is_none() || below == table).then_some(())?;
    let numbers: Option<Vec<i64>> = numbers.split_whitespace().map(|number| number.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() == names.len())?;
    let table = table.unwrap_or("Tcp");
    let each =
        names.iter().zip(numbers).map(|(name, value)| (format!("{table}.{name}"), u64::try_from(value).unwrap_or(0)));
    Some(each.collect())
}

/// The table of a line, and what follows.
fn of_table(line: &str) -> (Option<&str>, &str) {
    match line.trim().split_once(": ") {
        Some((table, rest)) if TABLES.contains(&table) => (Some(table), rest),
        _ => (None, line.trim()),
    }
}

const SNMP_OF_TCP: [&str; 7] = ["ActiveOpens", "PassiveOpens", "InSegs", "OutSegs", "RetransSegs", "InErrs", "OutRsts"];

/// Reads `#kernel` and the lines `TcpRetransSegs   42   0.0` below. Without `-a` nstat prints what came since it was run last.
pub(crate) fn nstat(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles = usize::from(lines.first()?.trim() == "#kernel");
    // A counter of a device stands among them in a list that a person has made, and never first.
    name_and_value(lines.get(titles)?).filter(|(name, _)| dotted(name).is_some())?;
    let rows = lines[titles..].iter().take(MAX_COUNTERS).map_while(|line| {
        let (name, value) = name_and_value(line)?;
        Some((known(name)?, whole(value)?))
    });
    let values: BTreeMap<String, u64> = rows.collect();
    // Where the title was cut off, by `grep` as a rule, a few such lines are enough.
    // A command that names its counters prints those, one or two.
    let words = command_near(before, "nstat");
    let is_asked =
        words.as_ref().is_some_and(|words| values.keys().all(|name| words.contains(&name.replace('.', "").as_str())));
    (titles == 1 || values.len() >= FEWEST_COUNTERS || (is_asked && !values.is_empty())).then_some(())?;
    let absolute = command_above(before, "nstat")
        .is_some_and(|words| words.iter().any(|word| word.starts_with('-') && word.contains(['a', 's'])));
    let kind = if absolute { CounterKind::Kernel } else { CounterKind::KernelChange };
    // A counter that stands at zero all the time is left out of some readings, so that lines count.
    let used = titles
        + lines[titles..]
            .iter()
            .take_while(|line| line.split_whitespace().next().is_some_and(|name| known(name).is_some()))
            .count();
    found(kind, None, values, used)
}

/// `TcpRetransSegs   42   0.0`, as people print it also `TcpRetransSegs = 42`.
fn name_and_value(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let value = words.next()?;
    Some((name, if value == "=" { words.next()? } else { value }))
}

/// The name of a counter of the kernel, or of one that a device has, of all devices together.
fn known(name: &str) -> Option<String> {
    dotted(name).or_else(|| LINK_COUNTERS.contains(&name).then(|| format!("Link.{name}")))
}

/// Fewer lines without a title may be something else.
const FEWEST_COUNTERS: usize = 3;
/// More than any kernel has.
const MAX_COUNTERS: usize = 4096;

/// `1503935`, as people print it also `1,503,935`.
fn whole(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

/// `Tcp.RetransSegs` of `TcpRetransSegs`.
fn dotted(name: &str) -> Option<String> {
    let table = TABLES.iter().find(|table| name.starts_with(**table))?;
    let counter = &name[table.len()..];
    counter.starts_with(|first: char| first.is_ascii_uppercase()).then(|| format!("{table}.{counter}"))
}

/// The longest first.
const TABLES: [&str; 13] = [
    "MPTcpExt", "UdpLite6", "IcmpMsg", "UdpLite", "TcpExt", "IpExt", "Icmp6", "Udp6", "Icmp", "Ip6", "Tcp", "Udp", "Ip",
];

/// Reads `Ip:` and the indented lines below it, of all tables that follow.
pub(crate) fn netstat(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let table = |line: &str| {
        let name = line.strip_suffix(':')?;
        ["Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "Ip6", "MPTcpExt"]
            .contains(&name)
            .then(|| name.to_owned())
    };
    // `-st` prints no table of IP; one table alone has a counter at once.
    let first = table(lines.first()?.trim())?;
    let is_counter = |line: &&str| line.starts_with([' ', '\t']) && phrase([&first, line.trim()]).is_some();
    (first == "Ip" || lines[1..].iter().take_while(|line| line.starts_with([' ', '\t'])).any(is_counter))
        .then_some(())?;
    let mut values = BTreeMap::new();
    let (mut name, mut used) = (String::new(), 0);
    for line in lines.iter().take(MAX_COUNTERS) {
        if let Some(next) = table(line.trim()) {
            name = next;
        } else if !line.starts_with([' ', '\t']) || line.trim().is_empty() {
            break;
        } else if let Some((counter, value)) = phrase([&name, line.trim()]) {
            values.insert(counter, value);
        }
        used += 1;
    }
    found(CounterKind::Kernel, None, values, used)
}

/// Reads `tcp:` and the indented lines below it, as BSD and macOS print them; of them data packets and those sent again.
pub(crate) fn netstat_of_bsd(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    (lines.first()?.trim() == "tcp:" && lines.get(1)?.trim().ends_with(" packets sent")).then_some(())?;
    let own = lines[1..].iter().take(MAX_COUNTERS);
    let used = own.take_while(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty()).count();
    let mut values = BTreeMap::new();
    for line in &lines[1..=used] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (value, counter) = match words.as_slice() {
            [value, "data", "packet" | "packets", of, "bytes)"] if of.starts_with('(') => (value, "OutSegs"),
            [value, "data", "packet" | "packets", _, "bytes)", "retransmitted"] => (value, "RetransSegs"),
            [value, "packet" | "packets", _, "bytes)", "received", "in-sequence"] => (value, "InSequence"),
            [value, "out-of-order", "packet" | "packets", ..] => (value, "OutOfOrder"),
            _ => continue,
        };
        values.insert(format!("Tcp.{counter}"), value.parse().ok()?);
    }
    found(CounterKind::Kernel, None, values, 1 + used)
}

/// Reads lines of `netstat -s` without their tables, as `grep` leaves them below the command, by their words. Where a counter comes
/// again, the command was repeated: another reading begins.
pub(crate) fn netstat_lines(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    without_table(lines.first()?)?;
    let words = command_near(before, "netstat")?;
    words.iter().any(|word| word.starts_with('-') && word.contains('s')).then_some(())?;
    let rows: Vec<(String, u64)> = lines.iter().take(MAX_COUNTERS).map_while(|line| without_table(line)).collect();
    let used = rows.len();
    let mut readings: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new()];
    for (name, value) in rows {
        if readings.last().is_some_and(|last| last.contains_key(&name)) {
            readings.push(BTreeMap::new());
        }
        if let Some(last) = readings.last_mut() {
            last.insert(name, value);
        }
    }
    let shows = readings
        .into_iter()
        .map(|values| Shown::Counters(DeviceCounters { kind: CounterKind::Kernel, device: None, values }));
    Some(Found { shows: shows.collect(), lines: used })
}

/// `    42 segments retransmitted`, `    OutOctets: 42`, whichever table it is of.
fn without_table(line: &str) -> Option<(String, u64)> {
    line.starts_with([' ', '\t']).then_some(())?;
    if let Some((name, value)) = line.trim().split_once(": ") {
        let table = if name.starts_with("TCP") { "TcpExt" } else { "IpExt" };
        let is_name = name.ends_with("Octets") || name.starts_with("TCP");
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return (is_name && is_plain).then_some((format!("{table}.{name}"), value.parse().ok()?));
    }
    let (value, words) = line.trim().split_once(' ')?;
    let known = PHRASES.iter().find(|(_, known, _)| words.starts_with(known))?;
    Some((format!("{}.{}", known.0, known.2), value.parse().ok()?))
}

/// `42 segments retransmitted`, `TCPLostRetransmit: 42`.
fn phrase([table, line]: [&str; 2]) -> Option<(String, u64)> {
    if let Some((counter, value)) = line.split_once(": ") {
        let plain = counter.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return plain.then_some((format!("{table}.{counter}"), value.parse().ok()?));
    }
    let (value, words) = line.split_once(' ')?;
    let known = PHRASES.iter().find(|(of, known, _)| *of == table && words.starts_with(known))?;
    Some((format!("{table}.{}", known.2), value.parse().ok()?))
}

/// Table, the words of net-tools (statistics.c), and the kernel's name.
const PHRASES: [(&str, &str, &str); 17] = [
    ("Ip", "requests sent out", "OutRequests"),
    ("Ip", "incoming packets discarded", "InDiscards"),
    ("Ip", "outgoing packets dropped", "OutDiscards"),
    ("Tcp", "segments received", "InSegs"),
    ("Tcp", "segments sen", "OutSegs"),
    ("Tcp", "segments retrans", "RetransSegs"),
    ("Tcp", "bad segments received", "InErrs"),
    ("Udp", "packets received", "InDatagrams"),
    ("Udp", "packet receive errors", "InErrors"),
    ("Udp", "packets sent", "OutDatagrams"),
    ("Udp", "receive buffer errors", "RcvbufErrors"),
    ("Udp", "send buffer errors", "SndbufErrors"),
    ("TcpExt", "other TCP timeouts", "TCPTimeouts"),
    ("TcpExt", "packets pruned from receive queue", "PruneCalled"),
    ("TcpExt", "packets collapsed in receive queue", "TCPRcvCollapsed"),
    ("TcpExt", "times the listen queue of a socket overflowed", "ListenOverflows"),
    ("TcpExt", "fast retransmits", "TCPFastRetrans"),
];

/// Reads `2: eth0: <…> mtu 1500 …` with the lines `RX: bytes packets errors dropped …` and their numbers.
pub(crate) fn link(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let head = lines.first()?.trim();
    let (number, rest) = head.split_once(": ")?;
    number.parse::<u32>().ok()?;
    let (device, rest) = rest.split_once(": <")?;
    rest.contains(" mtu ").then_some(())?;
    let device = device.split('@').next()?.to_owned();
    let mut values = BTreeMap::new();
    let mut used = 1;
    let mut titles: Option<(&str, Vec<&str>)> = None;
    for line in lines[1..].iter().take(MAX_ROWS) {
        let text = line.trim();
        let way = ["RX", "TX"].into_iter().find_map(|way| Some((way, text.strip_prefix(way)?)));
        if let Some((way, columns)) = way {
            let columns = columns.trim_start_matches([':', ' ']);
            let columns = columns.strip_prefix("errors:").unwrap_or(columns);
            titles = Some((way, columns.split_whitespace().collect()));
        } else if let Some((way, columns)) = titles.take() {
            for (column, value) in columns.iter().zip(text.split_whitespace()) {
                values.insert(format!("{}_{column}", way.to_lowercase()), value.parse().ok()?);
            }
        } else if !is_address(text) && (!values.is_empty() || !goes_on(line)) {
            break;
        }
        used += 1;
    }
    let carrier = carrier([rest, &device]).map(|link| Shown::Host(HostFact::Link(link)));
    let mut all = found(CounterKind::Link, Some(device), values, used)?;
    all.shows.extend(carrier);
    Some(all)
}

/// Rows of a device with its addresses, and those that a mail program has broken in two.
const MAX_ROWS: usize = 24;

fn is_address(text: &str) -> bool {
    ["link/", "inet", "valid_lft", "altname"].iter().any(|start| text.starts_with(start))
}

/// The rest of a line that was broken, above the counters: no blank line, no other device, no command.
fn goes_on(line: &str) -> bool {
    let is_device = line.contains(": <") && line.contains(" mtu ");
    !line.trim().is_empty() && !is_device && after_prompt(line.trim_start()).is_none()
}

/// What the flags say of the carrier: `<NO-CARRIER,BROADCAST,MULTICAST,UP>`, `<BROADCAST,MULTICAST,UP,LOWER_UP>`.
fn carrier([flags, device]: [&str; 2]) -> Option<LinkState> {
    let is_up = flags.contains("LOWER_UP");
    (is_up || flags.contains("NO-CARRIER")).then(|| LinkState {
        device: device.to_owned(),
        is_up,
        ..LinkState::default()
    })
}

/// Reads `rx_packets:4789`, a line for each file of `/sys/class/net/DEVICE/statistics`, as `grep . *` prints them there.
pub(crate) fn statistics(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let counter = |line: &&str| {
        let (name, value) = line.trim().split_once(':')?;
        let name = name.rsplit('/').next()?;
        LINK_COUNTERS.contains(&name).then_some(())?;
        Some((name.to_owned(), value.parse::<u64>().ok()?))
    };
    let values: Vec<(String, u64)> = lines.iter().take(LINK_COUNTERS.len()).map_while(counter).collect();
    let used = values.len();
    (used >= FEWEST_STATISTICS).then_some(())?;
    let folder = |line: &str| Some(line.split_once("/sys/class/net/")?.1.split('/').next()?.to_owned());
    let device = std::iter::once(lines.first()?).chain(before.iter().rev().take(2)).find_map(|line| folder(line));
    found(CounterKind::Link, device, values.into_iter().collect(), used)
}

/// Fewer lines that look so may be something else.
const FEWEST_STATISTICS: usize = 4;

fn found(kind: CounterKind, device: Option<String>, values: BTreeMap<String, u64>, lines: usize) -> Option<Found> {
    (!values.is_empty()).then(|| Found { shows: vec![Shown::Counters(DeviceCounters { kind, device, values })], lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(read: super::super::Reader, before: &str, text: &str) -> Vec<BTreeMap<String, u64>> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[before], &mut Vec::new()).map(|found| found.shows).unwrap_or_default();
        let of = |shown: Shown| if let Shown::Counters(found) = shown { found.values } else { panic!("{shown:?}") };
        found.into_iter().map(of).collect()
    }

    #[test]
    fn lists_of_counters_that_people_print_are_read() {
        let text = "TcpRetransSegs = 12,034\ntx_bytes       = 8,000,000\ntx_packets     = 99\nother things = 1";
        let found = counters(nstat, "", text);
        let of = |name: &str| found.first().and_then(|found| found.get(name).copied());
        assert_eq!(
            [of("Tcp.RetransSegs"), of("Link.tx_bytes"), of("Link.tx_packets")],
            [12_034, 8_000_000, 99].map(Some)
        );
        assert_eq!(counters(nstat, "", "tx_bytes = 1\nrx_bytes = 2\ntx_packets = 3"), [], "none of the kernel");
    }

    #[test]
    fn a_command_that_was_repeated_gives_two_readings() {
        let text = "    700 requests sent out\n    40 segments retransmited\n    OutOctets: 9000\n    900 requests sent out\n    \
                    44 segments retransmited\n    OutOctets: 19000\n";
        let found = counters(netstat_lines, "# netstat -s | egrep 'sent' ; sleep 1; netstat -s | egrep 'sent'", text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].get("Tcp.RetransSegs"), found[1].get("Tcp.RetransSegs")), (Some(&40), Some(&44)));
        assert_eq!((found[0].get("Ip.OutRequests"), found[1].get("IpExt.OutOctets")), (Some(&700), Some(&19_000)));
    }
}
