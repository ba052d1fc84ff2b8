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
    for (number, line) in lines.iter().enumerate().skip(1).take(MAX_LINES) {
        let is_own = line.starts_with([' ', '\t']);
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
    for part in line.split(", ") {
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
        assert_eq!(shown(ios, "The line is up, line protocol is what it is"), []);
    }
}
