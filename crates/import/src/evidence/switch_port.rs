//! Links as `mii-tool` has them, and ports as switches with IOS print them (`show interface`).

use std::collections::BTreeMap;

use units::DataRate;

use super::host_fact::{Duplex, HostFact, LinkState};
use super::shown::{CounterKind, DeviceCounters, Found, Shown};

/// Reads `eth0: negotiated 1000baseT-FD flow-control, link ok`.
pub(crate) fn mii_tool(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let (device, rest) = lines.first()?.trim().split_once(": ")?;
    let is_name = (1..=15).contains(&device.len()) && device.bytes().all(|byte| byte.is_ascii_graphic());
    let (setting, link) = rest.rsplit_once(", ")?;
    (is_name && matches!(link, "link ok" | "no link")).then_some(())?;
    let (mode, end) = setting.split_whitespace().find_map(|word| word.split_once("base"))?;
    let duplex = match end.rsplit_once('-')?.1.get(..2)? {
        "FD" => Duplex::Full,
        "HD" => Duplex::Half,
        _ => return None,
    };
    let state = LinkState {
        device: device.to_owned(),
        is_up: link == "link ok",
        rate: mode.parse::<u64>().ok().and_then(mbits),
        duplex: Some(duplex),
        negotiates: Some(setting.starts_with("negotiated")),
        ..LinkState::default()
    };
    Some(Found { shows: vec![Shown::Host(HostFact::Link(state))], lines: 1 })
}

/// Reads `GigabitEthernet0/8 is up, line protocol is up (connected)` and the lines below that stand in from the margin.
pub(crate) fn ios(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let (device, rest) = lines.first()?.trim().split_once(" is ")?;
    (!device.contains(' ') && device.len() <= LONGEST_NAME && rest.contains(", line protocol is ")).then_some(())?;
    let mut state = LinkState {
        device: device.to_owned(),
        is_up: rest.starts_with("up, line protocol is up"),
        ..LinkState::default()
    };
    let mut values = BTreeMap::new();
    let mut used = 1;
    // A page or a form may have taken all margins away.
    let is_flat = lines.get(1).is_some_and(|next| next.starts_with("Hardware is"));
    for (number, line) in lines.iter().enumerate().skip(1).take(MAX_LINES) {
        let is_own = line.starts_with([' ', '\t']) || is_flat && is_of_ios(line);
        // A mail program breaks lines and leaves their rest at the margin.
        let goes_on = lines.get(number + 1).is_some_and(|next| next.starts_with([' ', '\t']));
        if !is_own && (line.trim().is_empty() || !goes_on) {
            break;
        }
        used = number + 1;
        if let Some((duplex, rate)) = setting(line.trim()) {
            (state.duplex, state.rate) = (Some(duplex), rate.or(state.rate));
        }
        counts(line.trim(), &mut values);
    }
    (state.duplex.is_some() || !values.is_empty()).then_some(())?;
    let mut shows = vec![Shown::Host(HostFact::Link(state))];
    if !values.is_empty() {
        shows.push(Shown::Counters(DeviceCounters {
            kind: CounterKind::Link,
            device: Some(device.to_owned()),
            values,
        }));
    }
    Some(Found { shows, lines: used })
}

/// Whether a line at the margin is one of the output all the same.
fn is_of_ios(line: &str) -> bool {
    WORDS_OF_IOS.iter().any(|word| line.contains(word))
}

const WORDS_OF_IOS: [&str; 25] = [
    "Hardware is",
    "Internet address",
    "Description:",
    "MTU ",
    "reliability ",
    "Encapsulation ",
    "Keepalive ",
    "duplex, ",
    "flow-control",
    "ARP type",
    "Last input",
    "Last clearing",
    "Input queue",
    "Queueing strategy",
    "Output queue",
    " input rate ",
    " output rate ",
    "packets input",
    "packets output",
    " broadcasts",
    "runts",
    "input errors",
    "output errors",
    "watchdog",
    "collision",
];

/// Reads lines that a filter left below `show interfaces Gi1/0/1`, or a person: the duplex, and counts.
pub(crate) fn ios_part(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut values = BTreeMap::new();
    let first = lines.first()?.trim();
    let begins = setting(first).is_some() || first.contains(" input errors, ") || first.contains(" output errors, ");
    let command = before.iter().rev().take(NEAR).find(|line| line.contains("show int")).filter(|_| begins)?;
    let device = command.split_once("show int")?.1.split(['|', '\u{2190}']).next()?.split_whitespace().last()?;
    let is_port = device.bytes().any(|byte| byte.is_ascii_digit()) && device.len() <= LONGEST_NAME;
    is_port.then_some(())?;
    let mut state = LinkState { device: device.to_owned(), is_up: true, ..LinkState::default() };
    let mut used = 0;
    for line in lines.iter().take(MAX_LINES) {
        let text = line.split(['\u{2190}']).next().unwrap_or(line).trim();
        let known = values.len();
        if let Some((duplex, rate)) = setting(text) {
            (state.duplex, state.rate) = (Some(duplex), rate.or(state.rate));
        } else {
            counts(text, &mut values);
            if values.len() == known {
                break;
            }
        }
        used += 1;
    }
    let mut shows = Vec::new();
    if state.duplex.is_some() {
        shows.push(Shown::Host(HostFact::Link(state)));
    }
    if !values.is_empty() {
        let device = Some(device.to_owned());
        shows.push(Shown::Counters(DeviceCounters { kind: CounterKind::Link, device, values }));
    }
    (!shows.is_empty()).then_some(Found { shows, lines: used })
}

