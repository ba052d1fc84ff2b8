//! Counters of the kernel: `nstat`, `netstat -s`, `ip -s link`, `/sys/class/net/DEVICE/statistics`.

use std::collections::BTreeMap;

use model::host::interface::LINK_COUNTERS;

use super::host_fact::{HostFact, LinkState};
use super::shown::{CounterKind, DeviceCounters, Found, Shown, command_above, command_near};
use crate::command::after_prompt;

/// Reads `#kernel` and the lines `TcpRetransSegs   42   0.0` below. Without `-a` nstat prints what came since it was run last.
pub(crate) fn nstat(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles = usize::from(lines.first()?.trim() == "#kernel");
    let rows = lines[titles..].iter().take(MAX_COUNTERS).map_while(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, value, ..] = *words.as_slice() else { return None };
        Some((dotted(name)?, whole(value)?))
    });
    let values: BTreeMap<String, u64> = rows.collect();
    // Where the title was cut off, by `grep` as a rule, a few such lines are enough.
    (titles == 1 || values.len() >= FEWEST_COUNTERS).then_some(())?;
    let absolute = command_above(before, "nstat")
        .is_some_and(|words| words.iter().any(|word| word.starts_with('-') && word.contains(['a', 's'])));
    let kind = if absolute { CounterKind::Kernel } else { CounterKind::KernelChange };
    // A counter that stands at zero all the time is left out of some readings, so that lines count.
    let used = titles
        + lines[titles..]
            .iter()
            .take_while(|line| line.split_whitespace().next().is_some_and(|name| dotted(name).is_some()))
            .count();
    found(kind, None, values, used)
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
        let [value, "data", "packet" | "packets", of, "bytes)", more @ ..] = words.as_slice() else { continue };
        let counter = match more {
            [] if of.starts_with('(') => "OutSegs",
            ["retransmitted"] => "RetransSegs",
            _ => continue,
        };
        values.insert(format!("Tcp.{counter}"), value.parse().ok()?);
    }
    found(CounterKind::Kernel, None, values, 1 + used)
}

/// Reads lines of `netstat -s` without their tables, as `grep` leaves them below the command, by their words.
pub(crate) fn netstat_lines(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let counter = |line: &str| {
        line.starts_with([' ', '\t']).then_some(())?;
        let (value, words) = line.trim().split_once(' ')?;
        let known = PHRASES.iter().find(|(_, known, _)| words.starts_with(known))?;
        Some((format!("{}.{}", known.0, known.2), value.parse::<u64>().ok()?))
    };
    counter(lines.first()?)?;
    let words = command_near(before, "netstat")?;
    words.iter().any(|word| word.starts_with('-') && word.contains('s')).then_some(())?;
    let rows: Vec<(String, u64)> = lines.iter().take(MAX_COUNTERS).map_while(|line| counter(line)).collect();
    let used = rows.len();
    found(CounterKind::Kernel, None, rows.into_iter().collect(), used)
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
const PHRASES: [(&str, &str, &str); 16] = [
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
