//! `netstat -i` of BSD, macOS and Linux: counters of all devices, a line each.

use std::collections::BTreeMap;

use super::shown::{CounterKind, DeviceCounters, Found, Shown};

/// Reads the titles and a line for each device; the lines of its addresses repeat its counters and are left out.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    let is_bsd = titles.starts_with(&["Name", "Mtu", "Network", "Address", "Ipkts"]);
    let is_linux = titles.first() == Some(&"Iface") && titles.contains(&"RX-OK");
    (is_bsd || is_linux).then_some(())?;
    let columns: Vec<Option<&str>> = titles.iter().map(|title| counter(title)).collect();
    let first = columns.iter().position(Option::is_some)?;
    // Flags stand behind the counters.
    let columns = &columns[first..=columns.iter().rposition(Option::is_some)?];
    let behind = titles.len() - first - columns.len();
    let mut used = 1;
    let mut shows = Vec::new();
    for line in lines[1..].iter().take(MAX_ROWS) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(numbers) = words.len().checked_sub(columns.len() + behind).filter(|before| *before >= 2) else {
            break;
        };
        let is_value = |word: &&str| *word == "-" || word.parse::<u64>().is_ok();
        if !words[numbers..numbers + columns.len()].iter().all(is_value) {
            break;
        }
        used += 1;
        let of = columns.iter().zip(&words[numbers..]);
        let values: BTreeMap<String, u64> =
            of.filter_map(|(name, value)| Some(((*name)?.to_owned(), value.parse().ok()?))).collect();
        let is_device = is_linux || words[2].starts_with("<Link#");
        // A device that nothing passed says nothing.
        if is_device && values.values().any(|value| *value > 0) {
            let device = Some(words[0].trim_end_matches('*').to_owned());
            shows.push(Shown::Counters(DeviceCounters { kind: CounterKind::Link, device, values }));
        }
    }
    (used > 1).then_some(Found { shows, lines: used })
}

/// A host of containers has hundreds.
const MAX_ROWS: usize = 4096;

/// The kernel's name for a column.
fn counter(title: &str) -> Option<&'static str> {
    Some(match title {
        "Ipkts" | "RX-OK" => "rx_packets",
        "Ierrs" | "RX-ERR" => "rx_errors",
        "Idrop" | "RX-DRP" => "rx_dropped",
        "RX-OVR" => "rx_over_errors",
        "Opkts" | "TX-OK" => "tx_packets",
        "Oerrs" | "TX-ERR" => "tx_errors",
        "Drop" | "TX-DRP" => "tx_dropped",
        "TX-OVR" => "tx_fifo_errors",
        "Coll" => "collisions",
        "Ibytes" => "rx_bytes",
        "Obytes" => "tx_bytes",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(text: &str) -> Vec<(String, BTreeMap<String, u64>)> {
        let lines: Vec<&str> = text.lines().collect();
        let shows = read(&lines, &[], &mut Vec::new()).map(|found| found.shows).unwrap_or_default();
        let each = shows.into_iter().map(|shown| match shown {
            Shown::Counters(one) => (one.device.expect("a device"), one.values),
            other => panic!("{other:?}"),
        });
        each.collect()
    }

    #[test]
    fn each_device_is_read_once_and_by_its_columns() {
        let text = "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll Drop\n\
                    em0    1500 <Link#1>      00:00:5e:00:53:01     9000    30     7     8000     3     2    1\n\
                    em0    1500 192.0.2.0     192.0.2.7             8900     -     -     7900     -     -    -\n\
                    em1*   1500 <Link#2>      00:00:5e:00:53:02        0     0     0        0     0     0    0\nprose";
        let all = devices(text);
        let [(name, values)] = all.as_slice() else { panic!("{all:?}") };
        let of = |name: &str| values.get(name).copied().unwrap_or_default();
        assert_eq!((name.as_str(), of("rx_packets"), of("rx_errors"), of("rx_dropped")), ("em0", 9000, 30, 7));
        assert_eq!((of("tx_packets"), of("tx_errors"), of("collisions"), of("tx_dropped")), (8000, 3, 2, 1));
        let text = "Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n\
                    eth0      1500    70000      0     12      5    60000      0      0      0 BMRU\n";
        let all = devices(text);
        assert_eq!((all[0].1.get("rx_over_errors"), all[0].1.get("tx_packets")), (Some(&5), Some(&60_000)));
        assert_eq!(devices("Name of the device\nem0 1500"), []);
    }
}