/// Lines between the command and what it left.
const NEAR: usize = 3;

/// `Full-duplex, 100Mb/s, media type is 10/100/1000BaseTX`, `full-duplex, 10 Gb/s`.
fn setting(line: &str) -> Option<(Duplex, Option<DataRate>)> {
    let (duplex, rest) = line.split_once(['-', ' ']).filter(|(_, rest)| rest.to_lowercase().starts_with("duplex"))?;
    let duplex = match duplex.to_lowercase().as_str() {
        "full" => Duplex::Full,
        "half" => Duplex::Half,
        _ => return None,
    };
    let speed = rest.split(", ").nth(1).unwrap_or_default().replace(' ', "");
    let rate = match (speed.strip_suffix("Mb/s"), speed.strip_suffix("Gb/s")) {
        (Some(number), _) => number.parse().ok().and_then(mbits),
        (_, Some(number)) => number.parse::<u64>().ok().and_then(|number| mbits(number.checked_mul(1_000)?)),
        _ => None,
    };
    Some((duplex, rate))
}

/// `12 input errors, 11 CRC, 0 frame, …`, `Total output drops: 340`, `5101 packets input, …`: by the kernel's names.
fn counts(line: &str, values: &mut BTreeMap<String, u64>) {
    if let Some((_, drops)) = line.split_once("Total output drops: ") {
        add(values, "tx_dropped", drops.split_whitespace().next());
    }
    // Columns that were put side by side, and those of IOS.
    for part in line.split(", ").flat_map(|part| part.split("   ")) {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        let name = match what {
            "packets input" => "rx_packets",
            "packets output" => "tx_packets",
            "input errors" => "rx_errors",
            "CRC" => "rx_crc_errors",
            "overrun" => "rx_over_errors",
            "output errors" => "tx_errors",
            "collisions" => "collisions",
            "late collision" | "late collisions" => "late_collisions",
            _ => continue,
        };
        add(values, name, Some(number));
    }
}

fn add(values: &mut BTreeMap<String, u64>, name: &str, number: Option<&str>) {
    if let Some(number) = number.and_then(|number| number.parse().ok()) {
        values.insert(name.to_owned(), number);
    }
}

fn mbits(number: u64) -> Option<DataRate> {
    number.checked_mul(1_000_000).map(DataRate::from_bps).filter(|rate| !rate.is_zero())
}

const LONGEST_NAME: usize = 40;
const MAX_LINES: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(read: super::super::Reader, text: &str) -> Vec<Shown> {
        let lines: Vec<&str> = text.lines().collect();
        read(&lines, &[], &mut Vec::new()).map(|found| found.shows).unwrap_or_default()
    }

    #[test]
    fn what_a_person_left_of_a_port_is_read() {
        let lines =
            ["   Half-duplex, 100Mb/s          \u{2190} one end half", "   0 runts   214 CRC   0 frame", "prose"];
        let found = ios_part(&lines, &["acc-sw07# show interfaces Gi1/0/1"], &mut Vec::new()).expect("a port");
        let [Shown::Host(HostFact::Link(link)), Shown::Counters(counters)] = found.shows.as_slice() else {
            panic!("{:?}", found.shows)
        };
        assert_eq!((link.device.as_str(), link.duplex, found.lines), ("Gi1/0/1", Some(Duplex::Half), 2));
        assert_eq!(counters.values.get("rx_crc_errors"), Some(&214));
        assert!(ios_part(&lines, &["what people say"], &mut Vec::new()).is_none());
    }

    #[test]
    fn both_ends_of_a_link_are_read() {
        let host = shown(mii_tool, "eno1: negotiated 1000baseT-HD flow-control, link ok");
        let [Shown::Host(HostFact::Link(host))] = host.as_slice() else { panic!("{host:?}") };
        assert_eq!((host.duplex, host.rate), (Some(Duplex::Half), Some(DataRate::from_bps(1_000_000_000))));
        let port = shown(
            ios,
            "TenGigabitEthernet1/2 is up, line protocol is up (connected)\n  Hardware is Ethernet (bia\n0011.2233.4455)\n  \
             Full-duplex, 10Gb/s, media type is SFP\n  Input queue: 0/75/0/0; Total output drops: 340\n     \
             5101 packets input, 9 bytes\n     12 input errors, 11 CRC, 0 frame, 1 overrun, 0 ignored\nprose\n",
        );
        let [Shown::Host(HostFact::Link(link)), Shown::Counters(counters)] = port.as_slice() else {
            panic!("{port:?}")
        };
        assert_eq!((link.duplex, link.is_up), (Some(Duplex::Full), true));
        assert_eq!(link.rate, Some(DataRate::from_bps(10_000_000_000)));
        let of = |name: &str| counters.values.get(name).copied();
        assert_eq!((of("rx_crc_errors"), of("tx_dropped"), of("rx_packets")), (Some(11), Some(340), Some(5101)));
        let flat = shown(
            ios,
            "FastEthernet0/0 is up, line protocol is up\nHardware is Gt96k FE, address is 0011.2233.4455\nMTU 1500 bytes, BW 100000 Kbit/sec\n\
             Half-duplex, 100Mb/s\n150 input errors, 120 CRC, 0 frame\nprose that goes on",
        );
        let [Shown::Host(HostFact::Link(link)), Shown::Counters(counters)] = flat.as_slice() else {
            panic!("{flat:?}")
        };
        assert_eq!((link.duplex, counters.values.get("rx_crc_errors")), (Some(Duplex::Half), Some(&120)));
        assert_eq!(shown(ios, "The line is up, line protocol is what it is"), []);
    }
}
