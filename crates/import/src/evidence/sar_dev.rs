//! `sar -n DEV`: packets and bytes a second of each device.

use std::collections::BTreeMap;

use super::counted::{DeviceRate, PacketRates};
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::quantity::decimal;

/// Reads the titles with `IFACE` and `rxpck/s`, and the rows below, of one interval or several.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    let device = titles.iter().position(|title| *title == "IFACE")?;
    let column = |names: [&str; 2]| titles.iter().position(|title| names.contains(title))?.checked_sub(device);
    let [received, sent] = [["rxpck/s"; 2], ["txpck/s"; 2]].map(column);
    let (received, sent) = (received?, sent?);
    let bytes = [["rxkB/s", "rxbyt/s"], ["txkB/s", "txbyt/s"]].map(column);
    let (received_bytes, sent_bytes) = (bytes[0]?, bytes[1]?);
    let unit = if titles.contains(&"rxkB/s") { 1024 } else { 1 };
    let width = titles.len() - device;
    let mut most: BTreeMap<String, PacketRates> = BTreeMap::new();
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_ROWS) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let goes_on = words.is_empty() || words.contains(&"IFACE");
        let row = words.len().checked_sub(width).filter(|_| !goes_on).map(|first| &words[first..]);
        let rates = row.and_then(|row| {
            let value = |at: usize, unit: u64| decimal(row.get(at)?)?.times(unit);
            Some(PacketRates {
                device: row[0].to_owned(),
                received: DeviceRate { packets: value(received, 1)?, bytes: value(received_bytes, unit)? },
                sent: DeviceRate { packets: value(sent, 1)?, bytes: value(sent_bytes, unit)? },
            })
        });
        match rates {
            Some(rates) if most.len() < MAX_DEVICES || most.contains_key(&rates.device) => {
                let known = most.entry(rates.device.clone()).or_insert_with(|| rates.clone());
                if known.packets() < rates.packets() {
                    *known = rates;
                }
            }
            None if !goes_on => break,
            _ => {}
        }
        used += 1;
    }
    let used_devices = most.into_values().filter(|rates| rates.packets() > 0);
    let shows: Vec<Shown> = used_devices.map(|rates| Shown::Host(HostFact::PacketRates(rates))).collect();
    (!shows.is_empty()).then_some(Found { shows, lines: used })
}

/// A day of ten devices every ten seconds.
const MAX_ROWS: usize = 100_000;
const MAX_DEVICES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_has_its_busiest_second() {
        let text = "10:00:01 PM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s\n\
                    10:00:02 PM        lo      0.00      0.00      0.00      0.00      0.00      0.00      0.00\n\
                    10:00:02 PM      eth0    100.00   9000.50     10.00  13000.00      0.00      0.00      1.00\n\n\
                    10:00:02 PM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s\n\
                    10:00:03 PM      eth0     10.00    900.00      1.00   1300.00      0.00      0.00      0.00\n\
                    Average:         eth0     55.00   4950.25      5.50   7150.00      0.00      0.00      0.50\nprose here\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("a table");
        let [Shown::Host(HostFact::PacketRates(rates))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((found.lines, rates.device.as_str()), (7, "eth0"));
        assert_eq!((rates.sent.packets, rates.sent.bytes, rates.received.bytes), (9_001, 13_312_000, 10_240));
        assert!(read(&["rxpck/s txpck/s rxkB/s txkB/s IFACE", "1 2 3 4 eth0"], &[], &mut Vec::new()).is_none());
        assert!(read(&["IFACE is a column of sar", "eth0 1 2 3"], &[], &mut Vec::new()).is_none());
    }
}
