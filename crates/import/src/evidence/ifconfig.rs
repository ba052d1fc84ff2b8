//! `ifconfig` of net-tools, in its old form and in its new one: counters and the MTU of devices.

use std::collections::BTreeMap;

use super::shown::{CounterKind, DeviceCounters, Found, Shown};

/// Reads from `eth0      Link encap:Ethernet …` or `eth0: flags=4163<UP,…>  mtu 1500` on, of all devices that follow. Blank lines between
/// the rows of one device, as some mail programs put them, change nothing.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    head(lines.first()?)?;
    let mut shows = Vec::new();
    let mut at = 0;
    let mut used = 0;
    while let Some(device) = lines.get(at).and_then(|line| head(line)).filter(|_| shows.len() < MAX_DEVICES) {
        let mut values = BTreeMap::new();
        let rows = lines[at + 1..].iter().take(MAX_ROWS).take_while(is_row);
        let mut more = 0;
        for (number, row) in rows.enumerate() {
            counters(row.trim(), &mut values);
            if !row.trim().is_empty() {
                more = number + 1;
            }
        }
        used = at + 1 + more;
        if !values.is_empty() {
            let counters = DeviceCounters { kind: CounterKind::Link, device: Some(device.to_owned()), values };
            shows.push(Shown::Counters(counters));
        }
        let blank = lines[used..].iter().take(MAX_ROWS).take_while(|line| line.trim().is_empty()).count();
        at = used + blank;
    }
    (!shows.is_empty()).then_some(Found { shows, lines: used })
}

/// A host of containers has hundreds.
const MAX_DEVICES: usize = 1024;
/// Rows of a device with ten addresses, and blank ones between.
const MAX_ROWS: usize = 60;

/// The device that a line begins.
fn head(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(char::is_whitespace).map(|(name, rest)| (name, rest.trim_start()))?;
    let (name, is_old) = match name.split_once(":flags=") {
        Some((name, _)) => (name, false),
        None => (name.trim_end_matches(':'), rest.starts_with("Link encap:")),
    };
    let is_new = line.contains(":flags=") || rest.starts_with("flags=");
    let is_name = (1..=15).contains(&name.len()) && name.starts_with(|first: char| first.is_ascii_alphabetic());
    (is_name && (is_old || (is_new && line.contains(" mtu ")))).then_some(name)
}

/// Rows stand in from the margin.
fn is_row(line: &&&str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t'])
}

/// `RX packets:701244 errors:0 dropped:9322 overruns:0 frame:0`, `RX packets 5604  bytes 416435 (416.4 KB)`, `TX errors 0  dropped 0 …`.
fn counters(row: &str, values: &mut BTreeMap<String, u64>) {
    let words: Vec<&str> = row.split([' ', ':', '\t']).filter(|word| !word.is_empty()).collect();
    // The old form has them in a row of their own.
    if let ["collisions", count, ..] = words.as_slice()
        && let Ok(count) = count.parse()
    {
        values.insert("collisions".to_owned(), count);
    }
    let Some((way, words)) = words.split_first().filter(|(way, _)| matches!(**way, "RX" | "TX")) else { return };
    let way = way.to_lowercase();
    for pair in words.windows(2) {
        let known = COLUMNS.iter().find(|(printed, _)| *printed == pair[0]);
        if let (Some((_, name)), Ok(value)) = (known, pair[1].parse()) {
            values.insert(format!("{way}_{name}"), value);
        }
    }
}

/// What is printed, and what `ip -s link` calls it.
const COLUMNS: [(&str, &str); 8] = [
    ("packets", "packets"),
    ("bytes", "bytes"),
    ("errors", "errors"),
    ("dropped", "dropped"),
    ("overruns", "over_errors"),
    ("frame", "frame_errors"),
    ("carrier", "carrier_errors"),
    ("collisions", "collisions"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_the_same_counters() {
        let old = "eth0      Link encap:Ethernet  HWaddr 00:00:5E:00:53:01\n\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n\n\
                   \x20         RX packets:701244 errors:0 dropped:9322 overruns:0 frame:0\n\n\
                   \x20         TX packets:193714 errors:0 dropped:0 overruns:0 carrier:0\n\nthat was it\n";
        let new = "eno1:flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        RX packets 701244  bytes 416435 (416.4 KB)\n\
                   \x20       RX errors 0  dropped 9322  overruns 0  frame 0\n        TX packets 193714  bytes 68556 (68.5 KB)\n";
        for text in [old, new, &new.replace("eno1:flags", "eno1: flags")] {
            let lines: Vec<&str> = text.lines().collect();
            let found = read(&lines, &[], &mut Vec::new()).unwrap();
            let [Shown::Counters(one)] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
            assert_eq!((one.values["rx_dropped"], one.values["rx_packets"]), (9_322, 701_244));
            assert_eq!(one.values["tx_packets"], 193_714);
            assert!(lines.get(found.lines).is_none_or(|line| line.trim().is_empty()));
        }
    }
}
